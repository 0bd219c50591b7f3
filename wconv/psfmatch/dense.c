/* Products of rows, and Cholesky's factors. Rows are multiplied four by two, so that a load serves several products. */
#include <math.h>

#include "common/cpu.h"
#include "common/par.h"
#include "wconv/psfmatch/inside.h"

/* SOME: rows whose factors are computed together. SHARE: of them, what one thread takes. BAND: rows of a Gram matrix that fit the cache. */
enum { LEFT = 4, RIGHT = 2, PARTS = 8, SOME = 64, SHARE = 16, BAND = 64 };

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

typedef double vec
    __attribute__((vector_size(PARTS * sizeof(double)), aligned(sizeof(double)), may_alias));

/* sum[i][j] = sum_l a[i][l] b[j][l], for LEFT rows a and RIGHT rows b, which are `stride` samples apart. */
WEIR_CLONES(dot_block,
	    (const double *restrict a, const double *restrict b, size_t stride, size_t n,
	     double (*restrict sum)[RIGHT]),
	    (a, b, stride, n, sum))
{
	vec part[LEFT][RIGHT] = {{{0}}};
	size_t l = 0;

	for (; l + PARTS <= n; l += PARTS)
		for (size_t j = 0; j < RIGHT; j++) {
			const vec v = *(const vec *)(b + j * stride + l);
			for (size_t i = 0; i < LEFT; i++)
				part[i][j] += *(const vec *)(a + i * stride + l) * v;
		}
	for (size_t i = 0; i < LEFT; i++)
		for (size_t j = 0; j < RIGHT; j++) {
			sum[i][j] = 0;
			for (size_t k = 0; k < PARTS; k++)
				sum[i][j] += part[i][j][k];
			for (size_t k = l; k < n; k++)
				sum[i][j] += a[i * stride + k] * b[j * stride + k];
		}
}

/* q[i][j] of the block of rows i .. i+3 and columns j, j+1, and of its mirror image. m: rows of g. */
static void
fill_block(const double *g, size_t m, size_t n, size_t i, size_t j, double *q)
{
	double sum[LEFT][RIGHT];

	if (i + LEFT <= m && j + RIGHT <= m) {
		dot_block(g + i * n, g + j * n, n, n, sum);
		for (size_t k = 0; k < LEFT * RIGHT; k++) {
			const size_t r = i + k / RIGHT, c = j + k % RIGHT;
			q[r * m + c] = q[c * m + r] = sum[k / RIGHT][k % RIGHT];
		}
		return;
	}
	for (size_t r = i; r < i + LEFT && r < m; r++)
		for (size_t c = j; c < j + RIGHT && c <= r; c++)
			q[r * m + c] = q[c * m + r] = dot(g + r * n, g + c * n, n);
}

void
psfmatch_gram(const double *g, size_t m, size_t n, double *q)
{
	for (size_t band = 0; band < m; band += BAND)
		for (size_t i = band; i < m; i += LEFT)
			for (size_t j = band; j < band + BAND && j < i + LEFT && j < m; j += RIGHT)
				fill_block(g, m, n, i, j, q);
}

/* Finishes factors k .. k+1 of row r, of whose products with rows k and k+1 the first k terms have been summed. */
static void
finish_pair(double *g, size_t n, size_t r, size_t k, const double sum[RIGHT])
{
	double *row = g + r * n, *low = g + (k + 1) * n;

	row[k] = (row[k] - sum[0]) / g[k * n + k];
	row[k + 1] = (row[k + 1] - sum[1] - row[k] * low[k]) / low[k + 1];
}

/* Computes the factors 0 .. k-1 of rows r .. end-1. k is even. */
static void
factor_rows(double *g, size_t n, size_t r, size_t end, size_t k)
{
	double sum[LEFT][RIGHT];

	for (size_t j = 0; j < k; j += RIGHT)
		for (size_t i = r; i < end; i += LEFT) {
			const size_t rows = end - i < LEFT ? end - i : LEFT;
			if (rows == LEFT)
				dot_block(g + i * n, g + j * n, n, j, sum);
			for (size_t l = 0; rows < LEFT && l < rows * RIGHT; l++)
				sum[l / RIGHT][l % RIGHT] =
				    dot(g + (i + l / RIGHT) * n, g + (j + l % RIGHT) * n, j);
			for (size_t l = 0; l < rows; l++)
				finish_pair(g, n, i + l, j, sum[l]);
		}
}

/* Computes the factors from column `first` on of rows first .. end-1. false: the matrix is not positive definite. */
static bool
factor_corner(double *g, size_t n, size_t first, size_t end)
{
	for (size_t k = first; k < end; k++) {
		g[k * n + k] *= 1 + 1e-10;
		for (size_t l = first; l <= k; l++) {
			const double v = g[k * n + l] - dot(g + k * n, g + l * n, l);
			if (l == k && !(v > 0))
				return false;
			g[k * n + l] = l < k ? v / g[l * n + l] : sqrt(v);
		}
	}
	return true;
}

bool
psfmatch_solve(double *g, double *a, size_t n, int threads)
{
	for (size_t first = 0; first < n; first += SOME) {
		const size_t end = n - first < SOME ? n : first + SOME;
#pragma omp parallel for num_threads(threads) schedule(static)
		for (size_t r = first; r < end; r += SHARE)
			factor_rows(g, n, r, end - r < SHARE ? end : r + SHARE, first);
		if (!factor_corner(g, n, first, end))
			return false;
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
