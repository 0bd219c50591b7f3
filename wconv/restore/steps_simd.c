/* variants: f32 f64 */
/*
 * The steps, for one precision. Sums over the data and over the estimate are made along each row first and
 * then over the rows, so that they do not depend on the number of threads.
 */
#include <math.h>

#include "common/base/cpu.h"
#include "common/base/par.h"
#include "common/base/simd.h"
#include "wconv/plan.h"
#include "wconv/restore/restore.h"

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

enum { PARTS = 16 }; /* partial sums of a row: the compiler makes vectors of them */

/* With v = f + sky: r = max(y, 0) / max(v, least), or 0 where y is unknown. Adds the squares of y - v over known samples to sum. */
WEIR_CLONES(divide_row,
	    (const real *restrict y, const real *restrict f, real sky, real least, size_t n,
	     real *restrict r, double *restrict sum),
	    (y, f, sky, least, n, r, sum))
{
	double part[PARTS] = {0};
	size_t i = 0;

	for (; i + PARTS <= n; i += PARTS) {
		real miss[PARTS]; /* no branches: a branch keeps the compiler from making vectors */
#pragma omp simd
		for (size_t k = 0; k < PARTS; k++) {
			const real v = f[i + k] + sky, count = y[i + k] > 0 ? y[i + k] : 0;
			const real q = count / (v > least ? v : least);
			const real d = y[i + k] - v, zero = y[i + k] - y[i + k];
			r[i + k] = zero == 0 ? q : 0;
			miss[k] = zero == 0 ? d : 0;
		}
#pragma omp simd
		for (size_t k = 0; k < PARTS; k++)
			part[k] += (double)miss[k] * (double)miss[k];
	}
	for (size_t k = 0; i < n; i++, k++) {
		const real v = f[i] + sky, d = y[i] - v;
		const bool known = y[i] - y[i] == 0;
		r[i] = y[i] > 0 && known ? y[i] / (v > least ? v : least) : 0;
		part[k] += known ? (double)d * (double)d : 0;
	}
	*sum = 0;
	for (size_t k = 0; k < PARTS; k++)
		*sum += part[k];
}

/* x *= t / s, or x = 0 where that is negative or s is not above `least`. */
WEIR_CLONES(multiply_row,
	    (real *restrict x, const real *restrict t, const real *restrict s, real least,
	     size_t n),
	    (x, t, s, least, n))
{
	for (size_t i = 0; i < n; i++) {
		const real v = x[i] * t[i] / s[i];
		x[i] = s[i] > least && v > 0 ? v : 0;
	}
}

/* X = x t / s, or 0 as in multiply_row(), takes x's place, and g = X - x that of g'. Sums g g' to along and g'^2 to before. */
WEIR_CLONES(gain_row,
	    (real *restrict x, const real *restrict t, const real *restrict s, real least,
	     real *restrict g, size_t n, double *restrict along, double *restrict before),
	    (x, t, s, least, g, n, along, before))
{
	double part[2][PARTS] = {0};

	for (size_t i = 0; i < n; i += PARTS) {
		const size_t m = n - i < PARTS ? n - i : PARTS;
#pragma omp simd
		for (size_t k = 0; k < m; k++) {
			const real v = x[i + k] * t[i + k] / s[i + k], old = g[i + k];
			const real next = s[i + k] > least && v > 0 ? v : 0;
			g[i + k] = next - x[i + k];
			x[i + k] = next;
			part[0][k] += (double)g[i + k] * (double)old;
			part[1][k] += (double)old * (double)old;
		}
	}
	*along = *before = 0;
	for (size_t k = 0; k < PARTS; k++) {
		*along += part[0][k];
		*before += part[1][k];
	}
}

/* x = max(X + a (X - X'), X / 10), with X in x and X' in last, which becomes X. */
WEIR_CLONES(extend_row, (real *restrict x, real *restrict last, real a, size_t n), (x, last, a, n))
{
	for (size_t i = 0; i < n; i++) {
		const real v = x[i] + a * (x[i] - last[i]), least = (real).1 * x[i];
		last[i] = x[i];
		x[i] = v > least ? v : least;
	}
}

/* Finds the known samples. Sets d->r to 1 there, else to 0. */
static struct wconv_known
find_known(const struct wconv_restore *d, const real *y)
{
	real *r = d->r;
	struct wconv_known k = {0};

	for (size_t i = 0; i < d->w * d->h; i++) {
		const bool known = y[i] - y[i] == 0;
		r[i] = known;
		k.n += known;
		k.sum += known ? (double)y[i] : 0;
		k.peak = known && fabs((double)y[i]) > k.peak ? fabs((double)y[i]) : k.peak;
	}
	return k;
}

/* Adds A applied to the floor to the data. */
static void
lift(struct wconv_restore *d)
{
	real *x = d->x, *f = d->f, *to = f + d->w * d->h;

	for (size_t i = 0; i < d->ew * d->eh; i++)
		x[i] = (real)d->floor;
	wconv_restore_apply(d, false, x, f, NULL);
	for (size_t i = 0; i < d->w * d->h; i++)
		to[i] = ((const real *)d->y)[i] + f[i];
	d->y = to;
}

/* Sets s = A' r, with r from find_known(), and x to its start. Returns 0, or -1 with a sentence in why. */
static int
start_lucy(struct wconv_restore *d, const struct wconv_known *k, struct why *why)
{
	const size_t n = d->ew * d->eh;
	real *x = d->x, *s = d->s;
	double largest = 0, all = 0, level;

	wconv_restore_apply(d, true, d->r, s, NULL);
	for (size_t i = 0; i < n; i++) {
		largest = (double)s[i] > largest ? (double)s[i] : largest;
		all += (double)s[i];
	}
	if (wconv_restore_start(d, k, largest, all, &level, why))
		return -1;
	if (d->floor > 0)
		lift(d);
	for (size_t i = 0; i < n; i++)
		x[i] = (real)level;
	for (size_t i = 0; d->o.accelerate && i < n; i++) {
		((real *)d->last)[i] = x[i];
		((real *)d->gain)[i] = 0;
	}
	return 0;
}

/* Row `row` of A x is f: makes that row of r = y / (A x + sky). */
static void
divide(void *with, size_t row, const void *f)
{
	const struct wconv_restore *d = with;

	divide_row((const real *)d->y + row * d->w, f, (real)d->o.sky, (real)d->least, d->w,
		   (real *)d->r + row * d->w, d->row + row);
}

/* Row `row` of A' r is t: makes that row of the next x. */
static void
multiply(void *with, size_t row, const void *t)
{
	const struct wconv_restore *d = with;

	multiply_row((real *)d->x + row * d->ew, t, (real *)d->s + row * d->ew, (real)d->dark,
		     d->ew);
}

/* Does the same, and keeps what acceleration needs. */
static void
multiply_and_keep(void *with, size_t row, const void *t)
{
	const struct wconv_restore *d = with;

	gain_row((real *)d->x + row * d->ew, t, (real *)d->s + row * d->ew, (real)d->dark,
		 (real *)d->gain + row * d->ew, d->ew, d->along + row, d->before + row);
}

/* Moves x on, in the direction of the last step. */
static void
extend(struct wconv_restore *d)
{
	const double before = sum_rows(d->before, d->eh);
	const double ratio = before > 0 ? sum_rows(d->along, d->eh) / before : 0;
	const real a = (real)(ratio > 1 ? 1 : ratio > 0 ? ratio : 0);

#pragma omp parallel for num_threads(d->threads) schedule(static)
	for (size_t y = 0; y < d->eh; y++)
		extend_row((real *)d->x + y * d->ew, (real *)d->last + y * d->ew, a, d->ew);
}

static int
lucy(struct wconv_restore *d, const void *y, struct wconv_restored *done, struct why *why)
{
	const struct wconv_known k = find_known(d, y);
	const real *s = d->s;
	real *x = d->x;

	d->y = y;
	if (start_lucy(d, &k, why))
		return -1;
	for (done->steps = 0;; done->steps++) {
		wconv_restore_apply(d, false, x, d->f, divide);
		if (wconv_restore_ends(d, done, sum_rows(d->row, d->h), k.n))
			break;
		wconv_restore_apply(d, true, d->r, d->p,
				    d->o.accelerate ? multiply_and_keep : multiply);
		if (d->o.accelerate)
			extend(d);
		tell(d, done->steps + 1);
	}
	for (size_t i = 0; i < d->ew * d->eh; i++)
		x[i] = (double)s[i] > d->dark ? x[i] - (real)d->floor : (real)NAN;
	return 0;
}

/* --- least squares --------------------------------------------------------------------------------------------------- */

/* to = a to + b from; sum becomes the sum of squares of the new `to`. */
WEIR_CLONES(combine_row,
	    (double a, real *restrict to, double b, const real *restrict from, size_t n,
	     double *restrict sum),
	    (a, to, b, from, n, sum))
{
	double part[PARTS] = {0};
	size_t i = 0;

	for (; i + PARTS <= n; i += PARTS)
#pragma omp simd
		for (size_t k = 0; k < PARTS; k++) {
			to[i + k] = (real)(a * (double)to[i + k] + b * (double)from[i + k]);
			part[k] += (double)to[i + k] * (double)to[i + k];
		}
	for (size_t k = 0; i < n; i++, k++) {
		to[i] = (real)(a * (double)to[i] + b * (double)from[i]);
		part[k] += (double)to[i] * (double)to[i];
	}
	*sum = 0;
	for (size_t k = 0; k < PARTS; k++)
		*sum += part[k];
}

/* Does the same for all rows. Returns the sum of squares of the new `to`. */
static double
combine(const struct wconv_restore *d, size_t w, size_t h, double a, real *to, double b,
	const real *from)
{
#pragma omp parallel for num_threads(d->threads) schedule(static)
	for (size_t y = 0; y < h; y++)
		combine_row(a, to + y * w, b, from + y * w, w, d->row + y);
	return sum_rows(d->row, h);
}

/* Zeroes f where y is unknown; returns the sum of squares of the rest. */
static double
mask(const struct wconv_restore *d, const real *y, real *f)
{
#pragma omp parallel for num_threads(d->threads) schedule(static)
	for (size_t k = 0; k < d->h; k++) {
		for (size_t i = k * d->w; i < (k + 1) * d->w; i++)
			f[i] = y[i] - y[i] == 0 ? f[i] : 0;
		combine_row(1, f + k * d->w, 0, (const real *)d->r + k * d->w, d->w, d->row + k);
	}
	return sum_rows(d->row, d->h);
}

/* CGLS, with r = y - A x - sky, s = A' r - damp^2 x, p the direction, f = A p. */
static int
least_squares(struct wconv_restore *d, const void *data, struct wconv_restored *done,
	      struct why *why)
{
	const real *y = data;
	const struct wconv_known k = find_known(d, y);
	const double damp = d->o.damp * d->o.damp, tiny = wconv_restore_tiny(d);
	const size_t ew = d->ew, eh = d->eh;
	real *x = d->x, *p = d->p, *s = d->s, *f = d->f, *r = d->r;
	double rr = 0, ss, first, pp;

	if (!k.n)
		return wconv_restore_unknown(why);
	for (size_t i = 0; i < d->w * d->h; i++) {
		r[i] = y[i] - y[i] == 0 ? y[i] - (real)d->o.sky : 0;
		rr += (double)r[i] * (double)r[i];
	}
	wconv_restore_apply(d, true, r, s, NULL);
	for (size_t i = 0; i < ew * eh; i++)
		x[i] = p[i] = 0;
	first = ss = pp = combine(d, ew, eh, 0, p, 1, s);
	for (done->steps = 0;; done->steps++) {
		if (wconv_restore_check(rr, ss, why))
			return -1;
		if (wconv_restore_ends(d, done, rr, k.n) || !(ss > tiny * first))
			return 0;
		wconv_restore_apply(d, false, p, f, NULL);
		const double step = ss / (mask(d, y, f) + damp * pp), before = ss;
		combine(d, ew, eh, 1, x, step, p);
		rr = combine(d, d->w, d->h, 1, r, -step, f);
		wconv_restore_apply(d, true, r, s, NULL);
		ss = combine(d, ew, eh, 1, s, -damp, x);
		pp = combine(d, ew, eh, ss / before, p, 1, s);
		tell(d, done->steps + 1);
	}
}

const struct wconv_restore_steps SIMD_NAME(wconv_restore) = {lucy, least_squares};
