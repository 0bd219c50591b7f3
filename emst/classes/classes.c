#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "emst/classes/classes.h"
#include "emst/roots.h"
#include "emst/sort.h"

static uint32_t *
own_roots(size_t n)
{
	uint32_t *up = weir_alloc(n, sizeof *up);

	if (up)
		roots_single(up, n);
	return up;
}

/* --- dendrogram -------------------------------------------------------------------------------------------------- */

/* name[root]: the part that a tree of the union-find is. */
static void
join_parts(struct dendrogram *d, const struct emst_tree *t, uint32_t *up, uint32_t *name)
{
	for (size_t e = 0; e + 1 < t->n; e++) {
		uint32_t a = roots_find(up, t->edge[e].u), b = roots_find(up, t->edge[e].v);
		d->part[e][0] = name[a];
		d->part[e][1] = name[b];
		d->weight[t->n + e] = d->weight[name[a]] + d->weight[name[b]];
		bool keep = d->weight[name[a]] >= d->weight[name[b]];
		up[keep ? b : a] = keep ? a : b;
		name[keep ? a : b] = (uint32_t)(t->n + e);
	}
}

int
dendrogram_make(struct dendrogram *d, const struct emst_tree *t, const uint32_t *weight)
{
	uint32_t *up = own_roots(t->n), *name = own_roots(t->n);

	*d = (struct dendrogram){t->n, weir_alloc(t->n, sizeof *d->part),
				 weir_alloc(2 * t->n, sizeof *d->weight)};
	bool ok = up && name && d->part && d->weight;
	if (ok) {
		for (size_t i = 0; i < t->n; i++)
			d->weight[i] = weight ? weight[i] : 1;
		join_parts(d, t, up, name);
	} else {
		dendrogram_free(d);
	}
	weir_free(name);
	weir_free(up);
	return ok ? 0 : -ENOMEM;
}

void
dendrogram_free(struct dendrogram *d)
{
	weir_free(d->part);
	weir_free(d->weight);
	*d = (struct dendrogram){0};
}

/* The weight of the lighter part of an edge: it is cut by all m up to that. */
static uint32_t
lighter(const struct dendrogram *d, size_t e)
{
	uint32_t a = d->weight[d->part[e][0]], b = d->weight[d->part[e][1]];

	return a < b ? a : b;
}

/* --- cuts -------------------------------------------------------------------------------------------------------- */

void
cut_size(const struct dendrogram *d, uint64_t min_weight, uint8_t *cut)
{
	for (size_t e = 0; e + 1 < d->n; e++)
		cut[e] = lighter(d, e) >= min_weight;
}

void
cut_count(const struct emst_tree *t, size_t classes, uint8_t *cut)
{
	for (size_t e = 0; e + 1 < t->n; e++)
		cut[e] = e + classes >= t->n;
}

void
cut_length(const struct emst_tree *t, double longest, uint8_t *cut)
{
	for (size_t e = 0; e + 1 < t->n; e++)
		cut[e] = t->length[e] > longest;
}

/* The edges at every vertex: those of vertex v are edge[from[v]] .. edge[from[v + 1] - 1]. */
struct star {
	uint32_t *from, *edge; /* owned */
};

static int
make_stars(struct star *s, const struct emst_tree *t)
{
	*s = (struct star){weir_calloc(t->n + 2, sizeof *s->from),
			   weir_alloc(2 * t->n, sizeof *s->edge)};
	if (!s->from || !s->edge)
		return -ENOMEM;
	for (size_t e = 0; e + 1 < t->n; e++) {
		s->from[t->edge[e].u + 2]++;
		s->from[t->edge[e].v + 2]++;
	}
	for (size_t v = 2; v < t->n + 2; v++)
		s->from[v] += s->from[v - 1];
	for (uint32_t e = 0; e + 1 < t->n; e++) {
		s->edge[s->from[t->edge[e].u + 1]++] = e;
		s->edge[s->from[t->edge[e].v + 1]++] = e;
	}
	return 0;
}

struct mean {
	double sum;
	size_t n;
};

/* The edges within so many steps of v, other than the one that led there. */
static void
add_around(const struct star *s, const struct emst_tree *t, uint32_t v, uint32_t without, int steps,
	   struct mean *m)
{
	for (uint32_t i = s->from[v]; i < s->from[v + 1]; i++) {
		uint32_t e = s->edge[i];
		if (e == without)
			continue;
		m->sum += t->length[e];
		m->n++;
		if (steps > 1)
			add_around(s, t, t->edge[e].u ^ t->edge[e].v ^ v, e, steps - 1, m);
	}
}

static bool
is_inconsistent(const struct star *s, const struct emst_tree *t, uint32_t e, double factor)
{
	struct mean u = {0}, v = {0};

	add_around(s, t, t->edge[e].u, e, 2, &u);
	add_around(s, t, t->edge[e].v, e, 2, &v);
	return u.n + v.n && (!u.n || t->length[e] * (double)u.n > factor * u.sum) &&
	       (!v.n || t->length[e] * (double)v.n > factor * v.sum);
}

int
cut_zahn(const struct emst_tree *t, double factor, uint8_t *cut)
{
	struct star s;
	int err = make_stars(&s, t);

	for (uint32_t e = 0; !err && e + 1 < t->n; e++)
		cut[e] = is_inconsistent(&s, t, e, factor);
	weir_free(s.from);
	weir_free(s.edge);
	return err;
}

/* --- the functional ---------------------------------------------------------------------------------------------- */

/* Parts on the way from all single to all joined: their means, and what they lose. */
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

	*m = (struct means){v, own_roots(n), weir_alloc(n * k, sizeof *m->mean),
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

/* The edges by the weight of their lighter part, equal ones in order. */
static struct sorted *
by_lighter(const struct dendrogram *d)
{
	struct sorted *e = weir_alloc(d->n, sizeof *e), *tmp = weir_alloc(d->n, sizeof *tmp);

	for (uint32_t i = 0; e && tmp && i + 1 < d->n; i++)
		e[i] = (struct sorted){lighter(d, i), i, 0};
	if (e && tmp)
		emst_sort(e, tmp, d->n - 1);
	weir_free(tmp);
	if (!tmp) {
		weir_free(e);
		return NULL;
	}
	return e;
}

/*
 * sse[i] is that of the forest which the first i edges make, if one m makes it (all edges of one key stand or fall
 * together). The least of sse[i] + lambda (n - i) sst.
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
	struct sorted *e = by_lighter(d);
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
