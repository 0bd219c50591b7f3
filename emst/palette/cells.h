/*
 * The colours are sorted along the octree: by the key whose bits are those of r, g and b in turn. Every node of the octree is
 * then a run of colours. The nodes of 8x8x8 are called cells and those of 32x32x32 are called blocks. One test per node
 * excludes the centres that are nearest to none of its colours.
 *
 *	x[3][n]   coordinates in the order of the keys; readable up to n + LANES
 *	sum       w x, w y, w z, w as whole numbers, so that their sums do not depend on the order of summation
 *	square    the sums of w x_a x_b, in the order rr rg rb gg gb bb
 */
#ifndef EMST_CELLS_H
#define EMST_CELLS_H

#include <stddef.h>
#include <stdint.h>

#include "common/cpu.h"

enum { LANES = 8, TOP = 8 }; /* the root of the octree has side 2^TOP */

struct sum4 {
	int64_t v[4];
};

struct square {
	int64_t v[6];
};

CPU_INLINE void
sum4_add(struct sum4 *to, const struct sum4 *x)
{
	for (int a = 0; a < 4; a++)
		to->v[a] += x->v[a];
}

struct box {
	float lo[3], hi[3];
};

struct cell {
	uint32_t start; /* its first colour; the next cell's start is its end */
	uint32_t block;
	struct box box; /* of its colours */
	struct sum4 sum;
};

struct cells {
	size_t n, ncell, nblock;
	uint32_t *key;	       /* [n], ascending; owned */
	float *x[3];	       /* owned */
	struct sum4 *sum;      /* [n]; owned */
	struct square *square; /* [n]; owned. Only cells_thin() makes it */
	struct cell *cell;     /* [ncell + 1]; owned */
	struct box *block;     /* [nblock]; owned */
	/* [n]: the colour that is at each place; owned. Only cells_make() makes it. */
	uint32_t *from;
	uint64_t pixels;
	double squares; /* sum of w |x|^2 over all colours */
};

/* Sorts n colours. 0 or -ENOMEM; call cells_free() in either case. */
int cells_make(struct cells *c, const uint32_t *code, const uint64_t *weight, size_t n);
void cells_free(struct cells *c);

/*
 * Cuts the octree. A node of side 2^s and of most[s] pixels or more is split, as long as it has two colours. Fills start [n + 1]
 * with the first colours of the nodes that are left, and with n after them. Returns the number of these nodes.
 */
size_t cells_cut(const struct cells *c, const double most[TOP + 1], uint32_t *start);

/* Makes `to`: the colours of each of n runs become one, which is their mean. 0 or -ENOMEM; call cells_free() in either case. */
int cells_thin(struct cells *to, const struct cells *c, const uint32_t *start, size_t n);

#endif
