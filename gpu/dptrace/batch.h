/* Batches of lines: batch.cu the host's part, dptrace.cu the work. */
#ifndef WEIR_GPU_DPTRACE_BATCH_H
#define WEIR_GPU_DPTRACE_BATCH_H

#include "gpu/dptrace/strip.h"

/* Lines [first, first + n) of the plan, of those before `end`. */
struct batch {
	struct gpu *g;
	struct dptrace_plan *p;
	enum gpu_dptrace_method method;
	size_t first, n, end, nseg;
	struct work *work; /* [line]: what passes hand on */
	size_t *segments;  /* [line] */
	bool *closed;	   /* [line] */
	dp_line *line;	   /* [line] */
	dp_strip *strip;   /* [segment] */
	float *taps, *weights;
	struct walk *column;
	float *top;			  /* [segment] */
	size_t ntaps, nweights, ncolumns; /* the most of any pass */
	bool cost;	      /* of some line: its evidence lies elsewhere in each pass */
	struct course course; /* scratch */
	dp_evidence on;
};

/* Elements of a pass's fields, offsets and slopes. */
struct pass_size {
	size_t fields, offsets, slopes;
};

pass_size batch_pass_size(const dp_strip *x);

/* The strip over that many rows. */
void batch_aim(dp_strip *x, int rows);

/* The lines from b->first on that are held at once: one at least. */
int batch_choose(struct batch *b);

/* The host's arrays of those lines, from a. */
void batch_take(struct batch *b, struct arena *a);

/* What stands in them before a pass, the curves of which are made: the strips, where they lie, their kernels and weights. */
void batch_fill(struct batch *b, size_t pass);

#endif
