/* Points to grid and grid to points, tile by tile. */
#ifndef WEIR_USFFT_SPREAD_H
#define WEIR_USFFT_SPREAD_H

#include <stdint.h>

enum { TILE_HEAVY = 8192 }; /* points of a tile that one thread takes at a time */

/* A row of tiles along x; in 1-D the tile y. */
struct band {
	uint32_t y, z;
};

struct usfft_plan;

/* Bands, their colours and the accumulators, for the plan's tiles. 0 or -ENOMEM. */
int spread_make(struct usfft_plan *p);

/* sign -1: values are conjugated. c NULL: the values that the records carry. */
void spread_points(struct usfft_plan *p, int sign, const void *c);
void interp_points(struct usfft_plan *p, int sign, void *c);

#endif
