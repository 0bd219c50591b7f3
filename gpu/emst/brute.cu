/*
 * The tree of points: in every round of Boruvka's each point looks for its nearest point of another tree. Points of up to 4
 * coordinates search a tree of boxes. Others, and all by --method=brute, look at all points, tile by tile, as Barsuk
 * and Ivanov computed the tree on a GPU.
 *
 *	nearest	block = 256 threads, a thread 4 points (1 where they have more than 4 coordinates), grid = points x parts of
 *		all points, so that few points fill the device too; tiles of 256 points in shared memory, read by all
 *		threads at once; a vote per point of a tile, whether it is as near to any lane's as the best so far
 *	others	thread = point or tree: a tree's first edge by atomic minima of its length and then of its rank, trees hooked
 *		to trees, points relabelled
 *
 * No longer ring can close, as lattice.cu says. Distances are summed as the CPU does it, every operation rounded
 * (-fmad=false).
 *
 * Bound: operations. A pair costs 3 k + 3 (k coordinates: a difference, a product, a sum each; the tree, the length, the
 * choice), n^2 pairs a round, and a round at least halves the trees. Bytes: n^2 / 1024 x 4 (k + 2) from the second-level
 * cache.
 *
 * The search by a tree of boxes, for points of up to 4 coordinates: Prokopenko, Sao, Lebrun-Grandie, "A single-tree
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
#include "gpu/emst/lattice.h"

#include <math.h>

namespace
{

constexpr unsigned THREADS = 256, NONE = ~0u, MOST_PARTS = 64;

struct edge {
	unsigned u, v; /* u < v */
	double d2;
};

struct counts {
	unsigned edges, equal; /* equal: the edges between points with the same coordinates */
};

/* The arrays of a run, all on the device. */
struct work {
	const void *x;		/* [n][K] */
	const unsigned *number; /* [n]: the points' numbers in the tie rule */
	unsigned n, parts;
	void *d2; /* [parts][n]: squared distance to each part's nearest point of another tree */
	unsigned *to;	  /* [parts][n]: that point, or NONE */
	unsigned *tree;	  /* [n]: the point that the tree of a point is named after */
	unsigned *parent; /* [n], by tree: the tree it hooks to */
	u64 *length;	  /* [n], by tree: the least d2, as bits */
	u64 *rank;	  /* [n], by tree: among edges of that length, the least rank_of() */
	uint2 *chosen;	  /* [n], by tree */
	edge *edges;	  /* [n] */
	counts *count;
};

template <class T>
__device__ T
square(T a)
{
	return a * a;
}

/* A length as a number that atomicMin() can compare. */
__device__ __forceinline__ u64
bits_of(double d2)
{
	return (u64)__double_as_longlong(d2);
}

/* Returns hi - lo and lo of the numbers of two points as one number, which orders edges of equal length. */
__device__ u64
rank_of(unsigned a, unsigned b)
{
	return (u64)(max(a, b) - min(a, b)) << 32 | min(a, b);
}

/* The nearest point that a thread has found for its point so far. */
template <class T> struct nearest_so_far {
	T d2;
	unsigned to;
	u64 rank; /* of the edge to it */
};

/* Keeps the smaller edge, by the order of edges. */
template <class T>
__device__ void
meet(nearest_so_far<T> &best, T d2, unsigned to, unsigned number, unsigned its_number)
{
	if (d2 > best.d2)
		return;
	const u64 rank = rank_of(number, its_number);
	if (d2 == best.d2 && rank >= best.rank)
		return;
	best = {d2, to, rank};
}

template <class T, unsigned K> struct tile {
	alignas(16) T x[THREADS][K];
	unsigned tree[THREADS], number[THREADS];
};

/* Loads the points from `first` on. Places beyond the end of the set count as points of the same tree. */
template <class T, unsigned K>
__device__ void
load(tile<T, K> &s, const work &w, unsigned first)
{
	const unsigned j = first + threadIdx.x;
	const bool there = j < w.n;

	for (unsigned a = 0; a < K; a++)
		s.x[threadIdx.x][a] = there ? static_cast<const T *>(w.x)[(size_t)j * K + a] : 0;
	s.tree[threadIdx.x] = there ? w.tree[j] : NONE;
	s.number[threadIdx.x] = there ? w.number[j] : 0;
}

template <class T, unsigned K>
__global__ void
__launch_bounds__(THREADS) nearest(const work w)
{
	constexpr unsigned PER = K > 4 ? 1 : 4;
	__shared__ tile<T, K> s;
	const unsigned tiles = gpu_blocks(w.n, THREADS), part = blockIdx.y;
	const unsigned from = (unsigned)((u64)tiles * part / w.parts);
	const unsigned end = (unsigned)((u64)tiles * (part + 1) / w.parts);
	T x[PER][K];
	unsigned tree[PER], number[PER];
	nearest_so_far<T> best[PER];

#pragma unroll
	for (unsigned p = 0; p < PER; p++) {
		const unsigned i = (blockIdx.x * PER + p) * THREADS + threadIdx.x;
		const unsigned at = min(i, w.n - 1);
		for (unsigned a = 0; a < K; a++)
			x[p][a] = static_cast<const T *>(w.x)[(size_t)at * K + a];
		tree[p] = w.tree[at];
		number[p] = w.number[at];
		best[p] = {(T)INFINITY, NONE, ~(u64)0};
	}
	for (unsigned t = from; t < end; t++) {
		const unsigned first = t * THREADS, some = min(THREADS, w.n - first);
		__syncthreads();
		load<T, K>(s, w, first);
		__syncthreads();
		for (unsigned j = 0; j < some; j++) {
			T d2[PER];
			bool near = false;
#pragma unroll
			for (unsigned p = 0; p < PER; p++) {
				d2[p] = square(x[p][0] - s.x[j][0]);
#pragma unroll
				for (unsigned a = 1; a < K; a++)
					d2[p] += square(x[p][a] - s.x[j][a]);
				near |= s.tree[j] != tree[p] && !(d2[p] > best[p].d2);
			}
			/* A pair is rarely nearer than the best so far. Without the vote all would pay for the choice. */
			if (!__any_sync(~0u, near))
				continue;
#pragma unroll
			for (unsigned p = 0; p < PER; p++)
				if (s.tree[j] != tree[p])
					meet<T>(best[p], d2[p], first + j, number[p], s.number[j]);
		}
	}
#pragma unroll
	for (unsigned p = 0; p < PER; p++) {
		const unsigned i = (blockIdx.x * PER + p) * THREADS + threadIdx.x;
		if (i >= w.n)
			continue;
		static_cast<T *>(w.d2)[(size_t)part * w.n + i] = best[p].d2;
		w.to[(size_t)part * w.n + i] = best[p].to;
	}
}

/* Combines the answers of the parts into one, at part 0, and finds the least length of each tree. */
template <class T>
__device__ void
choose_length(unsigned i, const work &w)
{
	nearest_so_far<T> best = {(T)INFINITY, NONE, ~(u64)0};

	T least = best.d2;
#pragma unroll 8
	for (unsigned p = 0; p < w.parts; p++) /* loads that need not wait for each other */
		least = min(least, static_cast<const T *>(w.d2)[(size_t)p * w.n + i]);
	for (unsigned p = 0; p < w.parts; p++) {
		if (static_cast<const T *>(w.d2)[(size_t)p * w.n + i] > least)
			continue;
		const unsigned to = w.to[(size_t)p * w.n + i];
		if (to != NONE)
			meet<T>(best, least, to, w.number[i], w.number[to]);
	}
	static_cast<T *>(w.d2)[i] = best.d2;
	w.to[i] = best.to;
	if (best.to != NONE)
		atomicMin(&w.length[w.tree[i]], bits_of((double)best.d2));
}

/* Whether point i proposes an edge of its tree's least length. */
template <class T>
__device__ bool
proposes(const work &w, unsigned i)
{
	return w.to[i] != NONE &&
	       bits_of((double)static_cast<const T *>(w.d2)[i]) == w.length[w.tree[i]];
}

template <class T>
__device__ void
choose_rank(unsigned i, const work &w)
{
	if (proposes<T>(w, i))
		atomicMin(&w.rank[w.tree[i]], rank_of(w.number[i], w.number[w.to[i]]));
}

/* Chooses the edge of each tree. The edge has one end in the tree, so only one thread writes it. */
template <class T>
__device__ void
choose_edge(unsigned i, const work &w)
{
	if (!proposes<T>(w, i))
		return;
	const unsigned to = w.to[i];
	if (rank_of(w.number[i], w.number[to]) == w.rank[w.tree[i]])
		w.chosen[w.tree[i]] = make_uint2(min(i, to), max(i, to));
}

/* Hooks each tree to the one that its edge leads to. If two chose the same edge, the lower stays and takes the edge. */
template <class T>
__device__ void
hook(unsigned t, const work &w, unsigned K)
{
	if (w.tree[t] != t)
		return;
	w.parent[t] = t;
	if (w.length[t] == ~(u64)0)
		return;
	const uint2 e = w.chosen[t];
	const unsigned other = w.tree[e.x] == t ? w.tree[e.y] : w.tree[e.x];
	const uint2 its = w.length[other] == ~(u64)0 ? make_uint2(NONE, NONE) : w.chosen[other];
	const bool mutual = its.x == e.x && its.y == e.y;
	if (!mutual || t > other)
		w.parent[t] = other;
	if (mutual && t > other)
		return;
	w.edges[atomicAdd(&w.count->edges, 1u)] = {e.x, e.y,
						   __longlong_as_double((long long)w.length[t])};
	const T *const x = static_cast<const T *>(w.x);
	for (unsigned a = 0; a < K; a++)
		if (x[(size_t)e.x * K + a] != x[(size_t)e.y * K + a])
			return;
	atomicAdd(&w.count->equal, 1u);
}

/* --- the tree of boxes ------------------------------------------------------------------------------------------------ */

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
__device__ void
make_codes(unsigned i, const work &w, const bvh &b)
{
	constexpr unsigned BITS = 32 / K;
	unsigned code = 0;

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
__device__ void
build(unsigned i, const work &w, const bvh &b)
{
	unsigned from = i, to = i, at = LEAF | i;
	box<T, K> own;

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
__device__ void
label_nodes(unsigned i, const work &w, const bvh &b)
{
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
		d2 += square(gap);
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
		d2 += square(s.x[a] - y[a]);
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

/* The next larger number; d2 >= 0. */
template <class T>
__device__ T
next_above(T d2)
{
	if constexpr (sizeof d2 == sizeof(float))
		return __uint_as_float(__float_as_uint(d2) + 1);
	else
		return __longlong_as_double(__double_as_longlong(d2) + 1);
}

/* A known edge bounds what both its trees still look for. */
template <class T>
__device__ void
recall(unsigned i, const work &w, const bvh &b)
{
	const unsigned pivot = *b.pivot;

	if (w.to[i] == NONE)
		return;
	const unsigned tree = w.tree[i], other = w.tree[w.to[i]];
	const u64 length = bits_of((double)static_cast<const T *>(w.d2)[i]);
	if (tree == other) {
		w.to[i] = NONE;
		return;
	}
	if (tree != pivot)
		lower(&w.length[tree], length);
	if (other != pivot)
		lower(&w.length[other], length);
}

/*
 * No edge longer than the shortest one that its tree has found so far is a tree's first edge. d2[] of a point is the distance to
 * to[], or, where that is NONE, a distance than which no point of another tree is nearer.
 */
template <class T, unsigned K>
__device__ void
search(unsigned i, const work &w, const bvh &b)
{
	seeker<T, K> s;

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
		lower(&w.length[s.tree], bits_of((double)s.best.d2));
}

/* --- the host ------------------------------------------------------------------------------------------------------ */

/* Returns sizeof(node<T, K>). */
template <class T>
constexpr size_t
node_bytes(unsigned K)
{
	return 4 * (K * sizeof(T) + sizeof(unsigned));
}

/* --- rounds ----------------------------------------------------------------------------------------------------------- */

/*
 * Finds the nearest point of another tree for those points that may have a first edge, and the least length of each tree's
 * edges. b NULL: by brute force, for all points; the grid is points by parts.
 */
template <class T, unsigned K>
int
find_nearest(struct gpu *g, const work &w, const bvh *b)
{
	constexpr unsigned PER = K > 4 ? 1 : 4;
	const unsigned all = gpu_blocks(w.n, THREADS);

	if constexpr (K <= BVH_DIMS)
		if (b) {
			GPU_TRY(g,
				cudaMemsetAsync(b->seen, 0, w.n * sizeof *b->seen, g->stream[0]));
			GPU_LAUNCH(g, choose_pivot, 1, THREADS, 0, w, *b);
			GPU_EACH(g, recall<T>, w.n, w, *b);
			GPU_EACH(g, (label_nodes<T, K>), w.n, w, *b);
			GPU_EACH(g, (search<T, K>), w.n, w, *b);
			return 0;
		}
	GPU_LAUNCH(g, (nearest<T, K>), dim3((all + PER - 1) / PER, w.parts), THREADS, 0, w);
	GPU_EACH(g, choose_length<T>, w.n, w);
	return 0;
}

/* Rounds until one tree is left. -EEXIST: two points are equal. */
template <class T, unsigned K>
int
rounds(struct gpu *g, const work &w, const bvh *b, bool distinct)
{
	counts c = {0, 0};
	unsigned before;

	if constexpr (K <= BVH_DIMS)
		if (b) { /* the tree of boxes, once for all rounds */
			static_assert(sizeof(node<T, K>) == node_bytes<T>(K),
				      "nodes have their room");
			GPU_TRY(g,
				cudaMemsetAsync(b->end, 0xff, w.n * sizeof *b->end, g->stream[0]));
			GPU_TRY(g, cudaMemsetAsync(w.d2, 0, w.n * sizeof(T), g->stream[0]));
			GPU_TRY(g, cudaMemsetAsync(w.to, 0xff, w.n * sizeof *w.to, g->stream[0]));
			GPU_EACH(g, (make_codes<T, K>), w.n, w, *b);
			GPU_DO(prim_sort(g, b->code, b->index, w.n, 0, b->scratch, false));
			GPU_EACH(g, (build<T, K>), w.n, w, *b);
		}
	GPU_TRY(g, cudaMemsetAsync(w.count, 0, sizeof *w.count, g->stream[0]));
	GPU_EACH(g, single<work>, w.n, w);
	do {
		before = c.edges;
		GPU_DO(gpu_begin(g));
		GPU_TRY(g, cudaMemsetAsync(w.length, 0xff, w.n * sizeof *w.length, g->stream[0]));
		GPU_TRY(g, cudaMemsetAsync(w.rank, 0xff, w.n * sizeof *w.rank, g->stream[0]));
		GPU_DO(find_nearest<T, K>(g, w, b));
		GPU_EACH(g, choose_rank<T>, w.n, w);
		GPU_EACH(g, choose_edge<T>, w.n, w);
		GPU_EACH(g, hook<T>, w.n, w, K);
		GPU_EACH(g, relabel<work>, w.n, w);
		GPU_DO(gpu_end(g));
		GPU_DO(gpu_look(g, &c, w.count, sizeof c));
		if (c.equal && !distinct)
			return -EEXIST;
	} while (c.edges + 1 < w.n && c.edges > before);
	return c.edges + 1 < w.n ? -ERANGE : 0; /* distances that are infinite */
}

/* The points as the kernels want them, K coordinates each, those beyond the set's 0; numbers and coordinates of colours. */
template <class T> struct points {
	T *x;
	unsigned *number;
};

template <class T>
int
make_points(points<T> *p, const emst_set *s, unsigned K)
{
	const T *const from = static_cast<const T *>(s->x);

	p->x = static_cast<T *>(weir_alloc(s->n * K, sizeof *p->x));
	p->number = static_cast<unsigned *>(weir_alloc(s->n, sizeof *p->number));
	if (!p->x || !p->number)
		return -ENOMEM;
	if (s->type == EMST_CODE)
		lattice_codes(s->lattice, p->number, 1);
	for (size_t i = 0; i < s->n; i++) {
		if (s->type != EMST_CODE)
			p->number[i] = s->id ? s->id[i] : (unsigned)i;
		for (unsigned a = 0; a < K; a++)
			p->x[i * K + a] = s->type == EMST_CODE
					      ? (T)(p->number[i] >> 8 * (2 - a) & 255)
					  : a < s->k ? from[i * s->k + a]
						     : 0;
	}
	return 0;
}

/* Coordinates that kernels exist for. */
unsigned
padded(const emst_set *s)
{
	const unsigned k = s->type == EMST_CODE ? 3 : s->k;

	return k <= 4 ? k : k <= 8 ? 8 : 16;
}

enum { HOLD_POINTS, HOLD_LABELS, HOLD_CHOICE, HOLD_BVH };

/* Room on the device, and the points there. */
template <class T>
int
place(struct gpu *g, size_t n, unsigned K, bool brute, const points<T> *p, work *w)
{
	const unsigned blocks = gpu_blocks(n, 4 * THREADS);
	const unsigned want = 8 * (unsigned)g->prop.multiProcessorCount;
	T *x;
	unsigned *number;

	w->n = (unsigned)n;
	w->parts = brute && blocks < want ? min(gpu_blocks(want, blocks), MOST_PARTS) : 1;
	GPU_DO(gpu_place(g, HOLD_POINTS, [&](gpu_block *at) {
		w->x = x = gpu_take<T>(at, n * K);
		w->number = number = gpu_take<unsigned>(at, n);
		w->d2 = gpu_take<T>(at, w->parts * n);
		w->to = gpu_take<unsigned>(at, w->parts * n);
		w->edges = gpu_take<edge>(at, n);
		w->count = gpu_take<counts>(at, 1);
	}));
	GPU_DO(gpu_place(g, HOLD_LABELS,
			 [&](gpu_block *at) { gpu_take_all(at, n, &w->tree, &w->parent); }));
	GPU_DO(gpu_place(g, HOLD_CHOICE, [&](gpu_block *at) {
		gpu_take_all(at, n, &w->length, &w->rank, &w->chosen);
	}));
	GPU_DO(gpu_up(g, x, p->x, n * K * sizeof *x));
	return gpu_up(g, number, p->number, n * 4);
}

template <class T>
int
place_bvh(struct gpu *g, const T *x, size_t n, unsigned K, bvh *b)
{
	GPU_DO(gpu_place(g, HOLD_BVH, [&](gpu_block *at) {
		b->nodes = gpu_take<char>(at, n * node_bytes<T>(K));
		gpu_take_all(at, n, &b->code, &b->index, &b->leaf_up, &b->node_up, &b->end,
			     &b->seen);
		gpu_take_all(at, 1, &b->root, &b->pivot);
		b->scratch = gpu_take<unsigned>(at, prim_sort_words(n));
	}));
	/* the scale that spreads each coordinate over the bits that it has in a code */
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
	return 0;
}

/* The rounds of k coordinates, as padded() gives them: 1, 2, 3, 4, 8 or 16. */
template <class T, unsigned K = 1>
int
run(struct gpu *g, const work &w, unsigned k, const bvh *b, bool distinct)
{
	if constexpr (K < 16)
		if (k != K)
			return run<T, (K < 4 ? K + 1 : 2 * K)>(g, w, k, b, distinct);
	return rounds<T, K>(g, w, b, distinct);
}

/* The edges as order_edges() sorts them. A length that was summed in floats is one. */
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

template <class T>
int
by_points(struct gpu *g, const emst_set *s, bool all, emst_tree *t)
{
	const unsigned K = padded(s);
	const bool brute = all || K > BVH_DIMS || s->n < 2;
	points<T> p = {};
	bvh b = {};
	work w = {};
	unsigned most = 0;
	const gpu_at_end done{[&] {
		weir_free(p.x);
		weir_free(p.number);
	}};

	GPU_DO(make_points(&p, s, K));
	GPU_DO(place(g, s->n, K, brute, &p, &w));
	if (!brute)
		GPU_DO(place_bvh(g, p.x, s->n, K, &b));
	GPU_DO(run<T>(g, w, K, brute ? NULL : &b, s->type == EMST_CODE));
	for (unsigned i = 0; i < w.n; i++)
		most = max(most, p.number[i]);
	/* the labels and choices are not needed any more */
	const point_edges<T> e = {{most + 1, most + 1}, w.edges, w.number};
	return order_edges(g, e, w.n, HOLD_CHOICE, HOLD_LABELS, t);
}

} // namespace

int
emst_by_points(struct gpu *g, const struct emst_set *s, bool brute, struct emst_tree *t)
{
	return s->type == EMST_F64 ? by_points<double>(g, s, brute, t)
				   : by_points<float>(g, s, brute, t);
}
