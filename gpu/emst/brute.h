/* The kernels of brute.cu. */
#ifndef WEIR_GPU_EMST_BRUTE_H
#define WEIR_GPU_EMST_BRUTE_H

#include <math.h>

#include "gpu/emst/lattice.h"

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
	void *
	    d2; /* [parts][n]: squared distance to the nearest point of another tree in each part */
	unsigned *to;	  /* [parts][n]: that point, or NONE */
	unsigned *tree;	  /* [n]: the point that the tree of a point is named after */
	unsigned *parent; /* [n], by tree: the tree it hooks to */
	u64 *length;	  /* [n], by tree: the least d2, as bits */
	u64 *rank;	  /* [n], by tree: among edges of that length, the least rank_of() */
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
		for (unsigned j = 0; j < some; j++) {
			T d2[PER];
			bool near = false;
#pragma unroll
			for (unsigned p = 0; p < PER; p++) {
				d2[p] = rounded_square(x[p][0] - s.x[j][0]);
#pragma unroll
				for (unsigned a = 1; a < K; a++)
					d2[p] =
					    rounded_add(d2[p], rounded_square(x[p][a] - s.x[j][a]));
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
__global__ void
choose_length(const work w)
{
	const unsigned i = blockIdx.x * THREADS + threadIdx.x;
	nearest_so_far<T> best = {(T)INFINITY, NONE, ~(u64)0};

	if (i >= w.n)
		return;
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

/* Chooses the edge of each tree. The edge has one end in the tree, so only one thread writes it. */
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

/* Hooks each tree to the one that its edge leads to. If two chose the same edge, the lower stays and takes the edge. */
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
	const uint2 its = w.length[other] == ~(u64)0 ? make_uint2(NONE, NONE) : w.chosen[other];
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

} // namespace

#endif
