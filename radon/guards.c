/* Figures of a gather or a result that tell whether the options suit it. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/fft.h"
#include "common/base/mem.h"
#include "radon/fft.h"
#include "radon/radon.h"

enum { CHAINS = 8 }; /* independent sums, so that no addition waits for another */

/* sum[0] += m d, sum[1] += m m, with m = d - left. */
WEIR_CLONES(correlate,
	    (const float *restrict d, const float *restrict left, size_t n, double sum[2]),
	    (d, left, n, sum))
{
	double md[CHAINS] = {0}, mm[CHAINS] = {0};

	for (size_t i = 0; i + CHAINS <= n; i += CHAINS)
		for (size_t c = 0; c < CHAINS; c++) {
			const double x = (double)d[i + c], m = x - (double)left[i + c];
			md[c] += m * x;
			mm[c] += m * m;
		}
	for (size_t i = n / CHAINS * CHAINS; i < n; i++) {
		const double x = (double)d[i], m = x - (double)left[i];
		md[0] += m * x;
		mm[0] += m * m;
	}
	for (size_t c = 0; c < CHAINS; c++) {
		sum[0] += md[c];
		sum[1] += mm[c];
	}
}

double
radon_alpha(const struct radon_options *o, const float *gather, const float *left)
{
	double sum[2] = {0, 0};

	for (size_t j = 0; j < o->nx; j++)
		correlate(gather + j * o->nt, left + j * o->nt, o->nt, sum);
	return sum[1] > 0 ? sum[0] / sum[1] : 1;
}

/* Is trace j at the same place as trace k? */
static bool
same_place(const struct radon_options *o, size_t j, size_t k)
{
	const size_t nr = o->nr ? o->nr : 1;
	const double near = o->hyperbolic ? 0 : o->dt / 4,
		     q = (double)(o->nq / nr - 1) * o->dq * fabs(o->g[j] - o->g[k]),
		     r = o->nr ? (double)(nr - 1) * o->dr * fabs(o->h[j] - o->h[k]) : 0;

	return q + r <= near;
}

size_t
radon_different(const struct radon_options *o, size_t most)
{
	size_t n = 0;

	for (size_t j = 0; j < o->nx && n < most; j++) {
		bool known = o->live && !o->live[j];
		for (size_t k = 0; k < j && !known; k++)
			known = (!o->live || o->live[k]) && same_place(o, j, k);
		n += !known;
	}
	return n;
}

/* The frequency at which n curves, d apart, alias on traces at g. */
static double
alias(size_t n, double d, const double *g, size_t nx)
{
	double lo = INFINITY, hi = -INFINITY;

	for (size_t j = 0; j < nx; j++) {
		lo = fmin(lo, g[j]);
		hi = fmax(hi, g[j]);
	}
	return n > 1 && hi > lo ? 1 / (d * (hi - lo)) : INFINITY;
}

double
radon_alias(const struct radon_options *o, double *apart)
{
	const size_t n = o->nr ? o->nq / o->nr : o->nq;
	const double q = o->hyperbolic ? INFINITY : alias(n, o->dq, o->g, o->nx),
		     r = o->nr ? alias(o->nr, o->dr, o->h, o->nx) : INFINITY;

	*apart = q < r ? o->dq : o->dr;
	return fmin(q, r);
}

/*
 * Adds the energy of at most 16 traces, evenly spread, at each of p->n / 2 + 1 frequencies to sum. Returns 0 or -ENOMEM. So
 * few suffice for a warning, and every gather of a stream is examined.
 */
static int
power(const struct radon_options *o, const struct radon_fft *p, const float *gather, double *sum)
{
	const size_t step = (o->nx + 15) / 16;
	float *row = weir_calloc(p->n, sizeof *row), *s = weir_alloc(p->n + 2, sizeof *s);
	const int err = row && s ? 0 : -ENOMEM;

	for (size_t j = 0; !err && j < o->nx; j += step) {
		memcpy(row, gather + j * o->nt, o->nt * sizeof *row);
		radon_fft_forward(p, row, s);
		for (size_t k = 0; k <= p->n / 2; k++)
			sum[k] += (double)s[2 * k] * (double)s[2 * k] +
				  (double)s[2 * k + 1] * (double)s[2 * k + 1];
	}
	weir_free(row);
	weir_free(s);
	return err;
}

/* The frequency, as a place in sum, below which 99 % of the energy lies. */
static size_t
find_top(const double *sum, size_t n)
{
	double all = 0, below = 0;
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		all += sum[i];
	while (k < n - 1 && below + sum[k] < .99 * all)
		below += sum[k++];
	return k;
}

double
radon_top_frequency(const struct radon_options *o, const float *gather)
{
	const size_t n = fft_size(o->nt), nw = n / 2 + 1;
	double *sum = weir_calloc(nw, sizeof *sum), top = INFINITY;
	struct radon_fft fft = {0};

	if (sum && !radon_fft_plan(&fft, n) && !power(o, &fft, gather, sum))
		top = (double)find_top(sum, nw) / ((double)n * o->dt);
	radon_fft_free(&fft);
	weir_free(sum);
	return top;
}

struct radon_span
radon_span(const float *x, size_t n)
{
	struct radon_span s = {0, n};

	while (s.first < n && x[s.first] == 0)
		s.first++;
	while (s.end > s.first && x[s.end - 1] == 0)
		s.end--;
	return s.first < n ? s : (struct radon_span){n, n};
}

void
radon_keep_muted(const struct radon_options *o, const float *gather, float *left)
{
	for (size_t j = 0; j < o->nx; j++) {
		const float *x = gather + j * o->nt;
		const struct radon_span s = radon_span(x, o->nt);
		float *to = left + j * o->nt;
		memcpy(to, x, s.first * sizeof *x);
		memcpy(to + s.end, x + s.end, (o->nt - s.end) * sizeof *x);
	}
}
