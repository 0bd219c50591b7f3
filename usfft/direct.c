/*
 * The definition: sums of exponentials, one output at a time, in long double. The phase of a term is s x modulo 1. fma
 * splits the product of the doubles s and x into the rounded product and an exact remainder. Whole turns are dropped from
 * the rounded product, so the phase is exact for any number of turns.
 */
#include <complex.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "common/base/dense.h"
#include "common/base/mem.h"
#include "common/base/real.h"
#include "usfft/direct.h"
#include "usfft/sky/sky.h"

/* s x modulo 1, in [-1/2, 1/2] plus the remainder. */
static long double
turns_of(double s, double x)
{
	double p = s * x, rest = fma(s, x, -p);

	return (long double)(p - rint(p)) + rest;
}

static double
coordinate(const struct usfft_points *pt, int axis, size_t j)
{
	return real_at(pt->x[axis], j * pt->stride, pt->single);
}

/* sum += c exp(sign 2 pi i phase) */
static void
add_term(long double sum[2], const double c[2], long double phase, int sign)
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
			phase += turns_of(s[a], coordinate(pt, a, j));
		add_term(sum, c + 2 * j, phase, sign);
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
		phase += turns_of(mode(at % o->n[a], o->n[a], o->fft_order), coordinate(pt, a, j));
		at /= o->n[a];
	}
	return phase;
}

void
usfft_direct_point(const struct usfft_options *o, const struct usfft_points *pt,
		   const double *modes, int sign, size_t j, double out[2])
{
	long double sum[2] = {0, 0};

	for (size_t at = 0; at < usfft_modes(o); at++)
		add_term(sum, modes + 2 * at, mode_turns(o, pt, at, j), sign);
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

int
usfft_direct_inverse(const struct usfft_options *o, const struct usfft_points *pt, const double *w,
		     const double *b, const struct usfft_inverse *v, double *modes)
{
	const size_t n = usfft_modes(o);
	double complex *m = calloc(n * n, sizeof *m), *row = calloc(n, sizeof *row);
	double complex *right = calloc(n, sizeof *right);
	const int err = m && row && right ? 0 : -ENOMEM;
	if (!err) {
		add_equations(o, pt, w, b, v, n, m, right, row);
		dense_solve(m, right, 1, n);
	}
	for (size_t i = 0; !err && i < n; i++) {
		modes[2 * i] = creal(right[i]);
		modes[2 * i + 1] = cimag(right[i]);
	}
	weir_free_all(m, row, right);
	return err;
}

/* ---- maps of coils ---- */

/* Returns the largest eigenvalue of the positive n x n matrix g, and sets v to its vector. next: n of scratch. */
static double
find_main(const double complex *g, size_t n, double complex *v, double complex *next)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		v[i] = 1 + .1 * (double)(i % 7) * I;
	for (int step = 0; step < 3000; step++) {
		sum = 0;
		for (size_t i = 0; i < n; i++) {
			next[i] = 0;
			for (size_t k = 0; k < n; k++)
				next[i] += g[i * n + k] * v[k];
			sum += pow(cabs(next[i]), 2);
		}
		for (size_t i = 0; i < n; i++)
			v[i] = next[i] / sqrt(sum);
	}
	return sqrt(sum);
}

/* Value i of window p: i counts the places of the first coil, x first, then those of the others. */
static double complex
window_value(const struct usfft_centre *c, const double *lattice, size_t p, size_t i)
{
	size_t at = 0, step = 1;

	for (int a = 0; a < 3; a++) {
		const size_t moves = c->region[a] - c->window[a] + 1;
		at += (p % moves + i % c->window[a]) * step;
		p /= moves;
		i /= c->window[a];
		step *= c->region[a];
	}
	return lattice[2 * (i * step + at)] + lattice[2 * (i * step + at) + 1] * I;
}

/* What value i of a window is where pixel x alone is 1, for the coil of i. */
static double complex
pixel_value(const struct usfft_centre *c, const size_t x[3], size_t i)
{
	double turns = 0;

	for (int a = 0; a < 3; i /= c->window[a++])
		turns += mode(x[a], c->n[a], false) * (double)(i % c->window[a]) / (double)c->n[a];
	return cexp(c->sign * 2 * 3.14159265358979323846 * turns * I);
}

int
usfft_direct_map(const struct usfft_centre *c, const double *lattice, const size_t x[3],
		 double *map)
{
	const size_t box = c->window[0] * c->window[1] * c->window[2], n = box * c->coils;
	double complex *cov = calloc(n * n, sizeof *cov), *sq = calloc(n * n, sizeof *sq),
		       *m = calloc(n * n, sizeof *m), *v = calloc(2 * n, sizeof *v);
	double complex g[64] = {0}, all[64] = {0}, s[8], main[8], turn = 0;
	const int err = cov && sq && m && v ? 0 : -ENOMEM;
	size_t windows = 1;

	for (int a = 0; a < 3; a++)
		windows *= c->region[a] - c->window[a] + 1;
	for (size_t i = 0; !err && i < n * n; i++) {
		for (size_t p = 0; p < windows; p++)
			cov[i] += window_value(c, lattice, p, i / n) *
				  conj(window_value(c, lattice, p, i % n));
		if (i / n % box == i % n % box)
			all[i / n / box * c->coils + i % n / box] += cov[i];
	}
	const double t = err ? 0 : USFFT_MAPS_KEEP * find_main(cov, n, v, v + n);
	for (size_t i = 0; !err && i < n * n; i++)
		for (size_t k = 0; k < n; k++)
			sq[i] += cov[i / n * n + k] * cov[k * n + i % n];
	for (size_t d = 0; !err && d < c->coils; d++) { /* v = W of pixel x in coil d */
		for (size_t i = 0; i < n; i++) {
			v[i] = 0;
			for (size_t k = d * box; k < (d + 1) * box; k++)
				v[i] += sq[i * n + k] * pixel_value(c, x, k);
		}
		for (size_t i = 0; i < n * n; i++)
			m[i] = sq[i] + (i % (n + 1) ? 0 : t * t);
		dense_solve(m, v, 1, n);
		for (size_t i = 0; i < n; i++)
			g[i / box * c->coils + d] +=
			    conj(pixel_value(c, x, i)) * v[i] / (double)box;
	}
	const double value = find_main(g, c->coils, s, v);
	find_main(all, c->coils, main, v);
	for (size_t k = 0; k < c->coils; k++)
		turn += conj(main[k]) * s[k];
	for (size_t k = 0; k < c->coils; k++) {
		s[k] *= value < USFFT_MAPS_CROP ? 0 : conj(turn) / cabs(turn);
		map[2 * k] = creal(s[k]);
		map[2 * k + 1] = cimag(s[k]);
	}
	weir_free_all(cov, sq, m, v);
	return err;
}

/* ---- the sky ---- */

/* u l + v m + w (n - 1) modulo 1, for the pixel at index `at` of the image; *seen: it is not beyond the horizon. */
static long double
sky_turns(const struct usfft_sky_options *o, const struct usfft_points *pt, size_t at, size_t j,
	  bool *seen)
{
	long double phase = 0, r2 = 0;

	for (int a = 0; a < 2; a++) {
		const double k = (double)(at % o->o.n[a]) - (double)(o->o.n[a] / 2);
		const double u = coordinate(pt, a, j), x = u * o->pixel[a];
		const long double l = (long double)k * o->pixel[a];
		phase += turns_of(k, x) + (long double)k * fma(u, o->pixel[a], -x);
		r2 += l * l;
		at /= o->o.n[a];
	}
	*seen = r2 <= 1;
	const long double depth = *seen ? r2 / (1 + sqrtl(1 - r2)) : 0;
	const long double w = -coordinate(pt, 2, j) * depth;
	return phase + (w - rintl(w));
}

double
usfft_direct_pixel(const struct usfft_sky_options *o, const struct usfft_points *pt,
		   const double *vis, int sign, size_t at)
{
	long double sum[2] = {0, 0};

	for (size_t j = 0; j < pt->m; j++) {
		bool seen;
		const long double phase = sky_turns(o, pt, at, j, &seen);
		if (seen)
			add_term(sum, vis + 2 * j, phase, sign);
	}
	return (double)sum[0];
}

void
usfft_direct_visibility(const struct usfft_sky_options *o, const struct usfft_points *pt,
			const double *image, int sign, size_t j, double out[2])
{
	long double sum[2] = {0, 0};

	for (size_t at = 0; at < o->o.n[0] * o->o.n[1]; at++) {
		const double pixel[2] = {image[at], 0};
		bool seen;
		const long double phase = sky_turns(o, pt, at, j, &seen);
		if (seen)
			add_term(sum, pixel, phase, sign);
	}
	out[0] = (double)sum[0];
	out[1] = (double)sum[1];
}
