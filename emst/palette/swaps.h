/* Joins and splits classes between the rounds of Lloyd's method. */
#ifndef EMST_SWAPS_H
#define EMST_SWAPS_H

#include "emst/palette/lloyd.h"

/*
 * Makes up to `most` swaps at once. A swap joins the class that costs least with its nearest class, and splits the class that
 * gains most along its longest axis. Swaps end when the gain is less than 1.1 times the cost. No class takes part twice.
 * Returns the number of swaps.
 */
size_t swaps_make(struct lloyd *l, size_t most);

/*
 * Tries swaps one at a time, the most promising first. A swap is kept when four or more rounds of Lloyd's method bring the
 * SSE below sse. Ends after `failures` swaps that were not kept, or when no promising swap is left. Where colours are few, all
 * swaps are promising, and an exchange (exchange.h) follows each. Returns the SSE.
 */
double swaps_try(struct lloyd *l, int failures, double sse);

#endif
