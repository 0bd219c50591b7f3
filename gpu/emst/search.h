/* The nodes of blocks.cu, and the search in them for the nearest colour of another tree, as in emst/lattice/nearest.c. */
#ifndef WEIR_GPU_EMST_SEARCH_H
#define WEIR_GPU_EMST_SEARCH_H

#include "gpu/emst/lattice.h"

namespace
{

constexpr unsigned BLOCKS = 64 * 64 * 64, LEVELS = 4, NONE = ~0u;
constexpr unsigned MIXED = ~0u, EMPTY = ~0u - 1;

struct nodes {
	u64 *bits[LEVELS];
	unsigned *label[LEVELS];
	unsigned *code, *bound; /* [active] */
	code_edge *found;	/* [active]: the first edge of a colour, if its search found one */
	unsigned *from;		/* [rows + 1]: number of active colours before a row */
	unsigned *scratch;	/* scratch of the scan */
	u64 *largest;		/* weight << 32 | tree: the largest tree at the start */
	unsigned *weight;	/* [n], by tree: number of exposed colours */
	unsigned active, pivot; /* pivot: a colour of the tree that never searches */
};

/* Returns the number of the node at r, g, b, which are counted in nodes of its level. */
__device__ __forceinline__ unsigned
node_id(int level, unsigned r, unsigned g, unsigned b)
{
	const int s = 6 - 2 * level;

	return (r << s | g) << s | b;
}

/* Returns the node of `level` that is bit t of its parent. The parent is a node of level + 1. */
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

__device__ __forceinline__ unsigned
tree_of(const grid &w, unsigned code)
{
	return w.tree[grid_rank(w, code)];
}

/* A colour that searches, and the best edge it has found; lo == NONE: none yet. */
struct query {
	int x[3];
	unsigned code, tree;
	unsigned faces; /* bit 2a: its neighbour at x[a] - 1 is present; bit 2a + 1: at x[a] + 1 */
	code_edge best;
};

__device__ __forceinline__ unsigned
present(const grid &w, int r, int g, int b)
{
	return (unsigned)b < 256 ? (unsigned)(grid_words(w, r, g)[b >> 6] >> (b & 63) & 1) : 0;
}

__device__ unsigned
faces_of(const grid &w, const int x[3])
{
	unsigned faces = 0;

	for (int a = 0; a < 3; a++)
		for (int up = 0; up < 2; up++) {
			const int step = up ? 1 : -1;
			faces |= present(w, x[0] + (a == 0 ? step : 0), x[1] + (a == 1 ? step : 0),
					 x[2] + (a == 2 ? step : 0))
				 << (2 * a + up);
		}
	return faces;
}

/*
 * Whether a box of that size cannot hold the answer: it is too far away, or it lies on a side where the query has a neighbour.
 * That neighbour is nearer to every colour of the box.
 */
__device__ __forceinline__ bool
is_out(const query &q, int r, int g, int b, int size)
{
	const int lo[3] = {r, g, b};
	unsigned side = 0, d2 = 0;

	for (int a = 0; a < 3; a++) {
		const int x = q.x[a], end = lo[a] + size - 1;
		const int gap = x < lo[a] ? lo[a] - x : x > end ? x - end : 0;
		side |= (unsigned)(end < x) << 2 * a | (unsigned)(lo[a] > x) << (2 * a + 1);
		d2 += (unsigned)(gap * gap);
	}
	return side & q.faces || d2 > q.best.d2;
}

__device__ void
scan_block(const grid &w, const nodes &k, unsigned id, query &q)
{
	for (u64 x = k.bits[0][id]; x; x &= x - 1) {
		const unsigned code = block_code(id, (unsigned)__ffsll((long long)x) - 1);
		const int r = q.x[0] - (int)(code >> 16), g = q.x[1] - (int)(code >> 8 & 255),
			  b = q.x[2] - (int)(code & 255);
		const unsigned d2 = (unsigned)(r * r + g * g + b * b);
		if (d2 > q.best.d2 || tree_of(w, code) == q.tree)
			continue;
		const unsigned lo = min(code, q.code), span = max(code, q.code) - lo;
		if (d2 < q.best.d2 || span < q.best.span || (span == q.best.span && lo < q.best.lo))
			q.best = {d2, span, lo};
	}
}

/* Searches the 27 blocks around. Colours outside of them have at least the squared distance that is returned. */
__device__ unsigned
scan_around(const grid &w, const nodes &k, query &q)
{
	int inside = 4;

	for (int a = 0; a < 3; a++)
		inside = min(inside, min(q.x[a] & 3, 3 - (q.x[a] & 3)));
	for (int n = 0; n < 27; n++) {
		const int i = (n + 13) % 27; /* its own block first */
		const int r = (q.x[0] >> 2) + i / 9 - 1, g = (q.x[1] >> 2) + i / 3 % 3 - 1,
			  b = (q.x[2] >> 2) + i % 3 - 1;
		if (((unsigned)r | (unsigned)g | (unsigned)b) > 63)
			continue;
		const unsigned id = node_id(0, (unsigned)r, (unsigned)g, (unsigned)b);
		if (is_out(q, 4 * r, 4 * g, 4 * b, 4))
			continue;
		const unsigned label = k.label[0][id];
		if (label == EMPTY || label == q.tree)
			continue;
		scan_block(w, k, id, q);
	}
	return (unsigned)((inside + 5) * (inside + 5));
}

/* Searches what is below node `parent` of level + 1. */
template <int level>
__device__ void
visit(const grid &w, const nodes &k, unsigned parent, query &q)
{
	constexpr int s = 4 - 2 * level, size = 4 << 2 * level;
	const u64 word = k.bits[level + 1][parent];
	const int at[3] = {(int)(parent >> 2 * s) * 4, (int)(parent >> s & ((1u << s) - 1)) * 4,
			   (int)(parent & ((1u << s) - 1)) * 4};
	unsigned mirror = 0;

	for (int a = 0; a < 3; a++)
		mirror |= (q.x[a] >= (at[a] + 2) * size ? 3u : 0u) << (4 - 2 * a);
	for (unsigned i = 0; i < 64; i++) {
		const unsigned t = i ^ mirror;
		if (!(word >> t & 1))
			continue;
		const int r = at[0] + (int)(t >> 4), g = at[1] + (int)(t >> 2 & 3),
			  b = at[2] + (int)(t & 3);
		const unsigned id = node_id(level, (unsigned)r, (unsigned)g, (unsigned)b);
		if (is_out(q, r * size, g * size, b * size, size) || k.label[level][id] == q.tree)
			continue;
		if constexpr (level == 0)
			scan_block(w, k, id, q);
		else
			visit<level - 1>(w, k, id, q);
	}
}

} // namespace

#endif
