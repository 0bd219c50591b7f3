/* variants: generic avx2 avx512 */
/*
 * The inner loops of the recurrence and of Levinson's recursion, for one width of register: common/base/simd.h. Registers of 4
 * or 2 doubles take the USFFT_LINE frequencies in 2 or 4 groups, since the compiler puts vectors wider than a register on the
 * stack (gcc 12, AVX2: 2.3 times as long).
 */
#include <string.h>

#include "common/base/simd.h"
#include "radon/core.h"

extern const struct radon_loops SIMD_NAME(radon_loops);

TARGET_BEGIN

/* The doubles of a register, and the sums that turn() takes at a time. */
enum { WIDE = BYTES / 8, SUMS = 4 };

/* The traces that horner() takes at a time, so that their state fills the registers. */
enum { TURNS = BYTES == 64 ? 4 : 3 };

typedef double vec __attribute__((vector_size(BYTES), may_alias));

#define LEAF static inline __attribute__((always_inline))

/* The re (0) or im (1) of row i of an array that begins at these lanes. */
LEAF vec
get(const double *x, size_t i, int im)
{
	return *(const vec *)(x + i * PAIRS + (size_t)im * USFFT_LINE);
}

LEAF void
put(double *x, size_t i, int im, vec v)
{
	*(vec *)(x + i * PAIRS + (size_t)im * USFFT_LINE) = v;
}

/* --- Levinson's recursion ------------------------------------------------------------------------------------------ */

/* c = sum over k < m of r[m - k] a[k]. Eight independent sums keep additions from waiting for each other. */
LEAF void
convolve(const double *r, const double *a, size_t m, vec c[2])
{
	vec s[8] = {{0}};
	size_t k = 0;

	for (; k + 2 <= m; k += 2)
		for (size_t i = 0; i < 2; i++) {
			const vec xr = get(r, m - k - i, 0), xi = get(r, m - k - i, 1);
			const vec yr = get(a, k + i, 0), yi = get(a, k + i, 1);
			s[4 * i] += xr * yr;
			s[4 * i + 1] += xi * yi;
			s[4 * i + 2] += xr * yi;
			s[4 * i + 3] += xi * yr;
		}
	if (k < m) {
		const vec xr = get(r, m - k, 0), xi = get(r, m - k, 1);
		const vec yr = get(a, k, 0), yi = get(a, k, 1);
		s[0] += xr * yr;
		s[1] += xi * yi;
		s[2] += xr * yi;
		s[3] += xi * yr;
	}
	c[0] = (s[0] + s[4]) - (s[1] + s[5]);
	c[1] = (s[2] + s[6]) + (s[3] + s[7]);
}

/* a[k] += c conj(a[m - k]) for k = 0..m. Each turn of the loop updates a[k] and a[m - k] together. */
LEAF void
reflect(double *a, size_t m, const vec c[2])
{
	const vec cr = c[0], ci = c[1];

	for (size_t k = 0; k <= m / 2; k++) {
		const vec xr = get(a, k, 0), xi = get(a, k, 1);
		const vec yr = get(a, m - k, 0), yi = get(a, m - k, 1);
		put(a, k, 0, xr + cr * yr + ci * yi);
		put(a, k, 1, xi + ci * yr - cr * yi);
		put(a, m - k, 0, yr + cr * xr + ci * xi);
		put(a, m - k, 1, yi + ci * xr - cr * xi);
	}
}

/* levinson() for WIDE lanes. On entry a holds zeros. */
LEAF void
recur(const double *r, size_t n, double least, double *a, double *e_, double *alive_, double *steps)
{
	vec e = get(r, 0, 0), alive = (vec){0} + 1;
	const vec floor_ = e * least;

	put(a, 0, 0, alive);
	memcpy(steps, &e, sizeof e);
	for (size_t m = 1; m < n; m++) {
		vec c[2], rest;
		convolve(r, a, m, c);
		c[0] = -c[0] / e * alive;
		c[1] = -c[1] / e * alive;
		rest = e * (1 - c[0] * c[0] - c[1] * c[1]);
		for (int l = 0; l < WIDE; l++)
			if (!(rest[l] > floor_[l])) {
				alive[l] = c[0][l] = c[1][l] = 0;
				rest[l] = e[l];
			}
		reflect(a, m, c);
		e = rest;
		memcpy(steps + m * USFFT_LINE, &e, sizeof e);
	}
	memcpy(e_, &e, sizeof e);
	memcpy(alive_, &alive, sizeof alive);
}

static void
levinson(const double *t, size_t n, double least, double *a, double *e, double *alive,
	 double *steps)
{
	memset(a, 0, n * PAIRS * sizeof *a);
	for (size_t l = 0; l < USFFT_LINE; l += WIDE)
		recur(t + l, n, least, a + l, e + l, alive + l, steps + l);
}

/* --- sums ---------------------------------------------------------------------------------------------------------- */

LEAF void
turn(size_t nx, size_t nq, double *z, const double *e, double *sum)
{
	for (size_t i = 0; i < nq; i += SUMS) {
		vec s[2 * SUMS] = {{0}};
		for (size_t j = 0; j < nx; j++) {
			const vec er = get(e, j, 0), ei = get(e, j, 1);
			vec re = get(z, j, 0), im = get(z, j, 1);
			for (int r = 0; r < SUMS; r++) {
				const vec next = re * er - im * ei;
				s[2 * r] += re;
				s[2 * r + 1] += im;
				im = re * ei + im * er;
				re = next;
			}
			put(z, j, 0, re);
			put(z, j, 1, im);
		}
		for (size_t r = 0; r < SUMS && i + r < nq; r++) {
			put(sum, i + r, 0, s[2 * r]);
			put(sum, i + r, 1, s[2 * r + 1]);
		}
	}
}

static void
turn_and_add(size_t nx, size_t nq, double *z, const double *e, double *sum)
{
	for (size_t l = 0; l < USFFT_LINE; l += WIDE)
		turn(nx, nq, z + l, e + l, sum + l);
}

LEAF void
horner(size_t nx, size_t nq, const double *m, const double *e, double *z)
{
	for (size_t j = 0; j < nx; j += TURNS) {
		const size_t n = nx - j < TURNS ? nx - j : TURNS;
		vec s[2 * TURNS] = {{0}}, t[2 * TURNS] = {{0}};
		for (size_t r = 0; r < n; r++) {
			t[2 * r] = get(e, j + r, 0);
			t[2 * r + 1] = get(e, j + r, 1);
		}
		for (size_t i = nq; i-- > 0;) {
			const vec mr = get(m, i, 0), mi = get(m, i, 1);
			for (int r = 0; r < TURNS; r++) {
				const vec re = s[2 * r] * t[2 * r] - s[2 * r + 1] * t[2 * r + 1];
				s[2 * r + 1] =
				    s[2 * r] * t[2 * r + 1] + s[2 * r + 1] * t[2 * r] + mi;
				s[2 * r] = re + mr;
			}
		}
		for (size_t r = 0; r < n; r++) {
			put(z, j + r, 0, s[2 * r]);
			put(z, j + r, 1, s[2 * r + 1]);
		}
	}
}

static void
add_and_turn(size_t nx, size_t nq, const double *m, const double *e, double *z)
{
	for (size_t l = 0; l < USFFT_LINE; l += WIDE)
		horner(nx, nq, m + l, e + l, z + l);
}

const struct radon_loops SIMD_NAME(radon_loops) = {levinson, turn_and_add, add_and_turn};

TARGET_END
