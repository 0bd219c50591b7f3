/*
 * What the stages of radon's twin share. Spectra lie transposed, as cuFFT writes them: frequency k of a row is at [k][row]. So
 * a thread block, which works on one frequency, finds its traces and its curves side by side.
 */
#ifndef WEIR_GPU_RADON_WORK_H
#define WEIR_GPU_RADON_WORK_H

#include "gpu/device.h"

extern "C" {
#include "radon/core.h"
}

enum {
	HOLD_IN,
	HOLD_TIME,
	HOLD_D,
	HOLD_M,
	HOLD_CELLS,
	HOLD_TABLES,
	HOLD_SOLVE,
	HOLD_WEIGHT,
	HOLD_MODEL,
	HOLD_SQUARES
};

template <class T> struct alignas(2 * sizeof(T)) pair {
	T re, im;
};

struct radon_job {
	unsigned n;	 /* gathers */
	unsigned nx, nq; /* of each */
	unsigned nt, nfft, nw, lead;
	unsigned kmin, bins; /* the band: kmin .. kmin + bins - 1 */
	unsigned grid; /* cells of a row of the nonequispaced transform; 0: sums term by term */
	const double *a, *c;	   /* [nx]: cycles per frequency */
	const unsigned char *live; /* [nx] */
	const float *coef;	   /* [LINE_COEFS][LINE_TAPS], highest power first */
	const pair<float> *shift;  /* [nq] */
	const float *q_weight;	   /* [nq] */
	const float *weight;	   /* [nq][nfft]; NULL: q_weight is used */
	pair<float> *d, *m;	   /* [nw][n nx], [nw][n nq] */
	pair<float> *cells;	   /* [bins][n][grid] */
	pair<float> *modelled;	   /* as d; NULL when no misfit is wanted */
};

/* The shape of the input or of the output: rows of a gather, and samples of a row. */
struct radon_shape {
	size_t rows, len;
};

struct radon_flow {
	radon_job w;
	radon_shape in, out;
	float *x, *time, *result;
};

/* Returns exp(2 pi i turns). R is double. */
template <class R>
__device__ pair<R>
turn_exactly(R turns)
{
	pair<R> z;

	sincospi(2 * (turns - rint(turns)), &z.im, &z.re);
	return z;
}

static __device__ __forceinline__ pair<double>
times(const pair<double> &a, const pair<double> &b)
{
	return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* Adds a b to sum. */
static __device__ __forceinline__ void
add_product(pair<double> &sum, const pair<double> &a, const pair<double> &b)
{
	sum.re += a.re * b.re;
	sum.re -= a.im * b.im;
	sum.im += a.re * b.im;
	sum.im += a.im * b.re;
}

/*
 * room.cu. radon_pose() describes n gathers for the kernels. radon_choose() lowers *n to the gathers that can be held at once.
 * radon_hold() gets memory and tables for f.
 */
radon_flow radon_pose(const struct radon_core *p, size_t n);
int radon_choose(struct gpu *g, const struct radon_core *p, size_t *n);
int radon_hold(struct gpu *g, const struct radon_core *p, radon_flow *f);

/* line.cu: compute m from d, and d from m, over the band. The caller has zeroed the other frequencies of the result. */
int radon_adjoint(struct gpu *g, const radon_job &w);
int radon_model(struct gpu *g, const radon_job &w);

/*
 * sums.cu, term by term in double. radon_exact_adjoint() computes y[bin][gather][curve], or m where y is NULL, and
 * radon_exact_model() d from m. radon_columns() computes t[bin][curve], the first column of A^H A + damping.
 */
int radon_exact_adjoint(struct gpu *g, const radon_job &w, pair<double> *y);
int radon_exact_model(struct gpu *g, const radon_job &w);
int radon_columns(struct gpu *g, const radon_job &w, double damping, pair<double> *t);

/* figures.cu: computes the misfit of each gather, by w.modelled. */
int radon_misfit(struct gpu *g, const radon_job &w, struct radon_report *report);

/* figures.cu: computes the edges of each report from w.m. There are at least 2 curves. */
int radon_edges_found(struct gpu *g, const struct radon_core *p, const radon_job &w,
		      struct radon_report *report);

/*
 * Returns the bytes that radon_solve() holds. radon_hold_solve() gets them before gpu_begin(), so that their allocation is not
 * timed with the kernels.
 */
size_t radon_solve_bytes(const radon_job &w);
int radon_hold_solve(struct gpu *g, const radon_job &w);

/* lsq.cu: computes m from d by least squares. exact: the right-hand side is summed in double. */
int radon_solve(struct gpu *g, const radon_job &w, double damping, bool exact,
		struct radon_report *report);

#endif
