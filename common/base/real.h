/* Reals: arrays whose type, float or double, is known only when the program runs; and what users are shown. */
#ifndef WEIR_BASE_REAL_H
#define WEIR_BASE_REAL_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* x[i] of floats (single) or doubles. */
static inline double
real_at(const void *x, size_t i, bool single)
{
	return single ? (double)((const float *)x)[i] : ((const double *)x)[i];
}

/* x[i] = v, rounded to float where x holds floats. */
static inline void
real_set(void *x, size_t i, double v, bool single)
{
	if (single)
		((float *)x)[i] = (float)v;
	else
		((double *)x)[i] = v;
}

/* Returns the sum of a[i] b[i]. */
static inline double
real_dot(const double *a, const double *b, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

/* Returns v without the sign of a NaN or a 0, for print: "-nan" and "-0" tell a reader nothing, and depend on the CPU. */
static inline double
real_shown(double v)
{
	return isnan(v) ? fabs(v) : v + 0.;
}

#endif
