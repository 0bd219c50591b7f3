/*
 * Sums, medians, products of rows, and Cholesky's factors. Rows are packed in panels, [samples][MR or NR], and multiplied MR by
 * NR: a sample of the one panel times a vector of the other. With products of rows as they lie, four by two, a fit with single
 * samples of 21x21 took 1.5 times the CPU time. Vectors have 32 bytes: those of 64 bytes are kept in memory by GCC 12 where the
 * CPU has AVX2, which took 4 times the time, and they won nothing where it has AVX-512. Of the same sizes, the BLAS and LAPACK
 * that Debian has by default took 4 to 10 times as long on one thread, and OpenBLAS .6 to 1 times, but what it gives depends on
 * the number of its threads.
 */
#include <math.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/par.h"
#include "wconv/psfmatch/psfmatch.h"

/* DEPTH: samples that are packed at once, so that a pair of panels fits the first cache. SOME: columns factored together. */
enum { MR = 6, NR = 8, LANES = 4, HALVES = NR / LANES, PARTS = 8, DEPTH = 120, SOME = 64 };

typedef double vec
    __attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double)), may_alias));

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

WEIR_CLONES(add,
	    (const double *restrict by, const double *const *restrict from, size_t count, size_t n,
	     double *restrict to),
	    (by, from, count, n, to))
{
	size_t i = 0;

	for (; i + 8 * LANES <= n; i += 8 * LANES) {
		vec v[8];
		for (size_t k = 0; k < 8; k++)
			v[k] = *(const vec *)(to + i + k * LANES);
		for (size_t s = 0; s < count; s++)
			for (size_t k = 0; k < 8; k++)
				v[k] += by[s] * *(const vec *)(from[s] + i + k * LANES);
		for (size_t k = 0; k < 8; k++)
			*(vec *)(to + i + k * LANES) = v[k];
	}
	for (; i < n; i++)
		for (size_t s = 0; s < count; s++)
			to[i] += by[s] * from[s][i];
}

void
psfmatch_add(const double *by, const double *const *from, size_t count, size_t n, double *to)
{
	add(by, from, count, n, to);
}

/* Reorders v[n] so that what is before v[k] is not larger, and what is behind it is not smaller. */
static void
select_rank(double *v, size_t n, size_t k)
{
	size_t first = 0, last = n - 1;

	while (first < last) {
		const double middle = v[first + (last - first) / 2];
		size_t i = first, j = last;
		for (;;) {
			for (; v[i] < middle; i++)
				;
			for (; v[j] > middle; j--)
				;
			if (i >= j)
				break;
			const double t = v[i];
			v[i++] = v[j];
			v[j--] = t;
		}
		/* v[first..i-1] are at most middle, v[j+1..last] at least; i = j holds middle itself */
		if (k <= j)
			last = j;
		else
			first = j + 1;
	}
}

double
psfmatch_median(double *v, size_t n)
{
	select_rank(v, n, n / 2);
	return v[n / 2];
}

double
psfmatch_quartile(double *v, size_t n)
{
	select_rank(v, n, n / 4);
	return v[n / 4];
}

/* --- panels ---------------------------------------------------------------------------------------------------------- */

/* to[r][c] += by sum_l a[l][r] b[l][c], for panels a[n][MR] and b[n][NR]. to: MR rows of NR elements. */
WEIR_CLONES(multiply_panels,
	    (const double *restrict a, const double *restrict b, size_t n, double by,
	     double *const *restrict to),
	    (a, b, n, by, to))
{
	vec part[MR][HALVES] = {{{0}}};

	for (size_t l = 0; l < n; l++)
		for (size_t r = 0; r < MR; r++)
			for (size_t h = 0; h < HALVES; h++)
				part[r][h] +=
				    a[l * MR + r] * *(const vec *)(b + l * NR + h * LANES);
	for (size_t r = 0; r < MR; r++)
		for (size_t h = 0; h < HALVES; h++)
			*(vec *)(to[r] + h * LANES) += by * part[r][h];
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

/* Returns row i of a triangle whose rows are `stride` elements apart, or lie without gaps where stride is 0. */
static double *
row_of(double *q, size_t i, size_t stride)
{
	return q + (stride ? i * stride : psfmatch_packed(i));
}

/*
 * Adds `by` times the products of rows i .. i + MR - 1 with themselves and those before them to these rows of the lower
 * triangle of q. a, b: the panels of all m rows, n samples deep.
 */
static void
add_products(const double *a, const double *b, size_t n, size_t m, size_t i, double by, double *q,
	     size_t stride)
{
	const size_t rows = m - i < MR ? m - i : MR;
	double edge[MR * NR], *to[MR], *in_edge[MR];
	size_t j = 0;

	for (size_t r = 0; r < MR; r++)
		in_edge[r] = edge + r * NR;
	for (; rows == MR && j + NR <= i + 1; j += NR) {
		for (size_t r = 0; r < MR; r++)
			to[r] = row_of(q, i + r, stride) + j;
		multiply_panels(a + i * n, b + j * n, n, by, to);
	}
	for (; j < i + rows; j += NR) {
		memset(edge, 0, sizeof edge);
		multiply_panels(a + i * n, b + j * n, n, by, in_edge);
		for (size_t r = 0; r < rows; r++)
			for (size_t c = 0; c < NR && j + c <= i + r; c++)
				row_of(q, i + r, stride)[j + c] += in_edge[r][c];
	}
}

size_t
psfmatch_room(size_t m)
{
	return DEPTH * (2 * m + MR + NR);
}

void
psfmatch_gram(const double *g, size_t m, size_t n, double by, double *room, double *q)
{
	double *a = room, *b = room + DEPTH * (m + MR);

	for (size_t l = 0; l < n; l += DEPTH) {
		const size_t depth = n - l < DEPTH ? n - l : DEPTH;
		pack(g + l, m, n, depth, MR, a);
		pack(g + l, m, n, depth, NR, b);
		for (size_t i = 0; i < m; i += MR)
			add_products(a, b, depth, m, i, by, q, 0);
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
psfmatch_factor(double *g, size_t n, double *room, int threads)
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
	return true;
}

void
psfmatch_substitute(const double *g, double *a, size_t n)
{
	for (size_t k = 0; k < n; k++)
		a[k] = (a[k] - dot(g + k * n, a, k)) / g[k * n + k];
	for (size_t k = n; k-- > 0;) {
		a[k] /= g[k * n + k];
		for (size_t l = 0; l < k; l++)
			a[l] -= g[k * n + l] * a[k];
	}
}
