/*
 * The definition: discrete Fourier transforms in time, and at each frequency the sums of radon.h over traces or curves. All of
 * it is in double, and cexp() gives the phases. lsq eliminates A^H A + damping at each frequency.
 */
#include <complex.h>
#include <errno.h>
#include <fftw3.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "common/base/dense.h"
#include "common/base/mem.h"
#include "radon/radon.h"

struct direct_axes {
	size_t ntau, lead, nw; /* ntau: of the FFTs, too */
};

/* ---- the transform ---- */

/* Is the FFT fast at this length: n = 2^a 3^b 5^c 7^d with a >= 2 and b + c + d <= 3? */
static bool
is_fast(size_t n)
{
	size_t odd = 0;

	if (n % 4)
		return false;
	while (n % 2 == 0)
		n /= 2;
	for (size_t p = 3; p <= 7; p += 2)
		for (; n % p == 0; n /= p)
			odd++;
	return n == 1 && odd <= 3;
}

/* The moveout of curve i on trace j, in s. */
static double
moveout(const struct radon_options *o, size_t i, size_t j)
{
	if (!o->nr)
		return (o->q0 + (double)i * o->dq) * o->g[j];
	const size_t n = o->nq / o->nr;
	return (o->q0 + (double)(i % n) * o->dq) * o->g[j] +
	       (o->r0 + (double)(i / n) * o->dr) * o->h[j];
}

void
radon_direct_axis(const struct radon_options *o, size_t *ntau, size_t *lead)
{
	double before = 0, after = 0; /* samples */

	for (size_t i = 0; i < o->nq; i++)
		for (size_t j = 0; j < o->nx + 2; j++) {
			const double s = (j < o->nx    ? moveout(o, i, j)
					  : j == o->nx ? o->least
						       : o->most) /
					 o->dt;
			before = s > before ? s : before;
			after = -s > after ? -s : after;
		}
	/* A billionth of a sample counts as rounding. */
	for (*lead = o->lead; (double)*lead < before - 1e-9;)
		++*lead;
	for (*ntau = *lead + o->nt + o->tail; (double)(*ntau - *lead - o->nt) < after - 1e-9;)
		++*ntau;
	while (!is_fast(*ntau))
		++*ntau;
}

static struct direct_axes
axes_of(const struct radon_options *o)
{
	struct direct_axes x;

	radon_direct_axis(o, &x.ntau, &x.lead);
	x.nw = x.ntau / 2 + 1;
	return x;
}

/* Frequency number k, in Hz. */
static double
frequency(const struct radon_options *o, const struct direct_axes *x, size_t k)
{
	return (double)k / ((double)x->ntau * o->dt);
}

/* exp(i 2 pi f s) at frequency number k, where s is the moveout of curve i on trace j. */
static complex double
phase(const struct radon_options *o, const struct direct_axes *x, size_t k, size_t i, size_t j)
{
	const double cycles = frequency(o, x, k) * moveout(o, i, j);

	return cexp(2 * M_PI * I * (cycles - rint(cycles)));
}

static bool
in_band(const struct radon_options *o, const struct direct_axes *x, size_t k)
{
	const double f = frequency(o, x, k);

	return f >= o->fmin * (1 - 1e-12) && (o->fmax <= 0 || f <= o->fmax * (1 + 1e-12));
}

/*
 * Finds the spectra [count][nw] of rows of n samples, floats (narrow) or doubles, that begin at sample `at` of ntau. Caller frees;
 * NULL: no memory.
 */
static complex double *
to_spectra(const struct direct_axes *x, const double *rows, const float *narrow, size_t count,
	   size_t n, size_t at)
{
	complex double *s = weir_alloc(count * x->nw, sizeof *s);
	double *row = weir_alloc(x->ntau, sizeof *row);

	for (size_t r = 0; s && row && r < count; r++) {
		fftw_plan plan =
		    fftw_plan_dft_r2c_1d((int)x->ntau, row, s + r * x->nw, FFTW_ESTIMATE);
		memset(row, 0, x->ntau * sizeof *row);
		for (size_t t = 0; t < n; t++)
			row[at + t] = narrow ? (double)narrow[r * n + t] : rows[r * n + t];
		fftw_execute(plan);
		fftw_destroy_plan(plan);
	}
	weir_free(row);
	return s;
}

/* Turns spectra into rows, and frees the spectra. Returns 0 or -ENOMEM, also for spectra NULL. */
static int
to_rows(const struct direct_axes *x, complex double *s, size_t count, double *rows, size_t n,
	size_t at)
{
	double *row = weir_alloc(x->ntau, sizeof *row);
	const int err = row && s ? 0 : -ENOMEM;

	for (size_t r = 0; !err && r < count; r++) {
		fftw_plan plan =
		    fftw_plan_dft_c2r_1d((int)x->ntau, s + r * x->nw, row, FFTW_ESTIMATE);
		fftw_execute(plan);
		fftw_destroy_plan(plan);
		for (size_t t = 0; t < n; t++)
			rows[r * n + t] = row[at + t] / (double)x->ntau;
	}
	weir_free_all(row, s);
	return err;
}

static complex double *
gather_spectra(const struct radon_options *o, const struct direct_axes *x, const float *gather)
{
	return to_spectra(x, NULL, gather, o->nx, o->nt, x->lead);
}

/*
 * Returns m of d, or with `model` d of m, at every frequency of the band; the other frequencies are 0. Caller frees; NULL: no memory,
 * or NULL was given.
 */
static complex double *
sums(const struct radon_options *o, const struct direct_axes *x, const complex double *from,
     bool model)
{
	const size_t n = model ? o->nx : o->nq, terms = model ? o->nq : o->nx;
	complex double *to = from ? weir_alloc(n * x->nw, sizeof *to) : NULL;

	for (size_t r = 0; to && r < n; r++)
		for (size_t k = 0; k < x->nw; k++) {
			complex double sum = 0;
			for (size_t l = 0; in_band(o, x, k) && l < terms; l++)
				sum += from[l * x->nw + k] *
				       (model ? conj(phase(o, x, k, l, r)) : phase(o, x, k, r, l));
			to[r * x->nw + k] = sum;
		}
	return to;
}

int
radon_direct_adjoint(const struct radon_options *o, const float *gather, double *panel)
{
	const struct direct_axes x = axes_of(o);
	complex double *d = gather_spectra(o, &x, gather), *m = sums(o, &x, d, false);

	weir_free(d);
	return to_rows(&x, m, o->nq, panel, x.ntau, 0);
}

int
radon_direct_model(const struct radon_options *o, const double *panel, double *gather)
{
	const struct direct_axes x = axes_of(o);
	complex double *m = to_spectra(&x, panel, NULL, o->nq, x.ntau, 0),
		       *d = sums(o, &x, m, true);

	weir_free(m);
	return to_rows(&x, d, o->nx, gather, o->nt, x.lead);
}

static bool
is_live(const struct radon_options *o, size_t j)
{
	return !o->live || o->live[j];
}

static double
damping(const struct radon_options *o)
{
	return o->nu * (double)o->nq;
}

/* A^H A + damping at frequency number k, over the live traces. a: room for A^H. */
static void
normal_matrix(const struct radon_options *o, const struct direct_axes *x, size_t k,
	      complex double *t, complex double *a)
{
	const size_t n = o->nq;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < o->nx; j++)
			a[i * o->nx + j] = phase(o, x, k, i, j);
	for (size_t i = 0; i < n; i++)
		for (size_t l = 0; l < n; l++) {
			t[i * n + l] = i == l ? damping(o) : 0;
			for (size_t j = 0; j < o->nx; j++)
				if (is_live(o, j))
					t[i * n + l] += a[i * o->nx + j] * conj(a[l * o->nx + j]);
		}
}

int
radon_direct_lsq(const struct radon_options *o, const float *gather, double *panel)
{
	const struct direct_axes x = axes_of(o);
	complex double *d = gather_spectra(o, &x, gather), *m = sums(o, &x, d, false);
	complex double *t = weir_alloc(o->nq * (o->nq + o->nx), sizeof *t);

	for (size_t k = 0; m && t && k < x.nw; k++)
		if (in_band(o, &x, k)) {
			normal_matrix(o, &x, k, t, t + o->nq * o->nq);
			dense_solve(t, m + k, x.nw, o->nq);
		}
	const int err = to_rows(&x, m, o->nq, panel, x.ntau, 0);
	weir_free_all(d, t);
	return t ? err : -ENOMEM;
}

/*
 * Returns nx ln d^H K^-1 d + ln det K at frequency number k, where K = A A^H + mu I and nx counts the live traces. room has
 * o->nx (o->nx + 1) elements. The sum is minus the logarithm of the gather's likelihood, up to a constant, for the most likely
 * strength of the signal. Dead traces are 0, and 1 in K, so that they add nothing.
 */
static double
surprise(const struct radon_options *o, const struct direct_axes *x, size_t k, double mu,
	 const complex double *d, complex double *room)
{
	complex double *y = room + o->nx * o->nx;
	double q = 0, logdet = 0, live = 0;

	for (size_t j = 0; j < o->nx; j++) {
		y[j] = is_live(o, j) ? d[j * x->nw + k] : 0;
		for (size_t l = 0; l < o->nx; l++) {
			complex double *to = &room[j * o->nx + l];
			*to = j != l ? 0 : is_live(o, j) ? mu : 1;
			for (size_t i = 0; i < o->nq && is_live(o, j) && is_live(o, l); i++)
				*to += conj(phase(o, x, k, i, j)) * phase(o, x, k, i, l);
		}
	}
	dense_solve(room, y, 1, o->nx);
	for (size_t j = 0; j < o->nx; j++) {
		live += is_live(o, j);
		q += is_live(o, j) ? creal(conj(d[j * x->nw + k]) * y[j]) : 0;
		logdet += log(creal(room[j * o->nx + j]));
	}
	return live * log(q) + logdet;
}

/* The energy of the gather at frequency number k. */
static double
energy_of(const struct radon_options *o, const struct direct_axes *x, size_t k,
	  const complex double *d)
{
	double sum = 0;

	for (size_t j = 0; j < o->nx; j++)
		sum += creal(d[j * x->nw + k] * conj(d[j * x->nw + k]));
	return sum;
}

int
radon_direct_noise(const struct radon_options *o, const float *gather, double *nu)
{
	static const double nus[] = {.001, .003, .01, .03, .1, .3};
	const struct direct_axes x = axes_of(o);
	complex double *d = gather_spectra(o, &x, gather);
	complex double *room = weir_alloc(o->nx, (o->nx + 1) * sizeof *room);
	double best = INFINITY, peak = 0;

	for (size_t k = 0; d && k < x.nw; k += 16)
		if (in_band(o, &x, k))
			peak = fmax(peak, energy_of(o, &x, k, d));
	for (size_t c = 0; d && room && c < 6; c++) {
		double sum = 0;
		for (size_t k = 0; k < x.nw; k += 16) {
			const double e = energy_of(o, &x, k, d);
			if (in_band(o, &x, k) && e > 1e-3 * peak)
				sum += pow(e / peak, .25) *
				       surprise(o, &x, k, nus[c] * (double)o->nq, d, room);
		}
		if (sum < best) {
			best = sum;
			*nu = nus[c];
		}
	}
	const int err = d && room ? 0 : -ENOMEM;
	weir_free_all(d, room);
	return err;
}

/* ---- adaptive subtraction ---- */

/* The definition of adaptive subtraction: each filter is applied sample by sample, and its energy is counted. */

enum { MOST = 32 }; /* samples of a filter */

/* One window: its weights [nx][nt], 0 where there is no data. */
struct window {
	const struct radon_options *o;
	const float *d;
	const double *m, *w;
	size_t half;
};

static double
at(const struct window *p, size_t j, size_t t, size_t k)
{
	const size_t i = t + p->half - k;

	return t + p->half < k || i >= p->o->nt ? 0 : p->m[j * p->o->nt + i];
}

/* Does sample t count? side 2: all samples count; 0 and 1: those of even and of odd blocks of .2 s. */
static bool
counts(const struct window *p, size_t t, size_t side)
{
	return side == 2 || t / (size_t)rint(.2 / p->o->dt) % 2 == side;
}

/* Finds f - delta from one side by Gaussian elimination of the normal equations. */
static void
match(const struct window *p, size_t side, double ratio, double *c)
{
	const struct radon_options *o = p->o;
	const size_t n = 2 * p->half + 1;
	double a[MOST][MOST + 1] = {{0}}, energy = 0, mean = 0;

	for (size_t i = 0; i < o->nx * o->nt; i++) {
		const size_t j = i / o->nt, t = i % o->nt;
		if (!counts(p, t, side))
			continue;
		energy += p->w[i] * p->d[i] * p->d[i];
		for (size_t k = 0; k < n; k++) {
			for (size_t l = 0; l < n; l++)
				a[k][l] += p->w[i] * at(p, j, t, k) * at(p, j, t, l);
			a[k][n] += p->w[i] * at(p, j, t, k) * (p->d[i] - p->m[i]);
		}
	}
	for (size_t k = 0; k < n; k++)
		mean += a[k][k] / (double)n;
	const double mu = fmax(ratio * energy, 1e-10 * mean);
	for (size_t k = 0; k < n; k++)
		a[k][k] += mu;
	for (size_t k = 0; k < n && mu > 0; k++)
		for (size_t l = 0; l < n; l++)
			for (size_t i = n + 1; l != k && i-- > k;)
				a[l][i] -= a[l][k] / a[k][k] * a[k][i];
	for (size_t k = 0; k < n; k++)
		c[k] = mu > 0 ? a[k][n] / a[k][k] : 0;
}

static double
filtered(const struct window *p, const double *c, size_t j, size_t t)
{
	double sum = p->m[j * p->o->nt + t];

	for (size_t k = 0; k <= 2 * p->half; k++)
		sum += c[k] * at(p, j, t, k);
	return sum;
}

/* Adds to *misfit the energy that filters leave in the blocks they were not found from, and to *plain that of d - m. */
static void
cross(const struct window *p, double ratio, double *misfit, double *plain)
{
	double c[2][MOST];

	match(p, 0, ratio, c[0]);
	match(p, 1, ratio, c[1]);
	for (size_t i = 0; i < p->o->nx * p->o->nt; i++) {
		const size_t j = i / p->o->nt, t = i % p->o->nt;
		const double left = p->d[i] - filtered(p, c[counts(p, t, 0)], j, t),
			     rest = p->d[i] - p->m[i];
		*misfit += p->w[i] * left * left;
		*plain += p->w[i] * rest * rest;
	}
}

/* The weight at sample i of window k of an axis whose windows reach `half` samples to each side, and their number. */
static double
hat(size_t n, double half, size_t i, size_t k, size_t *count)
{
	*count = 1;
	if (!(half > 0 && half < (double)n) || n == 1)
		return 1;
	*count = (size_t)ceil((double)(n - 1) / half) + 1;
	const double apart = (double)(n - 1) / (double)(*count - 1);
	return fmax(0, 1 - fabs((double)i - (double)k * apart) / apart);
}

/* The samples of a trace from the first to the last that is not 0. */
static struct radon_span
data_of(const float *x, size_t n)
{
	struct radon_span s = {n, n};

	for (size_t t = 0; t < n; t++)
		if (x[t] != 0) {
			s.first = s.first < n ? s.first : t;
			s.end = t + 1;
		}
	return s;
}

/* Is sample t of trace j data of a live trace? */
static bool
is_data(const struct radon_options *o, const float *d, size_t j, size_t t)
{
	const struct radon_span s = data_of(d + j * o->nt, o->nt);

	return t >= s.first && t < s.end && is_live(o, j);
}

/* Fills the weights of window k, and returns how many windows there are. */
static size_t
weigh(const struct radon_options *o, const float *d, size_t k, double *w)
{
	const double half = o->adapt.traces ? (double)(o->adapt.traces + 1) / 2 : 0;
	size_t traces = 1, times = 1;

	hat(o->nt, o->adapt.window / 2 / o->dt, 0, 0, &times);
	for (size_t j = 0; j < o->nx; j++) {
		const double by = hat(o->nx, half, j, k / times, &traces);
		for (size_t t = 0; t < o->nt; t++) {
			const double w_t =
			    hat(o->nt, o->adapt.window / 2 / o->dt, t, k % times, &times);
			w[j * o->nt + t] = is_data(o, d, j, t) ? by * w_t : 0;
		}
	}
	return traces * times;
}

/* out += the window's part of d - f * m. */
static void
add(const struct window *p, double ratio, double *out)
{
	double c[MOST] = {0};

	if (isfinite(ratio))
		match(p, 2, ratio, c);
	for (size_t i = 0; i < p->o->nx * p->o->nt; i++)
		out[i] += p->w[i] * (p->d[i] - filtered(p, c, i / p->o->nt, i % p->o->nt));
}

int
radon_direct_adapt(const struct radon_options *o, const float *gather, const float *left,
		   double *out, double *ratio)
{
	static const double ratios[6] = {3, 1, .3, .1, .03, .01};
	const size_t n = o->nx * o->nt;
	double *m = weir_alloc(n, sizeof *m), *w = weir_alloc(n, sizeof *w), least = INFINITY;
	struct window p = {
	    .o = o, .d = gather, .m = m, .w = w, .half = (size_t)rint(o->adapt.filter / 2 / o->dt)};
	int err = -ENOMEM;

	for (size_t i = 0; m && w && i < n; i++) {
		m[i] = (double)gather[i] - (double)left[i];
		out[i] = is_data(o, gather, i / o->nt, i % o->nt) ? 0 : (double)left[i];
	}
	*ratio = INFINITY;
	for (size_t i = 0; m && w && i < 6; i++) {
		double misfit = 0, plain = 0;
		for (size_t k = 0; k < weigh(o, gather, k, w); k++)
			cross(&p, ratios[i], &misfit, &plain);
		if (misfit <= .99 * plain && misfit < plain && misfit < least) {
			least = misfit;
			*ratio = ratios[i];
		}
	}
	for (size_t k = 0; m && w && k < weigh(o, gather, k, w); k++) {
		add(&p, *ratio, out);
		err = 0;
	}
	weir_free_all(m, w);
	return err;
}

/* ---- hyperbolas ---- */

/* The panel's axis: tau = t0 + (n - lead) dt. It begins at the first such tau that is not below 0, or at t0. */
static void
axis(const struct radon_options *o, size_t *ntau, size_t *lead)
{
	size_t before = 0;

	while (o->t0 - (double)(before + 1) * o->dt >= -1e-9 * o->dt)
		before++;
	*lead = before > o->lead ? before : o->lead;
	*ntau = *lead + o->nt + o->tail;
}

/*
 * The coefficient of gather sample t of trace j in panel sample n of curve i: a triangle of the width of a sample on each side
 * of the curve.
 */
static double
coefficient(const struct radon_options *o, size_t lead, size_t i, size_t n, size_t j, size_t t)
{
	const double q = o->q0 + (double)i * o->dq,
		     tau = o->t0 + ((double)n - (double)lead) * o->dt;
	const double at = (sqrt(tau * tau + q * o->g[j]) - o->t0) / o->dt;

	if (tau < 0 || at < 0 || at > (double)(o->nt - 1))
		return 0;
	return fmax(0, 1 - fabs(at - (double)t));
}

/* Sums a gather to each sample of a panel, or with `model` a panel to each sample of a gather. */
static void
sum_hyperbolas(const struct radon_options *o, const double *from, double *to, bool model)
{
	const size_t nt = o->nt;
	size_t ntau, lead;

	axis(o, &ntau, &lead);
	const size_t panel = o->nq * ntau, gather = o->nx * nt;
	memset(to, 0, (model ? gather : panel) * sizeof *to);
	for (size_t m = 0; m < panel; m++)
		for (size_t d = 0; d < gather; d++) {
			const double c = coefficient(o, lead, m / ntau, m % ntau, d / nt, d % nt);
			to[model ? d : m] += c * from[model ? m : d];
		}
}

void
radon_direct_hyperbola_adjoint(const struct radon_options *o, const double *gather, double *panel)
{
	sum_hyperbolas(o, gather, panel, false);
}

void
radon_direct_hyperbola_model(const struct radon_options *o, const double *panel, double *gather)
{
	sum_hyperbolas(o, panel, gather, true);
}

/* ---- inverses by steps ---- */

/*
 * The definition of sparse, of lsq with two axes, and of both with hyperbolic curves: iteratively reweighted least squares by
 * conjugate gradients, in double. Gathers are samples where curves are hyperbolic, and else spectra.
 */
struct descent {
	const struct radon_options *o;
	struct direct_axes x;
	const float *gather;
	size_t panel, n;		  /* doubles of a panel, and of a gather */
	double *u, *w, *dir, *grad, *row; /* panels */
	double *all, *res, *step;	  /* gathers; all: the one that is given */
};

/* Zeroes in d the times of the zeros that each trace of the gather begins or ends with. Returns 0 or -ENOMEM. */
static int
mute(const struct descent *s, complex double *d)
{
	const struct direct_axes *x = &s->x;
	int err = 0;

	for (size_t j = 0; j < s->o->nx && !err; j++) {
		const struct radon_span data = data_of(s->gather + j * s->o->nt, s->o->nt);
		complex double *masked, *trace;
		if (data.first == data.end || (data.first == 0 && data.end == s->o->nt))
			continue;
		if ((trace = weir_alloc(x->nw, sizeof *trace)))
			memcpy(trace, d + j * x->nw, x->nw * sizeof *trace);
		if ((err = to_rows(x, trace, 1, s->row, x->ntau, 0)))
			continue;
		for (size_t t = 0; t < x->ntau; t++)
			if ((data.first && t < x->lead + data.first) ||
			    (data.end < s->o->nt && t >= x->lead + data.end))
				s->row[t] = 0;
		masked = to_spectra(x, s->row, NULL, 1, x->ntau, 0);
		err = masked ? 0 : -ENOMEM;
		if (masked)
			memcpy(d + j * x->nw, masked, x->nw * sizeof *masked);
		weir_free(masked);
	}
	return err;
}

/* Zeroes dead traces, frequencies outside the band, and muted times. Returns the energy of the remaining samples. */
static double
keep_spectra(const struct descent *s, complex double *d)
{
	const size_t nw = s->x.nw;
	double sum = 0;

	for (size_t i = 0; i < s->o->nx * nw; i++)
		if (!is_live(s->o, i / nw) || !in_band(s->o, &s->x, i % nw))
			d[i] = 0;
	if (mute(s, d))
		return NAN;
	for (size_t i = 0; i < s->o->nx * nw; i++)
		sum +=
		    (i % nw == 0 || 2 * (i % nw) == s->x.ntau ? 1 : 2) * creal(d[i] * conj(d[i]));
	return sum / (double)s->x.ntau;
}

/* Zeroes dead traces and the zeros that a trace of the gather begins or ends with. Returns the energy of the rest. */
static double
keep(const struct descent *s, double *x)
{
	const size_t nt = s->o->nt;
	double sum = 0;

	if (!s->o->hyperbolic)
		return keep_spectra(s, (complex double *)x);
	for (size_t i = 0; i < s->n; i++) {
		x[i] = is_data(s->o, s->gather, i / nt, i % nt) ? x[i] : 0;
		sum += x[i] * x[i];
	}
	return sum;
}

/* s->step = A W v; returns its energy. */
static double
apply(struct descent *s, const double *v)
{
	for (size_t i = 0; i < s->panel; i++)
		s->row[i] = s->w[i] * v[i];
	if (s->o->hyperbolic) {
		radon_direct_hyperbola_model(s->o, s->row, s->step);
	} else {
		complex double *m = to_spectra(&s->x, s->row, NULL, s->o->nq, s->x.ntau, 0);
		complex double *d = sums(s->o, &s->x, m, true);
		weir_free(m);
		if (!d)
			return NAN;
		memcpy(s->step, d, s->n * sizeof *s->step);
		weir_free(d);
	}
	return keep(s, s->step);
}

/* s->grad = W A^H res - damping u; returns its energy. */
static double
gradient(struct descent *s)
{
	double sum = 0;

	if (s->o->hyperbolic) {
		radon_direct_hyperbola_adjoint(s->o, s->res, s->row);
	} else {
		complex double *m = sums(s->o, &s->x, (complex double *)s->res, false);
		if (to_rows(&s->x, m, s->o->nq, s->row, s->x.ntau, 0))
			return NAN;
	}
	for (size_t i = 0; i < s->panel; i++) {
		s->grad[i] = s->w[i] * s->row[i] - damping(s->o) * s->u[i];
		sum += s->grad[i] * s->grad[i];
	}
	return sum;
}

/*
 * Minimises |d - A W u|^2 + damping |u|^2 by at most so many steps of conjugate gradients from u = 0. Returns the energy of the
 * gather.
 */
static double
descend(struct descent *s, int most)
{
	double g, next;

	memcpy(s->res, s->all, s->n * sizeof *s->res);
	const double energy = keep(s, s->res);
	memset(s->u, 0, s->panel * sizeof *s->u);
	g = gradient(s);
	memcpy(s->dir, s->grad, s->panel * sizeof *s->dir);
	for (int step = 0; step < most && g > 0; step++, g = next) {
		double dd = 0;
		for (size_t i = 0; i < s->panel; i++)
			dd += s->dir[i] * s->dir[i];
		const double alpha = g / (apply(s, s->dir) + damping(s->o) * dd);
		for (size_t i = 0; i < s->panel; i++)
			s->u[i] += alpha * s->dir[i];
		for (size_t i = 0; i < s->n; i++)
			s->res[i] -= alpha * s->step[i];
		next = gradient(s);
		for (size_t i = 0; i < s->panel; i++)
			s->dir[i] = s->grad[i] + next / g * s->dir[i];
	}
	return energy;
}

/* W = the root of the amplitude of W u over 3 samples to each side, with a greatest weight of 1 and a least of .01. */
static void
reweigh(struct descent *s)
{
	const size_t ntau = s->panel / s->o->nq;
	double top = 0;

	for (size_t i = 0; i < s->panel; i++) {
		double sum = 0;
		for (size_t v = i / ntau * ntau; v < (i / ntau + 1) * ntau; v++)
			if (v + 3 >= i && v <= i + 3)
				sum += pow(s->w[v] * s->u[v], 2);
		s->row[i] = sqrt(sum);
		top = fmax(top, s->row[i]);
	}
	for (size_t i = 0; i < s->panel; i++)
		s->w[i] = top > 0 ? fmax(sqrt(s->row[i] / top), .01) : 1;
}

/* Writes W u to panel, the band of it where curves are not hyperbolic. Returns 0 or -ENOMEM. */
static int
put_panel(const struct descent *s, double *panel)
{
	for (size_t i = 0; i < s->panel; i++)
		panel[i] = s->w[i] * s->u[i];
	if (s->o->hyperbolic)
		return 0;
	complex double *m = to_spectra(&s->x, panel, NULL, s->o->nq, s->x.ntau, 0);
	for (size_t i = 0; m && i < s->o->nq * s->x.nw; i++)
		m[i] *= in_band(s->o, &s->x, i % s->x.nw);
	return to_rows(&s->x, m, s->o->nq, panel, s->x.ntau, 0);
}

/* Allocates the arrays and loads the gather. Returns what the caller frees, the room of all arrays; NULL: no memory. */
static double *
begin_descent(struct descent *s)
{
	const struct radon_options *o = s->o;
	complex double *spectra = NULL;
	size_t ntau, lead;

	if (o->hyperbolic) {
		axis(o, &ntau, &lead);
		s->panel = o->nq * ntau;
		s->n = o->nx * o->nt;
	} else {
		s->x = axes_of(o);
		s->panel = o->nq * s->x.ntau;
		s->n = 2 * o->nx * s->x.nw;
		spectra = gather_spectra(o, &s->x, s->gather);
	}
	const bool ok = o->hyperbolic || spectra;
	double *room = ok ? weir_alloc(5 * s->panel + 3 * s->n, sizeof *room) : NULL;
	if (!room) {
		weir_free(spectra);
		return NULL;
	}
	s->all = room; /* first, so that gathers are aligned as complex numbers are */
	s->res = s->all + s->n;
	s->step = s->res + s->n;
	s->u = s->step + s->n;
	s->w = s->u + s->panel;
	s->dir = s->w + s->panel;
	s->grad = s->dir + s->panel;
	s->row = s->grad + s->panel;
	if (spectra)
		memcpy(s->all, spectra, s->n * sizeof *s->all);
	for (size_t i = 0; !spectra && i < s->n; i++)
		s->all[i] = (double)s->gather[i];
	for (size_t i = 0; i < s->panel; i++)
		s->w[i] = 1;
	weir_free(spectra);
	return room;
}

int
radon_direct_sparse(const struct radon_options *o, const float *gather, double *panel)
{
	struct radon_options own = *o;
	struct descent s = {.o = &own, .gather = gather};
	double *room = begin_descent(&s), all = 0;
	const int sets = o->mode == RADON_SPARSE ? RADON_SETS : 1;

	for (int i = 0; room && i < sets; i++) {
		if (i)
			reweigh(&s);
		if (i == 1 && o->raise_nu) {
			const double f = keep(&s, s.res) / all; /* the part that is left */
			own.nu = fmax(o->nu, f < 1 ? fmin(.02 * sqrt(f / (1 - f)), .1) : .1);
		}
		all = descend(&s, (int)ceil(o->inner * pow(.5, sets - 1 - i)));
	}
	const int err = room ? put_panel(&s, panel) : -ENOMEM;
	weir_free(room);
	return err;
}
