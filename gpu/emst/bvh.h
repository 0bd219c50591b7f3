/*
 * The search of brute.cu by a tree of boxes, for points of up to 4 coordinates: Prokopenko, Sao, Lebrun-Grandie, "A single-tree
 * algorithm to compute the Euclidean minimum spanning tree on GPUs", 2022. The tree stands on the points in Morton order
 * and is built from its leaves upward (Apetrei 2014).
 *
 *	codes		thread = point: its Morton code, by which prim.cu sorts
 *	build, label	thread = leaf, which climbs; at each node the first of the two children that arrives stops
 *	recall		thread = point: whether the nearest point that it found is still of another tree
 *	search		thread = leaf: the tree from above, nearer child first
 *
 * A node holds the boxes of both children, and for each the tree of all points below, or MIXED. The distance to a box is
 * rounded operation by operation as that of two points is, and rounding is monotone. So it exceeds no distance to a point
 * of the box, and leaving out boxes that are farther than the best edge changes no choice, however it is rounded.
 *
 * As in blocks.cu, a point keeps what it has found, and a large tree, the pivot, does not search.
 *
 * Bound: latency. Bytes: a node of 3 coordinates is 64 in float, two sectors that 4 loads bring; a search reads some 2 log2(n)
 * of them from the caches.
 */
#ifndef WEIR_GPU_EMST_BVH_H
#define WEIR_GPU_EMST_BVH_H

#include "gpu/emst/brute.h"
#include "gpu/prim.h"

namespace
{

constexpr unsigned BVH_DIMS = 4, LEAF = 1u << 31, MIXED = ~0u - 1, DEPTH = 66;

/* All on the device. Nodes are numbered by the gap between leaves where their children meet. */
struct bvh {
	double origin[BVH_DIMS], scale[BVH_DIMS]; /* of the codes */
	unsigned *code, *index;	     /* [n], in the order of the codes: leaf i is point index[i] */
	unsigned *scratch;	     /* of the sort */
	unsigned *leaf_up, *node_up; /* [n]: parent << 1 | side */
	unsigned *end;		     /* [n]: the far end of the child that arrived first, or NONE */
	unsigned *seen;		     /* [n]: children that have arrived in this round */
	unsigned *root;
	unsigned *pivot; /* the tree that does not search in this round, or NONE */
	void *nodes;	 /* [n]: of type node */
};

template <class T, unsigned K> struct box {
	T low[K], high[K];
};

/* child: two nodes, or leaves as LEAF | number. tree: of the points below each. A copy of all is made by loads of 16 bytes. */
template <class T, unsigned K> struct alignas(16) node {
	box<T, K> part[2];
	unsigned child[2], tree[2];
};

template <class T, unsigned K>
__device__ node<T, K> *
node_at(const bvh &b, unsigned i)
{
	return static_cast<node<T, K> *>(b.nodes) + i;
}

template <class T, unsigned K>
__global__ void
make_codes(const work w, const bvh b)
{
	constexpr unsigned BITS = 32 / K;
	const unsigned i = blockIdx.x * THREADS + threadIdx.x;
	unsigned code = 0;

	if (i >= w.n)
		return;
	for (unsigned a = 0; a < K; a++) {
		const double x = (double)static_cast<const T *>(w.x)[(size_t)i * K + a];
		const unsigned cell = (unsigned)((x - b.origin[a]) * b.scale[a]);
		for (unsigned bit = 0; bit < BITS; bit++)
			code |= (cell >> bit & 1) << (bit * K + a);
	}
	b.code[i] = code;
}

/* How far apart leaves i and i + 1 are in the order; leaves of one code by their numbers. */
__device__ u64
gap_after(const bvh &b, unsigned i)
{
	return (u64)(b.code[i] ^ b.code[i + 1]) << 32 | (i ^ (i + 1));
}

template <class T, unsigned K>
__global__ void
build(const work w, const bvh b)
{
	const unsigned i = blockIdx.x * THREADS + threadIdx.x;
	unsigned from = i, to = i, at = LEAF | i;
	box<T, K> own;

	if (i >= w.n)
		return;
	for (unsigned a = 0; a < K; a++)
		own.low[a] = own.high[a] = static_cast<const T *>(w.x)[(size_t)b.index[i] * K + a];
	while (from > 0 || to + 1 < w.n) {
		const bool left =
		    from == 0 || (to + 1 < w.n && gap_after(b, to) < gap_after(b, from - 1));
		const unsigned up = left ? to : from - 1;
		node<T, K> *const parent = node_at<T, K>(b, up);
		parent->child[!left] = at;
		(at & LEAF ? b.leaf_up[i] : b.node_up[at]) = up << 1 | !left;
		parent->part[!left] = own;
		__threadfence();
		const unsigned end = atomicExch(&b.end[up], left ? from : to);
		if (end == NONE)
			return;
		__threadfence();
		(left ? to : from) = end;
		const box<T, K> *other = &parent->part[left];
		for (unsigned a = 0; a < K; a++) {
			const T low = __ldcg(&other->low[a]), high = __ldcg(&other->high[a]);
			own.low[a] = low < own.low[a] ? low : own.low[a];
			own.high[a] = high > own.high[a] ? high : own.high[a];
		}
		at = up;
	}
	*b.root = at;
}

template <class T, unsigned K>
__global__ void
label_nodes(const work w, const bvh b)
{
	const unsigned i = blockIdx.x * THREADS + threadIdx.x;

	if (i >= w.n)
		return;
	unsigned tree = w.tree[b.index[i]], at = LEAF | i;
	while (at != *b.root) {
		const unsigned up = at & LEAF ? b.leaf_up[i] : b.node_up[at], side = up & 1;
		at = up >> 1;
		unsigned *const both = node_at<T, K>(b, at)->tree;
		both[side] = tree;
		__threadfence();
		if (atomicAdd(&b.seen[at], 1u) == 0)
			return;
		__threadfence();
		tree = __ldcg(&both[!side]) == tree ? tree : MIXED;
	}
}

/* The squared distance from x to a box, no more than that to any point of the box. */
template <class T, unsigned K>
__device__ T
to_box(const T x[K], const box<T, K> &b)
{
	T d2 = 0;

	for (unsigned a = 0; a < K; a++) {
		const T gap = x[a] < b.low[a]	 ? b.low[a] - x[a]
			      : x[a] > b.high[a] ? x[a] - b.high[a]
						 : 0;
		d2 = rounded_add(d2, rounded_square(gap));
	}
	return d2;
}

/* What a thread searches for: the first edge of its point. */
template <class T, unsigned K> struct seeker {
	T x[K];
	unsigned tree, number;
	nearest_so_far<T> best;
};

template <class T, unsigned K>
__device__ void
look_at(seeker<T, K> &s, const work &w, unsigned point)
{
	const T *y = static_cast<const T *>(w.x) + (size_t)point * K;
	T d2 = 0;

	for (unsigned a = 0; a < K; a++)
		d2 = rounded_add(d2, rounded_square(s.x[a] - y[a]));
	if (w.tree[point] != s.tree)
		meet<T>(s.best, d2, point, s.number, w.number[point]);
}

/*
 * From the root. A node is pushed only if it may hold something better. A leaf's box is its point: no other distance needs to be
 * computed. Conditions, not subscripts, choose between the children, so that a node lies in registers.
 */
template <class T, unsigned K>
__device__ void
descend(seeker<T, K> &s, const work &w, const bvh &b)
{
	unsigned stack[DEPTH], high = 0;

	stack[high++] = *b.root;
	while (high) {
		const node<T, K> n = *node_at<T, K>(b, stack[--high]);
		const T first = to_box<T, K>(s.x, n.part[0]), second = to_box<T, K>(s.x, n.part[1]);
		const bool nearer = second < first;
		for (unsigned i = 0; i < 2; i++) {
			const bool it = i ? nearer : !nearer; /* the nearer one is popped first */
			const T d2 = it ? second : first;
			const unsigned child = it ? n.child[1] : n.child[0];
			if ((it ? n.tree[1] : n.tree[0]) == s.tree || d2 > s.best.d2)
				continue;
			if (!(child & LEAF)) {
				stack[high++] = child;
				continue;
			}
			const unsigned point = b.index[child & ~LEAF];
			meet<T>(s.best, d2, point, s.number, w.number[point]);
		}
	}
}

__global__ void
choose_pivot(const work w, const bvh b)
{
	const unsigned tree = most_common<THREADS>(w.tree[(u64)threadIdx.x * w.n / THREADS]);

	if (threadIdx.x == 0)
		*b.pivot = tree;
}

/* A length as a number that atomicMin() can compare. */
__device__ __forceinline__ u64
bits_of(double d2)
{
	return (u64)__double_as_longlong(d2);
}

/* The next larger number; d2 >= 0. */
__device__ __forceinline__ float
next_above(float d2)
{
	return __uint_as_float(__float_as_uint(d2) + 1);
}

__device__ __forceinline__ double
next_above(double d2)
{
	return __longlong_as_double(__double_as_longlong(d2) + 1);
}

__device__ __forceinline__ void
offer(const work &w, unsigned tree, u64 length)
{
	if (length < __ldcg(&w.length[tree]))
		atomicMin(&w.length[tree], length);
}

/* A known edge bounds what both its trees still look for. */
template <class T>
__global__ void
recall(const work w, const bvh b)
{
	const unsigned i = blockIdx.x * THREADS + threadIdx.x, pivot = *b.pivot;

	if (i >= w.n || w.to[i] == NONE)
		return;
	const unsigned tree = w.tree[i], other = w.tree[w.to[i]];
	const u64 length = bits_of((double)static_cast<const T *>(w.d2)[i]);
	if (tree == other) {
		w.to[i] = NONE;
		return;
	}
	if (tree != pivot)
		offer(w, tree, length);
	if (other != pivot)
		offer(w, other, length);
}

/*
 * No edge longer than the shortest one that its tree has found so far is a tree's first edge. d2[] of a point is the distance to
 * to[], or, where that is NONE, a distance than which no point of another tree is nearer.
 */
template <class T, unsigned K>
__global__ void
search(const work w, const bvh b)
{
	const unsigned i = blockIdx.x * THREADS + threadIdx.x;
	seeker<T, K> s;

	if (i >= w.n)
		return;
	const unsigned point = b.index[i];
	T *const bound = static_cast<T *>(w.d2) + point;
	s.tree = w.tree[point];
	if (s.tree == *b.pivot || w.to[point] != NONE)
		return;
	const u64 least = __ldcg(&w.length[s.tree]);
	s.best = {least == ~(u64)0 ? (T)INFINITY : (T)__longlong_as_double((long long)least), NONE,
		  ~(u64)0};
	if (*bound > s.best.d2)
		return;
	for (unsigned a = 0; a < K; a++)
		s.x[a] = static_cast<const T *>(w.x)[(size_t)point * K + a];
	s.number = w.number[point];
	if (i > 0)
		look_at<T, K>(s, w, b.index[i - 1]);
	if (i + 1 < w.n)
		look_at<T, K>(s, w, b.index[i + 1]);
	descend<T, K>(s, w, b);
	*bound = s.best.to == NONE ? next_above(s.best.d2) : s.best.d2;
	w.to[point] = s.best.to;
	if (s.best.to != NONE)
		offer(w, s.tree, bits_of((double)s.best.d2));
}

/* --- the host ------------------------------------------------------------------------------------------------------ */

/* Returns sizeof(node<T, K>). */
template <class T>
constexpr size_t
node_bytes(unsigned K)
{
	return 4 * (K * sizeof(T) + sizeof(unsigned));
}

/* The tree of boxes over the points of w, once for all rounds. */
template <class T, unsigned K>
int
bvh_make(struct gpu *g, const work &w, const bvh &b)
{
	static_assert(sizeof(node<T, K>) == node_bytes<T>(K), "nodes have their room");
	const unsigned blocks = (w.n + THREADS - 1) / THREADS;
	int err;

	GPU_TRY(g, cudaMemsetAsync(b.end, 0xff, w.n * sizeof *b.end, g->stream[0]));
	GPU_TRY(g, cudaMemsetAsync(w.d2, 0, w.n * sizeof(T), g->stream[0]));
	GPU_TRY(g, cudaMemsetAsync(w.to, 0xff, w.n * sizeof *w.to, g->stream[0]));
	GPU_LAUNCH(g, (make_codes<T, K>), blocks, THREADS, 0, w, b);
	if ((err = prim_sort(g, b.code, b.index, w.n, 0, b.scratch)))
		return err;
	GPU_LAUNCH(g, (build<T, K>), blocks, THREADS, 0, w, b);
	return 0;
}

/* What `nearest` and `choose_length` of brute.h do. */
template <class T, unsigned K>
int
bvh_search(struct gpu *g, const work &w, const bvh &b)
{
	const unsigned blocks = (w.n + THREADS - 1) / THREADS;

	GPU_TRY(g, cudaMemsetAsync(b.seen, 0, w.n * sizeof *b.seen, g->stream[0]));
	GPU_LAUNCH(g, choose_pivot, 1, THREADS, 0, w, b);
	GPU_LAUNCH(g, recall<T>, blocks, THREADS, 0, w, b);
	GPU_LAUNCH(g, (label_nodes<T, K>), blocks, THREADS, 0, w, b);
	GPU_LAUNCH(g, (search<T, K>), blocks, THREADS, 0, w, b);
	return 0;
}

} // namespace

#endif
