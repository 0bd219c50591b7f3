/* rawstack's medians and clipped means against their definitions, on columns of any height, with equal numbers and NaN. */
#include "common/picture/combine.h"
#include "t/check.h"

enum { MOST = 70 };

static double
median(const double *v, size_t n)
{
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* Leaves out what is too far from the median, until nothing is. v is sorted. */
static double
clipped(const double *v, size_t n)
{
	double left[MOST], sum = 0, square = 0;
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i];
	for (size_t i = 0; i < n; i++)
		square += (v[i] - sum / (double)n) * (v[i] - sum / (double)n);
	for (size_t i = 0; i < n; i++)
		if (fabs(v[i] - median(v, n)) <= 3 * sqrt(square / (double)n))
			left[k++] = v[i];
	return k == n || !k ? sum / (double)n : clipped(left, k);
}

static void
columns_agree(struct check_many *m, struct check_rng *r, size_t round)
{
	static double v[MOST][COMBINE_BLOCK], work[MOST][COMBINE_BLOCK], out[COMBINE_BLOCK];
	const size_t items = 1 + rng_below(r, MOST), n = 1 + rng_below(r, 40);
	const double holes = round % 3 ? 0 : rng_unit(r);
	const bool coarse = round % 2;
	const enum combine how = round % 4 < 2 ? COMBINE_MEDIAN : COMBINE_CLIP;

	for (size_t k = 0; k < items; k++)
		for (size_t i = 0; i < n; i++) {
			v[k][i] = !rng_below(r, 9) ? 50 * rng_normal(r)
				  : coarse	   ? (double)rng_below(r, 5)
						   : rng_normal(r);
			v[k][i] = rng_unit(r) < holes ? NAN : v[k][i];
		}
	memcpy(work, v, sizeof work);
	combine_all(how, work, items, n, out);
	for (size_t i = 0; i < n; i++) {
		double column[MOST], want = NAN;
		size_t count = 0;
		for (size_t k = 0; k < items; k++)
			if (!isnan(v[k][i]))
				column[count++] = v[k][i];
		qsort(column, count, sizeof *column, check_ascending);
		if (count)
			want =
			    how == COMBINE_MEDIAN ? median(column, count) : clipped(column, count);
		check_case(m, out[i] == want || (isnan(out[i]) && !count),
			   "%zu items, %d: %g, want %g", items, how, out[i], want);
	}
}

void
check_combine(void)
{
	check_each("combine: medians and clipped means are those of the definition", 300, 8,
		   columns_agree);
}
