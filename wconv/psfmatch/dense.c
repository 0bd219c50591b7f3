/*
 * Sums, medians, products of rows, and Cholesky's factors. Rows are packed in panels, [samples][MR or NR], and multiplied MR by
 * NR: a sample of the one panel times a vector of the other. With products of rows as they lie, four by two, a fit with single
 * samples of 21x21 took 1.5 times the CPU time.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/cpu.h"
#include "common/par.h"
#include "wconv/psfmatch/inside.h"

/* DEPTH: samples that are packed at once, so that a pair of panels fits the first cache. SOME: columns factored together. */
enum { MR = 6, NR = 8, PARTS = 8, DEPTH = 120, SOME = 64 };

WEIR_CLONES_OF(double, dot, (const double *restrict a, const double *restrict b, size_t n),
	       (a, b, n))
{
	double part[PARTS] = {0}, sum = 0;
	size_t i = 0;

	for (; i + PARTS <= n; i += PARTS)
		for (size_t k = 0; k < PARTS; k++)
			part[k] += a[i + k] * b[i + k];
	for (size_t k = 0; k < PARTS; k++)
		sum += part[k];
	for (; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

double
psfmatch_dot(const double *a, const double *b, size_t n)
{
	return dot(a, b, n);
}

WEIR_CLONES(add, (double by, const double *restrict from, size_t n, double *restrict to),
	    (by, from, n, to))
{
	for (size_t i = 0; i < n; i++)
		to[i] += by * from[i];
}

void
psfmatch_add(double by, const double *from, size_t n, double *to)
{
	add(by, from, n, to);
}

static int
compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double
psfmatch_median(double *v, size_t n)
{
	qsort(v, n, sizeof *v, compare);
	return v[n / 2];
}

/* --- panels ---------------------------------------------------------------------------------------------------------- */

typedef double vec
    __attribute__((vector_size(NR * sizeof(double)), aligned(sizeof(double)), may_alias));

/* sum[r][c] = sum_l a[l][r] b[l][c], for panels a[n][MR] and b[n][NR]. */
WEIR_CLONES(multiply_panels,
	    (const double *restrict a, const double *restrict b, size_t n, double *restrict sum),
	    (a, b, n, sum))
{
	vec part[MR] = {{0}};

	for (size_t l = 0; l < n; l++) {
		const vec v = *(const vec *)(b + l * NR);
		for (size_t r = 0; r < MR; r++)
			part[r] += a[l * MR + r] * v;
	}
	for (size_t r = 0; r < MR; r++)
		*(vec *)(sum + r * NR) = part[r];
}

/* Packs n samples of `rows` rows of g, `stride` samples apart, in panels of `width` rows; the last one is filled up with zeros. */
static void
pack(const double *g, size_t rows, size_t stride, size_t n, size_t width, double *to)
{
	for (size_t i = 0; i < rows; i += width, to += n * width) {
		const size_t most = rows - i < width ? rows - i : width;
		if (most < width)
			memset(to, 0, n * width * sizeof *to);
		for (size_t l = 0; l < n; l++)
			for (size_t r = 0; r < most; r++)
				to[l * width + r] = g[(i + r) * stride + l];
	}
}

/*
 * Adds `by` times the products of rows i .. i + MR - 1 with themselves and those before them to these rows of the lower
 * triangle of q. a, b: the panels of all m rows, n samples deep.
 */
static void
add_products(const double *a, const double *b, size_t n, size_t m, size_t i, double by, double *q,
	     size_t stride)
{
	double sum[MR * NR];

	for (size_t j = 0; j < i + MR && j < m; j += NR) {
		multiply_panels(a + i * n, b + j * n, n, sum);
		for (size_t r = 0; r < MR && i + r < m; r++)
			for (size_t c = 0; c < NR && j + c <= i + r; c++)
				q[(i + r) * stride + j + c] += by * sum[r * NR + c];
	}
}

size_t
psfmatch_room(size_t m)
{
	return DEPTH * (2 * m + MR + NR);
}

void
psfmatch_gram(const double *g, size_t m, size_t n, double *room, double *q)
{
	double *a = room, *b = room + DEPTH * (m + MR);

	memset(q, 0, m * m * sizeof *q);
	for (size_t l = 0; l < n; l += DEPTH) {
		const size_t depth = n - l < DEPTH ? n - l : DEPTH;
		pack(g + l, m, n, depth, MR, a);
		pack(g + l, m, n, depth, NR, b);
		for (size_t i = 0; i < m; i += MR)
			add_products(a, b, depth, m, i, 1, q, m);
	}
}

/* --- Cholesky's factors ---------------------------------------------------------------------------------------------- */

/* Computes the factors of columns first .. end-1 in row r, which comes after these columns or is one of them. */
static void
factor_row(double *g, size_t n, size_t r, size_t first, size_t end)
{
	double *row = g + r * n + first;

	for (size_t k = first; k < end && k < r; k++)
		row[k - first] =
		    (row[k - first] - dot(row, g + k * n + first, k - first)) / g[k * n + k];
}

/* Computes the factors of columns first .. end-1 in the rows of the same numbers. false: the matrix is not positive definite. */
static bool
factor_corner(double *g, size_t n, size_t first, size_t end)
{
	for (size_t r = first; r < end; r++) {
		const double *row = g + r * n + first;
		factor_row(g, n, r, first, end);
		const double v = g[r * n + r] - dot(row, row, r - first);
		if (!(v > 0))
			return false;
		g[r * n + r] = sqrt(v);
	}
	return true;
}

bool
psfmatch_solve(double *g, double *a, size_t n, double *room, int threads)
{
	for (size_t k = 0; k < n; k++)
		g[k * n + k] *= 1 + 1e-10;
	for (size_t first = 0; first < n; first += SOME) {
		const size_t end = n - first < SOME ? n : first + SOME, left = n - end;
		double *rest = g + end * n, *b = room + SOME * (left + MR);
		if (!factor_corner(g, n, first, end))
			return false;
#pragma omp parallel num_threads(threads)
		{
#pragma omp for schedule(static)
			for (size_t r = end; r < n; r++)
				factor_row(g, n, r, first, end);
#pragma omp single
			pack(rest + first, left, n, SOME, MR, room);
#pragma omp single
			pack(rest + first, left, n, SOME, NR, b);
#pragma omp for schedule(dynamic, 4)
			for (size_t i = 0; i < left; i += MR)
				add_products(room, b, SOME, left, i, -1, rest + end, n);
		}
	}
	for (size_t k = 0; k < n; k++)
		a[k] = (a[k] - dot(g + k * n, a, k)) / g[k * n + k];
	for (size_t k = n; k-- > 0;) {
		a[k] /= g[k * n + k];
		for (size_t l = 0; l < k; l++)
			a[l] -= g[k * n + l] * a[k];
	}
	return true;
}
