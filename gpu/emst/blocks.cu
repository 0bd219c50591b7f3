/*
 * What the shells leave, by Boruvka on blocks of 4^3 EXPOSED colours (emst/lattice/boruvka.c): those with a free neighbour, since no
 * other can end an edge with d2 > 1. 4^3 blocks are a node of level 1, 4^3 of these a node of level 2.
 *
 *	make_blocks	thread = block: its exposed colours, as bits; list_colours, thread = block: as a list
 *	update, label_*	thread = colour, block, node: its tree, or that it holds several
 *	choose_pivot	one block: a tree that does not search, if a quarter of 256 colours belong to one
 *	recall		thread = colour: whether the nearest colour that it found is still of another tree
 *	search_near	thread = colour: the 27 blocks around, in rows of three, whose colours lie one after the other
 *	search_far	warp = colour that found nothing there: from the root, lane = 2 children of a node, nearest first
 *	choose_lo	thread = colour: of the edges with a tree's least d2 and span, the least lo
 *
 * A colour keeps what it has found: the nearest colour of another tree, which is right until the two trees are one, or
 * else the distance within which there is none. It searches only if neither says that the tree has a shorter edge, or
 * this one. Known edges bound the searches of both their trees. d2, span and lo are 66 bits, so a tree's first edge
 * takes two atomic minima: d2 and span, then lo.
 *
 * In a round every tree finds its first edge, except one at most, whichever that is. All bounds only leave out what is no first
 * edge. So no schedule changes the tree.
 *
 * Bound: latency. The near search reads 7 words a row and 8 bytes for each colour of the rows, all from the caches.
 */
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

/* A colour that searches, and what it has found. */
struct query {
	unsigned code, tree;
	unsigned faces; /* faces_of(code) */
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
		scan_row(k, node_id(0, r, g, (int)(q.code >> 2 & 63)), d2, q);
	}
}

/* --- far: a warp's search from the root, where all lanes have the same query but their own key --------------------- */

template <class T>
__device__ __forceinline__ T
warp_least(T v)
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
		const unsigned d2 = distance_to(k, level, node_child(parent, level, (int)t), q);
		child[i] = d2 == NONE ? NONE : d2 << 6 | t;
	}
	for (;;) {
		const unsigned least = warp_least(min(child[0], child[1]));
		if (least == NONE || least >> 6 > q.d2)
			return;
#pragma unroll
		for (unsigned i = 0; i < 2; i++)
			child[i] = child[i] == least ? NONE : child[i];
		const unsigned id = node_child(parent, level, (int)(least & 63));
		if constexpr (level == 0)
			scan_block(w, k, id, q);
		else
			visit<level - 1>(w, k, id, q);
	}
}

constexpr unsigned THREADS = 128, SAMPLES = 256;

/* --- the blocks ---------------------------------------------------------------------------------------------------- */

__device__ void
make_blocks(unsigned id, const grid &w, const nodes &k)
{
	const unsigned R = id >> 12, G = id >> 6 & 63, B = id & 63;
	u64 word = 0;

	for (unsigned i = 0; i < 16; i++) {
		const uint64_t *u =
		    row_words(w.bits, (int)(4 * R + i / 4), (int)(4 * G + i % 4)) + B / 16;
		if (u[0])
			word |= ((u64)row_exposed(u) >> 4 * (B % 16) & 15) << 4 * i;
	}
	k.bits[id] = word;
	k.first[id] = (unsigned)__popcll(word);
}

/* Lists the colours of a block, with the trees that the shells left. */
__device__ void
list_colours(unsigned id, const grid &w, const nodes &k)
{
	unsigned i = k.first[id];

	for (u64 x = k.bits[id]; x; x &= x - 1, i++) {
		const unsigned code = block_code(id, __ffsll((long long)x) - 1);
		k.at[i] =
		    make_uint2(faces_of(w.bits, code) << 24 | code, w.tree[grid_rank(w, code)]);
	}
}

/* What a tree has become part of is found by the colour that it was named after. */
__device__ void
update(unsigned i, const grid &w, const nodes &k)
{
	k.at[i].y = w.tree[k.at[i].y];
}

/* What was of one tree stays so, in the tree which that has become part of. */
__device__ void
label_blocks(unsigned id, const grid &w, const nodes &k, bool first)
{
	const unsigned was = first ? MIXED : k.label[0][id];
	unsigned label = EMPTY;

	if (was < EMPTY)
		label = w.tree[was];
	if (was == MIXED)
		for (unsigned i = k.first[id], end = k.first[id + 1]; i < end && label != MIXED;
		     i++) {
			const unsigned t = k.at[i].y;
			label = label == EMPTY || label == t ? t : MIXED;
		}
	k.label[0][id] = label;
}

__device__ void
label_level(unsigned id, const unsigned *of, unsigned *above, int level)
{
	unsigned label = EMPTY;

	for (unsigned t = 0; t < 64 && label != MIXED; t++) {
		const unsigned its = of[node_child(id, level, (int)t)];
		label = label == EMPTY || label == its ? its : its == EMPTY ? label : MIXED;
	}
	above[id] = label;
}

/* --- a round's search ---------------------------------------------------------------------------------------------- */

__global__ void
choose_pivot(const nodes k)
{
	const unsigned tree = most_common<SAMPLES>(k.at[(u64)threadIdx.x * k.n / SAMPLES].y);

	if (threadIdx.x == 0)
		*k.count = {0, 0, tree};
}

/* Returns d2 and span of the edge that colour i has found. */
__device__ __forceinline__ u64
edge_to(const nodes &k, unsigned i, unsigned to)
{
	const unsigned a = k.at[i].x & 0xffffff, b = k.at[to].x & 0xffffff;

	return (u64)k.bound[i] << 24 | (max(a, b) - min(a, b));
}

/* A known edge bounds what both its trees still look for. */
__device__ void
recall(unsigned i, const grid &w, const nodes &k)
{
	const unsigned pivot = k.count->pivot;

	if (k.to[i] == NONE)
		return;
	const unsigned to = k.to[i], tree = k.at[i].y, other = k.at[to].y;
	if (tree == other) {
		k.to[i] = NONE;
		return;
	}
	const u64 edge = edge_to(k, i, to);
	if (tree != pivot)
		lower(&w.best[tree], edge);
	if (other != pivot)
		lower(&w.best[other], edge);
}

/* Returns whether colour i has to search far. */
__device__ bool
is_far(const grid &w, const nodes &k, unsigned i)
{
	query q = query_of(k.at[i]);
	const unsigned bound = k.bound[i], reach = reach_of(q.code);

	if (q.tree == k.count->pivot || k.to[i] != NONE || bound > limit_of(w, q.tree))
		return false;
	if (bound >= reach)
		return true;
	scan_around(k, q);
	if (q.to != NONE)
		lower(&w.best[q.tree], q.key >> 1);
	k.bound[i] = min(q.d2, reach);
	if (q.d2 < reach)
		k.to[i] = q.to;
	return q.d2 >= reach && reach <= limit_of(w, q.tree);
}

__global__ void
search_near(const grid w, const nodes k)
{
	const unsigned i = blockIdx.x * THREADS + threadIdx.x, lane = threadIdx.x % 32;
	const bool far = i < k.n && is_far(w, k, i);
	const unsigned all = __ballot_sync(~0u, far);
	unsigned from = 0;

	if (!all)
		return;
	if (lane == 0)
		from = atomicAdd(&k.count->queued, (unsigned)__popc(all));
	from = __shfl_sync(~0u, from, 0);
	if (far)
		k.queue[from + (unsigned)__popc(all & ((1u << lane) - 1))] = i;
}

__device__ void
search_from_root(const grid &w, const nodes &k, unsigned i)
{
	query q = query_of(k.at[i]);

	q.d2 = warp_least(limit_of(w, q.tree)); /* the same for all lanes */
	if (k.bound[i] > q.d2)
		return;
	__syncwarp(); /* all lanes have read bound[i], which one of them writes below */
	visit<2>(w, k, 0, q);
	const u64 mine = q.key;
	q.key = warp_least(mine);
	const bool found = q.key >> 25 <= q.d2;
	if (found && mine == q.key) {
		k.bound[i] = q.d2;
		k.to[i] = q.to;
		lower(&w.best[q.tree], q.key >> 1);
	}
	if (!found && threadIdx.x % 32 == 0)
		k.bound[i] = q.d2 + 1;
}

/* Warps take the colours from far apart parts of the queue, so that all trees soon have an edge. */
__global__ void
search_far(const grid w, const nodes k)
{
	constexpr unsigned PARTS = 1024;
	const unsigned n = k.count->queued, part = (n + PARTS - 1) / PARTS;

	while (n) {
		unsigned turn = threadIdx.x % 32 == 0 ? atomicAdd(&k.count->taken, 1u) : 0;
		turn = __shfl_sync(~0u, turn, 0);
		if (turn >= part * PARTS)
			return;
		const unsigned at = turn % PARTS * part + turn / PARTS;
		if (at < n)
			search_from_root(w, k, k.queue[at]);
	}
}

__device__ void
choose_lo(unsigned i, const grid &w, const nodes &k)
{
	if (k.to[i] == NONE)
		return;
	const unsigned to = k.to[i], tree = k.at[i].y;
	if (tree != k.count->pivot && w.best[tree] == edge_to(k, i, to))
		atomicMin(&w.lo[tree], min(k.at[i].x & 0xffffff, k.at[to].x & 0xffffff));
}

/* --- the host ------------------------------------------------------------------------------------------------------ */

/* Lists the exposed colours. */
int
make_nodes(struct gpu *g, const grid &w, nodes *k)
{
	GPU_DO(gpu_begin(g));
	GPU_DO(gpu_place(g, HOLD_NODES, [&](gpu_block *at) {
		k->bits = gpu_take<u64>(at, BLOCKS);
		for (unsigned level = 0, n = BLOCKS; level < LEVELS; level++, n /= 64)
			k->label[level] = gpu_take<unsigned>(at, n);
		k->first = gpu_take<unsigned>(at, BLOCKS + 1);
		k->scratch = gpu_take<unsigned>(at, prim_scan_words(BLOCKS + 1));
		k->count = gpu_take<counts>(at, 1);
	}));
	GPU_TRY(g, cudaMemsetAsync(k->first + BLOCKS, 0, 4, g->stream[0]));
	GPU_EACH(g, make_blocks, BLOCKS, w, *k);
	GPU_DO(prim_scan(g, k->first, BLOCKS + 1, k->scratch));
	GPU_DO(gpu_end(g));
	GPU_DO(gpu_look(g, &k->n, k->first + BLOCKS, sizeof k->n));
	GPU_DO(gpu_place(g, HOLD_ACTIVE, [&](gpu_block *at) {
		gpu_take_all(at, k->n, &k->at, &k->bound, &k->to, &k->queue);
	}));
	GPU_DO(gpu_begin(g));
	GPU_TRY(g, cudaMemsetAsync(k->bound, 0, k->n * sizeof *k->bound, g->stream[0]));
	GPU_TRY(g, cudaMemsetAsync(k->to, 0xff, k->n * sizeof *k->to, g->stream[0]));
	GPU_EACH(g, list_colours, BLOCKS, w, *k);
	return 0;
}

/* A round, from gpu_begin() on. */
int
round_of(struct gpu *g, const grid &w, const nodes &k, bool first, unsigned *edges)
{
	const unsigned fill = 8 * (unsigned)g->prop.multiProcessorCount;

	if (!first)
		GPU_EACH(g, update, k.n, w, k);
	GPU_EACH(g, label_blocks, BLOCKS, w, k, first);
	for (unsigned level = 0, n = BLOCKS / 64; level < LEVELS - 1; level++, n /= 64)
		GPU_EACH(g, label_level, n, k.label[level], k.label[level + 1], (int)level);
	GPU_LAUNCH(g, choose_pivot, 1, SAMPLES, 0, k);
	GPU_DO(emst_forget(g, w));
	if (!first)
		GPU_EACH(g, recall, k.n, w, k);
	GPU_LAUNCH(g, search_near, gpu_blocks(k.n, THREADS), THREADS, 0, w, k);
	GPU_LAUNCH(g, search_far, min(fill, gpu_blocks((size_t)k.n * 32, THREADS)), THREADS, 0, w,
		   k);
	GPU_EACH(g, choose_lo, k.n, w, k);
	return emst_hook(g, w, edges);
}

} // namespace

int
emst_blocks(struct gpu *g, const grid &w, unsigned edges)
{
	nodes k = {};

	GPU_DO(make_nodes(g, w, &k));
	for (bool first = true; edges + 1 < w.n; first = false) {
		if (!first)
			GPU_DO(gpu_begin(g));
		GPU_DO(round_of(g, w, k, first, &edges));
	}
	return 0;
}
