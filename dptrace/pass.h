/* A pass over a line: its memory, its guides, the evidence of its segments. */
#ifndef DPTRACE_PASS_H
#define DPTRACE_PASS_H

#include "dptrace/chain.h"
#include "dptrace/dptrace.h"
#include "dptrace/resolve.h"
#include "dptrace/strip.h"

/* What a thread works with: its memory, laid out anew for every line and pass. */
struct work {
	char *memory;
	const struct dptrace_plan *plan;
	const struct segment_shape *shape; /* [n] of the line at hand */
	size_t n;
	size_t pass;
	struct chain chain;
	struct strip strip[SLOTS];
	struct base base[SLOTS];
	int based[SLOTS]; /* the segment whose evidence that is, -1: none */
	char *base_room[SLOTS], *room[SLOTS], *bench_room;
	size_t vstride;
	/* [segments][vstride]: where the polyline meets the guides, px; the margins of the first pass, its border */
	double *v;
	float *margin;
	bool *border;
	bool blank;
};

/* Bytes of a pass over n segments, of which nslot are held. */
size_t pass_bytes(struct work *w, const struct segment_shape *s, size_t n, size_t pass, int nslot);

/* Line i of the plan is at hand. */
void pass_begin(struct work *w, size_t i);

/* The next pass over it: lays out w->memory, solves the chain, keeps the path in w->v. */
void pass_run(struct work *w, size_t pass);

#endif
