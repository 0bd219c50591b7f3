#include <math.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/par.h"
#include "radon/core.h"

/* ---- shifts ---- */

/* Shift and sum in time with linear interpolation: --method=time. Modelling is the exact transpose of the adjoint. */

/*
 * The shift from a panel row to a trace: panel sample n lies at trace sample n + by + part, part in [0, 1). The trace is taken
 * as zero beyond its ends.
 */
struct shift {
	ptrdiff_t by;
	float part;
};

static struct shift
shift_of(const struct radon_core *p, size_t i, size_t j)
{
	const double s = (p->o.q0 + (double)i * p->o.dq) * p->g[j] / p->o.dt - (double)p->lead;
	const double whole = floor(s);

	return (struct shift){(ptrdiff_t)whole, (float)(s - whole)};
}

/* Finds the trace samples t = lo..hi-1 whose panel samples t - by lie in 0..n-1. */
static void
overlap(ptrdiff_t by, size_t nt, size_t n, size_t *lo, size_t *hi)
{
	const ptrdiff_t last = (ptrdiff_t)n + by;

	*lo = by > 0 ? (size_t)by : 0;
	*hi = last < 0 ? 0 : (size_t)last < nt ? (size_t)last : nt;
	if (*lo > *hi)
		*lo = *hi;
}

WEIR_CLONES(add, (float *restrict to, const float *restrict from, size_t n, float weight),
	    (to, from, n, weight))
{
	for (size_t i = 0; i < n; i++)
		to[i] += weight * from[i];
}

void
radon_time_adjoint(const struct radon_core *p, const float *gather, float *panel, int threads)
{
#pragma omp parallel for schedule(static) num_threads(threads)
	for (size_t i = 0; i < p->o.nq; i++) {
		float *row = panel + i * p->ntau;
		memset(row, 0, p->ntau * sizeof *row);
		for (size_t j = 0; j < p->o.nx; j++) {
			const struct shift s = shift_of(p, i, j);
			const float *x = gather + j * p->o.nt;
			size_t lo, hi;
			overlap(s.by, p->o.nt, p->ntau, &lo, &hi);
			add(row + ((ptrdiff_t)lo - s.by), x + lo, hi - lo, 1 - s.part);
			overlap(s.by + 1, p->o.nt, p->ntau, &lo, &hi);
			add(row + ((ptrdiff_t)lo - s.by - 1), x + lo, hi - lo, s.part);
		}
	}
}

void
radon_time_model(const struct radon_core *p, const float *panel, float *gather, int threads)
{
#pragma omp parallel for schedule(static) num_threads(threads)
	for (size_t j = 0; j < p->o.nx; j++) {
		float *x = gather + j * p->o.nt;
		memset(x, 0, p->o.nt * sizeof *x);
		for (size_t i = 0; i < p->o.nq; i++) {
			const struct shift s = shift_of(p, i, j);
			const float *row = panel + i * p->ntau;
			size_t lo, hi;
			overlap(s.by, p->o.nt, p->ntau, &lo, &hi);
			add(x + lo, row + ((ptrdiff_t)lo - s.by), hi - lo, 1 - s.part);
			overlap(s.by + 1, p->o.nt, p->ntau, &lo, &hi);
			add(x + lo, row + ((ptrdiff_t)lo - s.by - 1), hi - lo, s.part);
		}
	}
}

/* ---- hyperbolas ---- */

/* The places of so many samples are found at once. */
enum { CHUNK = 256 };

/*
 * One curve on one trace. Sample n of the panel lies at trace sample sqrt((first + n)^2 + c) - origin, for n = lo..hi-1; all
 * lengths are in samples. There the place is from 0 to nt - 1.
 */
struct curve {
	double first, c, origin;
	size_t lo, hi;
};

static double
place_of(const struct curve *v, size_t n)
{
	const double tau = v->first + (double)n;

	return sqrt(tau * tau + v->c) - v->origin;
}

static struct curve
curve_of(const struct radon_core *p, size_t i, size_t j)
{
	const double end = (double)(p->o.nt - 1), q = p->o.q0 + (double)i * p->o.dq;
	struct curve v = {.origin = p->o.t0 / p->o.dt, .hi = p->ntau};

	v.first = v.origin - (double)p->lead;
	v.c = q * p->g[j] / (p->o.dt * p->o.dt);
	v.lo = v.first < 0 ? (size_t)fmin(ceil(-v.first), (double)p->ntau) : 0;
	const double top = sqrt(fmax((v.origin + end) * (v.origin + end) - v.c, 0)) - v.first + 2;
	v.hi = (size_t)fmin(fmax(top, 0), (double)p->ntau);
	while (v.hi > v.lo && place_of(&v, v.hi - 1) > end)
		v.hi--;
	while (v.lo < v.hi && place_of(&v, v.lo) < 0)
		v.lo++;
	return v;
}

/* Finds the places of samples n .. n + count - 1: place = at + part, with at from 0 to last. */
WEIR_CLONES(find_places,
	    (const struct curve *v, size_t n, size_t count, int last, int *restrict at,
	     float *restrict part),
	    (v, n, count, last, at, part))
{
	const double first = v->first + (double)n, c = v->c, origin = v->origin;

	for (size_t i = 0; i < count; i++) {
		const double tau = first + (double)(int)i, s = sqrt(tau * tau + c) - origin;
		const int k = (int)s < last ? (int)s : last;
		at[i] = k;
		part[i] = (float)(s - k);
	}
}

WEIR_CLONES(take,
	    (float *restrict to, const float *restrict x, const int *restrict at,
	     const float *restrict part, size_t count),
	    (to, x, at, part, count))
{
	for (size_t i = 0; i < count; i++)
		to[i] += (1 - part[i]) * x[at[i]] + part[i] * x[at[i] + 1];
}

static void
put(float *restrict x, const float *restrict from, const int *restrict at,
    const float *restrict part, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		x[at[i]] += (1 - part[i]) * from[i];
		x[at[i] + 1] += part[i] * from[i];
	}
}

void
hyperbola_adjoint(const struct radon_core *p, const float *gather, float *panel, int threads)
{
	const int last = (int)p->o.nt - 2;

#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
	for (size_t i = 0; i < p->o.nq; i++) {
		float *row = panel + i * p->ntau, part[CHUNK];
		int at[CHUNK];
		memset(row, 0, p->ntau * sizeof *row);
		for (size_t j = 0; j < p->o.nx; j++) {
			const struct curve v = curve_of(p, i, j);
			for (size_t n = v.lo; n < v.hi; n += CHUNK) {
				const size_t count = v.hi - n < CHUNK ? v.hi - n : CHUNK;
				find_places(&v, n, count, last, at, part);
				take(row + n, gather + j * p->o.nt, at, part, count);
			}
		}
	}
}

void
hyperbola_model(const struct radon_core *p, const float *panel, float *gather, int threads)
{
	const int last = (int)p->o.nt - 2;

#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
	for (size_t j = 0; j < p->o.nx; j++) {
		float *x = gather + j * p->o.nt, part[CHUNK];
		int at[CHUNK];
		memset(x, 0, p->o.nt * sizeof *x);
		for (size_t i = 0; i < p->o.nq; i++) {
			const struct curve v = curve_of(p, i, j);
			for (size_t n = v.lo; n < v.hi; n += CHUNK) {
				const size_t count = v.hi - n < CHUNK ? v.hi - n : CHUNK;
				find_places(&v, n, count, last, at, part);
				put(x, panel + i * p->ntau + n, at, part, count);
			}
		}
	}
}
