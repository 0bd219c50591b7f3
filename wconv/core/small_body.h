/*
 * Direct sums with one kernel of 3x3, 5x5 or 7x7 for the whole picture. LINES rows of results are computed together, down the
 * columns of the kernel: a vector of the window that belongs to several of them is loaded once. The kernel's size is a constant
 * of the code, and the compiler unrolls all loops over it. Each result is summed in the same order in whichever rows it is
 * computed. With the size in variables, this was no faster than sum_row() of near_body.h.
 */

#include "wconv/small.h"

/* Sums columns i .. end-1 of k x k taps for `near` vectors of `lines` lines from x on. Vector b of line l is part[l near + b]. */
INLINE void
sum_columns(const real *tap, size_t k, const real *const *row, size_t lines, size_t near, size_t x,
	    size_t i, size_t end, vec part[SUMS])
{
	for (size_t q = 0; q < lines * near; q++)
		part[q] = (vec){0};
	for (; i < end; i++)
		for (size_t j = 0; j < k; j++)
			for (size_t l = 0; l < lines; l++)
				for (size_t b = 0; b < near; b++)
					part[l * near + b] +=
					    tap[j * k + i] *
					    *(const loose *)(row[l + j] + x + i + b * LANES);
}

/* Sums all taps: at most PART of them, and these parts by Kahan's method. */
INLINE void
sum_small(const real *tap, size_t k, const real *const *row, size_t lines, size_t near, size_t x,
	  vec sum[SUMS])
{
	const size_t columns = PART / k < k ? PART / k : k;
	vec lost[SUMS], part[SUMS];

	sum_columns(tap, k, row, lines, near, x, 0, columns, sum);
	for (size_t q = 0; q < lines * near; q++)
		lost[q] = (vec){0};
	for (size_t i = columns; i < k; i += columns) {
		sum_columns(tap, k, row, lines, near, x, i, k - i < columns ? k : i + columns,
			    part);
		for (size_t q = 0; q < lines * near; q++) {
			const vec v = part[q] - lost[q], t = sum[q] + v;
			lost[q] = (t - sum[q]) - v;
			sum[q] = t;
		}
	}
}

/* Convolves `lines` rows of n results. */
INLINE void
convolve_some(const real *tap, size_t k, const real *const *row, size_t lines, size_t n, real *out,
	      size_t pitch)
{
	const size_t near = lines == 1 ? NEAR : SUMS / lines;

	for (size_t x = 0; x < n; x += near * LANES) {
		vec sum[SUMS];
		sum_small(tap, k, row, lines, near, x, sum);
		store_lines(sum, lines, near, n - x, out + x, pitch);
	}
}

INLINE void
convolve_all(const real *tap, size_t k, const real *const *window, size_t rows, size_t n, real *out,
	     size_t pitch)
{
	size_t y = 0;

	for (; rows - y >= LINES; y += LINES)
		convolve_some(tap, k, window + y, LINES, n, out + y * pitch, pitch);
	for (; y < rows; y++)
		convolve_some(tap, k, window + y, 1, n, out + y * pitch, pitch);
}

/* Convolves rows of n results with k x k taps, for which wconv_is_small() holds. */
static void
convolve_small(const real *tap, size_t k, const real *const *window, size_t rows, size_t n,
	       real *out, size_t pitch)
{
	if (k == 3)
		convolve_all(tap, 3, window, rows, n, out, pitch);
	else if (k == 5)
		convolve_all(tap, 5, window, rows, n, out, pitch);
	else
		convolve_all(tap, 7, window, rows, n, out, pitch);
}
