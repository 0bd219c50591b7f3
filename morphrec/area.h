/* Area opening: peaks that hold fewer than so many pixels are cut down to the level at which they hold as many. */
#ifndef MORPHREC_AREA_H
#define MORPHREC_AREA_H

#include "morphrec/problem.h"

/*
 * J becomes the area opening of f, by erosion the closing: each pixel gets the highest level k <= its own at which the set
 * of connected pixels of k or more that holds it has `area` pixels or more; where there is none, the lowest level of all
 * that are connected to it. A NaN is a wall. Images slice by slice. 0; -ENOMEM; -E2BIG: 2^32 pixels or more in a piece.
 *
 * Meijster, Wilkinson, A comparison of algorithms for connected set openings and closings, IEEE Trans. PAMI 24(4), 2002,
 * 484-494: the pixels are sorted, highest first, and joined by union-find.
 */
int area_open(const struct morphrec_problem *a, uint64_t area, void *J, const void *f);

#endif
