/* A line on its way through the passes: what dptrace.c and the GPU's twin share. */
#ifndef DPTRACE_WORK_H
#define DPTRACE_WORK_H

#include "dptrace/chain.h"
#include "dptrace/dptrace.h"
#include "dptrace/resolve.h"
#include "dptrace/strip.h"

enum {
	REFINED = 16
}; /* samples to either side of the polyline before, in passes after the first */

/* What a thread works with: its memory, laid out anew for every line and pass. */
struct work {
	char *memory;
	const struct dptrace_plan *plan;
	const struct segment_shape *shape; /* of the line at hand */
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

/* Pass 0 searches the strip. Later ones look closer: their rows are the fine steps of its grid, .15 to .3 px. */
struct grid work_grid(const struct segment_shape *s, double sigma);
double work_step(const struct segment_shape *s, size_t pass);

/* Rows of the widest strip of a pass, samples of an inner guide. */
int work_rows(const struct segment_shape *s, size_t pass);
int work_samples(const struct segment_shape *s, size_t pass);

/* The guides of segment k: around ab, or around the polyline of the pass before. */
void work_course(const struct work *w, int k, struct course *c);

/*
 * Where the guides meet the polyline of this pass, for the next one; of the first, which sees the whole strip, margins and
 * border too. The courses are made anew, since slots may be taken.
 */
void work_keep(struct work *w);

/* The last pass to vertices. */
void work_put(struct work *w, struct dptrace_trace *t);

#endif
