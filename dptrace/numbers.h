/*
 * Sine, cosine and exponential in plain additions and multiplications. They are the same to the last bit on any CPU. libm
 * chooses its functions by CPU, with or without FMA, and their last bit differs. That bit may decide whether a turn is
 * admissible, or change a tap. Square roots and roundings are exact everywhere.
 */
#ifndef WEIR_DPTRACE_NUMBERS_H
#define WEIR_DPTRACE_NUMBERS_H

/* Sine and cosine of x in 0 .. pi, to 1e-14. */
void libm_sincos(double x, double *sine, double *cosine);

/* e^-x for x >= 0, to a relative error of 1e-13. */
double libm_exp_minus(double x);

/* The lesser and the greater of two numbers, and the nearest one within limits. No argument is NaN. */

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
