/*
 * The steps, compiled once for each precision. Sums over the data and over the estimate are made along each row first and
 * then over the rows, so that they do not depend on the number of threads.
 */
#include <math.h>

#include "common/par.h"
#include "wconv/plan.h"
#include "wconv/restore/inside.h"

typedef REAL real;

static double
sum_rows(const double *row, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += row[i];
	return sum;
}

static void
tell(const struct wconv_restore *d, size_t steps)
{
	if (d->o.tell)
		d->o.tell(d->o.with, steps);
}

/* --- Richardson-Lucy ------------------------------------------------------------------------------------------------- */

/* With v = f + sky: r = y / max(v, least), or 0 where y is unknown. Returns the sum of (y - v)^2 over known samples. */
static double
divide_row(const real *restrict y, const real *restrict f, real sky, real least, size_t n,
	   real *restrict r)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		const real v = f[i] + sky, d = y[i] - v;
		const bool known = y[i] - y[i] == 0;
		r[i] = known ? y[i] / (v > least ? v : least) : 0;
		sum += known ? (double)d * (double)d : 0;
	}
	return sum;
}

/* x *= t / s, or x = 0 where that is negative or s is not above `least`. */
static void
multiply_row(real *restrict x, const real *restrict t, const real *restrict s, real least, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const real v = x[i] * t[i] / s[i];
		x[i] = s[i] > least && v > 0 ? v : 0;
	}
}

/* The known samples: how many there are, their sum, and their largest absolute value. */
struct known {
	size_t n;
	double sum, peak;
};

/* Finds the known samples. Sets d->r to 1 there, else to 0. */
static struct known
find_known(const struct wconv_restore *d, const real *y)
{
	real *r = d->r;
	struct known k = {0};

	for (size_t i = 0; i < d->w * d->h; i++) {
		const bool known = y[i] - y[i] == 0;
		r[i] = known;
		k.n += known;
		k.sum += known ? (double)y[i] : 0;
		k.peak = known && fabs((double)y[i]) > k.peak ? fabs((double)y[i]) : k.peak;
	}
	return k;
}

/*
 * Sets s = A' r, with r from find_known(), and x to the constant that explains the sum of the known samples.
 * Returns the largest s; where it is 0, the method cannot start.
 */
static double
start_lucy(const struct wconv_restore *d, const struct known *k)
{
	const size_t n = d->ew * d->eh;
	real *x = d->x, *s = d->s;
	double largest = 0, all = 0, level;

	wconv_restore_apply(d, true, d->r, s);
	for (size_t i = 0; i < n; i++) {
		largest = (double)s[i] > largest ? (double)s[i] : largest;
		all += (double)s[i];
	}
	level = largest > 0 ? (k->sum - d->o.sky * (double)k->n) / all : 0;
	if (!(level > 0)) /* nothing is above the sky: any positive constant can be the start */
		level = k->peak > 0 ? 1e-3 * k->peak : 1;
	for (size_t i = 0; i < n; i++)
		x[i] = (real)level;
	return largest;
}

static int
lucy(struct wconv_restore *d, const void *data, struct wconv_restored *done, char err[WCONV_ERR])
{
	const real *y = data;
	const struct known k = find_known(d, y);
	const double largest = start_lucy(d, &k);
	const real least = (real)(k.peak * (sizeof(real) == 4 ? 1e-7 : 1e-14));
	real *x = d->x, *t = d->p, *s = d->s, *f = d->f, *r = d->r;

	if (!k.n)
		return wconv_fail(err, "no sample is known");
	if (!(largest > 0))
		return wconv_fail(err,
				  "the kernels sum to nothing positive: use least squares, --damp");
	for (done->steps = 0;; done->steps++) {
		wconv_restore_apply(d, false, x, f);
#pragma omp parallel for num_threads(d->threads) schedule(static)
		for (size_t i = 0; i < d->h; i++)
			d->row[i] = divide_row(y + i * d->w, f + i * d->w, (real)d->o.sky, least,
					       d->w, r + i * d->w);
		done->rms = sqrt(sum_rows(d->row, d->h) / (double)k.n);
		if (done->steps == d->o.steps || done->rms <= d->o.noise)
			break;
		wconv_restore_apply(d, true, r, t);
#pragma omp parallel for num_threads(d->threads) schedule(static)
		for (size_t i = 0; i < d->eh; i++)
			multiply_row(x + i * d->ew, t + i * d->ew, s + i * d->ew,
				     (real)(.01 * largest), d->ew);
		tell(d, done->steps + 1);
	}
	for (size_t i = 0; i < d->ew * d->eh; i++)
		if (!((double)s[i] > .01 * largest))
			x[i] = (real)NAN;
	return 0;
}

/* --- least squares --------------------------------------------------------------------------------------------------- */

/* to = a to + b from, row by row. Returns the sum of squares of the new `to`. */
static double
combine(const struct wconv_restore *d, size_t w, size_t h, double a, real *to, double b,
	const real *from)
{
#pragma omp parallel for num_threads(d->threads) schedule(static)
	for (size_t y = 0; y < h; y++) {
		double sum = 0;
		for (size_t i = y * w; i < (y + 1) * w; i++) {
			to[i] = (real)(a * (double)to[i] + b * (double)from[i]);
			sum += (double)to[i] * (double)to[i];
		}
		d->row[y] = sum;
	}
	return sum_rows(d->row, h);
}

/* Zeroes f where y is unknown; returns the sum of squares of the rest. */
static double
mask(const struct wconv_restore *d, const real *y, real *f)
{
#pragma omp parallel for num_threads(d->threads) schedule(static)
	for (size_t k = 0; k < d->h; k++) {
		double sum = 0;
		for (size_t i = k * d->w; i < (k + 1) * d->w; i++) {
			f[i] = y[i] - y[i] == 0 ? f[i] : 0;
			sum += (double)f[i] * (double)f[i];
		}
		d->row[k] = sum;
	}
	return sum_rows(d->row, d->h);
}

/* CGLS, with r = y - A x - sky, s = A' r - damp^2 x, p the direction, f = A p. */
static int
least_squares(struct wconv_restore *d, const void *data, struct wconv_restored *done,
	      char err[WCONV_ERR])
{
	const real *y = data;
	const struct known k = find_known(d, y);
	const double damp = d->o.damp * d->o.damp, tiny = sizeof(real) == 4 ? 1e-12 : 1e-28;
	const size_t ew = d->ew, eh = d->eh;
	real *x = d->x, *p = d->p, *s = d->s, *f = d->f, *r = d->r;
	double rr = 0, ss, first, pp;

	if (!k.n)
		return wconv_fail(err, "no sample is known");
	for (size_t i = 0; i < d->w * d->h; i++) {
		r[i] = y[i] - y[i] == 0 ? y[i] - (real)d->o.sky : 0;
		rr += (double)r[i] * (double)r[i];
	}
	wconv_restore_apply(d, true, r, s);
	for (size_t i = 0; i < ew * eh; i++)
		x[i] = p[i] = 0;
	first = ss = pp = combine(d, ew, eh, 0, p, 1, s);
	for (done->steps = 0;; done->steps++) {
		done->rms = sqrt(rr / (double)k.n);
		if (done->steps == d->o.steps || done->rms <= d->o.noise || !(ss > tiny * first))
			return 0;
		wconv_restore_apply(d, false, p, f);
		const double step = ss / (mask(d, y, f) + damp * pp), before = ss;
		combine(d, ew, eh, 1, x, step, p);
		rr = combine(d, d->w, d->h, 1, r, -step, f);
		wconv_restore_apply(d, true, r, s);
		ss = combine(d, ew, eh, 1, s, -damp, x);
		pp = combine(d, ew, eh, ss / before, p, 1, s);
		tell(d, done->steps + 1);
	}
}

/* Copies the part of the estimate that lies where the data do. */
static void
cut(const struct wconv_restore *d, void *to)
{
	const real *x = d->x;
	real *out = to;

	for (size_t i = 0; i < d->h; i++)
		for (size_t k = 0; k < d->w; k++)
			out[i * d->w + k] = x[(i + d->oy) * d->ew + k + d->ox];
}

const struct wconv_restore_steps STEPS = {lucy, least_squares, cut};
