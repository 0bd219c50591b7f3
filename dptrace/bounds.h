/* The lesser and the greater of two numbers, and the nearest one within limits. No argument is NaN. */
#ifndef DPTRACE_BOUNDS_H
#define DPTRACE_BOUNDS_H

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

static inline double
clamp(double x, double lo, double hi)
{
	return x < lo ? lo : x > hi ? hi : x;
}

#endif
