/* A pass over a line: its memory, its guides, the evidence of its segments. */
#ifndef DPTRACE_PASS_H
#define DPTRACE_PASS_H

#include "dptrace/dptrace.h"
#include "dptrace/evidence/strip.h"
#include "dptrace/evidence/tube.h"
#include "dptrace/resolve.h"
#include "dptrace/search/chain.h"

enum {
	REFINED = 15
}; /* sum: samples to either side of the polyline before, in passes after the first */

/* A vertex of the first pass, and what is said of it. */
struct verdict {
	double x, y;
	float margin;
	bool border;
};

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
	char *base_room[SLOTS], *room[SLOTS], *scratch_room;
	/* [segments][stride]: the polyline of this pass, v of the straight ones, and the verdicts of the first */
	size_t stride;
	double (*xy)[2];
	double *v;
	struct verdict *verdict;
	/* of later passes of the cost: [segments], their points, and room for one of them */
	struct curve *curve;
	double (*points)[2], (*spare)[2];
	size_t npoints; /* of a segment, at most */
	size_t
	    sharp; /* of the first pass: vertices that turn, or links that climb, about as much as they may */
	bool blank;
};

/* Bytes of a pass over n segments, of which nslot are held. */
size_t pass_bytes(struct work *w, const struct segment_shape *s, size_t n, size_t pass, int nslot);

/* Line i of the plan is at hand. */
void pass_begin(struct work *w, size_t i);

/* The next pass over it: lays out w->memory, solves the chain, keeps the polyline in w->xy. */
void pass_run(struct work *w, size_t pass);

/* --- what the GPU's twin shares ----------------------------------------------------------------------------------- */

/* Passes after the first under the cost sample along a curve. */
static inline bool
pass_is_tube(const struct segment_shape *s, size_t pass)
{
	return s->cost && pass;
}

/* Guides of a segment in that pass; of the last pass they are its vertices. */
int pass_guides(const struct segment_shape *s, size_t pass);

/*
 * Pass 0 searches the strip. Later ones look closer: under the sum their rows are the fine steps of its grid, .15 to .3 px,
 * under the cost those of a tube; length: of its curve. pass_most(): the one that takes the most memory.
 */
struct grid pass_grid(const struct segment_shape *s, const struct dptrace_options *o, size_t pass,
		      double length);
struct grid pass_most(const struct segment_shape *s, const struct dptrace_options *o, size_t pass);
double pass_step(const struct segment_shape *s, const struct dptrace_options *o, size_t pass);

/* Rows of the widest strip of a pass, samples of an inner guide. */
int pass_rows(const struct segment_shape *s, const struct grid *g, size_t pass);
int pass_samples(const struct segment_shape *s, size_t pass);

/* The largest turn at a guide, by pass. */
double pass_phi(const struct segment_shape *s, size_t pass);

/* Another course lies this many samples away or more: 3 px under the sum, 8 under the cost, which lines hold when wide. */
int pass_apart(const struct segment_shape *s, const struct dptrace_options *o, size_t pass);

/* How evidence counts in a segment. */
struct rule pass_rule(const struct segment_shape *s, const struct dptrace_options *o, size_t pass);

/* The guides of segment k: around ab, around the polyline of the pass before, or along its curve. */
void pass_course(const struct work *w, int k, struct course *c);

/* The columns of segment k's strip. */
void pass_columns(const struct work *w, int k, const struct grid *g, struct walk *column);

/* The length of segment k in this pass. */
double pass_length(const struct work *w, int k);

/* Curves along the polyline of the pass before, where this pass wants them. */
void pass_curves(struct work *w);

/*
 * The polyline of this pass, for the next one; of the first, which sees the whole strip, the verdicts too. The courses are
 * made anew, since slots may be taken.
 */
void pass_keep(struct work *w);

/* The last pass to vertices: dptrace.c. */
void pass_put(struct work *w, struct dptrace_trace *t);

#endif
