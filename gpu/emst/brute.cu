/*
 * The tree of points: in every round of Boruvka's each point looks for its nearest point of another tree. Points of up to 4
 * coordinates search a tree of boxes: bvh.h. Others, and all by --method=brute, look at all points, tile by tile, as Barsuk
 * and Ivanov computed the tree on a GPU.
 *
 *	nearest	block = 256 threads, a thread 4 points (1 where they have more than 4 coordinates), grid = points x parts of
 *		all points, so that few points fill the device too; tiles of 256 points in shared memory, read by all
 *		threads at once; a vote per point of a tile, whether it is as near to any lane's as the best so far
 *	others	thread = point or tree: a tree's first edge by atomic minima of its length and then of its rank, trees hooked
 *		to trees, points relabelled
 *
 * order.h sorts the edges.
 *
 * The order of edges (d2, hi - lo, lo) is strict, so two trees that choose each other chose the same edge and no longer
 * ring can close; the tree is the only one, whatever the schedule. Distances are summed as the CPU does it, every operation
 * rounded.
 *
 * Bound: operations. A pair costs 3 k + 3 (k coordinates: a difference, a product, a sum each; the tree, the length, the
 * choice), n^2 pairs a round, and a round at least halves the trees. Bytes: n^2 / 1024 x 4 (k + 2) from the second-level
 * cache.
 */
#include "gpu/block.h"
#include "gpu/emst/bvh.h"
#include "gpu/emst/order.h"

namespace
{

/* --- the host ------------------------------------------------------------------------------------------------------ */

/*
 * Finds the nearest point of another tree for those points that may have a first edge, and the least length of each tree's
 * edges. b NULL: by brute force, for all points; the grid is points by parts.
 */
template <class T, unsigned K>
int
find_nearest(struct gpu *g, const work &w, const bvh *b)
{
	constexpr unsigned PER = K > 4 ? 1 : 4;
	const unsigned all = (w.n + THREADS - 1) / THREADS;

	if constexpr (K <= BVH_DIMS)
		if (b)
			return bvh_search<T, K>(g, w, *b);
	GPU_LAUNCH(g, (nearest<T, K>), dim3((all + PER - 1) / PER, w.parts), THREADS, 0, w);
	GPU_LAUNCH(g, choose_length<T>, all, THREADS, 0, w);
	return 0;
}

template <class T, unsigned K>
int
round_of(struct gpu *g, const work &w, const bvh *b)
{
	const unsigned all = (w.n + THREADS - 1) / THREADS;
	int err;

	GPU_TRY(g, cudaMemsetAsync(w.length, 0xff, w.n * sizeof *w.length, g->stream[0]));
	GPU_TRY(g, cudaMemsetAsync(w.rank, 0xff, w.n * sizeof *w.rank, g->stream[0]));
	if ((err = find_nearest<T, K>(g, w, b)))
		return err;
	GPU_LAUNCH(g, choose_rank<T>, all, THREADS, 0, w);
	GPU_LAUNCH(g, choose_edge<T>, all, THREADS, 0, w);
	GPU_LAUNCH(g, hook<T>, all, THREADS, 0, w, K);
	GPU_LAUNCH(g, relabel, all, THREADS, 0, w);
	return 0;
}

/* Rounds until one tree is left. -EEXIST: two points are equal. */
template <class T, unsigned K>
int
rounds(struct gpu *g, const work &w, const bvh *b, bool distinct)
{
	counts c = {0, 0};
	unsigned before;
	int err;

	if constexpr (K <= BVH_DIMS)
		if (b && (err = bvh_make<T, K>(g, w, *b)))
			return err;
	GPU_TRY(g, cudaMemsetAsync(w.count, 0, sizeof *w.count, g->stream[0]));
	GPU_LAUNCH(g, single, (w.n + THREADS - 1) / THREADS, THREADS, 0, w);
	do {
		before = c.edges;
		if ((err = gpu_begin(g)) || (err = round_of<T, K>(g, w, b)) || (err = gpu_end(g)) ||
		    (err = gpu_look(g, &c, w.count, sizeof c)))
			return err;
		if (c.equal && !distinct)
			return -EEXIST;
	} while (c.edges + 1 < w.n && c.edges > before);
	return c.edges + 1 < w.n ? -ERANGE : 0; /* distances that are infinite */
}

/* The points as the kernels want them, K coordinates each, those beyond the set's 0; numbers and coordinates of colours. */
struct points {
	void *x;
	unsigned *number;
};

template <class T>
void
pad(T *to, const T *from, size_t n, unsigned k, unsigned K)
{
	for (size_t i = 0; i < n; i++)
		for (unsigned a = 0; a < K; a++)
			to[i * K + a] = a < k ? from[i * k + a] : 0;
}

void
paint(float *to, const unsigned *code, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (unsigned a = 0; a < 3; a++)
			to[3 * i + a] = (float)(code[i] >> 8 * (2 - a) & 255);
}

size_t
size_of(const emst_set *s)
{
	return s->type == EMST_F64 ? sizeof(double) : sizeof(float);
}

int
make_points(points *p, const emst_set *s, unsigned K)
{
	p->x = weir_alloc(s->n * K, size_of(s));
	p->number = static_cast<unsigned *>(weir_alloc(s->n, sizeof *p->number));
	if (!p->x || !p->number)
		return -ENOMEM;
	if (s->type == EMST_CODE) {
		lattice_codes(s->lattice, p->number, 1);
		paint(static_cast<float *>(p->x), p->number, s->n);
		return 0;
	}
	for (size_t i = 0; i < s->n; i++)
		p->number[i] = s->id ? s->id[i] : (unsigned)i;
	if (s->type == EMST_F32)
		pad(static_cast<float *>(p->x), static_cast<const float *>(s->x), s->n, s->k, K);
	else
		pad(static_cast<double *>(p->x), static_cast<const double *>(s->x), s->n, s->k, K);
	return 0;
}

/* Coordinates that kernels exist for. */
unsigned
padded(const emst_set *s)
{
	const unsigned k = s->type == EMST_CODE ? 3 : s->k;

	return k <= 4 ? k : k <= 8 ? 8 : 16;
}

enum { HOLD_X, HOLD_NUMBER, HOLD_D2, HOLD_TO, HOLD_LABELS, HOLD_CHOICE, HOLD_EDGES, HOLD_BVH };

/* Room on the device, and the points there. */
int
place(struct gpu *g, const emst_set *s, unsigned K, bool brute, const points *p, work *w)
{
	const size_t n = s->n, x_bytes = n * K * size_of(s);
	const unsigned blocks = (unsigned)((n + 4 * THREADS - 1) / (4 * THREADS));
	const unsigned want = 8 * (unsigned)g->prop.multiProcessorCount;
	void *x, *number, *to, *labels, *choice, *edges;
	int err;

	w->n = (unsigned)n;
	w->parts = brute && blocks < want ? min((want + blocks - 1) / blocks, MOST_PARTS) : 1;
	if ((err = gpu_hold(g, HOLD_X, x_bytes, &x)) ||
	    (err = gpu_hold(g, HOLD_NUMBER, n * 4, &number)) ||
	    (err = gpu_hold(g, HOLD_D2, w->parts * n * size_of(s), &w->d2)) ||
	    (err = gpu_hold(g, HOLD_TO, w->parts * n * 4, &to)) ||
	    (err = gpu_hold(g, HOLD_LABELS, n * 8, &labels)) ||
	    (err = gpu_hold(g, HOLD_CHOICE, n * 24, &choice)) ||
	    (err = gpu_hold(g, HOLD_EDGES, n * sizeof(edge) + sizeof(counts), &edges)))
		return err;
	w->x = x;
	w->number = static_cast<unsigned *>(number);
	w->to = static_cast<unsigned *>(to);
	w->tree = static_cast<unsigned *>(labels);
	w->parent = w->tree + n;
	w->length = static_cast<u64 *>(choice);
	w->rank = w->length + n;
	w->chosen = reinterpret_cast<uint2 *>(w->rank + n);
	w->edges = static_cast<edge *>(edges);
	w->count = reinterpret_cast<counts *>(w->edges + n);
	err = gpu_up(g, x, p->x, x_bytes);
	return err ? err : gpu_up(g, number, p->number, n * 4);
}

/* The scale that spreads each coordinate over the bits that it has in a code. */
template <class T>
void
measure(bvh *b, const T *x, size_t n, unsigned K)
{
	for (unsigned a = 0; a < K; a++) {
		T low = x[a], high = x[a];
		for (size_t i = 0; i < n; i++) {
			low = x[i * K + a] < low ? x[i * K + a] : low;
			high = x[i * K + a] > high ? x[i * K + a] : high;
		}
		const double extent = (double)high - (double)low;
		b->origin[a] = (double)low;
		b->scale[a] = extent > 0 && extent < INFINITY ? (exp2(32 / K) - 1) / extent : 0;
	}
}

template <class T>
void
lay_bvh(gpu_block *at, size_t n, unsigned K, bvh *b)
{
	b->nodes = gpu_take<char>(at, n * node_bytes<T>(K));
	b->code = gpu_take<unsigned>(at, n);
	b->index = gpu_take<unsigned>(at, n);
	b->leaf_up = gpu_take<unsigned>(at, n);
	b->node_up = gpu_take<unsigned>(at, n);
	b->end = gpu_take<unsigned>(at, n);
	b->seen = gpu_take<unsigned>(at, n);
	b->root = gpu_take<unsigned>(at, 1);
	b->pivot = gpu_take<unsigned>(at, 1);
	b->scratch = gpu_take<unsigned>(at, prim_sort_words(n));
}

template <class T>
int
place_bvh(struct gpu *g, const points *p, size_t n, unsigned K, bvh *b)
{
	const int err = gpu_place(g, HOLD_BVH, [&](gpu_block *at) { lay_bvh<T>(at, n, K, b); });

	if (!err)
		measure(b, static_cast<const T *>(p->x), n, K);
	return err;
}

template <class T>
int
run(struct gpu *g, const work &w, unsigned K, const bvh *b, bool distinct)
{
	switch (K) {
	case 1:
		return rounds<T, 1>(g, w, b, distinct);
	case 2:
		return rounds<T, 2>(g, w, b, distinct);
	case 3:
		return rounds<T, 3>(g, w, b, distinct);
	case 4:
		return rounds<T, 4>(g, w, b, distinct);
	case 8:
		return rounds<T, 8>(g, w, b, distinct);
	default:
		return rounds<T, 16>(g, w, b, distinct);
	}
}

/* The edges as order.h sorts them. A length that was summed in floats is one. */
template <class T> struct point_edges {
	enum { LO, SPAN, D2, KEYS = D2 + sizeof(T) / sizeof(unsigned) };
	unsigned limit[KEYS];
	const edge *edges;
	const unsigned *number;

	__device__ unsigned
	key(unsigned i, unsigned k) const
	{
		const edge e = edges[i];
		const u64 rank = rank_of(number[e.u], number[e.v]);

		if (k <= SPAN)
			return (unsigned)(k == LO ? rank : rank >> 32);
		if (KEYS == D2 + 1)
			return __float_as_uint((float)e.d2);
		return (unsigned)((u64)__double_as_longlong(e.d2) >> 32 * (k - D2));
	}

	__device__ emst_edge
	ends(unsigned i) const
	{
		return {edges[i].u, edges[i].v};
	}

	__device__ double
	length(unsigned i) const
	{
		return sqrt(edges[i].d2);
	}
};

/* The edges, in their order, as the tree. The labels and choices are not needed any more. */
template <class T>
int
finish(struct gpu *g, const work &w, const points *p, emst_tree *t)
{
	unsigned most = 0;

	for (unsigned i = 0; i < w.n; i++)
		most = max(most, p->number[i]);
	const point_edges<T> e = {{most + 1, most + 1}, w.edges, w.number};
	return order_edges(g, e, w.n, HOLD_CHOICE, HOLD_LABELS, t);
}

int
grow(struct gpu *g, const emst_set *s, bool all, points *p, emst_tree *t)
{
	const unsigned K = padded(s);
	const bool distinct = s->type == EMST_CODE, wide = s->type == EMST_F64,
		   brute = all || K > BVH_DIMS || s->n < 2;
	bvh b = {};
	work w = {};
	int err = make_points(p, s, K);

	if (err || (err = place(g, s, K, brute, p, &w)))
		return err;
	if (!brute && (err = wide ? place_bvh<double>(g, p, s->n, K, &b)
				  : place_bvh<float>(g, p, s->n, K, &b)))
		return err;
	const bvh *const tree = brute ? NULL : &b;
	err = wide ? run<double>(g, w, K, tree, distinct) : run<float>(g, w, K, tree, distinct);
	if (err)
		return err;
	return wide ? finish<double>(g, w, p, t) : finish<float>(g, w, p, t);
}

} // namespace

int
emst_by_points(struct gpu *g, const struct emst_set *s, bool brute, struct emst_tree *t)
{
	points p = {};
	const int err = grow(g, s, brute, &p, t);

	weir_free(p.x);
	weir_free(p.number);
	return err;
}
