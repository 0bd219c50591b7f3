/* What is decided by tries, once the lines of a plan have been measured: in polarity.c and ways.c. */
#ifndef DPTRACE_SETTLE_H
#define DPTRACE_SETTLE_H

#include "dptrace/dptrace.h"
#include "dptrace/resolve.h"

/* Says whether the polarity of the line of s is to be found by tries. The line has been measured. */
bool settle_is_open(const struct dptrace_options *o, const struct segment_shape *s);

/*
 * Finds the polarity of the lines whose points hardly tell bright from dark: their first pass is tried with both. The
 * tries are the lines of a plan of their own. This and the others return 0, or -1 with a sentence in err.
 */
int settle_polarity(struct dptrace_plan *p, char err[DPTRACE_ERR]);

/*
 * Seeks the ways of the lines whose polarity is open, or those of the others: the search needs the polarity. Ways that no
 * polyline in the strip can follow become p->bent.
 */
int settle_seek(struct dptrace_plan *p, bool open, char err[DPTRACE_ERR]);

/*
 * Tries the ways that were found. The first pass follows a way instead of ab where it costs less than .97 of what the first pass
 * along ab costs.
 */
int settle_ways(struct dptrace_plan *p, char err[DPTRACE_ERR]);

#endif
