/*
 * The tree of 8-bit colours on the device, while it grows, for lattice.cu (near colours, by shells) and blocks.cu (the
 * rest). The lattice is that of emst/lattice/lattice.h, whose arrays are copied as they are.
 *
 * A round of Boruvka: every tree's first edge is found by atomic minima, then trees hook to trees (emst_hook()). Edges are
 * named by their ends, the codes lo and lo + span.
 */
#ifndef WEIR_GPU_EMST_LATTICE_H
#define WEIR_GPU_EMST_LATTICE_H

#include <stdint.h>

#include "gpu/device.h"

extern "C" {
#include "emst/lattice/lattice.h"
#include "gpu/emst/emst.h"
}

typedef unsigned long long u64;

struct code_edge {
	unsigned d2, span, lo;
};

/* The places of lattice.cu and blocks.cu in device memory. */
enum { HOLD_LATTICE, HOLD_TREES, HOLD_CODE_EDGES, HOLD_NODES, HOLD_ACTIVE };

struct grid {
	const u64 *bits; /* emst/lattice/lattice.h */
	const unsigned *before;
	const unsigned *row; /* [rows]: the rows (r << 8 | g) that hold a colour */
	unsigned rows, n;
	unsigned *tree;	  /* [n]: the colour that the tree of a colour is named after */
	unsigned *parent; /* [n], by tree: the tree it hooks to */
	u64 *best;	  /* [n], by tree: its first edge, or ~0: emst_edge_of() */
	unsigned *lo;	  /* [n], by tree */
	code_edge *edges; /* [n] */
	unsigned *count;  /* edges; then the largest tree, as weight << 32 | tree */
	unsigned shell;	  /* d2 of all edges looked for; 0: any */
};

/* The four words of row (r,g) of a lattice; the words before and after are there too. */
__device__ __forceinline__ const u64 *
grid_words(const grid &w, int r, int g)
{
	return w.bits + ((r + 1) * LATTICE_SIDE + g + 1) * LATTICE_WORDS + 1;
}

/* The number of a colour that is present. */
__device__ __forceinline__ unsigned
grid_rank(const grid &w, unsigned code)
{
	const unsigned row = ((code >> 16) + 1) * LATTICE_SIDE + (code >> 8 & 255) + 1;
	const unsigned k = (code & 255) >> 6;
	const u64 below = ((u64)1 << (code & 63)) - 1;

	return w.before[row * 4 + k] +
	       (unsigned)__popcll(w.bits[row * LATTICE_WORDS + 1 + k] & below);
}

/* row_shift() of emst/lattice/lattice.h. */
__device__ __forceinline__ u64
grid_shift(const u64 *w, int s)
{
	return s == 0  ? w[0]
	       : s > 0 ? w[0] >> s | w[1] << (64 - s)
		       : w[0] << -s | w[-1] >> (64 + s);
}

/* The colours of a word that have a free neighbour. */
__device__ __forceinline__ u64
grid_exposed(const u64 *w)
{
	enum { G = LATTICE_WORDS, R = LATTICE_SIDE * LATTICE_WORDS };

	return w[0] & ~(w[-G] & w[G] & w[-R] & w[R] & grid_shift(w, 1) & grid_shift(w, -1));
}

/* After all trees have their first edges: hooks them. *edges: how many there are now. */
int emst_hook(struct gpu *g, const grid &w, unsigned *edges);

/* Forgets the first edges. */
int emst_forget(struct gpu *g, const grid &w);

/* Rounds until one tree is left: blocks.cu. edges: so far. */
int emst_blocks(struct gpu *g, const grid &w, unsigned edges);

/* All w.n - 1 edges, in the order of the rule, to t, whose lengths are the root of step2 d2: order.cu. */
int emst_order(struct gpu *g, const grid &w, double step2, struct emst_tree *t);

/* The tree of a set of codes, and of any set by brute force. */
int emst_by_lattice(struct gpu *g, const struct emst_set *s, struct emst_tree *t);
int emst_by_brute(struct gpu *g, const struct emst_set *s, struct emst_tree *t);

#endif
