/* The strips (dptrace/evidence/strip.h) of a batch's segments on the device, for base.cu, strip.cu and dptrace.cu. */
#ifndef WEIR_GPU_DPTRACE_STRIP_H
#define WEIR_GPU_DPTRACE_STRIP_H

#include "gpu/dptrace/job.h"

extern "C" {
#include "dptrace/evidence/strip.h"
}

/* A segment's strip. Sizes and offsets are in elements. */
struct dp_strip {
	struct rule rule;
	struct grid g;		 /* of its base rows */
	size_t columns;		 /* its walks in dp_evidence.column, [wide] */
	size_t base_rows, plane; /* rows of one column; of all columns */
	size_t raw_rows, wide;	 /* rows and columns with the reach of the derivatives */
	size_t used;		 /* of raw_rows, those that are sampled */
	size_t base;		 /* its fields in dp_evidence.base, [3][plane] */
	/* Its scratch in dp_evidence.bench: raw [wide][raw_rows], along [3][ncol][raw_rows], size [plane]. */
	size_t bench;
	size_t taps; /* kernels by field: across rv + 1, along ru + 1 */
	/* The members below change with each pass. */
	bool finer; /* rows are finer than those of g */
	struct grid fine;
	/* weights: of t steps; the fine ones follow them. */
	size_t lane, fields, offset, slope, weights;
};

struct alignas(32) dp_slope : slope {
};

/* What kernels see. */
struct dp_evidence {
	const float *gray, *planes; /* planes: of colours, for their gradient */
	const unsigned char *mask;  /* NULL: none */
	struct dptrace_gain gain;   /* of edges, on the device */
	size_t w, h, c;
	const dp_strip *strip; /* [segment] */
	const float *taps;
	const struct walk *column;
	float *base, *bench;
	float *ref, *g0, *top; /* [segment] */
	float *fields;	       /* of a segment: fields 0 and 1 in pairs, then field 2 */
	const float *weights;
	int *offset; /* of a segment: [per_gap][dp_slopes()] */
	dp_slope *slope;
	struct dptrace_options o;
	bool flanks; /* the gradient counts against the ridges of some strip */
};

static inline bool
dp_is_colour(const struct dptrace_options *o, size_t c)
{
	return o->score == DPTRACE_EDGE && c > 1 && !o->polarity;
}

/* The slopes of links over so many rows, and what rounds them up to multiples of 16 bytes. */
__host__ __device__ __forceinline__ unsigned
dp_slopes(const struct grid &g)
{
	return (2 * (unsigned)g.rows - 1 + 3) / 4 * 4;
}

/* Fields of the evidence at the base rows, and of the derivatives they come from. */
static inline int
dp_fields(const struct dptrace_options *o)
{
	return o->score == DPTRACE_RIDGE ? 3 : 2;
}

static inline size_t
dp_bench_size(const dp_strip *s)
{
	return (s->wide + 3 * (size_t)s->g.ncol) * s->raw_rows + s->plane;
}

/* The most elements that any segment has: samples, wide * raw_rows; derivatives along, ncol * raw_rows; plane. */
struct dp_most {
	size_t raw, along, plane;
};

/* base, g0 and top of n segments. */
int dp_base(struct gpu *g, const dp_evidence *e, unsigned n, const dp_most *most);

/* The fields, offsets and slopes of n segments' strips, and S of all their links. */
int dp_scores(struct dp_job *j, const dp_evidence *e, size_t most_fields, size_t most_offsets);

#endif
