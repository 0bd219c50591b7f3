/*
 * The window that spreads a point to the cells around it, along one axis, and its Fourier transform.
 *
 *	Kaiser-Bessel	phi(z) = I0(beta sqrt(1 - z^2)) / I0(beta),	z = 2 t / W, |z| <= 1, t in cells
 *			hat(f) = W sinh(s) / (s I0(beta)),		s^2 = beta^2 - (pi W f)^2, f in cycles per cell
 *	Gaussian	phi(z) = exp(-beta z^2),			the window of Matveev et al.
 *			hat(f) = W/2 sqrt(pi / beta) exp(-(pi W f)^2 / (4 beta))
 *
 * A point touches the W cells i0 .. i0+W-1. Let x in [-1,1] be its offset inside its cell. Then the weight of tap t is a
 * polynomial in x of degree ncoef-1, and coef[d][t] is its coefficient of x^d.
 */
#ifndef WEIR_USFFT_WINDOW_H
#define WEIR_USFFT_WINDOW_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/base/both.h"

enum { WINDOW_MINW = 3, WINDOW_MAXW = 16, WINDOW_MAXCOEF = 22 };

struct window {
	bool gauss;
	int w;	     /* taps, WINDOW_MINW..WINDOW_MAXW */
	double beta; /* the shape parameter */
	double peak; /* I0(beta), which phi and hat are divided by */
	int ncoef;
	double coef[WINDOW_MAXCOEF][WINDOW_MAXW]; /* [0] is the constant term */
};

/*
 * Makes the window of w taps for an oversampling sigma = cells / modes > 1. The polynomials have enough terms to keep
 * their error a small part of tol. The last windows are kept for the next call. One thread at a time may call it.
 */
void window_make(struct window *win, bool gauss, int w, double sigma, double tol);

/* sinh(s) / s where s2 = s^2, and sin|s| / |s| where that is negative. */
static inline WEIR_BOTH double
window_sinhc(double s2)
{
	const double s = sqrt(fabs(s2));

	if (s < 1e-4)
		return 1 + s2 / 6;
	return (s2 > 0 ? sinh(s) : sin(s)) / s;
}

/* Returns hat at f >= 0 cycles per cell. */
double window_hat(const struct window *win, double f);

/* factor[k] = 1 / hat(k / cells), k = 0..n-1, n <= cells / 2 + 1. These factors divide the window out of the modes. */
void window_undo(const struct window *win, size_t cells, double *factor, size_t n);

/*
 * 1 / hat at any frequencies from 0 to `last`, which lies within the modes. window_series() makes the series, and
 * window_series_at() sums it: factor[i] = 1 / hat(f[i]) for i = 0..n-1. f and factor may be the same array.
 */
enum { WINDOW_TERMS = 32 };
struct window_series {
	double last, term[WINDOW_TERMS];
};
void window_series(const struct window *win, double last, struct window_series *s);
void window_series_at(const struct window_series *s, const double *f, size_t n, double *factor);

/* The relative l2 error that a window of w taps causes along one axis at oversampling sigma. */
double window_error(bool gauss, int w, double sigma);

/* The factor, >= 1, by which that window magnifies noise on the grid (rounding, the polynomials' error) in the modes. */
double window_gain(bool gauss, int w, double sigma);

/*
 * Lays out the polynomials of the windows of dim axes for the loops, highest power first, in rows of whole registers. There are
 * `offsets` copies of that of x, and copy o is shifted by o lanes. A table that is there stays. The caller frees them, after an
 * error too. Returns 0 or -ENOMEM.
 */
int window_tables(const struct window *win, int dim, int ncoef, int lanes, int offsets, bool single,
		  void *table[3]);

#endif
