/* A pass over a line: its memory, its guides, the evidence of its segments. */
#ifndef DPTRACE_PASS_H
#define DPTRACE_PASS_H

#include "dptrace/search/chain.h"
#include "dptrace/dptrace.h"
#include "dptrace/resolve.h"
#include "dptrace/evidence/strip.h"

enum {
	REFINED = 15
}; /* samples to either side of the polyline before, in passes after the first */

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

/* --- what the GPU's twin shares ----------------------------------------------------------------------------------- */

/* Pass 0 searches the strip. Later ones look closer: their rows are the fine steps of its grid, .15 to .3 px. */
struct grid pass_grid(const struct segment_shape *s, const struct dptrace_options *o);
double pass_step(const struct segment_shape *s, const struct dptrace_options *o, size_t pass);

/* Rows of the widest strip of a pass, samples of an inner guide. */
int pass_rows(const struct segment_shape *s, const struct grid *g, size_t pass);
int pass_samples(const struct segment_shape *s, size_t pass);

/* The guides of segment k: around ab, or around the polyline of the pass before. */
void pass_course(const struct work *w, int k, struct course *c);

/*
 * Where the guides meet the polyline of this pass, for the next one; of the first, which sees the whole strip, margins and
 * border too. The courses are made anew, since slots may be taken.
 */
void pass_keep(struct work *w);

/* The last pass to vertices: dptrace.c. */
void pass_put(struct work *w, struct dptrace_trace *t);

#endif
