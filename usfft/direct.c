/*
 * The definition: sums of exponentials, one output at a time, in long double. The phase of a term is s x modulo 1. fma
 * splits the product of the doubles s and x into the rounded product and an exact remainder. Whole turns are dropped from
 * the rounded product, so the phase is exact for any number of turns.
 */
#include <complex.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "usfft/direct.h"

long double
usfft_direct_turns(double s, double x)
{
	double p = s * x, rest = fma(s, x, -p);

	return (long double)(p - rint(p)) + rest;
}

double
usfft_direct_coordinate(const struct usfft_points *pt, int axis, size_t j)
{
	if (pt->single)
		return ((const float *)pt->x[axis])[j * pt->stride];
	return ((const double *)pt->x[axis])[j * pt->stride];
}

void
usfft_direct_term(long double sum[2], const double c[2], long double phase, int sign)
{
	/* Beside whole quarters, the angle is at most an eighth of a turn, and the library has nothing to reduce. */
	static const long double cosine[] = {1, 0, -1, 0}, sine[] = {0, 1, 0, -1};
	const long double quarters = rintl(4 * phase);
	const long double a = 2 * 3.14159265358979323846264338327950288L * (phase - quarters / 4);
	const long double x = cosl(a), y = sinl(a);
	const long double u = cosine[(int)quarters & 3], v = sine[(int)quarters & 3];
	const long double re = u * x - v * y, im = sign * (v * x + u * y);

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
			phase += usfft_direct_turns(s[a], usfft_direct_coordinate(pt, a, j));
		usfft_direct_term(sum, c + 2 * j, phase, sign);
	}
	out[0] = (double)sum[0];
	out[1] = (double)sum[1];
}

/* The mode k that lies at index i of an axis with n modes. */
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

/* k.x_j modulo 1, for the mode k that lies at index `at` of the modes. */
static long double
mode_turns(const struct usfft_options *o, const struct usfft_points *pt, size_t at, size_t j)
{
	long double phase = 0;

	for (int a = 0; a < o->dim; a++) {
		phase += usfft_direct_turns(mode(at % o->n[a], o->n[a], o->fft_order),
					    usfft_direct_coordinate(pt, a, j));
		at /= o->n[a];
	}
	return phase;
}

void
usfft_direct_point(const struct usfft_options *o, const struct usfft_points *pt,
		   const double *modes, int sign, size_t j, double out[2])
{
	long double sum[2] = {0, 0};
	size_t n = 1;

	for (int a = 0; a < o->dim; a++)
		n *= o->n[a];
	for (size_t at = 0; at < n; at++)
		usfft_direct_term(sum, modes + 2 * at, mode_turns(o, pt, at, j), sign);
	out[0] = (double)sum[0];
	out[1] = (double)sum[1];
}

/* Row j of A: exp(sign 2 pi i k.x_j) for all modes k. */
static void
make_row(const struct usfft_options *o, const struct usfft_points *pt, int sign, size_t j, size_t n,
	 double complex *row)
{
	for (size_t at = 0; at < n; at++) {
		const long double phase = mode_turns(o, pt, at, j);
		const double angle = (double)(2 * 3.14159265358979323846264338327950288L * phase);
		row[at] = cos(angle) + sign * sin(angle) * I;
	}
}

/* Adds the equations of all values: m += sum w conj(row S) (row S)^T, right += sum w conj(row S) b. */
static void
add_equations(const struct usfft_options *o, const struct usfft_points *pt, const double *w,
	      const double *b, const struct usfft_inverse *v, size_t n, double complex *m,
	      double complex *right, double complex *row)
{
	double sum = 0, power = 0, seen = 0;

	for (size_t j = 0; j < pt->m; j++)
		sum += w ? w[j] : 1;
	for (size_t k = 0; k < n; k++) {
		const double before = power;
		for (size_t i = k; i < v->coils * n; i += n)
			power += pow(hypot(v->maps[2 * i], v->maps[2 * i + 1]), 2);
		seen += power > before;
	}
	for (size_t i = 0; i < n; i++)
		m[i * n + i] = v->damp * sum * (seen > 0 ? power / seen : 1);
	for (size_t c = 0; c < (v->coils ? v->coils : 1); c++)
		for (size_t j = 0; j < pt->m; j++) {
			const double *value = b + 2 * (c * pt->m + j), *map = v->maps + 2 * c * n;
			const double weight = w ? w[j] : 1;
			make_row(o, pt, v->sign, j, n, row);
			for (size_t k = 0; v->coils && k < n; k++)
				row[k] *= map[2 * k] + map[2 * k + 1] * I;
			for (size_t i = 0; i < n; i++) {
				const double complex f = weight * conj(row[i]);
				right[i] += f * (value[0] + value[1] * I);
				for (size_t k = 0; k < n; k++)
					m[i * n + k] += f * row[k];
			}
		}
}

/* Solves m x = right in place, without pivots: m is positive definite. */
static void
eliminate(double complex *m, double complex *right, size_t n)
{
	for (size_t p = 0; p < n; p++)
		for (size_t i = p + 1; i < n; i++) {
			const double complex f = m[i * n + p] / m[p * n + p];
			for (size_t k = p; k < n; k++)
				m[i * n + k] -= f * m[p * n + k];
			right[i] -= f * right[p];
		}
	for (size_t i = n; i-- > 0;) {
		for (size_t k = i + 1; k < n; k++)
			right[i] -= m[i * n + k] * right[k];
		right[i] /= m[i * n + i];
	}
}

int
usfft_direct_inverse(const struct usfft_options *o, const struct usfft_points *pt, const double *w,
		     const double *b, const struct usfft_inverse *v, double *modes)
{
	size_t n = 1;

	for (int a = 0; a < o->dim; a++)
		n *= o->n[a];
	double complex *m = calloc(n * n, sizeof *m), *row = calloc(n, sizeof *row);
	double complex *right = calloc(n, sizeof *right);
	const int err = m && row && right ? 0 : -ENOMEM;
	if (!err) {
		add_equations(o, pt, w, b, v, n, m, right, row);
		eliminate(m, right, n);
	}
	for (size_t i = 0; !err && i < n; i++) {
		modes[2 * i] = creal(right[i]);
		modes[2 * i + 1] = cimag(right[i]);
	}
	free(m);
	free(row);
	free(right);
	return err;
}
