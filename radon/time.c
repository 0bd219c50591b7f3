#include <math.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/par.h"
#include "radon/core.h"

/* ---- shifts ---- */

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

/* Adds curve i on trace j, from the trace to the row of a panel (adjoint) or back. */
static void
add_shifted(const struct radon_core *p, size_t i, size_t j, bool adjoint, const float *from,
	    float *to)
{
	const struct shift s = shift_of(p, i, j);

	for (int next = 0; next < 2; next++) {
		const ptrdiff_t by = s.by + next;
		const float weight = next ? s.part : 1 - s.part;
		size_t lo, hi;
		overlap(by, p->o.nt, p->ntau, &lo, &hi);
		if (adjoint)
			add(to + ((ptrdiff_t)lo - by), from + lo, hi - lo, weight);
		else
			add(to + lo, from + ((ptrdiff_t)lo - by), hi - lo, weight);
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

static void
add_hyperbola(const struct radon_core *p, size_t i, size_t j, bool adjoint, const float *from,
	      float *to)
{
	const int last = (int)p->o.nt - 2;
	const struct curve v = curve_of(p, i, j);
	float part[CHUNK];
	int at[CHUNK];

	for (size_t n = v.lo; n < v.hi; n += CHUNK) {
		const size_t count = v.hi - n < CHUNK ? v.hi - n : CHUNK;
		find_places(&v, n, count, last, at, part);
		if (adjoint)
			take(to + n, from, at, part, count);
		else
			put(to, from + n, at, part, count);
	}
}

/* ---- sums ---- */

/* Sums traces to each row of a panel (adjoint), or rows to each trace. */
static void
sum_rows(const struct radon_core *p, bool adjoint, const float *in, float *out, int threads)
{
	const size_t rows = adjoint ? p->o.nq : p->o.nx, n = adjoint ? p->ntau : p->o.nt;
	const size_t others = adjoint ? p->o.nx : p->o.nq, m = adjoint ? p->o.nt : p->ntau;

#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
	for (size_t r = 0; r < rows; r++) {
		float *to = out + r * n;
		memset(to, 0, n * sizeof *to);
		for (size_t k = 0; k < others; k++)
			(p->o.hyperbolic ? add_hyperbola : add_shifted)(
			    p, adjoint ? r : k, adjoint ? k : r, adjoint, in + k * m, to);
	}
}

void
radon_time_adjoint(const struct radon_core *p, const float *gather, float *panel, int threads)
{
	sum_rows(p, true, gather, panel, threads);
}

void
radon_time_model(const struct radon_core *p, const float *panel, float *gather, int threads)
{
	sum_rows(p, false, panel, gather, threads);
}
