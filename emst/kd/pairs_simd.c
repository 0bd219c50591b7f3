/* variants: f32_generic f32_avx2 f32_avx512 f64_generic f64_avx2 f64_avx512 */
/*
 * The tree over all pairs of points, vectorised.
 *
 * Prim's algorithm serves few points, where n^2/2 distances take less time than a kd-tree and its lists. It also serves many
 * dimensions, where a kd-tree excludes almost no point. Every point keeps the first edge, in the order of the rule, that joins
 * it to the tree. With core radii, an edge is at least as long as those of its two ends.
 *
 * Boruvka's algorithm is what Barsuk and Ivanov compute: in every round each vertex looks at all vertices of other trees, n^2
 * distances in at most log2(n) rounds. It is there to reproduce their figures; the other engines are faster from some hundred
 * vertices on.
 *
 *	x   [block][k][points of a block]   for Prim the points that are not in the tree yet; an empty place is at infinity
 */
#include "emst/kd/kd_body.h"

TARGET_BEGIN

enum { BLOCK = 64, PRIM_SHARE = 1 << 21, LOOK_BLOCK = 256 };

/* Sets d[n] to the squared distances of a point c from the n points of a block x. */
CPU_INLINE void
block_d2(const REAL *restrict x, unsigned k, const REAL *c, size_t n, REAL *d)
{
	for (size_t j = 0; j < n; j++)
		d[j] = 0;
	for (unsigned a = 0; a < k; a++, x += n) {
		const REAL at = c[a];
		for (size_t j = 0; j < n; j++)
			d[j] += (x[j] - at) * (x[j] - at);
	}
}

/* Returns the least of n numbers, a multiple of LEAF. */
CPU_INLINE REAL
least_of(const REAL *d, size_t n)
{
	REAL least[LEAF];

	for (size_t j = 0; j < LEAF; j++)
		least[j] = d[j];
	for (size_t i = LEAF; i < n; i += LEAF)
		for (size_t j = 0; j < LEAF; j++)
			least[j] = d[i + j] < least[j] ? d[i + j] : least[j];
	for (size_t j = 1; j < LEAF; j++)
		least[0] = least[j] < least[0] ? least[j] : least[0];
	return least[0];
}

/* --- Prim ---------------------------------------------------------------------------------------------------------- */

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

CPU_INLINE void
prim_d2(const struct prim *p, size_t block, const REAL *c, REAL d[BLOCK])
{
	block_d2(p->x + block * p->k * BLOCK, p->k, c, BLOCK, d);
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
	REAL d[BLOCK];

	prim_d2(p, block, v->x, d);
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
	return least_of(d2, BLOCK);
}

static size_t
blocks_of(const struct prim *p)
{
	return (p->left + BLOCK - 1) / BLOCK;
}

/* Returns the squared core radius of point x. No point is in the tree yet. */
static REAL
core_of_all(const struct prim *p, const REAL *x, const struct kd_input *in, struct heap *h)
{
	const size_t blocks = blocks_of(p);
	REAL d[BLOCK];

	h->n = 0;
	h->weight = 0;
	for (size_t b = 0; b < blocks; b++) {
		prim_d2(p, b, x, d);
		for (size_t j = 0; j < BLOCK; j++)
			if (d[j] < heap_limit(h))
				heap_reach(h, d[j], in->weight[p->vertex[b * BLOCK + j]]);
	}
	return heap_limit(h);
}

/* --- Boruvka --------------------------------------------------------------------------------------------------------- */

struct brute {
	const struct emst_set *s;
	size_t n, padded; /* padded: the next multiple of LOOK_BLOCK */
	REAL *x;
	uint32_t *number, *tree; /* [padded] */
	uint32_t *up;		 /* [n]: the forest of trees that have been joined in this round */
	struct kd_edge *near;	 /* [n]: the first edge from a vertex to another tree */
	uint32_t *first; /* [n], by tree: the vertex whose edge is the tree's first, or NONE */
};

/* Returns the first edge, in the order of the rule, from vertex v to a vertex of another tree. */
static struct kd_edge
nearest(const struct brute *b, size_t v)
{
	const unsigned k = b->s->k;
	const REAL *x = b->x, *c = (const REAL *)b->s->x + v * k;
	const uint32_t *restrict tree = b->tree;
	struct kd_edge best = {(REAL)INFINITY, NONE, NONE, 0, 0};

	for (size_t from = 0; from < b->padded; from += LOOK_BLOCK, x += k * LOOK_BLOCK) {
		REAL d[LOOK_BLOCK];
		block_d2(x, k, c, LOOK_BLOCK, d);
		for (size_t j = 0; j < LOOK_BLOCK; j++)
			d[j] = tree[from + j] == tree[v] ? (REAL)INFINITY : d[j];
		const REAL least = least_of(d, LOOK_BLOCK);
		for (size_t j = 0; least <= best.d2 && !isinf(least) && j < LOOK_BLOCK; j++) {
			if (d[j] > least)
				continue;
			const struct kd_edge e =
			    edge_between(d[j], v, from + j, b->number[v], b->number[from + j]);
			if (edge_before(&e, &best))
				best = e;
		}
	}
	return best;
}

/* Every tree takes the first of its vertices' edges. Returns the number of edges taken. */
static size_t
join(struct brute *b, struct sorted *out)
{
	size_t taken = 0;

	roots_single(b->up, b->n);
	memset(b->first, 0xff, b->n * sizeof *b->first);
	for (uint32_t v = 0; v < b->n; v++) {
		uint32_t *f = &b->first[b->tree[v]];
		if (*f == NONE || edge_before(&b->near[v], &b->near[*f]))
			*f = v;
	}
	for (uint32_t t = 0; t < b->n; t++) {
		if (b->first[t] == NONE)
			continue;
		const struct kd_edge *e = &b->near[b->first[t]];
		const uint32_t from = roots_find(b->up, b->tree[e->p]),
			       to = roots_find(b->up, b->tree[e->q]);
		if (from == to)
			continue;
		roots_join(b->up, from, to);
		out[taken++] = (struct sorted){REAL_KEY(e->d2), e->p, e->q};
	}
	for (uint32_t v = 0; v < b->n; v++)
		b->tree[v] = roots_find(b->up, b->tree[v]);
	return taken;
}

TARGET_END

/* --- what both need -------------------------------------------------------------------------------------------------- */

/* Returns the place of coordinate a of point i among blocks of `size` points. */
static size_t
place_of(size_t i, unsigned a, unsigned k, size_t size)
{
	return (i / size * k + a) * size + i % size;
}

/* Fills x with the points of s, and with infinity behind them, up to the place `end`. */
static void
fill_blocks(REAL *x, const struct emst_set *s, size_t end, size_t size)
{
	for (size_t i = 0; i < end; i++)
		for (unsigned a = 0; a < s->k; a++)
			x[place_of(i, a, s->k, size)] =
			    i < s->n ? ((const REAL *)s->x)[i * s->k + a] : (REAL)INFINITY;
}

/* Whether the edge joins equal points; a squared length may have been rounded to 0. */
static bool
joins_equal(const struct emst_set *s, const struct kd_edge *e)
{
	const REAL *x = s->x;

	return e->d2 == 0 &&
	       !memcmp(x + (size_t)e->p * s->k, x + (size_t)e->q * s->k, s->k * sizeof *x);
}

int
SIMD_NAME(kd_write)(struct sorted *e, struct sorted *tmp, const uint32_t *number,
		    const uint32_t *vertex, int threads, struct emst_tree *tree)
{
	const size_t n = tree->n - 1;

	tree->edge = weir_alloc_large(n, sizeof *tree->edge);
	tree->length = weir_alloc_large(n, sizeof *tree->length);
	if (!tree->edge || !tree->length)
		return -ENOMEM;
	emst_sort(e, tmp, n);
	for (size_t i = 0, end; i < n;
	     i = end) { /* edges of equal length, by the rest of the rule */
		const uint64_t length = e[i].key;
		for (end = i + 1; end < n && e[end].key == length; end++)
			;
		if (end == i + 1)
			continue;
		for (size_t j = i; j < end; j++) {
			const uint32_t a = number ? number[e[j].a] : e[j].a,
				       b = number ? number[e[j].b] : e[j].b;
			e[j].key = (uint64_t)(a < b ? b - a : a - b) << 32 | (a < b ? a : b);
		}
		emst_sort(e + i, tmp, end - i);
		for (size_t j = i; j < end; j++)
			e[j].key = length;
	}
#pragma omp parallel for schedule(static) num_threads(threads) if (n > SMALL)
	for (size_t i = 0; i < n; i++) {
		const uint32_t u = vertex ? vertex[e[i].a] : e[i].a,
			       v = vertex ? vertex[e[i].b] : e[i].b;
		tree->edge[i] = u < v ? (struct emst_edge){u, v} : (struct emst_edge){v, u};
		tree->length[i] = sqrt((double)REAL_OF_KEY(e[i].key));
	}
	return 0;
}

/* Writes the tree of n edges, if err is 0 and there is memory. Frees the edges, of which there is room for 2 n. */
static int
write_edges(int err, struct sorted *e, const struct kd_input *in, struct emst_tree *t)
{
	const struct emst_set *s = in->s;

	*t = (struct emst_tree){.n = s->n};
	if (!err)
		err = SIMD_NAME(kd_write)(e, e + s->n, s->id, NULL, in->threads, t);
	if (err)
		emst_tree_free(t);
	weir_free(e);
	return err;
}

/* --- Prim's steps ------------------------------------------------------------------------------------------------------ */

/* A region of one thread costs 1 us, which is most of the time of a small step. */
static void
look_from(struct prim *p, const struct joined *v)
{
	const size_t blocks = blocks_of(p);

	if (p->threads > 1 && p->left * p->k > PRIM_SHARE) {
#pragma omp parallel for schedule(static) num_threads(p->threads)
		for (size_t b = 0; b < blocks; b++)
			p->least[b] = look_block(p, b, v);
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

/* The point at place j joins the tree. The point at the last place moves to j. */
static void
add_to_tree(struct prim *p, size_t j, struct joined *v)
{
	const size_t last = --p->left;

	v->vertex = p->vertex[j];
	v->number = p->number[j];
	for (unsigned a = 0; a < p->k; a++) {
		REAL *x = p->x + place_of(j, a, p->k, BLOCK),
		     *moved = p->x + place_of(last, a, p->k, BLOCK);
		v->x[a] = *x;
		*x = *moved;
		*moved = (REAL)INFINITY;
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
grow_prim(struct prim *p, const struct emst_set *s, struct joined *v, struct sorted *edge)
{
	add_to_tree(p, 0, v);
	for (size_t i = 0; p->left; i++) {
		look_from(p, v);
		const size_t j = first_edge(p);
		const struct kd_edge e = {.d2 = p->d2[j], .p = p->from[j], .q = p->vertex[j]};
		edge[i] = (struct sorted){REAL_KEY(e.d2), e.p, e.q};
		add_to_tree(p, j, v);
		if (joins_equal(s, &e))
			return -EEXIST;
		if (s->step && i % 64 == 0)
			s->step(s->step_of,
				1 - (p->core ? .5 : 1) * pow((double)p->left / (double)s->n, 2));
	}
	return 0;
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
	fill_blocks(p->x, s, places, BLOCK);
	for (size_t i = 0; i < places; i++) {
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

int
SIMD_NAME(emst_prim)(const struct kd_input *in, struct emst_tree *t)
{
	struct sorted *edge = weir_alloc_large(2 * in->s->n, sizeof *edge);
	struct prim p = {0};
	struct joined v = {0};
	int err = edge ? start_prim(&p, &v, in) : -ENOMEM;

	if (!err && in->min_weight)
		err = find_all_cores(&p, in);
	if (!err)
		err = grow_prim(&p, in->s, &v, edge);
	weir_free_all(v.x, p.x, p.least, p.d2, p.core, p.span, p.from, p.from_number, p.vertex,
		      p.number);
	return write_edges(err, edge, in, t);
}

/* --- Boruvka's rounds -------------------------------------------------------------------------------------------------- */

static int
begin(struct brute *b, const struct emst_set *s)
{
	const size_t n = s->n, padded = (n + LOOK_BLOCK - 1) / LOOK_BLOCK * LOOK_BLOCK;

	*b = (struct brute){.s = s,
			    .n = n,
			    .padded = padded,
			    .x = weir_alloc(padded * s->k, sizeof *b->x),
			    .number = weir_calloc(padded, sizeof *b->number),
			    .tree = weir_calloc(padded, sizeof *b->tree),
			    .up = roots_new(n),
			    .near = weir_alloc(n, sizeof *b->near),
			    .first = weir_alloc(n, sizeof *b->first)};
	if (!b->x || !b->number || !b->tree || !b->up || !b->near || !b->first)
		return -ENOMEM;
	fill_blocks(b->x, s, padded, LOOK_BLOCK);
	roots_single(b->tree, n);
	for (size_t i = 0; i < n; i++)
		b->number[i] = s->id ? s->id[i] : (uint32_t)i;
	return 0;
}

/* Returns -EEXIST when two points are equal, which the first round shows; -ERANGE when squares overflow. */
static int
grow_brute(struct brute *b, struct sorted *edge, int threads)
{
	for (size_t have = 0; have + 1 < b->n;) {
#pragma omp parallel for schedule(dynamic, 64) num_threads(threads) if (b->n > 500)
		for (size_t v = 0; v < b->n; v++)
			b->near[v] = nearest(b, v);
		for (size_t v = 0; !have && v < b->n; v++)
			if (isinf(b->near[v].d2) || joins_equal(b->s, &b->near[v]))
				return isinf(b->near[v].d2) ? -ERANGE : -EEXIST;
		have += join(b, edge + have);
		if (b->s->step)
			b->s->step(b->s->step_of, (double)have / (double)b->n);
	}
	return 0;
}

int
SIMD_NAME(emst_brute)(const struct kd_input *in, struct emst_tree *t)
{
	struct sorted *edge = weir_alloc_large(2 * in->s->n, sizeof *edge);
	struct brute b;
	int err = begin(&b, in->s);

	if (!err)
		err = edge ? grow_brute(&b, edge, in->threads) : -ENOMEM;
	weir_free_all(b.x, b.number, b.tree, b.up, b.near, b.first);
	return write_edges(err, edge, in, t);
}
