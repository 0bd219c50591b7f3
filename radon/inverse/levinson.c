#include <string.h>

#include "common/cpu.h"
#include "radon/inverse/levinson.h"

enum { LANES = LEVINSON_LANES };

typedef double vec __attribute__((vector_size(LANES * sizeof(double)), may_alias));

/* sum over k < m of r[m - k] a[k]; rows of LANES re and LANES im. Eight chains, so that additions do not wait. */
static inline __attribute__((always_inline)) void
convolve(const vec *r, const vec *a, size_t m, vec *re, vec *im)
{
	vec s[8] = {{0}};
	size_t k = 0;

	for (; k + 2 <= m; k += 2)
		for (size_t i = 0; i < 2; i++) {
			const vec *x = r + 2 * (m - k - i), *y = a + 2 * (k + i);
			s[4 * i] += x[0] * y[0];
			s[4 * i + 1] += x[1] * y[1];
			s[4 * i + 2] += x[0] * y[1];
			s[4 * i + 3] += x[1] * y[0];
		}
	if (k < m) {
		const vec *x = r + 2 * (m - k), *y = a + 2 * k;
		s[0] += x[0] * y[0];
		s[1] += x[1] * y[1];
		s[2] += x[0] * y[1];
		s[3] += x[1] * y[0];
	}
	*re = (s[0] + s[4]) - (s[1] + s[5]);
	*im = (s[2] + s[6]) + (s[3] + s[7]);
}

/* a[k] += c conj(a[m - k]) for k = 0..m, both of a pair at once. */
static inline __attribute__((always_inline)) void
reflect(vec *a, size_t m, const vec *c)
{
	const vec cr = c[0], ci = c[1];

	for (size_t k = 0; k <= m / 2; k++) {
		vec *x = a + 2 * k, *y = a + 2 * (m - k);
		const vec xr = x[0], xi = x[1], yr = y[0], yi = y[1];
		x[0] = xr + cr * yr + ci * yi;
		x[1] = xi + ci * yr - cr * yi;
		y[0] = yr + cr * xr + ci * xi;
		y[1] = yi + ci * xr - cr * xi;
	}
}

WEIR_CLONES(recur,
	    (const double *t, size_t n, double least, double *a_, double *e_, double *alive_),
	    (t, n, least, a_, e_, alive_))
{
	const vec *r = (const vec *)t;
	vec *a = (vec *)a_, e = r[0], alive = (vec){0} + 1;
	const vec floor_ = r[0] * least;

	memset(a, 0, 2 * n * sizeof *a);
	a[0] = (vec){0} + 1;
	for (size_t m = 1; m < n; m++) {
		vec c[2], rest;
		convolve(r, a, m, &c[0], &c[1]);
		c[0] = -c[0] / e * alive;
		c[1] = -c[1] / e * alive;
		rest = e * (1 - c[0] * c[0] - c[1] * c[1]);
		for (int l = 0; l < LANES; l++)
			if (!(rest[l] > floor_[l])) {
				alive[l] = c[0][l] = c[1][l] = 0;
				rest[l] = e[l];
			}
		reflect(a, m, c);
		e = rest;
	}
	memcpy(e_, &e, sizeof e);
	memcpy(alive_, &alive, sizeof alive);
}

void
levinson(const double *t, size_t n, double least, double *a, double *e, double *alive)
{
	recur(t, n, least, a, e, alive);
}
