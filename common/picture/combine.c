#include <float.h>
#include <math.h>

#include "common/base/cpu.h"
#include "common/picture/combine.h"

int
combine_needs_all(enum combine how)
{
	return how == COMBINE_MEDIAN || how == COMBINE_CLIP;
}

/* --- one item after the other ------------------------------------------------------------------------------------------ */

void
combine_start(enum combine how, double *total, unsigned *count, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		total[i] = how == COMBINE_MIN ? INFINITY : how == COMBINE_MAX ? -INFINITY : 0;
		count[i] = 0;
	}
}

WEIR_CLONES(add_sum,
	    (double *restrict total, unsigned *restrict count, const double *restrict v, size_t n),
	    (total, count, v, n))
{
	for (size_t i = 0; i < n; i++) {
		const bool number = !isnan(v[i]);
		total[i] += number ? v[i] : 0;
		count[i] += number;
	}
}

/* sign: 1 for the greatest, -1 for the least. Comparisons with NaN are false. */
WEIR_CLONES(add_most,
	    (double *restrict total, unsigned *restrict count, const double *restrict v, size_t n,
	     double sign),
	    (total, count, v, n, sign))
{
	for (size_t i = 0; i < n; i++) {
		total[i] = sign * v[i] > sign * total[i] ? v[i] : total[i];
		count[i] += isnan(v[i]) ? 0 : 1;
	}
}

/* The total of a mean whose sum would pass the doubles is in units of 2^64, and its count has this bit. */
#define FAR  0x80000000u
#define UNIT 0x1p64

/* Whether a total has passed the doubles, or may do so. */
WEIR_CLONES_OF(bool, may_pass,
	       (const double *total, const unsigned *count, const double *v, size_t n),
	       (total, count, v, n))
{
	int may = 0;

	for (size_t i = 0; i < n; i++)
		may |= (fabs(total[i]) > 0x1p1022) | (fabs(v[i]) > 0x1p1022) | (count[i] >= FAR);
	return may;
}

static void
add_far(double *total, unsigned *count, double v)
{
	const double sum = *total + v / (*count < FAR ? 1 : UNIT);
	const bool passes = isinf(sum) && isfinite(*total) && isfinite(v);

	*total = passes ? *total / UNIT + v / UNIT : sum;
	*count = (*count | (passes ? FAR : 0)) + 1;
}

/* A mean that rounding leads beyond the doubles is the greatest one. */
static double
scaled(double mean, double unit)
{
	return unit > 1 && isfinite(mean) ? fmin(fmax(mean * unit, -DBL_MAX), DBL_MAX)
					  : mean * unit;
}

void
combine_add(enum combine how, double *total, unsigned *count, const double *v, size_t n, bool wide)
{
	if (how == COMBINE_MIN || how == COMBINE_MAX)
		add_most(total, count, v, n, how == COMBINE_MAX ? 1 : -1);
	else if (how != COMBINE_MEAN || !wide || !may_pass(total, count, v, n))
		add_sum(total, count, v, n);
	else
		for (size_t i = 0; i < n; i++)
			if (!isnan(v[i]))
				add_far(&total[i], &count[i], v[i]);
}

void
combine_finish(enum combine how, double *total, const unsigned *count, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!count[i])
			total[i] = NAN;
		else if (how == COMBINE_MEAN)
			total[i] = scaled(total[i] / (count[i] & ~FAR), count[i] < FAR ? 1 : UNIT);
	}
}

/* --- all items at once -------------------------------------------------------------------------------------------------- */

/* Puts the lesser of each pair into a and the greater one into b. */
WEIR_CLONES(exchange, (double *restrict a, double *restrict b, size_t n), (a, b, n))
{
	for (size_t i = 0; i < n; i++) {
		const double x = a[i], y = b[i];
		a[i] = x < y ? x : y;
		b[i] = x < y ? y : x;
	}
}

/* Sorts each column by the odd-even merge sort of Batcher, whose exchanges are the same for all columns. */
static void
sort_columns(double (*v)[COMBINE_BLOCK], size_t items, size_t n)
{
	for (size_t p = 1; p < items; p *= 2)
		for (size_t k = p; k; k /= 2)
			for (size_t j = k % p; j + k < items; j += 2 * k)
				for (size_t i = j; i < j + k && i + k < items; i++)
					if (i / (2 * p) == (i + k) / (2 * p))
						exchange(v[i], v[i + k], n);
}

static double
middle(double (*v)[COMBINE_BLOCK], size_t i, size_t from, size_t to)
{
	const size_t m = from + to;
	const double a = v[(m - 1) / 2][i], b = v[m / 2][i];

	return m % 2 ? b : isfinite(a + b) ? (a + b) / 2 : a / 2 + b / 2;
}

/* The clipped mean of column i, sorted, whose first `count` numbers are no NaN. Its squares are kept within the doubles. */
static double
clipped_mean(double (*v)[COMBINE_BLOCK], size_t i, size_t count)
{
	const double far = fmax(fabs(v[0][i]), fabs(v[count - 1][i]));
	const double unit = far > 0x1p400 ? 0x1p600 : far < 0x1p-400 ? 0x1p-600 : 1;

	for (size_t k = 0; unit != 1 && k < count; k++)
		v[k][i] /= unit;
	for (size_t from = 0, to = count;;) {
		const double m = middle(v, i, from, to), n = (double)(to - from);
		const size_t had = to - from;
		double sum = 0, square = 0;
		for (size_t k = from; k < to; k++)
			sum += v[k][i];
		for (size_t k = from; k < to; k++)
			square += (v[k][i] - sum / n) * (v[k][i] - sum / n);
		const double most = 3 * sqrt(square / n);

		while (from < to && m - v[from][i] > most)
			from++;
		while (from < to && v[to - 1][i] - m > most)
			to--;
		if (to - from == had || to == from)
			return scaled(sum / n, unit);
	}
}

void
combine_all(enum combine how, double (*v)[COMBINE_BLOCK], size_t items, size_t n, double *out)
{
	size_t count[COMBINE_BLOCK] = {0};

	/* NaN goes to the end of its column. */
	for (size_t k = 0; k < items; k++)
		for (size_t i = 0; i < n; i++) {
			count[i] += isnan(v[k][i]) ? 0 : 1;
			v[k][i] = isnan(v[k][i]) ? INFINITY : v[k][i];
		}
	sort_columns(v, items, n);
	for (size_t i = 0; i < n; i++) {
		if (!count[i])
			out[i] = NAN;
		else if (how == COMBINE_MEDIAN)
			out[i] = middle(v, i, 0, count[i]);
		else
			out[i] = clipped_mean(v, i, count[i]);
	}
}
