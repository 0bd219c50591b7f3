/* The blocks of exposed colours, and the two searches in them for the nearest colour of another tree: blocks.cu. */
#ifndef WEIR_GPU_EMST_SEARCH_H
#define WEIR_GPU_EMST_SEARCH_H

#include "gpu/emst/lattice.h"

namespace
{

constexpr unsigned BLOCKS = 64 * 64 * 64, LEVELS = 3, NONE = ~0u;
constexpr unsigned MIXED = ~0u, EMPTY = ~0u - 1; /* labels of nodes */

struct counts {
	unsigned queued; /* colours in the queue of this round */
	unsigned taken;	 /* those that warps have taken from it */
	unsigned pivot;	 /* the tree that does not search in this round, or NONE */
};

struct nodes {
	unsigned *label[LEVELS]; /* the tree of all colours of a node, MIXED or EMPTY */
	u64 *bits;		 /* [BLOCKS]: a block's exposed colours */
	unsigned *first;	 /* [BLOCKS + 1]: exposed colours in the blocks before */
	unsigned *scratch;	 /* of the scan */
	counts *count;
	unsigned n; /* exposed colours; arrays of them are in the order of blocks */
	uint2 *at;  /* [n]: faces << 24 | code, and the tree */
	/* [n]: no colour that could end a first edge is nearer than this d2. It is the d2 of to[], if that is known. */
	unsigned *bound;
	unsigned *to;	 /* [n]: the nearest colour of another tree, or NONE: not known */
	unsigned *queue; /* [n] */
};

/* Returns the number of the node at r, g, b, which are counted in nodes of its level. */
__device__ __forceinline__ unsigned
node_id(int level, unsigned r, unsigned g, unsigned b)
{
	const int s = 6 - 2 * level;

	return (r << s | g) << s | b;
}

/* Returns the node of `level` that is child t of its parent. The parent is a node of level + 1. */
__device__ __forceinline__ unsigned
node_child(unsigned parent, int level, unsigned t)
{
	const int s = 4 - 2 * level;
	const unsigned mask = (1u << s) - 1;

	return node_id(level, (parent >> 2 * s) * 4 + (t >> 4),
		       (parent >> s & mask) * 4 + (t >> 2 & 3), (parent & mask) * 4 + (t & 3));
}

/* Returns the code of bit t of a block. */
__device__ __forceinline__ unsigned
block_code(unsigned id, unsigned t)
{
	const unsigned r = (id >> 12) * 4 + (t >> 4), g = (id >> 6 & 63) * 4 + (t >> 2 & 3);

	return r << 16 | g << 8 | ((id & 63) * 4 + (t & 3));
}

/* A colour that searches, and what it has found. */
struct query {
	unsigned code, tree;
	unsigned faces; /* bit 2a: its neighbour at x[a] - 1 is present; bit 2a + 1: at x[a] + 1 */
	unsigned d2;	/* only colours as near as this are of interest */
	/*
	 * The best edge so far as d2 << 25 | span << 1 | whether the other end has the larger code, or ~0. Among the edges of
	 * one colour this is the order of the tie rule, lo last.
	 */
	u64 key;
	unsigned to; /* its other end */
};

__device__ __forceinline__ query
query_of(uint2 at)
{
	return {at.x & 0xffffff, at.y, at.x >> 24, NONE, ~(u64)0, NONE};
}

/* Returns x[a] of a code. */
__device__ __forceinline__ int
axis(unsigned code, int a)
{
	return (int)(code >> 8 * (2 - a) & 255);
}

/* Looks at exposed colour i, which is `it`. */
__device__ __forceinline__ void
look_at(query &q, uint2 it, unsigned i)
{
	const unsigned code = it.x & 0xffffff;
	const unsigned d2 =
	    __dp4a(q.code, q.code, __dp4a(code, code, 0u)) - 2 * __dp4a(q.code, code, 0u);

	if (d2 > q.d2 || it.y == q.tree)
		return;
	const unsigned span = max(code, q.code) - min(code, q.code);
	const u64 key = (u64)d2 << 25 | span << 1 | (code > q.code);
	if (key >= q.key)
		return;
	q.d2 = d2;
	q.key = key;
	q.to = i;
}

__device__ __forceinline__ unsigned
limit_of(const grid &w, unsigned tree)
{
	return (unsigned)(__ldcg(&w.best[tree]) >> 24); /* NONE when there is no edge */
}

/* --- near: a thread's search in the 27 blocks around --------------------------------------------------------------- */

/* Colours that are not in these blocks have at least the squared distance that is returned. */
__device__ __forceinline__ unsigned
reach_of(unsigned code)
{
	int inside = 4;

	for (int a = 0; a < 3; a++)
		inside = min(inside, min(axis(code, a) & 3, 3 - (axis(code, a) & 3)));
	return (unsigned)((inside + 5) * (inside + 5));
}

/* The gap along axis a between the query and the block that is `step` away. */
__device__ __forceinline__ unsigned
gap_to(const query &q, int a, int step)
{
	const int x = axis(q.code, a) & 3;

	return (unsigned)(step < 0 ? x + 1 : step > 0 ? 4 - x : 0);
}

/* Whether the query has a neighbour on that side. It is nearer to all colours there. */
__device__ __forceinline__ bool
is_shut(const query &q, int a, int step)
{
	return step && q.faces >> (2 * a + (step > 0)) & 1;
}

/* Looks at the three blocks of a row whose middle one is `id`; d2: the squared gap to the row. */
__device__ __forceinline__ void
scan_row(const nodes &k, unsigned id, unsigned d2, query &q)
{
	const unsigned x = id & 63;
	unsigned from = NONE, end = 0;

#pragma unroll
	for (int step = -1; step <= 1; step++) {
		const unsigned gap = gap_to(q, 2, step);
		if (x + (unsigned)step > 63 || is_shut(q, 2, step) || d2 + gap * gap > q.d2)
			continue;
		const unsigned it = id + (unsigned)step, label = k.label[0][it];
		const unsigned its = k.first[it], next = k.first[it + 1];
		if (label == q.tree || label == EMPTY)
			continue;
		from = min(from, its);
		end = next;
	}
#pragma unroll 4
	for (unsigned i = from; i < end; i++)
		look_at(q, k.at[i], i);
}

__device__ __forceinline__ void
scan_around(const nodes &k, query &q)
{
	for (int n = 0; n < 9; n++) {
		const int i = (n + 4) % 9, dr = i / 3 - 1, dg = i % 3 - 1; /* its own row first */
		const int r = (axis(q.code, 0) >> 2) + dr, g = (axis(q.code, 1) >> 2) + dg;
		const unsigned gr = gap_to(q, 0, dr), gg = gap_to(q, 1, dg), d2 = gr * gr + gg * gg;
		if (((unsigned)r | (unsigned)g) > 63 || is_shut(q, 0, dr) || is_shut(q, 1, dg) ||
		    d2 > q.d2)
			continue;
		scan_row(k, node_id(0, (unsigned)r, (unsigned)g, q.code >> 2 & 63), d2, q);
	}
}

/* --- far: a warp's search from the root, where all lanes have the same query but their own key --------------------- */

__device__ __forceinline__ unsigned
warp_least(unsigned v)
{
	for (int step = 16; step; step /= 2)
		v = min(v, __shfl_xor_sync(~0u, v, step));
	return v;
}

/* The squared distance from the query to a node, or NONE: the node need not be visited. */
__device__ __forceinline__ unsigned
distance_to(const nodes &k, int level, unsigned id, const query &q)
{
	const int s = 6 - 2 * level, size = 4 << 2 * level;
	const unsigned label = k.label[level][id];
	unsigned side = 0, d2 = 0;

	for (int a = 0; a < 3; a++) {
		const int lo = (int)(id >> (2 - a) * s & ((1u << s) - 1)) * size,
			  end = lo + size - 1;
		const int x = axis(q.code, a), gap = x < lo ? lo - x : x > end ? x - end : 0;
		side |= (unsigned)(end < x) << 2 * a | (unsigned)(lo > x) << (2 * a + 1);
		d2 += (unsigned)(gap * gap);
	}
	return label == q.tree || label == EMPTY || side & q.faces ? NONE : d2;
}

/* What the tree has found in the meantime bounds the search, too. Each lane may see another limit; the least is for all. */
__device__ __forceinline__ void
scan_block(const grid &w, const nodes &k, unsigned id, query &q)
{
	const unsigned limit = limit_of(w, q.tree), end = k.first[id + 1];

	for (unsigned i = k.first[id] + threadIdx.x % 32; i < end; i += 32)
		look_at(q, k.at[i], i);
	q.d2 = warp_least(min(limit, q.d2));
}

/* Visits the children of node `parent` of level + 1, nearest first. */
template <int level>
__device__ __forceinline__ void
visit(const grid &w, const nodes &k, unsigned parent, query &q)
{
	const unsigned lane = threadIdx.x % 32;
	unsigned child[2];

#pragma unroll
	for (unsigned i = 0; i < 2; i++) {
		const unsigned t = lane + 32 * i;
		const unsigned d2 = distance_to(k, level, node_child(parent, level, t), q);
		child[i] = d2 == NONE ? NONE : d2 << 6 | t;
	}
	for (;;) {
		const unsigned least = warp_least(min(child[0], child[1]));
		if (least == NONE || least >> 6 > q.d2)
			return;
#pragma unroll
		for (unsigned i = 0; i < 2; i++)
			child[i] = child[i] == least ? NONE : child[i];
		const unsigned id = node_child(parent, level, least & 63);
		if constexpr (level == 0)
			scan_block(w, k, id, q);
		else
			visit<level - 1>(w, k, id, q);
	}
}

} // namespace

#endif
