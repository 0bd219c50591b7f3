/*
 * Finds whether the kernel is the product of a column and a row, K(a,b) = row(a) column(b), as a Gaussian or a box is. Direct
 * sums then take kw + kh multiplications a pixel in place of kw kh.
 */
#include <errno.h>
#include <float.h>
#include <math.h>

#include "common/base/mem.h"
#include "common/base/real.h"
#include "wconv/plan.h"

/* Column and row, of doubles that the plan's precision holds. */
struct factors {
	double *column, *row;
};

/* Returns sample (i,j) of the plan's only kernel, scaled, as windows see it. */
static double
sample(const struct wconv_plan *p, size_t j, size_t i)
{
	const struct wconv_problem *q = &p->q;
	const size_t r = q->correlate ? j : q->kh - 1 - j, c = q->correlate ? i : q->kw - 1 - i;

	return p->scale[0] * real_at(q->kernels, r * q->step_row + c, !q->in_double);
}

static double
narrow(const struct wconv_plan *p, double v)
{
	return p->q.in_double ? v : (double)(float)v;
}

/* Finds the largest sample in absolute value, and returns it. */
static double
find_peak(const struct wconv_plan *p, size_t *j0, size_t *i0)
{
	double most = 0;

	*j0 = *i0 = 0;
	for (size_t j = 0; j < p->q.kh; j++)
		for (size_t i = 0; i < p->q.kw; i++)
			if (fabs(sample(p, j, i)) > most) {
				most = fabs(sample(p, j, i));
				*j0 = j;
				*i0 = i;
			}
	return sample(p, *j0, *i0);
}

/* Returns a divisor of all samples of row j, by Euclid. It is exact, since fmod() is. */
static double
common_divisor(const struct wconv_plan *p, size_t j)
{
	double a = 0;

	for (size_t i = 0; i < p->q.kw; i++)
		for (double b = fabs(sample(p, j, i)); b > 0;) {
			const double rest = fmod(a, b);
			a = b;
			b = rest;
		}
	return a;
}

/*
 * Makes factors of the row and the column of the peak. The row has small integers if its samples are multiples of one number.
 * The sums of such kernels, of boxes and binomials, then stay exact where those of all samples are.
 */
static void
take_cross(const struct wconv_plan *p, size_t j0, size_t i0, struct factors *f)
{
	const double divisor = common_divisor(p, j0);

	for (size_t i = 0; i < p->q.kw; i++)
		f->row[i] = narrow(p, sample(p, j0, i) / divisor);
	for (size_t j = 0; j < p->q.kh; j++)
		f->column[j] = narrow(p, sample(p, j, i0) / f->row[i0]);
}

/* Makes to[0..n-1] the factor that gives the least squares with the other one, by[0..m-1]. */
static void
fit(const struct wconv_plan *p, bool column, double *to, size_t n, const double *by, size_t m)
{
	double norm = 0;

	for (size_t i = 0; i < m; i++)
		norm += by[i] * by[i];
	for (size_t k = 0; k < n; k++) {
		double v = 0;
		for (size_t i = 0; i < m; i++)
			v += by[i] * (column ? sample(p, k, i) : sample(p, i, k));
		to[k] = narrow(p, v / norm);
	}
}

static void
fit_column(const struct wconv_plan *p, struct factors *f)
{
	fit(p, true, f->column, p->q.kh, f->row, p->q.kw);
}

static void
fit_row(const struct wconv_plan *p, struct factors *f)
{
	fit(p, false, f->row, p->q.kw, f->column, p->q.kh);
}

/* Returns the sum of |K - row column|, or INFINITY as soon as it is more than `most`. */
static double
misfit(const struct wconv_plan *p, const struct factors *f, double most)
{
	double sum = 0;

	for (size_t j = 0; j < p->q.kh; j++) {
		for (size_t i = 0; i < p->q.kw; i++)
			sum += fabs(sample(p, j, i) - f->row[i] * f->column[j]);
		if (!(sum <= most))
			return INFINITY;
	}
	return sum;
}

/*
 * Finds factors that are the kernel, or as near to it as its samples' own rounding is. Then the sum of |K - row column| is at most
 * 1.2e-7 |sum K| in float, and results differ by that times max|I| at most. Gaussians had up to 5.1e-8, and 9.4e-8 where they had
 * been computed in float. In double, exp() of a sum of squares is off by more than the rounding: 4e-16.
 */
static bool
find_factors(const struct wconv_plan *p, struct factors *f)
{
	const double rounding = p->q.in_double ? 4 * DBL_EPSILON : (double)FLT_EPSILON;
	const double most = rounding * fabs(p->sum[0]);
	size_t j0, i0;
	const double peak = find_peak(p, &j0, &i0);

	if (peak == 0)
		return false;
	take_cross(p, j0, i0, f);
	if (misfit(p, f, 0) == 0)
		return true;
	/* the cross has the rounding of its own samples alone */
	for (size_t i = 0; i < p->q.kw; i++)
		f->row[i] = sample(p, j0, i) / peak;
	fit_column(p, f);
	if (misfit(p, f, 8 * most) > 8 * most)
		return false;
	fit_row(p, f);
	fit_column(p, f);
	return misfit(p, f, most) <= most;
}

/* Scales the row by a power of 2 to a sum of absolute values of 1 to 2: sums over columns cannot overflow before results do. */
static void
balance(const struct wconv_plan *p, struct factors *f)
{
	double sum = 0;
	int e;

	for (size_t i = 0; i < p->q.kw; i++)
		sum += fabs(f->row[i]);
	frexp(sum, &e);
	for (size_t i = 0; i < p->q.kw; i++)
		f->row[i] = ldexp(f->row[i], 1 - e);
	for (size_t j = 0; j < p->q.kh; j++)
		f->column[j] = ldexp(f->column[j], e - 1);
}

static int
store(struct wconv_plan *p, const struct factors *f)
{
	const size_t kh = p->q.kh, kw = p->q.kw;
	const bool single = !p->q.in_double;

	p->factors = weir_alloc(2 * (kh + kw), p->core->sample);
	if (!p->factors)
		return -ENOMEM;
	for (size_t j = 0; j < kh; j++) {
		real_set(p->factors, j, f->column[j], single);
		real_set(p->factors, kh + kw + j, f->column[kh - 1 - j], single);
	}
	for (size_t i = 0; i < kw; i++) {
		real_set(p->factors, kh + i, f->row[i], single);
		real_set(p->factors, kh + kw + kh + i, f->row[kw - 1 - i], single);
	}
	return 0;
}

int
wconv_find_product(struct wconv_plan *p)
{
	struct factors f = {0};
	int e = -ENOMEM;

	if (p->x.nfun != 1 || p->y.nfun != 1 || p->q.kw == 1 || p->q.kh == 1 || p->q.on_device)
		return 0;
	f.column = weir_alloc(p->q.kh, sizeof *f.column);
	f.row = weir_alloc(p->q.kw, sizeof *f.row);
	if (f.column && f.row)
		e = 0;
	if (!e && find_factors(p, &f)) {
		balance(p, &f);
		e = store(p, &f);
	}
	weir_free(f.column);
	weir_free(f.row);
	return e;
}
