/*
 * Sine, cosine and exponential in plain additions and multiplications, the same to the last bit on any CPU. Those of libm
 * are chosen by CPU, with or without FMA, and differ in the last bit; a turn or a tap may hang on it. Square roots and
 * roundings are exact everywhere.
 */
#ifndef DPTRACE_LIBM_H
#define DPTRACE_LIBM_H

/* Of 0 .. pi, to 1e-14. */
void libm_sincos(double x, double *sine, double *cosine);

/* e^-x of x >= 0, to 1e-13 of it. */
double libm_exp_minus(double x);

#endif
