/* variants: f32 f64 */
/*
 * The tree as Barsuk and Ivanov compute it, on the CPU: in every round of Boruvka's algorithm each vertex looks at all
 * vertices of other trees, n^2 distances in at most log2(n) rounds. It is there to reproduce their figures; the other
 * engines are faster from some hundred vertices on.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/roots.h"
#include "common/base/simd.h"
#include "emst/kd/kd.h"

enum { BLOCK = 256, LANES = 16 };

struct brute {
	const struct emst_set *s;
	size_t n, padded;  /* padded: the next multiple of BLOCK */
	const REAL *given; /* s->x */
	REAL *x;	   /* [padded / BLOCK][k][BLOCK]; infinite behind the last vertex */
	uint32_t *number;  /* [padded] */
	uint32_t *tree;	   /* [padded] */
	uint32_t *up;	   /* [n]: the forest of trees that have been joined in this round */
};

/* An edge from a vertex that is known. */
struct brute_edge {
	double d2;
	uint32_t other, span; /* span: the difference of the ends' numbers */
};

/* Returns the first edge, in the order of the rule, from vertex v to a vertex of another tree. With v fixed, the rule is (d2,
   span, number of the other end). */
WEIR_CLONES_OF(struct brute_edge, nearest, (const struct brute *b, size_t v), (b, v))
{
	const REAL *x = b->x;
	const uint32_t *restrict tree = b->tree, *restrict number = b->number;
	const uint32_t own = tree[v], n = number[v];
	struct brute_edge best = {INFINITY, 0, UINT32_MAX};

	for (size_t block = 0; block < b->padded; block += BLOCK, x += b->s->k * BLOCK) {
		const REAL *restrict row = x;
		REAL d[BLOCK] = {0}, least[LANES];
		for (unsigned a = 0; a < b->s->k; a++, row += BLOCK) {
			const REAL c = b->given[v * b->s->k + a];
			for (size_t j = 0; j < BLOCK; j++)
				d[j] += (row[j] - c) * (row[j] - c);
		}
		for (size_t j = 0; j < BLOCK; j++)
			d[j] = tree[block + j] == own ? (REAL)INFINITY : d[j];
		for (size_t j = 0; j < LANES; j++)
			least[j] = d[j];
		for (size_t i = LANES; i < BLOCK; i += LANES)
			for (size_t j = 0; j < LANES; j++)
				least[j] = d[i + j] < least[j] ? d[i + j] : least[j];
		for (size_t j = 1; j < LANES; j++)
			least[0] = least[j] < least[0] ? least[j] : least[0];
		for (size_t j = 0; (double)least[0] <= best.d2 && !isinf(least[0]) && j < BLOCK;
		     j++) {
			const uint32_t m = number[block + j], span = m < n ? n - m : m - n;
			if (d[j] > least[0] ||
			    ((double)d[j] == best.d2 &&
			     (span > best.span || (span == best.span && m > number[best.other]))))
				continue;
			best = (struct brute_edge){(double)d[j], (uint32_t)(block + j), span};
		}
	}
	return best;
}

/* --- the vertices -------------------------------------------------------------------------------------------------- */

static void
fill_blocks(struct brute *b)
{
	const unsigned k = b->s->k;

	for (size_t i = 0; i < b->padded; i++)
		for (unsigned a = 0; a < k; a++)
			b->x[(i / BLOCK * k + a) * BLOCK + i % BLOCK] =
			    i < b->n ? b->given[i * k + a] : (REAL)INFINITY;
}

static int
begin(struct brute *b, const struct emst_set *s)
{
	const size_t n = s->n, padded = (n + BLOCK - 1) / BLOCK * BLOCK;

	*b = (struct brute){.s = s, .n = n, .padded = padded, .given = s->x};
	b->x = weir_alloc(padded * s->k, sizeof *b->x);
	b->number = weir_calloc(padded, sizeof *b->number);
	b->tree = weir_calloc(padded, sizeof *b->tree);
	b->up = roots_new(n);
	if (!b->x || !b->number || !b->tree || !b->up)
		return -ENOMEM;
	fill_blocks(b);
	for (size_t i = 0; i < n; i++) {
		b->tree[i] = (uint32_t)i;
		b->number[i] = s->id ? s->id[i] : (uint32_t)i;
	}
	return 0;
}

static void
end(struct brute *b)
{
	weir_free(b->x);
	weir_free(b->number);
	weir_free(b->tree);
	weir_free(b->up);
}

/* --- a round ------------------------------------------------------------------------------------------------------- */

struct chosen {
	double d2;
	uint32_t lo, hi, span;
};

static int
order(const void *pa, const void *pb)
{
	const struct chosen *a = pa, *b = pb;

	if (a->d2 != b->d2)
		return a->d2 < b->d2 ? -1 : 1;
	if (a->span != b->span)
		return a->span < b->span ? -1 : 1;
	return (a->lo > b->lo) - (a->lo < b->lo);
}

static void
look(const struct brute *b, struct chosen *near, int threads)
{
#pragma omp parallel for schedule(dynamic, 64) num_threads(threads) if (b->n > 500)
	for (size_t v = 0; v < b->n; v++) {
		const struct brute_edge e = nearest(b, v);
		const uint32_t w = (uint32_t)v;
		near[v] = (struct chosen){e.d2, w < e.other ? w : e.other,
					  w < e.other ? e.other : w, e.span};
	}
}

/* Every tree takes the first of its vertices' edges; first[] has room for n indices. Returns the number of edges taken. */
static size_t
join(struct brute *b, const struct chosen *near, uint32_t *first, struct chosen *out)
{
	size_t taken = 0;

	roots_single(b->up, b->n);
	memset(first, 0xff, b->n * sizeof *first);
	for (uint32_t v = 0; v < b->n; v++) {
		uint32_t *f = &first[b->tree[v]];
		if (*f == UINT32_MAX || order(&near[v], &near[*f]) < 0)
			*f = v;
	}
	for (uint32_t t = 0; t < b->n; t++) {
		if (first[t] == UINT32_MAX)
			continue;
		const struct chosen *e = &near[first[t]];
		const uint32_t from = roots_find(b->up, b->tree[e->lo]),
			       to = roots_find(b->up, b->tree[e->hi]);
		if (from == to)
			continue;
		roots_join(b->up, from, to);
		out[taken++] = *e;
	}
	for (uint32_t v = 0; v < b->n; v++)
		b->tree[v] = roots_find(b->up, b->tree[v]);
	return taken;
}

/* 0; -EEXIST when two points are equal, which the first round shows; -ERANGE when squares overflow. */
static int
judge(const struct brute *b, const struct chosen *near)
{
	const size_t k = b->s->k;

	for (size_t v = 0; v < b->n; v++) {
		if (isinf(near[v].d2))
			return -ERANGE;
		if (near[v].d2 == 0 &&
		    !memcmp(b->given + near[v].lo * k, b->given + near[v].hi * k, k * sizeof *b->x))
			return -EEXIST;
	}
	return 0;
}

static int
grow(struct brute *b, struct chosen *edge, int threads)
{
	struct chosen *near = weir_alloc(b->n, sizeof *near);
	uint32_t *first = weir_alloc(b->n, sizeof *first);
	int err = near && first ? 0 : -ENOMEM;

	for (size_t have = 0; !err && have + 1 < b->n;) {
		look(b, near, threads);
		if (!have)
			err = judge(b, near);
		if (!err)
			have += join(b, near, first, edge + have);
		if (b->s->step)
			b->s->step(b->s->step_of, (double)have / (double)b->n);
	}
	weir_free(near);
	weir_free(first);
	return err;
}

int
SIMD_NAME(emst_brute)(const struct kd_input *in, struct emst_tree *t)
{
	const struct emst_set *s = in->s;
	struct brute b;
	struct chosen *edge = weir_alloc(s->n, sizeof *edge);
	int err = begin(&b, s);

	*t = (struct emst_tree){.n = s->n,
				.edge = weir_alloc(s->n, sizeof *t->edge),
				.length = weir_alloc(s->n, sizeof *t->length)};
	if (!edge || !t->edge || !t->length)
		err = -ENOMEM;
	if (!err)
		err = grow(&b, edge, in->threads);
	if (!err) {
		qsort(edge, s->n - 1, sizeof *edge, order);
		for (size_t i = 0; i + 1 < s->n; i++) {
			t->edge[i] = (struct emst_edge){edge[i].lo, edge[i].hi};
			t->length[i] = sqrt(edge[i].d2);
		}
	} else {
		emst_tree_free(t);
	}
	end(&b);
	weir_free(edge);
	return err;
}
