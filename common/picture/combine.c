#include <math.h>
#include <stdbool.h>

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

void
combine_add(enum combine how, double *total, unsigned *count, const double *v, size_t n)
{
	if (how == COMBINE_MIN || how == COMBINE_MAX)
		add_most(total, count, v, n, how == COMBINE_MAX ? 1 : -1);
	else
		add_sum(total, count, v, n);
}

void
combine_finish(enum combine how, double *total, const unsigned *count, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!count[i])
			total[i] = NAN;
		else if (how == COMBINE_MEAN)
			total[i] /= count[i];
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

/* The clipped mean of column i, sorted, whose first `count` numbers are no NaN. */
static double
clipped_mean(double (*v)[COMBINE_BLOCK], size_t i, size_t count)
{
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
			return sum / n;
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
