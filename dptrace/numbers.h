/*
 * The exponential, and sine and cosine in bound_of(), are additions and multiplications: the same to the last bit on any CPU. libm
 * chooses its functions by CPU, with or without FMA, and their last bit differs. That bit may decide whether a turn is
 * admissible, or change a tap. Square roots and roundings are exact everywhere.
 */
#ifndef WEIR_DPTRACE_NUMBERS_H
#define WEIR_DPTRACE_NUMBERS_H

#include <math.h>
#include <stddef.h>

/* e^-x for x >= 0, to a relative error of 1e-13. */
double libm_exp_minus(double x);

/*
 * The lesser and the greater of two numbers, of two whole ones, the nearest one within limits, and the nearest of the places
 * 0 .. n-1. No NaN.
 */

static inline double
smaller(double a, double b)
{
	return a < b ? a : b;
}

static inline double
larger(double a, double b)
{
	return a > b ? a : b;
}

static inline int
at_least(int a, int b)
{
	return a > b ? a : b;
}

static inline int
at_most(int a, int b)
{
	return a < b ? a : b;
}

static inline size_t
larger_size(size_t a, size_t b)
{
	return a > b ? a : b;
}

static inline double
clamp(double x, double lo, double hi)
{
	return x < lo ? lo : x > hi ? hi : x;
}

static inline size_t
clamp_index(ptrdiff_t x, size_t n)
{
	return x < 0 ? 0 : x >= (ptrdiff_t)n ? n - 1 : (size_t)x;
}

static inline double
distance(const double a[2], const double b[2])
{
	const double dx = b[0] - a[0], dy = b[1] - a[1];

	return sqrt(dx * dx + dy * dy);
}

#endif
