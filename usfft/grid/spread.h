/* Spreading points to the grid, and interpolating from the grid to points, tile by tile. */
#ifndef WEIR_USFFT_SPREAD_H
#define WEIR_USFFT_SPREAD_H

#include <stddef.h>
#include <stdint.h>

enum { TILE_HEAVY = 8192 }; /* points of a tile that one thread takes at a time */

/* A row of tiles along x, at (y, z) in tiles. In 1-D a band is tile number y. */
struct band {
	uint32_t y, z;
};

struct usfft_plan;

/* Bytes of an accumulator of reals of that size, for the loops with so many lanes. */
size_t spread_acc_bytes(const struct usfft_plan *p, int lanes, size_t real);

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
