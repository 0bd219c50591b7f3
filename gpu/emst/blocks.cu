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
#include "gpu/emst/search.h"
#include "gpu/prim.h"

namespace
{

constexpr unsigned THREADS = 128, SAMPLES = 256;

/* --- the blocks ---------------------------------------------------------------------------------------------------- */

__global__ void
make_blocks(const grid w, const nodes k)
{
	const unsigned id = blockIdx.x * THREADS + threadIdx.x;
	const unsigned R = id >> 12, G = id >> 6 & 63, B = id & 63;
	u64 word = 0;

	for (unsigned i = 0; i < 16; i++) {
		const u64 *u = grid_words(w, (int)(4 * R + i / 4), (int)(4 * G + i % 4)) + B / 16;
		if (u[0])
			word |= (grid_exposed(u) >> 4 * (B % 16) & 15) << 4 * i;
	}
	k.bits[id] = word;
	k.first[id] = (unsigned)__popcll(word);
}

__device__ __forceinline__ unsigned
present(const grid &w, int r, int g, int b)
{
	return (unsigned)b < 256 ? (unsigned)(grid_words(w, r, g)[b >> 6] >> (b & 63) & 1) : 0;
}

/* Returns which neighbours of a colour are present: the faces of struct query. */
__device__ __forceinline__ unsigned
faces_of(const grid &w, unsigned code)
{
	const int r = axis(code, 0), g = axis(code, 1), b = axis(code, 2);

	return present(w, r - 1, g, b) | present(w, r + 1, g, b) << 1 |
	       present(w, r, g - 1, b) << 2 | present(w, r, g + 1, b) << 3 |
	       present(w, r, g, b - 1) << 4 | present(w, r, g, b + 1) << 5;
}

/* Lists the colours of a block, with the trees that the shells left. */
__global__ void
list_colours(const grid w, const nodes k)
{
	const unsigned id = blockIdx.x * THREADS + threadIdx.x;
	unsigned i = k.first[id];

	for (u64 x = k.bits[id]; x; x &= x - 1, i++) {
		const unsigned code = block_code(id, (unsigned)__ffsll((long long)x) - 1);
		k.at[i] = make_uint2(faces_of(w, code) << 24 | code, w.tree[grid_rank(w, code)]);
	}
}

/* What a tree has become part of is found by the colour that it was named after. */
__global__ void
update(const grid w, const nodes k)
{
	const unsigned i = blockIdx.x * THREADS + threadIdx.x;

	if (i < k.n)
		k.at[i].y = w.tree[k.at[i].y];
}

/* What was of one tree stays so, in the tree which that has become part of. */
__global__ void
label_blocks(const grid w, const nodes k, bool first)
{
	const unsigned id = blockIdx.x * THREADS + threadIdx.x;
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

__global__ void
label_level(const unsigned *of, unsigned *above, int level, unsigned n)
{
	const unsigned id = blockIdx.x * THREADS + threadIdx.x;
	unsigned label = EMPTY;

	if (id >= n)
		return;
	for (unsigned t = 0; t < 64 && label != MIXED; t++) {
		const unsigned its = of[node_child(id, level, t)];
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

__device__ __forceinline__ void
offer(const grid &w, unsigned tree, u64 edge)
{
	if (edge < __ldcg(&w.best[tree]))
		atomicMin(&w.best[tree], edge);
}

/* Returns d2 and span of the edge that colour i has found. */
__device__ __forceinline__ u64
edge_to(const nodes &k, unsigned i, unsigned to)
{
	const unsigned a = k.at[i].x & 0xffffff, b = k.at[to].x & 0xffffff;

	return (u64)k.bound[i] << 24 | (max(a, b) - min(a, b));
}

/* A known edge bounds what both its trees still look for. */
__global__ void
recall(const grid w, const nodes k)
{
	const unsigned i = blockIdx.x * THREADS + threadIdx.x, pivot = k.count->pivot;

	if (i >= k.n || k.to[i] == NONE)
		return;
	const unsigned to = k.to[i], tree = k.at[i].y, other = k.at[to].y;
	if (tree == other) {
		k.to[i] = NONE;
		return;
	}
	const u64 edge = edge_to(k, i, to);
	if (tree != pivot)
		offer(w, tree, edge);
	if (other != pivot)
		offer(w, other, edge);
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
		offer(w, q.tree, q.key >> 1);
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
	for (int step = 16; step; step /= 2)
		q.key = min(q.key, __shfl_xor_sync(~0u, q.key, step));
	const bool found = q.key >> 25 <= q.d2;
	if (found && mine == q.key) {
		k.bound[i] = q.d2;
		k.to[i] = q.to;
		offer(w, q.tree, q.key >> 1);
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

__global__ void
choose_lo(const grid w, const nodes k)
{
	const unsigned i = blockIdx.x * THREADS + threadIdx.x;

	if (i >= k.n || k.to[i] == NONE)
		return;
	const unsigned to = k.to[i], tree = k.at[i].y;
	if (tree != k.count->pivot && w.best[tree] == edge_to(k, i, to))
		atomicMin(&w.lo[tree], min(k.at[i].x & 0xffffff, k.at[to].x & 0xffffff));
}

/* --- the host ------------------------------------------------------------------------------------------------------ */

unsigned
blocks_for(size_t n)
{
	return (unsigned)((n + THREADS - 1) / THREADS);
}

int
place_blocks(struct gpu *g, nodes *k)
{
	const size_t all = BLOCKS + BLOCKS / 64 + BLOCKS / 4096;
	const size_t words = all + BLOCKS + 1 + prim_scan_words(BLOCKS + 1);
	void *at;
	const int err = gpu_hold(g, HOLD_NODES, BLOCKS * 8 + sizeof *k->count + words * 4, &at);

	if (err)
		return err;
	k->bits = static_cast<u64 *>(at);
	k->label[0] = reinterpret_cast<unsigned *>(k->bits + BLOCKS);
	k->label[1] = k->label[0] + BLOCKS;
	k->label[2] = k->label[1] + BLOCKS / 64;
	k->first = k->label[0] + all;
	k->scratch = k->first + BLOCKS + 1;
	k->count = reinterpret_cast<counts *>(k->scratch + prim_scan_words(BLOCKS + 1));
	GPU_TRY(g, cudaMemsetAsync(k->first + BLOCKS, 0, 4, g->stream[0]));
	return 0;
}

int
place_colours(struct gpu *g, nodes *k)
{
	void *at;
	const int err = gpu_hold(g, HOLD_ACTIVE, (size_t)k->n * 20, &at);

	if (err)
		return err;
	k->at = static_cast<uint2 *>(at);
	k->bound = reinterpret_cast<unsigned *>(k->at + k->n);
	k->to = k->bound + k->n;
	k->queue = k->to + k->n;
	return 0;
}

/* Lists the exposed colours. */
int
make_nodes(struct gpu *g, const grid &w, nodes *k)
{
	int err;

	if ((err = gpu_begin(g)) || (err = place_blocks(g, k)))
		return err;
	GPU_LAUNCH(g, make_blocks, BLOCKS / THREADS, THREADS, 0, w, *k);
	if ((err = prim_scan(g, k->first, BLOCKS + 1, k->scratch)) || (err = gpu_end(g)) ||
	    (err = gpu_look(g, &k->n, k->first + BLOCKS, sizeof k->n)) ||
	    (err = place_colours(g, k)) || (err = gpu_begin(g)))
		return err;
	GPU_TRY(g, cudaMemsetAsync(k->bound, 0, k->n * sizeof *k->bound, g->stream[0]));
	GPU_TRY(g, cudaMemsetAsync(k->to, 0xff, k->n * sizeof *k->to, g->stream[0]));
	GPU_LAUNCH(g, list_colours, BLOCKS / THREADS, THREADS, 0, w, *k);
	return 0;
}

int
label_nodes(struct gpu *g, const grid &w, const nodes &k, bool first)
{
	if (!first)
		GPU_LAUNCH(g, update, blocks_for(k.n), THREADS, 0, w, k);
	GPU_LAUNCH(g, label_blocks, BLOCKS / THREADS, THREADS, 0, w, k, first);
	for (unsigned level = 0, n = BLOCKS / 64; level < LEVELS - 1; level++, n /= 64)
		GPU_LAUNCH(g, label_level, blocks_for(n), THREADS, 0, k.label[level],
			   k.label[level + 1], (int)level, n);
	GPU_LAUNCH(g, choose_pivot, 1, SAMPLES, 0, k);
	return 0;
}

/* A round, from gpu_begin() on. */
int
round_of(struct gpu *g, const grid &w, const nodes &k, bool first, unsigned *edges)
{
	const unsigned fill = 8 * (unsigned)g->prop.multiProcessorCount;
	int err;

	if ((err = label_nodes(g, w, k, first)) || (err = emst_forget(g, w)))
		return err;
	if (!first)
		GPU_LAUNCH(g, recall, blocks_for(k.n), THREADS, 0, w, k);
	GPU_LAUNCH(g, search_near, blocks_for(k.n), THREADS, 0, w, k);
	GPU_LAUNCH(g, search_far, min(fill, blocks_for((size_t)k.n * 32)), THREADS, 0, w, k);
	GPU_LAUNCH(g, choose_lo, blocks_for(k.n), THREADS, 0, w, k);
	return emst_hook(g, w, edges);
}

} // namespace

int
emst_blocks(struct gpu *g, const grid &w, unsigned edges)
{
	nodes k = {};
	int err = make_nodes(g, w, &k);

	for (bool first = true; !err && edges + 1 < w.n; first = false)
		if (first || !(err = gpu_begin(g)))
			err = round_of(g, w, k, first, &edges);
	return err;
}
