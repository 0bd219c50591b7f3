#include <math.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "emst/io/means.h"

/* A class of colours with alpha. */
struct seen {
	double w, alpha,
	    p[3]; /* pixels, and the sums of alpha and of premultiplied samples; opaque is 1 */
	bool opaque, clear; /* Some of its colours are. */
};

static void
add_seen(struct seen *s, const struct vertices *v, size_t i)
{
	const size_t planes = v->planes - 1;
	const double w = (double)v->weight[i];
	double x[4];

	vertices_get(v, i, x);
	const double alpha = fmin(x[planes] / v->opaque, 1);
	s->w += w;
	s->alpha += w * alpha;
	for (size_t c = 0; c < planes; c++)
		s->p[c] += w * alpha * fmin(x[c] / v->opaque, 1);
	s->opaque |= alpha == 1;
	s->clear |= alpha == 0;
}

/* Fills row[] with the colour of a class. */
static void
colour_of(double *row, const struct seen *s, const struct vertices *v, bool only)
{
	const size_t planes = v->planes - 1;
	const bool clear = s->alpha == 0 || (s->clear && !s->opaque && !only);

	for (size_t c = 0; c < planes; c++)
		row[c] = clear	     ? 0
			 : s->opaque ? v->opaque * ((s->p[c] - s->alpha / 2) / s->w + .5)
				     : v->opaque * s->p[c] / s->alpha;
	row[planes] = clear ? 0 : s->opaque ? v->opaque : v->opaque * s->alpha / s->w;
}

static void
find_seen(double *mean, const struct result *r)
{
	const size_t k = r->v->planes, n = r->classes->n + 1;
	struct seen *s = weir_calloc(n, sizeof *s);

	if (!s)
		raw_die(r->in, "no memory");
	for (size_t i = 0; i < r->v->set.n; i++)
		add_seen(&s[r->classes->label[i]], r->v, i);
	for (size_t label = 1; label < n; label++)
		colour_of(mean + label * k, &s[label], r->v, n == 2);
	weir_free(s);
}

static void
find_means(double *mean, const struct result *r)
{
	const size_t k = r->v->set.k, n = r->classes->n + 1;
	double x[EMST_MOSTDIM];

	for (size_t i = 0; i < r->v->set.n; i++) {
		uint32_t label = r->classes->label[i];
		vertices_get(r->v, i, x);
		for (size_t a = 0; label && a < k; a++)
			mean[label * k + a] += (double)r->v->weight[i] * x[a];
	}
	for (size_t label = 1; label < n; label++)
		for (size_t a = 0; a < k; a++)
			mean[label * k + a] =
			    mean[label * k + a] / (double)r->classes->weight[label] * r->v->scale;
}

double *
means_of(const struct result *r)
{
	double *mean = weir_calloc((r->classes->n + 1) * r->v->set.k, sizeof *mean);

	if (!mean)
		raw_die(r->in, "no memory");
	if (r->classes->seen)
		find_seen(mean, r);
	else
		find_means(mean, r);
	return mean;
}
