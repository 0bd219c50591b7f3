/*
 * 1-D transforms for points on straight lines. In the plane the points (k, k c_j), k = 0, 1, 2 ..., lie on m lines. One
 * coordinate is regular and constant in each row k, so nothing needs sorting: every row is a 1-D transform over the same m
 * lines, scaled by k. For each k separately:
 *
 *	type 1	f[i][k] = sum_j d[j][k] exp(s 2 pi i k (a_j + i c_j))		i = 0..n-1
 *	type 2	d[j][k] = sum_i f[i][k] exp(s 2 pi i k (a_j + i c_j))		j = 0..m-1
 *
 * Type 2 with sign -s is the adjoint of type 1 with sign s, up to rounding. The parabolic Radon transform is type 1 with
 * c_j = dw dq g_j and a_j = dw q_0 g_j in cycles.
 *
 * Each call transforms USFFT_LINE rows k at once. They lie in the lanes of arrays whose fastest index is k:
 *
 *	d[j * ldd + l], f[i * ldf + l]	complex float, l = 0..USFFT_LINE-1 for the rows k + l
 *
 * Samples are pairs of floats, strides count pairs, and arrays must not overlap. All USFFT_LINE rows are read and written,
 * so the caller pads the rows with zeros to a multiple of USFFT_LINE.
 *
 * The relative l2 error of a row is at most 1e-6 (Kaiser-Bessel window, 8 taps, oversampling > 1.6, float). The phases
 * k a_j and k c_j are taken modulo 1 in double precision.
 *
 * Source: Matveev, Nikitin, Duchkov, Romanenko (2016) give the transform on the same points as one 2-D sum.
 */
#ifndef WEIR_USFFT_LINE_H
#define WEIR_USFFT_LINE_H

#include <math.h>
#include <stddef.h>

#include "common/base/both.h"

#define USFFT_LINE 8

enum { LINE_TAPS = 8, LINE_COEFS = 10 };

struct usfft_line {
	size_t m, n;   /* lines; modes */
	size_t grid;   /* cells of the oversampled grid of one row */
	size_t ld;     /* stride of rows in complex samples: grid, overhang and padding */
	double *a, *c; /* owned: m each, in cycles */
	float *coef;   /* owned: the window's polynomials, laid out for the lanes */
	float *shift;  /* owned: n complex factors that undo window and overhang */
	const struct line_ops *ops; /* the inner loops for this CPU */
	void *fft;		    /* owned: the FFTW plan of USFFT_LINE rows */
};

/* The work memory of one thread. */
struct usfft_line_work {
	float *grid;  /* owned: USFFT_LINE rows of ld complex samples */
	float *place; /* owned: per line and lane, offset inside the cell, -1..1 */
	int *cell;    /* owned: per line and lane, first cell touched */
	float *phase; /* owned: per line, cosines and then sines of the lanes */
};

/* cos and sin of 2 pi t, |t| <= 1/2, by polynomials in the distance to the nearest quarter turn, at most 1/8 turn. */
static inline WEIR_BOTH void
line_turn(float t, float *re, float *im)
{
	const float q = rintf(4 * t), x = (t - q / 4) * 6.2831853f, x2 = x * x;
	const float s =
	    x * (1 + x2 * (-1.6666667e-1f + x2 * (8.3333310e-3f + x2 * -1.9812575e-4f)));
	const float c =
	    1 + x2 * (-0.5f + x2 * (4.1666646e-2f + x2 * (-1.3888532e-3f + x2 * 2.4433157e-5f)));
	const int k = (int)q & 3;
	const float a = k & 1 ? s : c, b = k & 1 ? c : s;

	*re = k == 1 || k == 2 ? -a : a;
	*im = k & 2 ? -b : b;
}

/* The inner loops, one set for each kind of register: loops/loops_simd.c. */
struct line_ops {
	void (*spread)(const struct usfft_line *p, const struct usfft_line_work *w, int sign,
		       const float *d, size_t ldd);
	void (*interp)(const struct usfft_line *p, const struct usfft_line_work *w, int sign,
		       float *d, size_t ldd);
};

/*
 * Plans for m >= 1 lines and n >= 1 modes. Returns 0, -ENOMEM or -EOVERFLOW. p need not be initialised; after a failure it
 * is zeroed. One thread at a time may call it, since FFTW's planner is not thread-safe.
 */
int usfft_line_plan(struct usfft_line *p, size_t m, size_t n);

/*
 * Sets the lines: copies m finite numbers a and m finite c, in cycles. a NULL: zeros. It is cheap: call it whenever the
 * lines change.
 */
void usfft_line_points(struct usfft_line *p, const double *a, const double *c);

/* Allocates the work memory of a thread that runs p. Returns 0 or -ENOMEM; after a failure w is zeroed. */
int usfft_line_work(struct usfft_line_work *w, const struct usfft_line *p);

/* Transforms rows k..k+USFFT_LINE-1; sign is +1 or -1. Threads may share p, which is only read; each has its own w. */
void usfft_line_type1(const struct usfft_line *p, struct usfft_line_work *w, int sign, size_t k,
		      const float *d, size_t ldd, float *f, size_t ldf);
void usfft_line_type2(const struct usfft_line *p, struct usfft_line_work *w, int sign, size_t k,
		      const float *f, size_t ldf, float *d, size_t ldd);

/* Free what the structs own, and zero them. They accept zeroed structs. */
void usfft_line_free(struct usfft_line *p);
void usfft_line_work_free(struct usfft_line_work *w);

#endif
