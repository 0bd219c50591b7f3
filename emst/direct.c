/*
 * The definition of the tree, computed as Barsuk and Ivanov do. The edges are never stored. In every round each vertex looks
 * at all vertices of other trees, each tree keeps its first edge in the order of the rule, and these edges join the trees.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "emst/emst.h"
#include "emst/lattice/lattice.h"

struct direct {
	const struct emst_set *s;
	uint32_t *code;	    /* EMST_CODE: the colours */
	const double *core; /* radii, or NULL */
	uint32_t *tree;	    /* [n]: the tree a vertex is in */
};

struct direct_edge {
	double d2;
	uint32_t lo, hi; /* vertex indices; hi == 0: none yet */
	uint64_t span;	 /* the difference of their numbers */
};

static double
code_d2(uint32_t a, uint32_t b)
{
	double d2 = 0;

	for (int shift = 0; shift < 24; shift += 8) {
		double t = (double)(a >> shift & 255) - (double)(b >> shift & 255);
		d2 += t * t;
	}
	return d2;
}

/* Fills code[] with the colours in ascending order: those of the list, or those whose bits are set in the lattice. */
static void
read_codes(const struct emst_set *s, uint32_t *code)
{
	const struct lattice *l = s->lattice;

	for (size_t i = 0; !l && i < s->n; i++)
		code[i] = s->code[i];
	if (!l)
		return;
	for (size_t r = 0; r < 256; r++)
		for (size_t g = 0; g < 256; g++) {
			const uint64_t *row =
			    l->bits + ((r + 1) * LATTICE_SIDE + g + 1) * LATTICE_WORDS + 1;
			if (!(row[0] | row[1] | row[2] | row[3]))
				continue;
			for (size_t b = 0; b < 256; b++)
				if (row[b / 64] >> b % 64 & 1)
					*code++ = (uint32_t)(r << 16 | g << 8 | b);
		}
}

static double
vector_d2(const struct emst_set *s, size_t i, size_t j)
{
	const float *xf = s->x;
	const double *xd = s->x;
	double d2 = 0;
	float f2 = 0;

	for (size_t a = 0; a < s->k; a++)
		if (s->type == EMST_F32) {
			float t = xf[i * s->k + a] - xf[j * s->k + a];
			f2 += t * t;
		} else {
			double t = xd[i * s->k + a] - xd[j * s->k + a];
			d2 += t * t;
		}
	return s->type == EMST_F32 ? (double)f2 : d2;
}

static double
direct_d2(const struct direct *d, size_t i, size_t j)
{
	double d2 = d->code ? code_d2(d->code[i], d->code[j]) : vector_d2(d->s, i, j);

	return d->core ? fmax(d2, fmax(d->core[i], d->core[j])) : d2;
}

static uint32_t
number(const struct direct *d, size_t i)
{
	if (d->code)
		return d->code[i];
	return d->s->id ? d->s->id[i] : (uint32_t)i;
}

static int
order(const void *pa, const void *pb)
{
	const struct direct_edge *a = pa, *b = pb;

	if (a->d2 != b->d2)
		return a->d2 < b->d2 ? -1 : 1;
	if (a->span != b->span)
		return a->span < b->span ? -1 : 1;
	return (a->lo > b->lo) - (a->lo < b->lo);
}

/* Sets best[t] to the first edge that leaves tree t. */
static void
look(const struct direct *d, struct direct_edge *best)
{
	for (size_t i = 0; i < d->s->n; i++)
		best[i] = (struct direct_edge){.d2 = INFINITY};
	for (size_t i = 0; i < d->s->n; i++)
		for (size_t j = 0; j < d->s->n; j++) {
			if (d->tree[i] == d->tree[j])
				continue;
			size_t lo = i < j ? i : j, hi = i < j ? j : i;
			struct direct_edge e = {direct_d2(d, lo, hi), (uint32_t)lo, (uint32_t)hi,
						number(d, hi) - number(d, lo)};
			if (order(&e, &best[d->tree[i]]) < 0)
				best[d->tree[i]] = e;
		}
}

/* Every tree takes its edge. An edge that two trees chose is taken once. Returns the number of edges taken. */
static size_t
join(const struct direct *d, const struct direct_edge *best, struct direct_edge *out)
{
	size_t taken = 0;

	for (size_t t = 0; t < d->s->n; t++) {
		if (!best[t].hi)
			continue;
		uint32_t from = d->tree[best[t].hi], to = d->tree[best[t].lo];
		if (from == to)
			continue;
		out[taken++] = best[t];
		for (size_t i = 0; i < d->s->n; i++)
			if (d->tree[i] == from)
				d->tree[i] = to;
	}
	return taken;
}

static int
boruvka(struct direct *d, struct emst_tree *t)
{
	size_t n = d->s->n, have = 0;
	struct direct_edge *best = weir_alloc(n, sizeof *best), *edge = weir_alloc(n, sizeof *edge);

	if (best && edge) {
		for (size_t i = 0; i < n; i++)
			d->tree[i] = (uint32_t)i;
		while (have < n - 1) {
			look(d, best);
			have += join(d, best, edge + have);
		}
		qsort(edge, have, sizeof *edge, order);
		for (size_t i = 0; i < have; i++) {
			t->edge[i] = (struct emst_edge){edge[i].lo, edge[i].hi};
			t->length[i] = sqrt(edge[i].d2);
		}
	}
	weir_free(edge);
	weir_free(best);
	return best && edge ? 0 : -ENOMEM;
}

static int
begin(struct direct *d, const struct emst_set *s)
{
	*d = (struct direct){.s = s, .tree = weir_alloc(s->n, sizeof *d->tree)};
	if (s->type == EMST_CODE && (d->code = weir_alloc(s->n, sizeof *d->code)))
		read_codes(s, d->code);
	return d->tree && (d->code || s->type != EMST_CODE) ? 0 : -ENOMEM;
}

static void
end(struct direct *d)
{
	weir_free(d->tree);
	weir_free(d->code);
}

/* core[] holds squared radii here, as in emst_direct_core(). */
int
emst_direct(const struct emst_set *s, const double *core, struct emst_tree *t)
{
	struct direct d;
	int err = begin(&d, s);

	*t = (struct emst_tree){.n = s->n,
				.edge = weir_alloc(s->n, sizeof *t->edge),
				.length = weir_alloc(s->n, sizeof *t->length)};
	if (!t->edge || !t->length)
		err = -ENOMEM;
	d.core = core;
	if (!err)
		err = boruvka(&d, t);
	end(&d);
	if (err)
		emst_tree_free(t);
	return err;
}

struct near {
	double d2;
	uint64_t weight;
};

static int
nearer(const void *pa, const void *pb)
{
	const struct near *a = pa, *b = pb;

	return (a->d2 > b->d2) - (a->d2 < b->d2);
}

/* Computes the squared core radius of every vertex: takes all vertices in order of distance until they weigh min_weight. */
int
emst_direct_core(const struct emst_set *s, const uint64_t *weight, uint64_t min_weight,
		 double *core)
{
	struct direct d;
	int err = begin(&d, s);
	struct near *near = weir_alloc(s->n, sizeof *near);

	if (!near)
		err = -ENOMEM;
	for (size_t i = 0; i < s->n && !err; i++) {
		uint64_t w = 0;
		size_t j;
		for (j = 0; j < s->n; j++)
			near[j] = (struct near){direct_d2(&d, i, j), weight[j]};
		qsort(near, s->n, sizeof *near, nearer);
		for (j = 0; j < s->n && (w += near[j].weight) < min_weight; j++)
			;
		if (j == s->n)
			err = -EDOM;
		else
			core[i] = near[j].d2;
	}
	weir_free(near);
	end(&d);
	return err;
}
