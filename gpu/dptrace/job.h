/*
 * Lines on the device, for the files of dptrace's twin. All segments of all lines of a batch stand in one array, and all
 * their guides in another:
 *
 *	line	| segment 0, 1, ..  | of line 1 ..			a block of a launch = a segment, or a line
 *	guide	| g0 g1 g2 .. | ..  |					a guide also stands for the gap from it to the next
 *	S, H	| gap 0 [climbs][dp_row(d0)] | gap 1 ..			from guide.link on
 *	F	| gap 0 [climbs][dp_row(d1)] | gap 1 ..			from guide.back on
 *
 * Links are stored by diagonals, as on the CPU: row t - guide.low holds the links that climb t rows of the strip, from
 * guide.low to guide.high. Steeper links have no row. So neighbouring threads have neighbouring samples and one window.
 *
 *	S[t][j]  the score of the link that climbs t rows from sample j
 *	F[t][k]  the best sum from the start whose last link climbs t rows to sample k
 *	H[t][j]  the best sum from that link on, itself included, to the end
 *
 * Places of links that do not exist, because one of their samples does not, are not written, and nobody reads them. The CPU
 * leaves out links that no polyline can use. Here they are computed too, as sums that no kept polyline can contain.
 */
#ifndef WEIR_GPU_DPTRACE_JOB_H
#define WEIR_GPU_DPTRACE_JOB_H

#include "gpu/device.h"

extern "C" {
#include "dptrace/evidence/strip.h"
#include "dptrace/pass.h"
#include "gpu/dptrace/dptrace.h"
}

enum { HOLD_IMAGE, HOLD_BASE, HOLD_TABLES, HOLD_PASS, HOLD_SUMS, HOLD_STRIP, HOLD_LIST };

struct dp_guide {
	int d, o;	      /* samples; the row of the first sample */
	int low, high;	      /* rows that links of its gap climb, at least and at most */
	size_t link, back;    /* the first entry of its gap in S and H, and in F */
	size_t before, after; /* its windows: lo by slope t + rows - 1, then hi */
	double h;	      /* distance to the next guide */
};

struct dp_segment {
	int n, rows, k; /* guides; rows; its number in the line */
	unsigned line;
	size_t guide; /* its first guide */
	struct ends ends;
};

struct dp_line {
	size_t seg; /* its first segment */
	int n, apart;
	struct bound phi;
};

/* The stride of rows of d samples: they begin at sectors of 32 bytes. */
__host__ __device__ __forceinline__ size_t
dp_row(int d)
{
	return ((size_t)d + 7) / 8 * 8;
}

/* One pair of windows: admissible slopes over h1 by the slope over h2 after it, both of at most `most` rows. */
struct dp_table {
	double h1, h2, dv;
	struct bound phi;
	int rows, most;
	size_t at;
};

/* What kernels read and write. Pointers are to device memory. maxd is the stride of arrays by sample. */
struct dp_chains {
	const dp_line *line;
	const dp_segment *seg;
	const dp_guide *guide;
	const dp_table *table;
	int *window;
	float *S, *F, *H;	     /* H only with margins */
	float *entry, *exit, *leave; /* [segment][maxlinks]: as in dptrace/search/chain.h */
	int *released;		     /* [segment] */
	float *through;		     /* [guide][maxd], only with margins */
	int *at;		     /* [guide] */
	float *link, *margin;	     /* [guide] */
	size_t maxd, maxlinks;	     /* maxlinks: the first or last links of a segment, at most */
};

/* A batch: the same arrays on the host, and the results after dp_solve(). */
struct dp_job {
	struct gpu *g;
	enum dptrace_method method;
	bool margins;
	size_t nline, nseg, nguide, ntable, links, backs, windows;
	int maxn, maxclimbs; /* maxclimbs: rows of links of a gap, at most */
	void *held;	     /* the memory of the arrays on the host */
	dp_line *line;
	dp_segment *seg;
	dp_guide *guide;
	dp_table *table;
	int *released; /* [segment] */
	int *at;       /* [guide] */
	float *link, *margin;
	double *best; /* [line] */
	bool *solved; /* [line]: as chain_solve() */
	dp_chains on;
};

/* Rows of the links of the gap after guide v. */
__host__ __device__ __forceinline__ int
dp_climbs(const dp_guide *v)
{
	return v->low > v->high ? 0 : v->high - v->low + 1;
}

/* Whether link j -> k of the gap after guide v has a place. */
__device__ __forceinline__ bool
dp_is_kept(const dp_guide *v, int j, int k)
{
	const int t = v[1].o - v->o - j + k;

	return v->low <= t && t <= v->high;
}

/* Its places in S and H, and in F. */
__device__ __forceinline__ size_t
dp_link(const dp_guide *v, int j, int k)
{
	return v->link + (size_t)(v[1].o - v->o - j + k - v->low) * dp_row(v->d) + (size_t)j;
}

__device__ __forceinline__ size_t
dp_back(const dp_guide *v, int j, int k)
{
	return v->back + (size_t)(v[1].o - v->o - j + k - v->low) * dp_row(v[1].d) + (size_t)k;
}

/* Returns the course of segment k of a line. It is valid until the next call. */
typedef const struct course *dp_course_of(void *ctx, size_t line, int k);

/*
 * Lays out nline lines, line i with n[i] segments, on the host and on the device. The phi of `line` is there already.
 * Then everything except S is ready for dp_solve(). The caller frees j->held, after a failure too.
 */
int dp_lay_out(struct dp_job *j, size_t nline, const size_t *n, const struct dp_line *line,
	       dp_course_of *course, void *ctx);

/* Does chain_solve() for every line. */
int dp_solve(struct dp_job *j);

/* The recursion over segments ids[0..n) on the device: F from `entry` to `exit`; for margins, H and `through` from `leave`. */
int dp_forward(struct dp_job *j, const unsigned *ids, unsigned n);
int dp_backward(struct dp_job *j, const unsigned *ids, unsigned n);

/* --- the strips (dptrace/evidence/strip.h) of a batch's segments, for base.cu, strip.cu and dptrace.cu ------------------- */

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
