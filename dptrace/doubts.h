/* What is doubtful about polylines, to standard error and into the figures of --stats. */
#ifndef DPTRACE_DOUBTS_H
#define DPTRACE_DOUBTS_H

#include "common/stats.h"
#include "dptrace/args.h"

/* Polylines and vertices in total, and polylines with each kind of doubt. */
struct doubts {
	size_t lines, vertices, border, sharp, released, low;
};

/* Counts polyline `line` of picture `name`, and warns of it; -v: says all about its vertices. */
void doubts_of(struct doubts *d, const char *name, const struct args *a, size_t line,
	       const struct dptrace_trace *t);

/* -v: what was resolved for every segment. */
void doubts_explain(const char *name, const struct dptrace_plan *p);

void doubts_stats(const struct doubts *d, struct stats *st);

#endif
