/*
 * The tree by brute force, as Barsuk and Ivanov computed it on a GPU: in every round of Boruvka's each point looks at all
 * points of other trees, tile by tile.
 *
 *	nearest	block = 256 threads, a thread 4 points (1 where they have more than 4 coordinates), grid = points x parts of
 *		all points, so that few points fill the device too; tiles of 256 points in shared memory, read by all
 *		threads at once
 *	others	thread = point or tree: a tree's first edge by atomic minima of its length and then of its rank, trees hooked
 *		to trees, points relabelled
 *
 * The order of edges (d2, hi - lo, lo) is strict, so two trees that choose each other chose the same edge and no longer
 * ring can close; the tree is the only one, whatever the schedule. Distances are summed as the CPU does it, every operation
 * rounded.
 *
 * Bound: operations. A pair costs 3 k + 3 (k coordinates: a difference, a product, a sum each; the tree, the length, the
 * choice), n^2 pairs a round, and a round at least halves the trees. Bytes: n^2 / 1024 x 4 (k + 2) from the second-level
 * cache.
 */
#include "gpu/device.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

extern "C" {
#include "common/mem.h"
#include "emst/lattice.h"
#include "gpu/emst.h"
}

namespace
{

typedef unsigned long long u64;

constexpr unsigned THREADS = 256, NONE = ~0u, MOST_PARTS = 64;

struct edge {
	unsigned u, v; /* u < v */
	double d2;
};

struct counts {
	unsigned edges, equal; /* equal: of those, between points with the same coordinates */
};

/* All on the device. */
struct work {
	const void *x;		/* [n][K] */
	const unsigned *number; /* [n]: of the tie rule */
	unsigned n, parts;
	void *d2;	  /* [parts][n]: the nearest of other trees in each part */
	unsigned *to;	  /* [parts][n]: who that is, or NONE */
	unsigned *tree;	  /* [n]: the point that the tree of a point is named after */
	unsigned *parent; /* [n], by tree: the tree it hooks to */
	u64 *length;	  /* [n], by tree: the least d2, as bits */
	u64 *rank;	  /* [n], by tree: the least hi - lo and lo of those */
	uint2 *chosen;	  /* [n], by tree */
	edge *edges;	  /* [n] */
	counts *count;
};

__device__ float
rounded_add(float a, float b)
{
	return __fadd_rn(a, b);
}

__device__ double
rounded_add(double a, double b)
{
	return __dadd_rn(a, b);
}

__device__ float
rounded_square(float a)
{
	return __fmul_rn(a, a);
}

__device__ double
rounded_square(double a)
{
	return __dmul_rn(a, a);
}

/* hi - lo and lo of the numbers of two points, to be compared as one. */
__device__ u64
rank_of(unsigned a, unsigned b)
{
	return (u64)(max(a, b) - min(a, b)) << 32 | min(a, b);
}

/* The nearest so far of a thread's point. */
template <class T> struct nearest_so_far {
	T d2;
	unsigned to;
	u64 rank; /* of the edge to it */
};

/* Keeps the first, by the order of edges. */
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

/* Points first .. of the set; beyond its end: in no tree that differs. */
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
	const unsigned tiles = (w.n + THREADS - 1) / THREADS, part = blockIdx.y;
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
		for (unsigned j = 0; j < some; j++)
#pragma unroll
			for (unsigned p = 0; p < PER; p++) {
				T d2 = 0;
#pragma unroll
				for (unsigned a = 0; a < K; a++)
					d2 = rounded_add(d2, rounded_square(x[p][a] - s.x[j][a]));
				if (s.tree[j] != tree[p])
					meet<T>(best[p], d2, first + j, number[p], s.number[j]);
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

/* The parts' answers become one, at part 0; each tree learns its least length. */
template <class T>
__global__ void
choose_length(const work w)
{
	const unsigned i = blockIdx.x * THREADS + threadIdx.x;
	nearest_so_far<T> best = {(T)INFINITY, NONE, ~(u64)0};

	if (i >= w.n)
		return;
	for (unsigned p = 0; p < w.parts; p++) {
		const unsigned to = w.to[(size_t)p * w.n + i];
		if (to != NONE)
			meet<T>(best, static_cast<const T *>(w.d2)[(size_t)p * w.n + i], to,
				w.number[i], w.number[to]);
	}
	static_cast<T *>(w.d2)[i] = best.d2;
	w.to[i] = best.to;
	if (best.to != NONE)
		atomicMin(&w.length[w.tree[i]], (u64)__double_as_longlong((double)best.d2));
}

/* Whether point i proposes an edge of its tree's least length. */
template <class T>
__device__ bool
proposes(const work &w, unsigned i)
{
	return i < w.n && w.to[i] != NONE &&
	       (u64)__double_as_longlong((double)static_cast<const T *>(w.d2)[i]) ==
		   w.length[w.tree[i]];
}

template <class T>
__global__ void
choose_rank(const work w)
{
	const unsigned i = blockIdx.x * THREADS + threadIdx.x;

	if (proposes<T>(w, i))
		atomicMin(&w.rank[w.tree[i]], rank_of(w.number[i], w.number[w.to[i]]));
}

/* One point of the tree has it: the edge has one end there. */
template <class T>
__global__ void
choose_edge(const work w)
{
	const unsigned i = blockIdx.x * THREADS + threadIdx.x;

	if (!proposes<T>(w, i))
		return;
	const unsigned to = w.to[i];
	if (rank_of(w.number[i], w.number[to]) == w.rank[w.tree[i]])
		w.chosen[w.tree[i]] = make_uint2(min(i, to), max(i, to));
}

template <class T>
__device__ bool
equal_points(const work &w, uint2 e, unsigned K)
{
	const T *x = static_cast<const T *>(w.x);

	for (unsigned a = 0; a < K; a++)
		if (x[(size_t)e.x * K + a] != x[(size_t)e.y * K + a])
			return false;
	return true;
}

/* Each tree hooks to the one its edge leads to; of two that chose the same edge the lower stays, and takes the edge. */
template <class T>
__global__ void
hook(const work w, unsigned K)
{
	const unsigned t = blockIdx.x * THREADS + threadIdx.x;

	if (t >= w.n || w.tree[t] != t)
		return;
	w.parent[t] = t;
	if (w.length[t] == ~(u64)0)
		return;
	const uint2 e = w.chosen[t];
	const unsigned other = w.tree[e.x] == t ? w.tree[e.y] : w.tree[e.x];
	const uint2 its = w.chosen[other];
	const bool mutual = its.x == e.x && its.y == e.y;
	if (!mutual || t > other)
		w.parent[t] = other;
	if (mutual && t > other)
		return;
	w.edges[atomicAdd(&w.count->edges, 1u)] = {e.x, e.y,
						   __longlong_as_double((long long)w.length[t])};
	if (equal_points<T>(w, e, K))
		atomicAdd(&w.count->equal, 1u);
}

__global__ void
relabel(const work w)
{
	const unsigned i = blockIdx.x * THREADS + threadIdx.x;

	if (i >= w.n)
		return;
	unsigned t = w.tree[i];
	while (w.parent[t] != t)
		t = w.parent[t];
	w.tree[i] = t;
}

__global__ void
single(const work w)
{
	const unsigned i = blockIdx.x * THREADS + threadIdx.x;

	if (i < w.n)
		w.tree[i] = i;
}

/* --- the host ------------------------------------------------------------------------------------------------------ */

/* A round; the grid is points by parts. */
template <class T, unsigned K>
int
round_of(struct gpu *g, const work &w)
{
	constexpr unsigned PER = K > 4 ? 1 : 4;
	const unsigned all = (w.n + THREADS - 1) / THREADS;

	GPU_TRY(g, cudaMemsetAsync(w.length, 0xff, w.n * sizeof *w.length, g->stream[0]));
	GPU_TRY(g, cudaMemsetAsync(w.rank, 0xff, w.n * sizeof *w.rank, g->stream[0]));
	GPU_LAUNCH(g, (nearest<T, K>), dim3((all + PER - 1) / PER, w.parts), THREADS, 0, w);
	GPU_LAUNCH(g, choose_length<T>, all, THREADS, 0, w);
	GPU_LAUNCH(g, choose_rank<T>, all, THREADS, 0, w);
	GPU_LAUNCH(g, choose_edge<T>, all, THREADS, 0, w);
	GPU_LAUNCH(g, hook<T>, all, THREADS, 0, w, K);
	GPU_LAUNCH(g, relabel, all, THREADS, 0, w);
	return 0;
}

/* Rounds until one tree is left. -EEXIST: two points are equal. */
template <class T, unsigned K>
int
rounds(struct gpu *g, const work &w, bool distinct)
{
	counts c = {0, 0};
	unsigned before;
	int err;

	GPU_TRY(g, cudaMemsetAsync(w.count, 0, sizeof *w.count, g->stream[0]));
	GPU_LAUNCH(g, single, (w.n + THREADS - 1) / THREADS, THREADS, 0, w);
	do {
		before = c.edges;
		if ((err = gpu_begin(g)) || (err = round_of<T, K>(g, w)) || (err = gpu_end(g)))
			return err;
		GPU_TRY(g, cudaMemcpy(&c, w.count, sizeof c, cudaMemcpyDeviceToHost));
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

enum { HOLD_X, HOLD_NUMBER, HOLD_D2, HOLD_TO, HOLD_LABELS, HOLD_CHOICE, HOLD_EDGES };

/* Room on the device, and the points there. */
int
place(struct gpu *g, const emst_set *s, unsigned K, const points *p, work *w)
{
	const size_t n = s->n, x_bytes = n * K * size_of(s);
	const unsigned blocks = (unsigned)((n + 4 * THREADS - 1) / (4 * THREADS));
	const unsigned want = 8 * (unsigned)g->prop.multiProcessorCount;
	void *x, *number, *to, *labels, *choice, *edges;
	int err;

	w->n = (unsigned)n;
	w->parts = blocks < want ? min((want + blocks - 1) / blocks, MOST_PARTS) : 1;
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

template <class T>
int
run(struct gpu *g, const work &w, unsigned K, bool distinct)
{
	switch (K) {
	case 1:
		return rounds<T, 1>(g, w, distinct);
	case 2:
		return rounds<T, 2>(g, w, distinct);
	case 3:
		return rounds<T, 3>(g, w, distinct);
	case 4:
		return rounds<T, 4>(g, w, distinct);
	case 8:
		return rounds<T, 8>(g, w, distinct);
	default:
		return rounds<T, 16>(g, w, distinct);
	}
}

/* An edge with what it is sorted by. */
struct ranked {
	double d2;
	u64 rank;
	emst_edge e;
};

int
by_rule(const void *pa, const void *pb)
{
	const ranked *a = static_cast<const ranked *>(pa), *b = static_cast<const ranked *>(pb);

	if (a->d2 != b->d2)
		return a->d2 < b->d2 ? -1 : 1;
	return (a->rank > b->rank) - (a->rank < b->rank);
}

/* The edges, in their order, as the tree. */
int
finish(const edge *e, const points *p, size_t n, emst_tree *t)
{
	ranked *r = static_cast<ranked *>(weir_alloc(n, sizeof *r));

	t->n = n;
	t->edge = static_cast<emst_edge *>(weir_alloc(n, sizeof *t->edge));
	t->length = static_cast<double *>(weir_alloc(n, sizeof *t->length));
	for (size_t i = 0; r && i + 1 < n; i++) {
		const u64 lo = p->number[e[i].u], hi = p->number[e[i].v];
		r[i] = {e[i].d2, (hi - lo) << 32 | lo, {e[i].u, e[i].v}};
	}
	if (r)
		qsort(r, n - 1, sizeof *r, by_rule);
	for (size_t i = 0; r && t->edge && t->length && i + 1 < n; i++) {
		t->edge[i] = r[i].e;
		t->length[i] = sqrt(r[i].d2);
	}
	weir_free(r);
	return r && t->edge && t->length ? 0 : -ENOMEM;
}

int
grow(struct gpu *g, const emst_set *s, points *p, emst_tree *t)
{
	const unsigned K = padded(s);
	const bool distinct = s->type == EMST_CODE;
	work w = {};
	int err = make_points(p, s, K);

	if (err || (err = place(g, s, K, p, &w)))
		return err;
	err = s->type == EMST_F64 ? run<double>(g, w, K, distinct) : run<float>(g, w, K, distinct);
	edge *e = static_cast<edge *>(weir_alloc(s->n, sizeof *e));
	if (!err && !e)
		err = -ENOMEM;
	if (!err)
		err = gpu_down(g, e, w.edges, (s->n - 1) * sizeof *e);
	if (!err)
		err = finish(e, p, s->n, t);
	weir_free(e);
	return err;
}

} // namespace

int
gpu_emst_run(struct gpu *g, const struct emst_set *s, struct emst_tree *t)
{
	points p = {};
	int err;

	*t = {};
	if (s->n < 1 || s->n >= EMST_MAXPOINTS || s->k < 1 || s->k > EMST_MAXDIM)
		return -ERANGE;
	err = grow(g, s, &p, t);
	weir_free(p.x);
	weir_free(p.number);
	if (err)
		emst_tree_free(t);
	return err;
}
