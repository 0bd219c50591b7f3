/* Spreading points to the grid, and interpolating from the grid to points, tile by tile. */
#ifndef WEIR_USFFT_GRID_SPREAD_H
#define WEIR_USFFT_GRID_SPREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "usfft/loops/loops.h"

/*
 * Crowded tiles, in type 1 with float values. Sums of equal values at one place round in one direction: 1e-5 of the sum for
 * 1000 values, and 5e-5 for 10000. So a tile of more than twice CROWD points, one cell of which holds about CROWD or more,
 * is summed in double precision and rounded when it is added to the grid. Up to 128 values the error stays below 1.2e-6.
 */

enum { CROWD = 64 };

struct usfft_plan;

struct crowds {
	/* The loops in double precision, their window, and one accumulator for each thread. */
	const struct tile_ops *ops;
	struct tile_window taps; /* owned */
	char *acc;		 /* owned; NULL: no tile can be crowded */
	size_t accs, acc_bytes;
};

/* Is a tile crowded? Looking just before its points are spread reads their records into the cache. */
bool crowd_in(const struct usfft_plan *p, size_t tile);
bool crowd_anywhere(const struct usfft_plan *p);

void crowd_free(struct crowds *q);

/* A row of tiles along x, at (y, z) in tiles. In 1-D a band is tile number y. */
struct band {
	uint32_t y, z;
};

struct usfft_plan;

/* Makes the bands, their colours and the accumulators for the plan's tiles. Returns 0 or -ENOMEM. */
int spread_make(struct usfft_plan *p);

/*
 * Clears the grid and adds the window of each point to it, times its value. c NULL: the records carry the values, and the
 * points are freed afterwards. sign -1: values are conjugated.
 */
void spread_points(struct usfft_plan *p, int sign, const void *c);

/* c = the window's sum over the grid at each point. sign -1: values are conjugated. */
void interp_points(struct usfft_plan *p, int sign, void *c);

#endif
