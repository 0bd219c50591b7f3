/* Classes that are joined and split between Lloyd's rounds. */
#ifndef EMST_SWAPS_H
#define EMST_SWAPS_H

#include "emst/palette/lloyd.h"

/*
 * Up to `most` times at once: the class that costs least joins its nearest one, and the class that gains most is split along
 * its longest axis, while the gain is 1.1 of the cost. No class takes part twice. Returns how often.
 */
size_t swaps_make(struct lloyd *l, size_t most);

/*
 * One at a time, the most promising first: kept when four or more rounds bring the SSE below sse. Ends after so many failures,
 * or when no swap promises anything. Returns the SSE.
 */
double swaps_try(struct lloyd *l, int failures, double sse);

#endif
