/* The definition of adaptive subtraction: each filter is applied sample by sample, and its energy is counted. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "radon/radon.h"

enum { MOST = 32 }; /* samples of a filter */

/* One window: its weights [nx][nt], 0 where there is no data. */
struct part {
	const struct radon_options *o;
	const float *d;
	const double *m, *w;
	size_t half;
};

static double
at(const struct part *p, size_t j, size_t t, size_t k)
{
	const size_t i = t + p->half - k;

	return t + p->half < k || i >= p->o->nt ? 0 : p->m[j * p->o->nt + i];
}

/* Does sample t count? side 2: all samples count; 0 and 1: those of even and of odd blocks of .2 s. */
static bool
counts(const struct part *p, size_t t, size_t side)
{
	return side == 2 || t / (size_t)rint(.2 / p->o->dt) % 2 == side;
}

/* Finds f - delta from one side by Gaussian elimination of the normal equations. */
static void
match(const struct part *p, size_t side, double ratio, double *c)
{
	const struct radon_options *o = p->o;
	const size_t n = 2 * p->half + 1;
	double a[MOST][MOST + 1] = {{0}}, energy = 0, mean = 0;

	for (size_t i = 0; i < o->nx * o->nt; i++) {
		const size_t j = i / o->nt, t = i % o->nt;
		if (!counts(p, t, side))
			continue;
		energy += p->w[i] * p->d[i] * p->d[i];
		for (size_t k = 0; k < n; k++) {
			for (size_t l = 0; l < n; l++)
				a[k][l] += p->w[i] * at(p, j, t, k) * at(p, j, t, l);
			a[k][n] += p->w[i] * at(p, j, t, k) * (p->d[i] - p->m[i]);
		}
	}
	for (size_t k = 0; k < n; k++)
		mean += a[k][k] / (double)n;
	const double mu = fmax(ratio * energy, 1e-10 * mean);
	for (size_t k = 0; k < n; k++)
		a[k][k] += mu;
	for (size_t k = 0; k < n && mu > 0; k++)
		for (size_t l = 0; l < n; l++)
			for (size_t i = n + 1; l != k && i-- > k;)
				a[l][i] -= a[l][k] / a[k][k] * a[k][i];
	for (size_t k = 0; k < n; k++)
		c[k] = mu > 0 ? a[k][n] / a[k][k] : 0;
}

static double
filtered(const struct part *p, const double *c, size_t j, size_t t)
{
	double sum = p->m[j * p->o->nt + t];

	for (size_t k = 0; k <= 2 * p->half; k++)
		sum += c[k] * at(p, j, t, k);
	return sum;
}

/* Adds to *misfit the energy that filters leave in the blocks they were not found from, and to *plain that of d - m. */
static void
cross(const struct part *p, double ratio, double *misfit, double *plain)
{
	double c[2][MOST];

	match(p, 0, ratio, c[0]);
	match(p, 1, ratio, c[1]);
	for (size_t i = 0; i < p->o->nx * p->o->nt; i++) {
		const size_t j = i / p->o->nt, t = i % p->o->nt;
		const double left = p->d[i] - filtered(p, c[counts(p, t, 0)], j, t),
			     rest = p->d[i] - p->m[i];
		*misfit += p->w[i] * left * left;
		*plain += p->w[i] * rest * rest;
	}
}

/* The weight at sample i of window k of an axis whose windows reach `half` samples to each side, and their number. */
static double
hat(size_t n, double half, size_t i, size_t k, size_t *count)
{
	*count = 1;
	if (!(half > 0 && half < (double)n) || n == 1)
		return 1;
	*count = (size_t)ceil((double)(n - 1) / half) + 1;
	const double apart = (double)(n - 1) / (double)(*count - 1);
	return fmax(0, 1 - fabs((double)i - (double)k * apart) / apart);
}

/* Fills the weights of window k, and returns how many windows there are. */
static size_t
weigh(const struct radon_options *o, const float *d, size_t k, double *w)
{
	const double half = o->adapt.traces ? (double)(o->adapt.traces + 1) / 2 : 0;
	size_t traces = 1, times = 1;

	hat(o->nt, o->adapt.window / 2 / o->dt, 0, 0, &times);
	for (size_t j = 0; j < o->nx; j++) {
		const struct radon_span s = radon_span(d + j * o->nt, o->nt);
		const double by = hat(o->nx, half, j, k / times, &traces);
		for (size_t t = 0; t < o->nt; t++)
			w[j * o->nt + t] = t < s.first || t >= s.end || (o->live && !o->live[j])
					       ? 0
					       : by * hat(o->nt, o->adapt.window / 2 / o->dt, t,
							  k % times, &times);
	}
	return traces * times;
}

/* out += the window's part of d - f * m. */
static void
add(const struct part *p, double ratio, double *out)
{
	double c[MOST] = {0};

	if (isfinite(ratio))
		match(p, 2, ratio, c);
	for (size_t i = 0; i < p->o->nx * p->o->nt; i++)
		out[i] += p->w[i] * (p->d[i] - filtered(p, c, i / p->o->nt, i % p->o->nt));
}

int
radon_direct_adapt(const struct radon_options *o, const float *gather, const float *left,
		   double *out, double *ratio)
{
	static const double ratios[6] = {3, 1, .3, .1, .03, .01};
	const size_t n = o->nx * o->nt;
	double *m = weir_alloc(n, sizeof *m), *w = weir_alloc(n, sizeof *w), least = INFINITY;
	struct part p = {
	    .o = o, .d = gather, .m = m, .w = w, .half = (size_t)rint(o->adapt.filter / 2 / o->dt)};
	int err = -ENOMEM;

	for (size_t i = 0; m && w && i < n; i++) {
		m[i] = (double)gather[i] - (double)left[i];
		const struct radon_span s = radon_span(gather + i / o->nt * o->nt, o->nt);
		const bool data = i % o->nt >= s.first && i % o->nt < s.end;
		out[i] = data && (!o->live || o->live[i / o->nt]) ? 0 : (double)left[i];
	}
	*ratio = INFINITY;
	for (size_t i = 0; m && w && i < 6; i++) {
		double misfit = 0, plain = 0;
		for (size_t k = 0; k < weigh(o, gather, k, w); k++)
			cross(&p, ratios[i], &misfit, &plain);
		if (misfit <= .99 * plain && misfit < plain && misfit < least) {
			least = misfit;
			*ratio = ratios[i];
		}
	}
	for (size_t k = 0; m && w && k < weigh(o, gather, k, w); k++) {
		add(&p, *ratio, out);
		err = 0;
	}
	weir_free(m);
	weir_free(w);
	return err;
}
