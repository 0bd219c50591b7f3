/*
 * Lines on the device, between the files of dptrace's twin. All segments of all lines of a batch stand in one row, all
 * their guides in another:
 *
 *	line	| segment 0, 1, ..  | of line 1 ..			a block of a launch = a segment, or a line
 *	guide	| g0 g1 g2 .. | ..  |					a guide also stands for the gap from it to the next
 *	S, F, H	| gap 0 [d0][d1] | gap 1 ..				from guide.link on
 *
 *	S[j][k]  the score of the link from sample j to sample k of the next guide
 *	F[k][j]  the best sum from the start whose last link is j -> k; by its end, so that those that end in k are neighbours
 *	H[j][k]  the best sum from that link on to the end, itself included
 *
 * Unlike the CPU's they are whole: links that no polyline can use are computed too, as NEVER or as sums that nothing that
 * is kept can reach.
 */
#ifndef WEIR_GPU_DPTRACE_JOB_H
#define WEIR_GPU_DPTRACE_JOB_H

#include "gpu/device.h"

extern "C" {
#include "common/mem.h"
#include "dptrace/pass.h"
#include "gpu/dptrace/dptrace.h"
}

enum { HOLD_IMAGE, HOLD_BASE, HOLD_TABLES, HOLD_PASS, HOLD_SUMS, HOLD_STRIP, HOLD_LIST };

struct dp_guide {
	int d, o;	      /* samples; the row of the first */
	size_t link;	      /* the first entry of its gap */
	size_t before, after; /* its windows: lo by slope t + rows - 1, then hi */
	double h;	      /* to the next guide */
};

struct dp_segment {
	int n, rows, k; /* guides; rows; its number in the line */
	unsigned line;
	size_t guide;		   /* its first */
	double dv, ex, ey, fx, fy; /* as in struct course */
	int steepest;
};

struct dp_line {
	size_t seg; /* its first */
	int n, apart;
	struct bound phi;
};

/* One pair of windows: admissible slopes over h1 by the slope over h2 after it. */
struct dp_table {
	double h1, h2, dv;
	struct bound phi;
	int rows;
	size_t at;
};

/* What kernels see; pointers to the device. maxd is the stride of arrays by sample. */
struct dp_chains {
	const dp_line *line;
	const dp_segment *seg;
	const dp_guide *guide;
	const dp_table *table;
	int *window;
	float *S, *F, *H;	     /* H: with margins only */
	float *entry, *exit, *leave; /* [segment][maxd]: as in dptrace/search/chain.h */
	int *released;		     /* [segment] */
	float *through;		     /* [guide][maxd], with margins */
	int *at;		     /* [guide] */
	float *link, *margin;	     /* [guide] */
	size_t maxd;
};

/* A batch: the same row on the host, its results after dp_solve(). */
struct dp_job {
	struct gpu *g;
	enum gpu_dptrace_method method;
	bool margins;
	size_t nline, nseg, nguide, ntable, links, windows;
	int maxn;
	dp_line *line;
	dp_segment *seg;
	dp_guide *guide;
	dp_table *table;
	bool *closed;  /* [line] */
	int *released; /* [segment] */
	int *at;       /* [guide] */
	float *link, *margin;
	double *best; /* [line] */
	bool *solved; /* [line]: as chain_solve() */
	dp_chains on;
};

/* Blocks of memory in one piece, as dptrace/search/segment.h's arena, for the device too. */
template <class E>
E *
dp_take(struct arena *a, size_t n)
{
	const size_t at = a->used;

	a->used += (n * sizeof(E) + 255) / 256 * 256;
	return a->base ? reinterpret_cast<E *>(a->base + at) : NULL;
}

/* The course of segment k of a line. Holds until the next call. */
typedef const struct course *dp_course_of(void *ctx, size_t line, int k);

/*
 * Lays out nline lines, of n[i] segments each, on the host and on the device; closed[] and phi by line. Everything but S is
 * then ready for dp_solve(). dp_free() frees the host's part, after a failure too.
 */
int dp_lay_out(struct dp_job *j, size_t nline, const size_t *n, const struct dp_line *line,
	       const bool *closed, dp_course_of *course, void *ctx);
void dp_free(struct dp_job *j);

/* chain_solve() for every line. */
int dp_solve(struct dp_job *j);

/* The recursion over segments ids[0..n), on the device: F from entry to exit; H and through from leave, margins. */
int dp_forward(struct dp_job *j, const unsigned *ids, unsigned n);
int dp_backward(struct dp_job *j, const unsigned *ids, unsigned n);

#endif
