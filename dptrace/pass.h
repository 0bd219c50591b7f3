/* One search for the polyline of a line (a pass): its memory, its guides, the evidence of its segments. */
#ifndef WEIR_DPTRACE_PASS_H
#define WEIR_DPTRACE_PASS_H

#include "dptrace/dptrace.h"
#include "dptrace/evidence/strip.h"
#include "dptrace/resolve.h"
#include "dptrace/search/chain.h"

/* A vertex of the first pass, with its margin and whether it lies on the border of the strip. */
struct verdict {
	double x, y;
	float margin;
	bool border;
};

/* The working memory of a thread. It is laid out anew for every line and pass. */
struct work {
	char *memory;
	const struct dptrace_plan *plan;
	const struct segment_shape *shape; /* [n] of the line at hand */
	size_t n;
	size_t pass;
	struct chain chain;
	struct strip strip[SLOTS];
	struct base base[SLOTS];
	int based[SLOTS]; /* the segment whose evidence is in base[]; -1: none */
	char *base_room[SLOTS], *room[SLOTS], *scratch_room;
	size_t *node; /* [segments]: where the vertices of a segment begin in the next three */
	/* The polyline of this pass; v of its vertices; the verdicts of the first pass. */
	double (*xy)[2];
	double *v;
	struct verdict *verdict;
	double (*moved)[2]; /* [segments]: how far its start and its end moved so far, across it */
	/* cost, passes after the first: the curves [segments], their points, and scratch for the points of one */
	struct curve *curve;
	double (*points)[2], (*spare)[2];
	/* first pass: vertices that turn, or links that climb, about as much as they may */
	size_t sharp;
	bool blank; /* some segment has no evidence */
};

/* The number of guides of a segment in that pass. In the last pass this is the number of its vertices. */
int pass_guides(const struct segment_shape *s, size_t pass);

/* The vertices of a segment in any pass, at most. */
static inline size_t
pass_vertices(const struct segment_shape *s)
{
	const int first = pass_guides(s, 0), later = pass_guides(s, 1);

	return (size_t)(first > later ? first : later);
}

/* Takes room in a for what one pass over n segments hands to the next. */
void pass_take(struct work *w, struct arena *a, const struct segment_shape *s, size_t n);

/* Calls each(with, i) for all i below n, in that many threads. */
void pass_each(size_t n, int threads, void (*each)(void *with, size_t i), void *with);

/*
 * Lays out a pass over the n segments of a line, of which nslot are held, in memory at base. With base NULL it only counts. Returns
 * the bytes.
 */
size_t pass_lay_out(struct work *w, char *base, const struct segment_shape *s, size_t n,
		    size_t pass, int nslot);

/*
 * The grid of a pass. Pass 0 searches the strip. Rows of later passes are closer: under the sum they are the fine steps of
 * the strip's grid, .15 to .3 px; under the cost they are those of a tube around a curve of that length. pass_most() gives
 * the grid that takes the most memory.
 */
struct grid pass_grid(const struct segment_shape *s, const struct dptrace_options *o, size_t pass,
		      double length);
struct grid pass_most(const struct segment_shape *s, const struct dptrace_options *o, size_t pass);

/* The rows of the widest strip of a pass; the samples of an inner guide. */
int pass_rows(const struct segment_shape *s, const struct grid *g, size_t pass);
int pass_samples(const struct segment_shape *s, size_t pass);

/* The first or last links of a segment in that pass, at most. */
int pass_links(const struct segment_shape *s, const struct dptrace_options *o, size_t pass);

/* The largest turn at a guide in that pass, radians. */
double pass_phi(const struct segment_shape *s, size_t pass);

/* A polyline counts as another course when it lies this many samples away or more: 3 px under the sum, 8 under the cost. */
int pass_apart(const struct segment_shape *s, const struct dptrace_options *o, size_t pass);

/* How evidence becomes the score of a link of a segment in that pass. */
struct rule pass_rule(const struct segment_shape *s, const struct dptrace_options *o, size_t pass);

/* The guides of segment k: around ab, around the polyline of the pass before, or along the curve of segment k. */
void pass_course(const struct work *w, int k, struct course *c);

/* The columns of segment k's strip. */
void pass_columns(const struct work *w, int k, const struct grid *g, struct walk *column);

/* The length of segment k in this pass. */
double pass_length(const struct work *w, int k);

/* Makes the curves along the polyline of the pass before, for the segments that this pass samples along one. */
void pass_curves(struct work *w);

/*
 * Keeps the polyline of this pass for the next one. Of the first pass, which searches the whole strip, it also keeps the
 * verdicts. It makes the courses anew, because other segments may hold the slots.
 */
void pass_keep(struct work *w);

/* Prepares w for line i of the plan. */
void pass_begin(struct work *w, size_t i);

/* Runs one pass over the line of pass_begin(): lays out w->memory, solves the chain, keeps the polyline in w->xy. */
void pass_run(struct work *w, size_t pass);

/* Turns the polyline of the last pass into the vertices of t. */
void pass_put(struct work *w, struct dptrace_trace *t);

#endif
