/*
 * The colours are grouped by cells of 8x8x8, so that one test per cell excludes the centres that are nearest to none of its
 * colours.
 *
 *	x[3][n]   coordinates in the order of the cells; readable up to n + LANES
 *	sum       w x, w y, w z, w as whole numbers, so that their sums do not depend on the order of summation
 */
#ifndef EMST_CELLS_H
#define EMST_CELLS_H

#include <stddef.h>
#include <stdint.h>

#include "common/cpu.h"

enum { LANES = 16, CELLS = 32 * 32 * 32 };

struct sum4 {
	int64_t v[4];
};

CPU_INLINE void
sum4_add(struct sum4 *to, const struct sum4 *x)
{
	for (int a = 0; a < 4; a++)
		to->v[a] += x->v[a];
}

struct cell {
	uint32_t start;	    /* its first colour; the next cell's start is its end */
	uint16_t id;	    /* r>>3 << 10 | g>>3 << 5 | b>>3 */
	float lo[3], hi[3]; /* the box of its colours */
	struct sum4 sum;
};

struct cells {
	size_t n, ncell;
	float *x[3];	   /* owned */
	struct sum4 *sum;  /* [n]; owned */
	struct cell *cell; /* [ncell + 1], ids ascending; owned */
	uint32_t *at;	   /* [n]: the place of colour i in this order; owned */
	uint64_t pixels;
	double squares; /* sum of w |x|^2 */
};

/* Groups n colours. 0 or -ENOMEM; call cells_free() in either case. */
int cells_make(struct cells *c, const uint32_t *code, const uint64_t *weight, size_t n);
void cells_free(struct cells *c);

#endif
