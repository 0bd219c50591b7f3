/* variants: f32_generic f32_avx2 f32_avx512 f64_generic f64_avx2 f64_avx512 */
/*
 * Prim's algorithm over all pairs, vectorised. It serves few points, where n^2/2 distances take less time than a kd-tree and
 * its lists. It also serves many dimensions, where a kd-tree excludes almost no point.
 *
 *	x   [block][k][BLOCK]   the points that are not in the tree yet; an empty place is at infinity
 *
 * Every point keeps the first edge, in the order of the rule, that joins it to the tree. With core radii, an edge is at least as
 * long as those of its two ends.
 */
#include "emst/kd/kd_body.h"

TARGET_BEGIN

enum { BLOCK = 64, PRIM_SHARE = 1 << 21 };

struct prim {
	size_t left;
	unsigned k;
	int threads;
	REAL *x, *least; /* least[block]: the least d2 of the block */
	REAL *d2;	 /* of the first edge of each place */
	REAL *core;	 /* the squared core radius of each place; NULL: there are none */
	uint32_t *span;	 /* the difference of the numbers of its ends */
	uint32_t *from, *from_number; /* its end in the tree */
	uint32_t *vertex, *number;
};

/* A vertex that has just joined. */
struct joined {
	REAL *x;   /* [k] */
	REAL core; /* its squared core radius, or 0 */
	uint32_t vertex, number;
};

/* Sets d[BLOCK] to the squared distances of a point c from those of a block. */
CPU_INLINE void
block_d2(const struct prim *p, size_t block, const REAL *c, REAL d[BLOCK])
{
	const REAL *restrict x = p->x + block * p->k * BLOCK;

	for (size_t j = 0; j < BLOCK; j++)
		d[j] = 0;
	for (unsigned a = 0; a < p->k; a++, x += BLOCK) {
		const REAL at = c[a];
		for (size_t j = 0; j < BLOCK; j++)
			d[j] += (x[j] - at) * (x[j] - at);
	}
}

/*
 * Replaces the edges of a block by edges from v where these come first in the order. Returns the least d2 of the block. When
 * two edges of equal d2 and span join the same vertex, their other ends have a smaller and a larger number than the vertex.
 * The edge from the smaller number has the smaller lo.
 */
static REAL
look_block(struct prim *p, size_t block, const struct joined *v)
{
	REAL *restrict d2 = p->d2 + block * BLOCK;
	uint32_t *restrict span = p->span + block * BLOCK, *restrict from = p->from + block * BLOCK,
			   *restrict from_number = p->from_number + block * BLOCK;
	const uint32_t *restrict number = p->number + block * BLOCK;
	const uint32_t n = v->number, vertex = v->vertex;
	REAL d[BLOCK], least[LEAF];

	block_d2(p, block, v->x, d);
	for (size_t j = 0; p->core && j < BLOCK; j++) {
		const REAL mine = p->core[block * BLOCK + j], c = mine > v->core ? mine : v->core;
		d[j] = d[j] > c ? d[j] : c;
	}
	for (size_t j = 0; j < BLOCK; j++) {
		const uint32_t s = number[j] < n ? n - number[j] : number[j] - n;
		const bool first =
		    (d[j] < d2[j]) |
		    ((d[j] == d2[j]) & ((s < span[j]) | ((s == span[j]) & (n < number[j]))));
		d2[j] = first ? d[j] : d2[j];
		span[j] = first ? s : span[j];
		from[j] = first ? vertex : from[j];
		from_number[j] = first ? n : from_number[j];
	}
	for (size_t j = 0; j < LEAF; j++)
		least[j] = d2[j];
	for (size_t i = LEAF; i < BLOCK; i += LEAF)
		for (size_t j = 0; j < LEAF; j++)
			least[j] = d2[i + j] < least[j] ? d2[i + j] : least[j];
	for (size_t j = 1; j < LEAF; j++)
		least[0] = least[j] < least[0] ? least[j] : least[0];
	return least[0];
}

static size_t
blocks_of(const struct prim *p)
{
	return (p->left + BLOCK - 1) / BLOCK;
}

CPU_INLINE void
core_block(const struct prim *p, size_t block, const REAL *x, const struct kd_input *in,
	   struct heap *h)
{
	REAL d[BLOCK];
	const size_t first = block * BLOCK;

	block_d2(p, block, x, d);
	for (size_t j = 0; j < BLOCK; j++)
		if (d[j] < heap_limit(h))
			heap_reach(h, d[j], in->weight[p->vertex[first + j]]);
}

/* Returns the squared core radius of point x. No point is in the tree yet. */
static REAL
core_of_all(const struct prim *p, const REAL *x, const struct kd_input *in, struct heap *h)
{
	const size_t blocks = blocks_of(p);

	h->n = 0;
	h->weight = 0;
	for (size_t b = 0; b < blocks; b++)
		core_block(p, b, x, in, h);
	return heap_limit(h);
}

TARGET_END

static void
look_shared(struct prim *p, const struct joined *v)
{
	const size_t blocks = blocks_of(p);

#pragma omp parallel for schedule(static) num_threads(p->threads)
	for (size_t b = 0; b < blocks; b++)
		p->least[b] = look_block(p, b, v);
}

/* A region of one thread costs 1 us, which is most of the time of a small step. */
static void
look_from(struct prim *p, const struct joined *v)
{
	const size_t blocks = blocks_of(p);

	if (p->threads > 1 && p->left * p->k > PRIM_SHARE) {
		look_shared(p, v);
		return;
	}
	for (size_t b = 0; b < blocks; b++)
		p->least[b] = look_block(p, b, v);
}

/* Returns the place of the first edge in the order of the rule. */
static size_t
first_edge(const struct prim *p)
{
	const size_t blocks = blocks_of(p);
	REAL least = p->least[0];
	size_t best = SIZE_MAX;
	uint32_t best_lo = 0;

	for (size_t b = 1; b < blocks; b++)
		least = p->least[b] < least ? p->least[b] : least;
	for (size_t b = 0; b < blocks; b++)
		for (size_t j = b * BLOCK;
		     p->least[b] == least && j < (b + 1) * BLOCK && j < p->left; j++) {
			const uint32_t lo =
			    p->number[j] < p->from_number[j] ? p->number[j] : p->from_number[j];
			if (p->d2[j] != least)
				continue;
			if (best == SIZE_MAX || p->span[j] < p->span[best] ||
			    (p->span[j] == p->span[best] && lo < best_lo)) {
				best = j;
				best_lo = lo;
			}
		}
	return best;
}

static REAL *
coordinate(const struct prim *p, size_t j, unsigned a)
{
	return p->x + (j / BLOCK * p->k + a) * BLOCK + j % BLOCK;
}

/* The point at place j joins the tree. The point at the last place moves to j. */
static void
take(struct prim *p, size_t j, struct joined *v)
{
	const size_t last = --p->left;

	v->vertex = p->vertex[j];
	v->number = p->number[j];
	for (unsigned a = 0; a < p->k; a++) {
		v->x[a] = *coordinate(p, j, a);
		*coordinate(p, j, a) = *coordinate(p, last, a);
		*coordinate(p, last, a) = (REAL)INFINITY;
	}
	p->vertex[j] = p->vertex[last];
	p->number[j] = p->number[last];
	p->from[j] = p->from[last];
	p->from_number[j] = p->from_number[last];
	p->d2[j] = p->d2[last];
	p->span[j] = p->span[last];
	p->d2[last] = (REAL)INFINITY;
	if (p->core) {
		v->core = p->core[j];
		p->core[j] = p->core[last];
	}
}

/* Finds the edges, in the order in which points join. Returns -EEXIST when two points are equal. */
static int
grow_prim(struct prim *p, const struct emst_set *s, struct joined *v, struct kd_edge *edge)
{
	const REAL *x = s->x;

	take(p, 0, v);
	for (size_t i = 0; p->left; i++) {
		look_from(p, v);
		const size_t j = first_edge(p);
		const uint32_t u = p->from[j], w = p->vertex[j];
		const uint32_t lo =
		    p->number[j] < p->from_number[j] ? p->number[j] : p->from_number[j];
		edge[i] = (struct kd_edge){p->d2[j], p->span[j], lo, u < w ? u : w, u < w ? w : u};
		take(p, j, v);
		if (edge[i].d2 == 0 &&
		    !memcmp(x + (size_t)u * s->k, x + (size_t)w * s->k, s->k * sizeof *x))
			return -EEXIST;
		if (s->step && i % 64 == 0)
			s->step(s->step_of,
				1 - (p->core ? .5 : 1) * pow((double)p->left / (double)s->n, 2));
	}
	return 0;
}

static void
free_prim(struct prim *p, struct joined *v)
{
	weir_free(v->x);
	weir_free(p->x);
	weir_free(p->least);
	weir_free(p->d2);
	weir_free(p->core);
	weir_free(p->span);
	weir_free(p->from);
	weir_free(p->from_number);
	weir_free(p->vertex);
	weir_free(p->number);
}

static int
start_prim(struct prim *p, struct joined *v, const struct kd_input *in)
{
	const struct emst_set *s = in->s;
	const size_t blocks = (s->n + BLOCK - 1) / BLOCK, places = blocks * BLOCK;

	*p = (struct prim){.left = s->n,
			   .k = s->k,
			   .threads = in->threads,
			   .x = weir_alloc_large(places * s->k, sizeof *p->x),
			   .least = weir_alloc_large(blocks, sizeof *p->least),
			   .d2 = weir_alloc_large(places, sizeof *p->d2),
			   .span = weir_calloc_large(places, sizeof *p->span),
			   .from = weir_calloc_large(places, sizeof *p->from),
			   .from_number = weir_calloc_large(places, sizeof *p->from_number),
			   .vertex = weir_calloc_large(places, sizeof *p->vertex),
			   .number = weir_calloc_large(places, sizeof *p->number)};
	v->x = weir_alloc(s->k, sizeof *v->x);
	if (!p->x || !p->least || !p->d2 || !p->span || !p->from || !p->from_number || !p->vertex ||
	    !p->number || !v->x)
		return -ENOMEM;
	for (size_t i = 0; i < places; i++) {
		for (unsigned a = 0; a < s->k; a++)
			*coordinate(p, i, a) =
			    i < s->n ? ((const REAL *)s->x)[i * s->k + a] : (REAL)INFINITY;
		p->d2[i] = (REAL)INFINITY;
		if (i < s->n) {
			p->vertex[i] = (uint32_t)i;
			p->number[i] = s->id ? s->id[i] : (uint32_t)i;
		}
	}
	return 0;
}

/* Finds the core radii by looking at all pairs. */
static int
find_all_cores(struct prim *p, const struct kd_input *in)
{
	const struct emst_set *s = in->s;
	bool failed = false;

	p->core = weir_calloc_large(blocks_of(p) * BLOCK, sizeof *p->core);
	if (!p->core)
		return -ENOMEM;
#pragma omp parallel num_threads(p->threads) reduction(|| : failed)
	{
		struct heap h = heap_new(in->min_weight, s->n);
		failed = !h.v;
#pragma omp for schedule(dynamic, 16)
		for (size_t i = 0; i < s->n; i++) {
			if (h.v)
				p->core[i] = core_of_all(p, (const REAL *)s->x + i * s->k, in, &h);
			in->core[i] = (double)p->core[i];
			if (s->step && i % 64 == 0 && !omp_get_thread_num())
				s->step(s->step_of, .5 * (double)i / (double)s->n);
		}
		weir_free(h.v);
	}
	return failed ? -ENOMEM : 0;
}

/* Writes the edges in the order of the rule: sorts by span and lo, then by d2; the sort keeps the order of equal keys. */
static int
write_prim(const struct kd_edge *edge, size_t n, struct emst_tree *t)
{
	struct sorted *e = weir_alloc_large(n, sizeof *e), *tmp = weir_alloc_large(n, sizeof *tmp);

	t->edge = weir_alloc_large(n, sizeof *t->edge);
	t->length = weir_alloc_large(n, sizeof *t->length);
	const bool room = e && tmp && t->edge && t->length;
	if (room) {
		for (uint32_t i = 0; i < n; i++)
			e[i] = (struct sorted){(uint64_t)edge[i].span << 32 | edge[i].lo, i, 0};
		emst_sort(e, tmp, n);
		for (size_t i = 0; i < n; i++)
			e[i].key = REAL_KEY(edge[e[i].a].d2);
		emst_sort(e, tmp, n);
		for (size_t i = 0; i < n; i++) {
			t->edge[i] = (struct emst_edge){edge[e[i].a].p, edge[e[i].a].q};
			t->length[i] = sqrt((double)edge[e[i].a].d2);
		}
	}
	weir_free(e);
	weir_free(tmp);
	return room ? 0 : -ENOMEM;
}

int
SIMD_NAME(emst_prim)(const struct kd_input *in, struct emst_tree *t)
{
	const size_t n = in->s->n;
	struct kd_edge *edge = weir_alloc_large(n, sizeof *edge);
	struct prim p = {0};
	struct joined v = {0};
	int err = edge ? start_prim(&p, &v, in) : -ENOMEM;

	*t = (struct emst_tree){.n = n};
	if (!err && in->min_weight)
		err = find_all_cores(&p, in);
	if (!err)
		err = grow_prim(&p, in->s, &v, edge);
	if (!err)
		err = write_prim(edge, n - 1, t);
	free_prim(&p, &v);
	weir_free(edge);
	if (err)
		emst_tree_free(t);
	return err;
}
