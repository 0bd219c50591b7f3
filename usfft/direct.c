/*
 * The definition: sums of exponentials, one output at a time, in long double. The phase s x of a term is a product of two
 * doubles whose whole turns count for nothing: it is split into the rounded product and its exact remainder (fma), and
 * the turns are dropped from the first, so that it is exact however many turns there are.
 */
#include <math.h>

#include "usfft/direct.h"

/* s x modulo 1, in [-1/2, 1/2] up to the remainder. */
static long double
turns(double s, double x)
{
	double p = s * x, rest = fma(s, x, -p);

	return (long double)(p - rint(p)) + rest;
}

static double
coordinate(const struct usfft_points *pt, int axis, size_t j)
{
	if (pt->single)
		return ((const float *)pt->x[axis])[j * pt->stride];
	return ((const double *)pt->x[axis])[j * pt->stride];
}

static void
add_term(long double sum[2], const double c[2], long double phase, int sign)
{
	const long double a = 2 * 3.14159265358979323846264338327950288L * phase;
	const long double re = cosl(a), im = sign * sinl(a);

	sum[0] += c[0] * re - c[1] * im;
	sum[1] += c[0] * im + c[1] * re;
}

void
usfft_direct_sum(int dim, const struct usfft_points *pt, const double *c, int sign,
		 const double s[3], double out[2])
{
	long double sum[2] = {0, 0};

	for (size_t j = 0; j < pt->m; j++) {
		long double phase = 0;
		for (int a = 0; a < dim; a++)
			phase += turns(s[a], coordinate(pt, a, j));
		add_term(sum, c + 2 * j, phase, sign);
	}
	out[0] = (double)sum[0];
	out[1] = (double)sum[1];
}

/* The mode in place i of an axis with n of them. */
static double
mode(size_t i, size_t n, bool fft_order)
{
	if (fft_order)
		return i < (n + 1) / 2 ? (double)i : (double)i - (double)n;
	return (double)i - (double)(n / 2);
}

void
usfft_direct_mode(const struct usfft_options *o, const struct usfft_points *pt, const double *c,
		  int sign, size_t at, double out[2])
{
	double k[3] = {0};

	for (int a = 0; a < o->dim; a++) {
		k[a] = mode(at % o->n[a], o->n[a], o->fft_order);
		at /= o->n[a];
	}
	usfft_direct_sum(o->dim, pt, c, sign, k, out);
}

void
usfft_direct_point(const struct usfft_options *o, const struct usfft_points *pt,
		   const double *modes, int sign, size_t j, double out[2])
{
	long double sum[2] = {0, 0};
	size_t n = 1;

	for (int a = 0; a < o->dim; a++)
		n *= o->n[a];
	for (size_t at = 0; at < n; at++) {
		long double phase = 0;
		size_t rest = at;
		for (int a = 0; a < o->dim; a++) {
			phase += turns(mode(rest % o->n[a], o->n[a], o->fft_order),
				       coordinate(pt, a, j));
			rest /= o->n[a];
		}
		add_term(sum, modes + 2 * at, phase, sign);
	}
	out[0] = (double)sum[0];
	out[1] = (double)sum[1];
}
