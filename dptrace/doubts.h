/* Reports doubtful polylines on standard error and counts them for --stats. */
#ifndef DPTRACE_DOUBTS_H
#define DPTRACE_DOUBTS_H

#include "common/base/stats.h"
#include "dptrace/args.h"

/* Polylines and vertices in total, and polylines with each kind of doubt (struct dptrace_trace). */
struct doubts {
	size_t lines, vertices, border, sharp, released, low, doubtful, bare, turned, unsupported;
};

/* Counts polyline `line` of picture `name`, and warns of its doubts. With -v it also prints every vertex. */
void doubts_of(struct doubts *d, const char *name, const struct args *a, size_t line,
	       const struct dptrace_trace *t);

/* Prints the options resolved for every segment, for -v. The first line of the plan has the number `first`. */
void doubts_explain(const char *name, size_t first, const struct dptrace_plan *p);

/* Adds the counts to the figures of --stats. */
void doubts_stats(const struct doubts *d, struct stats *st);

#endif
