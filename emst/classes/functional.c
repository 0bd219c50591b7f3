/* Chooses a minimum-size forest by a functional of its classes. */
#include <errno.h>
#include <math.h>

#include "common/base/mem.h"
#include "emst/classes/classes.h"
#include "emst/roots.h"
#include "emst/sort.h"

/* The means and the SSE of the parts, while edges join single vertices into one part. */
struct means {
	const struct vertices *v;
	uint32_t *up;
	double *mean;	/* [n][k] of roots */
	double *weight; /* [n] of roots */
	double sse;
};

static int
start_means(struct means *m, const struct vertices *v)
{
	size_t n = v->set.n, k = v->set.k;

	*m = (struct means){v, roots_new(n), weir_alloc(n * k, sizeof *m->mean),
			    weir_alloc(n, sizeof *m->weight), 0};
	if (!m->up || !m->mean || !m->weight)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		vertices_get(v, i, m->mean + i * k);
		m->weight[i] = v->weight ? (double)v->weight[i] : 1;
	}
	return 0;
}

static void
free_means(struct means *m)
{
	weir_free(m->up);
	weir_free(m->mean);
	weir_free(m->weight);
}

/* Joining two parts adds w_a w_b / (w_a + w_b) |mean_a - mean_b|^2 (Ward 1963). */
static void
join_means(struct means *m, uint32_t u, uint32_t v)
{
	uint32_t a = roots_find(m->up, u), b = roots_find(m->up, v);
	double wa = m->weight[a], wb = m->weight[b], d2 = 0;

	for (size_t i = 0; i < m->v->set.k; i++) {
		double *x = m->mean + a * m->v->set.k + i, d = m->mean[b * m->v->set.k + i] - *x;
		d2 += d * d;
		*x += wb / (wa + wb) * d;
	}
	m->sse += wa * wb / (wa + wb) * d2;
	m->weight[a] += wb;
	m->up[b] = a;
}

/*
 * Returns the m of the forest with the least sse[i] + lambda (n - i) sst. sse[i] is the SSE of the forest that the first i
 * edges make. Only forests that some m makes count: edges of one key are all cut or all kept.
 */
static uint64_t
least_forest(const struct sorted *e, const double *sse, size_t n, double lambda)
{
	double least = INFINITY, sst = sse[n - 1];
	uint64_t m = 0;

	for (size_t i = 0; i < n; i++) {
		double j = sse[i] + lambda * (double)(n - i) * sst;
		if ((i && i < n - 1 && e[i].key == e[i - 1].key) || j > least)
			continue;
		least = j;
		m = i < n - 1 ? e[i].key : (n > 1 ? e[n - 2].key : 0) + 1;
	}
	return m;
}

int
cut_functional(const struct dendrogram *d, const struct emst_tree *t, const struct vertices *v,
	       double lambda, uint8_t *cut, uint64_t *min_weight)
{
	struct means m;
	struct sorted *e = dendrogram_by_lighter(d);
	double *sse = weir_alloc(d->n, sizeof *sse);
	int err = start_means(&m, v);

	if (!e || !sse)
		err = -ENOMEM;
	if (!err) {
		sse[0] = 0;
		for (size_t i = 0; i + 1 < d->n; i++) {
			join_means(&m, t->edge[e[i].a].u, t->edge[e[i].a].v);
			sse[i + 1] = m.sse;
		}
		*min_weight = least_forest(e, sse, d->n, lambda);
		cut_size(d, *min_weight, cut);
	}
	free_means(&m);
	weir_free(sse);
	weir_free(e);
	return err;
}
