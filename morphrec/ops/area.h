/* Area opening: a peak of fewer than `area` pixels is cut down to the level at which it holds `area` pixels. */
#ifndef MORPHREC_AREA_H
#define MORPHREC_AREA_H

#include "morphrec/problem.h"

/*
 * J becomes the area opening of f; where the problem erodes, the area closing. For a level k, consider the connected set
 * of pixels >= k that holds a pixel: the pixel gets the highest k <= its own value at which that set has `area` pixels or
 * more. Where no k does, it gets the lowest level of all pixels that are connected to it. A NaN is a wall. Images are
 * opened slice by slice. Returns 0, -ENOMEM, or -E2BIG when a slice or a volume has 2^32 - 1 pixels or more.
 *
 * Meijster, Wilkinson, A comparison of algorithms for connected set openings and closings, IEEE Trans. PAMI 24(4), 2002,
 * 484-494. The pixels are sorted, highest first, and joined by union-find.
 */
int area_open(const struct morphrec_problem *a, uint64_t area, void *J, const void *f);

#endif
