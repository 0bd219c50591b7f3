/* The sky of a picture, its noise, and the level from which on its pixels are saturated. */
#include <errno.h>
#include <float.h>
#include <math.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "wconv/psfmatch/inside.h"

enum { SAMPLES = 50000, FEWEST = 100 };

/*
 * Collects samples in v, and the absolute second differences along rows there in d. Gradients and most of the light of stars
 * add nothing to these. Where three samples in a row are equal, the picture was filled up, and no sky was seen.
 */
static size_t
collect(const float *x, size_t n, bool filled, double *v, double *d)
{
	const size_t step = n / SAMPLES + 1;
	size_t k = 0;

	for (size_t i = 1; i + 1 < n; i += step) {
		const double a = (double)x[i - 1], b = (double)x[i], c = (double)x[i + 1];
		if (!isfinite(a - 2 * b + c) || (!filled && a - b == 0 && b - c == 0))
			continue;
		v[k] = b;
		d[k++] = fabs(a - 2 * b + c);
	}
	return k;
}

/* Returns the smallest of d[n] above 0, or 0. */
static double
smallest(const double *d, size_t n)
{
	double least = INFINITY;

	for (size_t i = 0; i < n; i++)
		if (d[i] > 0 && d[i] < least)
			least = d[i];
	return isfinite(least) ? least : 0;
}

/* Returns the largest finite sample of x[n], or minus infinity. */
WEIR_CLONES_OF(float, largest_finite, (const float *x, size_t n), (x, n))
{
	float part[16], most = -INFINITY;
	size_t i = 0;

	for (size_t k = 0; k < 16; k++)
		part[k] = -INFINITY;
	for (; i + 16 <= n; i += 16)
		for (size_t k = 0; k < 16; k++)
			part[k] = x[i + k] > part[k] && x[i + k] <= FLT_MAX ? x[i + k] : part[k];
	for (size_t k = 0; k < 16; k++)
		most = part[k] > most ? part[k] : most;
	for (; i < n; i++)
		most = x[i] > most && x[i] <= FLT_MAX ? x[i] : most;
	return most;
}

/* Returns the largest finite value, if three pixels in a row have it and are thus saturated; otherwise infinity. */
static double
saturation(const float *x, size_t n)
{
	const float most = largest_finite(x, n);

	for (size_t i = 2; i < n; i++)
		if (x[i] == most && x[i - 1] == most && x[i - 2] == most)
			return (double)most;
	return INFINITY;
}

/* v, d: room for SAMPLES + 1. Returns -EDOM if fewer than FEWEST samples are known. */
static int
measure(const float *x, size_t n, double top, double *v, double *d, struct psfmatch_sky *s)
{
	size_t k = collect(x, n, false, v, d);

	if (k < FEWEST)
		k = collect(x, n, true, v, d);
	if (k < FEWEST)
		return -EDOM;
	/* A picture of whole numbers has at least the noise of rounding. */
	const double rounding = smallest(d, k) / sqrt(12);
	s->noise = fmax(1.4826 * psfmatch_median(d, k) / sqrt(6), rounding);
	s->level = psfmatch_median(v, k);
	s->top = fmin(nextafter(top, INFINITY), saturation(x, n));
	return 0;
}

/*
 * Returns the correlation of the pictures' noise: the spreads of the sum and of the difference of their second differences, each
 * in units of its own, differ by it. v, d: room for SAMPLES + 1.
 */
static double
correlate(const struct psfmatch_field *f, double *v, double *d)
{
	const size_t n = f->w * f->h, step = n / SAMPLES + 1;
	size_t k = 0;

	for (size_t i = 1; i + 1 < n; i += step) {
		const float *r = f->ref + i, *s = f->new + i;
		const double a = ((double)r[-1] - 2 * (double)r[0] + (double)r[1]) / f->r.noise;
		const double b = ((double)s[-1] - 2 * (double)s[0] + (double)s[1]) / f->n.noise;
		if (!isfinite(a) || !isfinite(b))
			continue;
		v[k] = fabs(a + b);
		d[k++] = fabs(a - b);
	}
	if (!k)
		return 0;
	const double sum = psfmatch_median(v, k), less = psfmatch_median(d, k);
	return sum + less > 0 ? (sum * sum - less * less) / (sum * sum + less * less) : 0;
}

int
psfmatch_measure_sky(struct psfmatch_field *f, double top)
{
	double *v = weir_alloc(2 * (SAMPLES + 1), sizeof *v);
	const size_t n = f->w * f->h;
	int e = v ? 0 : -ENOMEM;

	e = e ? e : measure(f->ref, n, top, v, v + SAMPLES + 1, &f->r);
	e = e ? e : measure(f->new, n, top, v, v + SAMPLES + 1, &f->n);
	f->noise = hypot(f->r.noise, f->n.noise);
	if (!e && f->r.noise > 0 && f->n.noise > 0)
		f->shared = correlate(f, v, v + SAMPLES + 1) * f->n.noise / f->r.noise;
	/* pictures without noise: takes the last digit of a float as noise */
	if (!(f->noise > 0))
		f->noise = 1e-6 * (fabs(f->r.level) + fabs(f->n.level)) + 1e-12;
	weir_free(v);
	return e;
}
