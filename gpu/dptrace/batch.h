/* Batches of lines: batch.cu prepares them on the host, dptrace.cu runs them. */
#ifndef WEIR_GPU_DPTRACE_BATCH_H
#define WEIR_GPU_DPTRACE_BATCH_H

#include "gpu/dptrace/strip.h"

/* A batch: lines [first, first + n) of the plan. `end` is the end of all lines to do. */
struct batch {
	struct gpu *g;
	struct dptrace_plan *p;
	size_t first, n, end, nseg;
	struct work *work; /* [line]: what one pass hands to the next */
	size_t *segments;  /* [line] */
	dp_line *line;	   /* [line] */
	dp_strip *strip;   /* [segment] */
	float *taps, *weights;
	struct walk *column;
	float *top;			  /* [segment] */
	size_t ntaps, nweights, ncolumns; /* the largest numbers of any pass */
	bool cost;	       /* some line uses the cost: its evidence is made anew in each pass */
	struct course *course; /* [segment] of this pass */
	const struct dp_job *job; /* solved; only while its results are taken */
	dp_evidence on;
};

/* Elements of a pass's fields, offsets and slopes. */
struct pass_size {
	size_t fields, offsets, slopes;
};

pass_size batch_pass_size(const dp_strip *x);

/* Makes the strip cover that many rows. */
void batch_aim(dp_strip *x, int rows);

/* Chooses b->n: how many lines from b->first on are held at once, at least one. Refuses a line that no launch can be made of. */
int batch_choose(struct batch *b);

/* Takes the host's arrays of those lines from a. */
void batch_take(struct batch *b, gpu_block *a);

/* Fills these arrays before a pass: curves and courses, the strips, their places, their kernels and weights. */
void batch_fill(struct batch *b, size_t pass);

/* Calls each(b, i) for the batch's lines i, which the plan's threads share out. */
void batch_each(struct batch *b, void (*each)(struct batch *b, size_t i));

/* The first segment of line i. */
static inline size_t
batch_segment(const struct batch *b, size_t i)
{
	return b->p->first[b->first + i] - b->p->first[b->first];
}

#endif
