/* Shift and sum in time with linear interpolation: --method=time. Modelling is the exact transpose of the adjoint. */
#include <math.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/par.h"
#include "radon/spectra.h"
#include "radon/time/shift.h"

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
