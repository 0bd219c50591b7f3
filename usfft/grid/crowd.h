/*
 * Crowded tiles, in type 1 with float values. Sums of equal values at one place round in one direction: 1e-5 of the sum for
 * 1000 values, and 5e-5 for 10000. So a tile of more than twice CROWD points, one cell of which holds about CROWD or more,
 * is summed in double precision and rounded when it is added to the grid. Up to 128 values the error stays below 1.2e-6.
 */
#ifndef WEIR_USFFT_CROWD_H
#define WEIR_USFFT_CROWD_H

#include <stdbool.h>
#include <stddef.h>

#include "usfft/loops/tile.h"

enum { CROWD = 64 };

struct usfft_plan;

struct crowds {
	/* The loops in double precision, their window, and one accumulator for each thread. */
	const struct tile_ops *ops;
	struct tile_window taps; /* owned */
	char *acc;		 /* owned; NULL: no tile can be crowded */
	size_t accs, acc_bytes;
};

/* Prepares for m points. Returns 0 or -ENOMEM. */
int crowd_make(struct usfft_plan *p, size_t m);

/* Is a tile crowded? Looking just before its points are spread reads their records into the cache. */
bool crowd_in(const struct usfft_plan *p, size_t tile);
bool crowd_anywhere(const struct usfft_plan *p);

/* Adds points to an accumulator in double precision. */
void
crowd_spread(const struct usfft_plan *p, const struct tile_points *pt, const float *c, void *acc);

void crowd_free(struct crowds *q);

#endif
