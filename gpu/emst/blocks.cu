/*
 * What the shells leave, by Boruvka on the CPU's 64-ary tree of EXPOSED colours (emst/blocks.h): those with a free neighbour,
 * since no other can end an edge with d2 > 1. A word is 4^3 colours, or 4^3 nodes; 64^3, 16^3, 4^3 words and one.
 *
 *	make_*, label_*	thread = node: its word; the tree of all its colours, or that they are of several
 *	count, list	thread = row: the colours that search, in order; the largest tree's do not
 *	search		thread = colour: the 27 blocks around, then the tree from above, children on its own side first
 *	choose_lo	thread = colour: of the edges with a tree's least d2 and span, the least lo
 *
 * d2, span and lo are 66 bits, so a tree's first edge takes two atomic minima: d2 and span while colours search, where it also
 * bounds what the others still look for, then lo. Some colours search first, so that every large tree has a short
 * edge; a colour keeps the distance within which it found nothing for the rounds to come. All of these only leave out what
 * is no first edge, so no schedule changes the tree.
 *
 * Bound: latency. A search reads the words of the 27 blocks around it, about 1 KB from the second-level cache, and the label of
 * each colour nearer than the best; all nodes are 3.3 MB.
 */
#include "gpu/emst/search.h"
#include "gpu/prim.h"

namespace
{

constexpr unsigned THREADS = 128;

/* --- the tree of blocks -------------------------------------------------------------------------------------------- */

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
	k.bits[0][id] = word;
}

/* From the words of `level` to those above. */
__global__ void
make_level(const u64 *of, u64 *above, int level, unsigned n)
{
	const unsigned id = blockIdx.x * THREADS + threadIdx.x;
	u64 word = 0;

	if (id >= n)
		return;
	for (unsigned t = 0; t < 64; t++)
		word |= (u64)(of[node_child(id, level, t)] != 0) << t;
	above[id] = word;
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
	for (u64 x = was == MIXED ? k.bits[0][id] : 0; x && label != MIXED; x &= x - 1) {
		const unsigned t = tree_of(w, block_code(id, (unsigned)__ffsll((long long)x) - 1));
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

/* --- what searches ------------------------------------------------------------------------------------------------- */

__device__ __forceinline__ void
add_weight(const nodes &k, unsigned tree, unsigned n)
{
	if (n)
		atomicMax(k.largest, (u64)(atomicAdd(&k.weight[tree], n) + n) << 32 | tree);
}

/* The weights of trees, and the largest. Colours side by side of one tree count at once. */
__global__ void
weigh(const grid w, const nodes k)
{
	const unsigned i = blockIdx.x * THREADS + threadIdx.x;
	unsigned same = 0, of = NONE;

	if (i >= w.rows)
		return;
	for (unsigned word = 0; word < 4; word++) {
		const u64 *u = grid_words(w, (int)(w.row[i] >> 8), (int)(w.row[i] & 255)) + word;
		for (u64 x = grid_exposed(u); x; x &= x - 1) {
			const unsigned bit = (unsigned)__ffsll((long long)x) - 1;
			const unsigned t = tree_of(w, w.row[i] << 8 | word << 6 | bit);
			if (t != of)
				add_weight(k, of, same);
			same = t == of ? same + 1 : 1;
			of = t;
		}
	}
	add_weight(k, of, same);
}

/* How many colours of a row search: to from[row]; with fill, lists them from there on. */
__global__ void
list_active(const grid w, const nodes k, bool fill)
{
	const unsigned i = blockIdx.x * THREADS + threadIdx.x;
	unsigned n = 0;

	if (i >= w.rows)
		return;
	const unsigned largest = (unsigned)*k.largest, at = fill ? k.from[i] : 0;
	for (unsigned word = 0; word < 4; word++) {
		const u64 *u = grid_words(w, (int)(w.row[i] >> 8), (int)(w.row[i] & 255)) + word;
		for (u64 x = grid_exposed(u); x; x &= x - 1) {
			const unsigned bit = (unsigned)__ffsll((long long)x) - 1;
			const unsigned code = w.row[i] << 8 | word << 6 | bit;
			if (tree_of(w, code) == largest)
				continue;
			if (fill) {
				k.code[at + n] = code;
				k.bound[at + n] = 0;
			}
			n++;
		}
	}
	if (!fill)
		k.from[i] = n;
}

/* --- a round's search --------------------------------------------------------------------------------------------- */

/* Colours 0, step, 2 step .. of those that search. */
__global__ void
search(const grid w, const nodes k, unsigned step)
{
	const unsigned i = (blockIdx.x * THREADS + threadIdx.x) * step;

	if (i >= k.active)
		return;
	const unsigned code = k.code[i], tree = tree_of(w, code);
	const u64 best = __ldcg(&w.best[tree]);
	const unsigned limit = best == ~(u64)0 ? NONE : (unsigned)(best >> 24);
	if (tree == w.tree[k.pivot] || k.bound[i] > limit)
		return;
	query q = {{(int)(code >> 16), (int)(code >> 8 & 255), (int)(code & 255)},
		   code,
		   tree,
		   0,
		   {limit, NONE, NONE}};
	q.faces = faces_of(w, q.x);
	if (q.best.d2 >= scan_around(w, k, q))
		visit<2>(w, k, 0, q);
	k.bound[i] = q.best.d2;
	if (q.best.lo == NONE)
		return;
	k.found[i] = q.best;
	atomicMin(&w.best[tree], (u64)q.best.d2 << 24 | q.best.span);
}

__global__ void
choose_lo(const grid w, const nodes k)
{
	const unsigned i = blockIdx.x * THREADS + threadIdx.x;

	if (i >= k.active)
		return;
	const unsigned tree = tree_of(w, k.code[i]);
	const code_edge e = k.found[i];
	if (e.lo != NONE && w.best[tree] == ((u64)e.d2 << 24 | e.span))
		atomicMin(&w.lo[tree], e.lo);
}

/* --- the host ------------------------------------------------------------------------------------------------------ */

unsigned
blocks_for(size_t n)
{
	return (unsigned)((n + THREADS - 1) / THREADS);
}

int
place_nodes(struct gpu *g, const grid &w, nodes *k)
{
	const size_t all = BLOCKS + BLOCKS / 64 + BLOCKS / 4096 + 1;
	const size_t words = w.n + w.rows + 1 + prim_scan_words(w.rows + 1);
	void *at;
	const int err = gpu_hold(g, HOLD_NODES, all * 12 + 8 + words * 4, &at);

	if (err)
		return err;
	k->largest = static_cast<u64 *>(at);
	u64 *bits = k->largest + 1;
	unsigned *label = reinterpret_cast<unsigned *>(bits + all);
	for (unsigned level = 0, n = BLOCKS; level < LEVELS; level++, n /= 64) {
		k->bits[level] = bits;
		k->label[level] = label;
		bits += n;
		label += n;
	}
	k->weight = label;
	k->from = k->weight + w.n;
	k->scratch = k->from + w.rows + 1;
	GPU_TRY(g, cudaMemsetAsync(k->largest, 0, 8, g->stream[0]));
	GPU_TRY(g, cudaMemsetAsync(k->weight, 0, w.n * 4, g->stream[0]));
	GPU_TRY(g, cudaMemsetAsync(k->from, 0, (w.rows + 1) * 4, g->stream[0]));
	return 0;
}

int
label_nodes(struct gpu *g, const grid &w, const nodes &k, bool first)
{
	GPU_LAUNCH(g, label_blocks, BLOCKS / THREADS, THREADS, 0, w, k, first);
	for (unsigned level = 0, n = BLOCKS / 64; level < 3; level++, n /= 64)
		GPU_LAUNCH(g, label_level, blocks_for(n), THREADS, 0, k.label[level],
			   k.label[level + 1], (int)level, n);
	return 0;
}

int
make_nodes(struct gpu *g, const grid &w, nodes *k)
{
	const int err = place_nodes(g, w, k);

	if (err)
		return err;
	GPU_LAUNCH(g, make_blocks, BLOCKS / THREADS, THREADS, 0, w, *k);
	for (unsigned level = 0, n = BLOCKS / 64; level < 3; level++, n /= 64)
		GPU_LAUNCH(g, make_level, blocks_for(n), THREADS, 0, k->bits[level],
			   k->bits[level + 1], (int)level, n);
	return label_nodes(g, w, *k, true);
}

/* Lists what searches. */
int
make_active(struct gpu *g, const grid &w, nodes *k)
{
	u64 largest;
	void *at;
	int err;

	GPU_LAUNCH(g, weigh, blocks_for(w.rows), THREADS, 0, w, *k);
	GPU_LAUNCH(g, list_active, blocks_for(w.rows), THREADS, 0, w, *k, false);
	if ((err = prim_scan(g, k->from, w.rows + 1, k->scratch)) || (err = gpu_end(g)))
		return err;
	if ((err = gpu_look(g, &largest, k->largest, sizeof largest)) ||
	    (err = gpu_look(g, &k->active, k->from + w.rows, sizeof k->active)))
		return err;
	k->pivot = (unsigned)largest; /* a tree is named after a colour of its own */
	if ((err = gpu_hold(g, HOLD_ACTIVE, k->active * 20 + 4, &at)) || (err = gpu_begin(g)))
		return err;
	k->code = static_cast<unsigned *>(at);
	k->bound = k->code + k->active;
	k->found = reinterpret_cast<code_edge *>(k->bound + k->active);
	GPU_LAUNCH(g, list_active, blocks_for(w.rows), THREADS, 0, w, *k, true);
	return 0;
}

/* A round, from gpu_begin() on. */
int
round_of(struct gpu *g, const grid &w, const nodes &k, unsigned *edges)
{
	int err = emst_forget(g, w);

	if (err)
		return err;
	GPU_TRY(g, cudaMemsetAsync(k.found, 0xff, k.active * sizeof *k.found, g->stream[0]));
	for (unsigned step = 1024; step; step /= 32)
		GPU_LAUNCH(g, search, blocks_for((k.active + step - 1) / step), THREADS, 0, w, k,
			   step);
	GPU_LAUNCH(g, choose_lo, blocks_for(k.active), THREADS, 0, w, k);
	return emst_hook(g, w, edges);
}

} // namespace

int
emst_blocks(struct gpu *g, const grid &w, unsigned edges)
{
	nodes k = {};
	int err;

	if ((err = gpu_begin(g)) || (err = make_nodes(g, w, &k)) || (err = make_active(g, w, &k)))
		return err;
	for (bool first = true; edges + 1 < w.n; first = false)
		if ((!first && ((err = gpu_begin(g)) || (err = label_nodes(g, w, k, false)))) ||
		    (err = round_of(g, w, k, &edges)))
			return err;
	return 0;
}
