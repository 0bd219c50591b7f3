/* What is decided by tries, once the lines of a plan have been measured: in polarity.c and ways.c. */
#ifndef DPTRACE_SETTLE_H
#define DPTRACE_SETTLE_H

#include "dptrace/dptrace.h"
#include "dptrace/resolve.h"

/*
 * Finds the polarity of the lines whose points hardly tell bright from dark: their first pass is tried with both. The
 * tries are the lines of a plan of their own. This and the other return 0, or -1 with a sentence in err.
 */
int settle_polarity(struct dptrace_plan *p, char err[DPTRACE_ERR]);

/*
 * Finds the segments whose first pass follows a way instead of ab: those of the cost whose cheapest way no polyline in the
 * strip can follow, and where the first pass along it costs less than .97 of what the first pass along ab costs.
 */
int settle_ways(struct dptrace_plan *p, char err[DPTRACE_ERR]);

#endif
