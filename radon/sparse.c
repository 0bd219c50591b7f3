/*
 * Sparse inverses, and all inverses of hyperbolic curves or two axes, by iteratively reweighted least squares. W in (0, 1] weights
 * the samples of the panel, and m = W u. For given weights, steps of conjugate gradients from u = 0 minimise
 * |d - A W u|^2 + NU nq |u|^2. Then new weights are found, which grow with the amplitude of m. This is done RADON_SETS times in
 * sparse mode and once in lsq mode, the first time with W = 1. The last time takes `inner` steps, and each earlier time half
 * as many as the next. Dead traces and the zeros that a trace begins or ends with contribute no equations.
 *
 * The weights are functions of time, which all frequencies share. Weights from low frequencies alone, for the first set or for
 * two sets (Herrmann et al. 2000), gained at most .3 dB of primaries and lost up to 3.8 dB in 12 scenes of 12, 20 and 40 traces
 * whose events alias above 9, 14 and 29 Hz; t/bench/radon.md has the figures of a real gather. The weights are relative to the
 * greatest amplitude of the panel. Weights relative to the greatest amplitude within .25 to 1 s were 1 to 4 dB worse on events
 * added to real gathers. So were gathers whose amplitudes were balanced before and after.
 *
 * Source: Sacchi and Ulrych, Geophysics 60(4), 1995. The weights are functions of time as in Trad, Ulrych and Sacchi,
 * Geophysics 68(1), 2003.
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "radon/core.h"

/* ---- weights ---- */

/* The amplitude of a sample is found over SMOOTH samples to each side. */
enum { SMOOTH = 3 };
static const float least = 1e-2f;

/* The root of the sum of squares of samples first .. end - 1. */
CPU_INLINE float
amplitude(const float *m, size_t first, size_t end)
{
	float sum = 0;

	for (size_t v = first; v < end; v++)
		sum += m[v] * m[v];
	return sqrtf(sum);
}

/* Fills the amplitudes of the samples that have SMOOTH samples to each side. */
WEIR_CLONES(fill_inside, (const float *restrict m, float *restrict to, size_t n), (m, to, n))
{
	for (size_t t = SMOOTH; t + SMOOTH < n; t++)
		to[t] = amplitude(m, t - SMOOTH, t + SMOOTH + 1);
}

/* to = the amplitude of row m around each of its n samples. Returns the greatest amplitude. */
static float
radon_amplitudes(const float *m, float *to, size_t n)
{
	for (size_t t = 0; t < n; t++)
		if (t < SMOOTH || t + SMOOTH >= n)
			to[t] = amplitude(m, t < SMOOTH ? 0 : t - SMOOTH,
					  t + SMOOTH < n ? t + SMOOTH + 1 : n);
	fill_inside(m, to, n);
	return radon_peak(to, n);
}

/* weight = the square root of amplitude / top, at least .01. */
WEIR_CLONES(weigh, (const float *restrict amplitude, float top, float *restrict weight, size_t n),
	    (amplitude, top, weight, n))
{
	for (size_t t = 0; t < n; t++) {
		const float w = sqrtf(amplitude[t] / top);
		weight[t] = w > least ? w : least;
	}
}

/* ---- iterations ---- */

/* What differs between the two: the operators, and the form of gathers. */
struct operators {
	/* Finds s->dir by direction_row(), and s->step = A W s->dir. */
	void (*model)(struct radon_irls *s);
	/* Zeroes what is in no equation, and returns |x|^2. */
	double (*keep)(const struct radon_irls *s, float *x);
	/*
	 * Brings s->res up to date by residual(), and s->u by gradient_row(), which makes
	 * s->grad = W A^H s->res - damping s->u.
	 */
	void (*gradient)(struct radon_irls *s);
};

/* The arrays of one gather. */
struct radon_irls {
	const struct radon_core *p;	/* borrowed */
	float *u, *weight, *dir, *grad; /* [nq][ntau]; u: owned, with the others */
	float *res, *step;		/* [nx][row]: residual, A W x */
	size_t row;			/* floats that a trace takes in them */
	double damping;			/* NU nq of the run */
	/*
	 * A step of conjugate gradients adds length * dir to u and subtracts length * step from res; the next direction is
	 * grad + turn * dir. The operators do this row by row and block by block where they use the results, since threads
	 * that wait for each other cost more than the sums. begin: no step has been taken, u is 0 and dir is grad.
	 */
	double length, turn;
	bool begin;
	double *part;		 /* the sums of rows, which are added in order */
	struct radon_span *span; /* [nx]: the data of each trace; none of a dead trace */
	struct radon_room *w;	 /* borrowed while a gather runs */
};

struct radon_irls *
radon_irls(const struct radon_core *p)
{
	struct radon_irls *s = weir_calloc(1, sizeof *s);
	const size_t row = p->o.hyperbolic ? p->o.nt : 2 * p->ld;
	const size_t rows = (p->o.nq + 15) / 16 * 16; /* so that each panel is aligned */

	if (!s)
		return NULL;
	*s = (struct radon_irls){.p = p, .row = row};
	s->u = weir_alloc(4 * rows, p->ntau * sizeof *s->u);
	s->res = weir_calloc(2 * p->o.nx, row * sizeof *s->res);
	s->part = weir_alloc(p->o.nq > p->o.nx ? p->o.nq : p->o.nx, sizeof *s->part);
	s->span = weir_alloc(p->o.nx, sizeof *s->span);
	if (!s->u || !s->res || !s->part || !s->span) {
		radon_irls_free(s);
		return NULL;
	}
	s->weight = s->u + rows * p->ntau;
	s->dir = s->weight + rows * p->ntau;
	s->grad = s->dir + rows * p->ntau;
	s->step = s->res + p->o.nx * row;
	return s;
}

void
radon_irls_free(struct radon_irls *s)
{
	if (!s)
		return;
	weir_free_all(s->u, s->res, s->part, s->span, s);
}

/* --- rows ---------------------------------------------------------------------------------------------------------- */

static double
add_up(const struct radon_irls *s, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += s->part[i];
	return sum;
}

WEIR_CLONES(multiply,
	    (float *restrict to, const float *restrict a, const float *restrict b, size_t n),
	    (to, a, b, n))
{
	for (size_t i = 0; i < n; i++)
		to[i] = a[i] * b[i];
}

/* to = row i of the panel, W u. */
static void
weigh_row(const struct radon_irls *s, size_t i, float *to)
{
	const size_t n = s->p->ntau;

	multiply(to, s->u + i * n, s->weight + i * n, n);
}

/* y = a x + b y */
WEIR_CLONES(combine, (float *restrict y, const float *restrict x, size_t n, float a, float b),
	    (y, x, n, a, b))
{
	for (size_t i = 0; i < n; i++)
		y[i] = a * x[i] + b * y[i];
}

static void
direction_row(const struct radon_irls *s, size_t i, float *to)
{
	const size_t n = s->p->ntau, at = i * n;

	if (s->begin)
		memcpy(s->dir + at, s->grad + at, n * sizeof *s->dir);
	else
		combine(s->dir + at, s->grad + at, n, 1, (float)s->turn);
	s->part[i] = radon_energy(s->dir + at, n);
	multiply(to, s->dir + at, s->weight + at, n);
}

/* y -= a x for `rows` rows of n, which are ld apart. */
WEIR_CLONES(subtract_rows,
	    (float *restrict y, const float *restrict x, size_t rows, size_t ld, size_t n, float a),
	    (y, x, rows, ld, n, a))
{
	for (size_t r = 0; r < rows; r++)
		for (size_t i = r * ld; i < r * ld + n; i++)
			y[i] -= a * x[i];
}

static void
residual(struct radon_irls *s, size_t first, size_t end, size_t at, size_t n)
{
	const size_t from = first * s->row + at;

	if (!s->begin)
		subtract_rows(s->res + from, s->step + from, end - first, s->row, n,
			      (float)s->length);
}

WEIR_CLONES(finish_gradient,
	    (float *restrict grad, const float *restrict weight, const float *restrict u, size_t n,
	     float scale, float damping),
	    (grad, weight, u, n, scale, damping))
{
	for (size_t i = 0; i < n; i++)
		grad[i] = weight[i] * grad[i] * scale - damping * u[i];
}

static void
step_row(struct radon_irls *s, size_t i)
{
	const size_t n = s->p->ntau, at = i * n;

	if (s->begin)
		memset(s->u + at, 0, n * sizeof *s->u);
	else
		combine(s->u + at, s->dir + at, n, (float)s->length, 1);
}

static void
gradient_row(struct radon_irls *s, size_t i, float scale)
{
	const size_t n = s->p->ntau, at = i * n;

	step_row(s, i);
	finish_gradient(s->grad + at, s->weight + at, s->u + at, n, scale, (float)s->damping);
	s->part[i] = radon_energy(s->grad + at, n);
}

/* --- the iteration ------------------------------------------------------------------------------------------------- */

static double
gradient(struct radon_irls *s, const struct operators *a)
{
	a->gradient(s);
	return add_up(s, s->p->o.nq);
}

/* Adds the last step to u, and subtracts it from res. */
static void
finish_step(struct radon_irls *s)
{
#pragma omp parallel num_threads(s->w->threads)
	{
#pragma omp for schedule(static) nowait
		for (size_t i = 0; i < s->p->o.nq; i++)
			step_row(s, i);
#pragma omp for schedule(static)
		for (size_t j = 0; j < s->p->o.nx; j++)
			residual(s, j, j + 1, 0, s->row);
	}
}

/* Finds s->u for the current weights, from 0, in `most` steps. On entry s->res holds the gather, on return the residual. */
static void
conjugate_gradients(struct radon_irls *s, const struct operators *a, int most, size_t *steps)
{
	double g, next;

	s->begin = true;
	g = gradient(s, a);
	const double enough = 1e-10 * g;
	for (int step = 1; g > enough; step++, g = next) {
		a->model(s);
		const double along = add_up(s, s->p->o.nq);
		s->length = g / (a->keep(s, s->step) + s->damping * along);
		s->begin = false;
		++*steps;
		if (step == most) {
			finish_step(s);
			return;
		}
		next = gradient(s, a);
		s->turn = next / g;
	}
}

/* Finds the weights from the amplitudes in s->dir, the greatest of which is top; top 0: all are 1. */
static void
set_weights(struct radon_irls *s, float top)
{
	const size_t n = s->p->ntau;

#pragma omp parallel for schedule(static) num_threads(s->w->threads)
	for (size_t i = 0; i < s->p->o.nq; i++) {
		float *weight = s->weight + i * n;
		for (size_t t = 0; t < n && !(top > 0); t++)
			weight[t] = 1;
		if (top > 0)
			weigh(s->dir + i * n, top, weight, n);
	}
}

static void
reweigh(struct radon_irls *s)
{
	const size_t n = s->p->ntau;
	float top = 0;

#pragma omp parallel for schedule(static) num_threads(s->w->threads) reduction(max : top)
	for (size_t i = 0; i < s->p->o.nq; i++) {
		weigh_row(s, i, s->grad + i * n);
		top = fmaxf(top, radon_amplitudes(s->grad + i * n, s->dir + i * n, n));
	}
	set_weights(s, top);
}

static void
iterate(struct radon_irls *s, const struct operators *a, struct radon_room *w, const float *in,
	struct radon_report *r)
{
	const struct radon_options *o = &s->p->o;
	const int sets = o->mode == RADON_SPARSE ? RADON_SETS : 1;
	double all = 0;

	s->w = w;
	set_weights(s, 0);
	for (size_t j = 0; j < o->nx; j++)
		s->span[j] = s->p->live[j] ? radon_span(in + j * o->nt, o->nt)
					   : (struct radon_span){o->nt, o->nt};
	/*
	 * Early weights need no converged panel, and the steps that they spare converge the last panel: its weak events come late.
	 * 5, 10 and 20 steps leave 3 to 6 dB less of the multiples of real gathers than three times 10.
	 */
	for (int i = 0; i < sets; i++) {
		int most = o->inner;
		for (int later = i + 1; later < sets; later++)
			most = most / 2 + most % 2;
		if (i)
			reweigh(s);
		if (i == 1 && all > 0 && o->raise_nu) { /* see radon.h */
			const double f = a->keep(s, s->res) / all;
			r->nu = fmax(r->nu, f < 1 ? fmin(.02 * sqrt(f / (1 - f)), .1) : .1);
		}
		s->damping = r->nu * (double)o->nq;
		if (o->hyperbolic)
			memcpy(s->res, in, o->nx * o->nt * sizeof *s->res);
		else
			radon_forward(s->p, w, in, o->nx, o->nt, s->p->lead, s->res);
		all = a->keep(s, s->res);
		for (size_t j = 0; r->explained && j < o->nx; j++)
			r->explained[j] = (float)s->part[j];
		conjugate_gradients(s, a, most, &r->steps);
	}
	r->misfit = all > 0 ? a->keep(s, s->res) / all : 0;
	for (size_t j = 0; r->explained && j < o->nx; j++)
		r->explained[j] = r->explained[j] > 0 ? 1 - (float)s->part[j] / r->explained[j] : 0;
}

/* Finds the edges of a report from the energies of rows in s->part: the greater ones of both axes of curves. */
static void
find_edges_of_rows(const struct radon_irls *s, double edge[2])
{
	const size_t nr = s->p->o.nr ? s->p->o.nr : 1, lines[2] = {s->p->nq, nr};
	const double all = add_up(s, s->p->o.nq);

	edge[0] = edge[1] = NAN;
	for (int axis = 0; axis < 2; axis++) {
		const double mean = all / (double)lines[axis];
		double sum[2] = {0};
		for (size_t i = 0; i < s->p->o.nq; i++) {
			const size_t line = axis ? i / s->p->nq : i % s->p->nq;
			sum[0] += line < 2 ? s->part[i] : 0;
			sum[1] += line + 2 >= lines[axis] ? s->part[i] : 0;
		}
		for (int side = 0; side < 2 && lines[axis] >= 8; side++)
			edge[side] = fmax(edge[side], mean > 0 ? sum[side] / 2 / mean : 0);
	}
}

/* ---- other curves: gathers are spectra ---- */

/* The sum of |v|^2 over n complex samples. The first and the last count once; the others stand for two and count twice. */
static double
energy_of_spectrum(const float *v, size_t n)
{
	double ends = 0;

	for (size_t i = 0; i < 2; i++)
		ends += (double)v[i] * (double)v[i] +
			(double)v[2 * n - 2 + i] * (double)v[2 * n - 2 + i];
	return 2 * radon_energy(v, 2 * n) - ends;
}

/*
 * Zeroes what is in no equation: dead traces, frequencies outside the band, and then the times at which the trace is muted.
 * Returns the energy of the rest.
 */
static double
keep_row(const struct radon_irls *s, float *time, size_t j, float *v)
{
	const struct radon_core *p = s->p;

	if (!p->live[j]) {
		memset(v, 0, p->nw * 2 * sizeof *v);
		return 0;
	}
	memset(v, 0, p->kmin * 2 * sizeof *v);
	memset(v + 2 * (p->kmax + 1), 0, (p->nw - p->kmax - 1) * 2 * sizeof *v);
	if (s->span[j].first || s->span[j].end < p->o.nt) {
		const size_t first = s->span[j].first ? p->lead + s->span[j].first : 0;
		const size_t end = s->span[j].end < p->o.nt ? p->lead + s->span[j].end : p->nfft;
		radon_backward(p, v, time);
		memset(time, 0, first * sizeof *time);
		memset(time + end, 0, (p->nfft - end) * sizeof *time);
		for (size_t t = first; t < end; t++)
			time[t] /= (float)p->nfft;
		radon_fft_forward(&p->fft, time, v);
	}
	return energy_of_spectrum(v, p->nw) / (double)p->nfft;
}

static double
keep(const struct radon_irls *s, float *x)
{
#pragma omp parallel for schedule(static) num_threads(s->w->threads)
	for (size_t j = 0; j < s->p->o.nx; j++) {
		float *time = s->w->worker[omp_get_thread_num()].row;
		s->part[j] = keep_row(s, time, j, x + j * s->row);
	}
	return add_up(s, s->p->o.nx);
}

/* s->w->m = the spectra of the panel or, of the next direction, W s->dir. */
static void
panel_to_spectra(struct radon_irls *s, bool direction)
{
	const struct radon_core *p = s->p;

#pragma omp parallel for schedule(static) num_threads(s->w->threads)
	for (size_t i = 0; i < p->o.nq; i++) {
		float *row = s->w->worker[omp_get_thread_num()].row;
		(direction ? direction_row : weigh_row)(s, i, row);
		radon_fft_forward(&p->fft, row, s->w->m + i * p->ld * 2);
	}
}

static void
model(struct radon_irls *s)
{
	const struct radon_core *p = s->p;

	panel_to_spectra(s, true);
#pragma omp parallel for schedule(dynamic, 1) num_threads(s->w->threads)
	for (size_t b = p->first; b < p->last; b++)
		radon_block_model(p, &s->w->worker[omp_get_thread_num()], b * USFFT_LINE,
				  s->w->m + 2 * b * USFFT_LINE, p->ld, s->step + 2 * b * USFFT_LINE,
				  p->ld);
}

static void
gradient_of_panel(struct radon_irls *s)
{
	const struct radon_core *p = s->p;
	struct radon_room *w = s->w;

#pragma omp parallel for schedule(dynamic, 1) num_threads(w->threads)
	for (size_t b = p->first; b < p->last; b++) {
		residual(s, 0, p->o.nx, 2 * b * USFFT_LINE, 2 * USFFT_LINE);
		radon_block_adjoint(p, &w->worker[omp_get_thread_num()], b * USFFT_LINE,
				    s->res + 2 * b * USFFT_LINE, p->ld, w->m + 2 * b * USFFT_LINE,
				    p->ld);
	}
#pragma omp parallel for schedule(static) num_threads(w->threads)
	for (size_t i = 0; i < p->o.nq; i++) {
		float *row = w->worker[omp_get_thread_num()].row;
		radon_backward(p, w->m + i * p->ld * 2, row);
		memcpy(s->grad + i * p->ntau, row, p->ntau * sizeof *row);
		gradient_row(s, i, 1 / (float)p->nfft);
	}
}

static const struct operators in_spectra = {
    .model = model, .keep = keep, .gradient = gradient_of_panel};

/* ---- hyperbolic curves: gathers are samples ---- */

static double
keep_samples(const struct radon_irls *s, float *x)
{
	const size_t nt = s->p->o.nt;

#pragma omp parallel for schedule(static) num_threads(s->w->threads)
	for (size_t j = 0; j < s->p->o.nx; j++) {
		const struct radon_span v = s->span[j];
		float *row = x + j * nt;
		memset(row, 0, v.first * sizeof *row);
		memset(row + v.end, 0, (nt - v.end) * sizeof *row);
		s->part[j] = radon_energy(row, nt);
	}
	return add_up(s, s->p->o.nx);
}

static void
model_samples(struct radon_irls *s)
{
#pragma omp parallel for schedule(static) num_threads(s->w->threads)
	for (size_t i = 0; i < s->p->o.nq; i++)
		direction_row(s, i, s->grad + i * s->p->ntau);
	radon_time_model(s->p, s->grad, s->step, s->w->threads);
}

static void
gradient_of_samples(struct radon_irls *s)
{
#pragma omp parallel for schedule(static) num_threads(s->w->threads)
	for (size_t j = 0; j < s->p->o.nx; j++)
		residual(s, j, j + 1, 0, s->row);
	radon_time_adjoint(s->p, s->res, s->grad, s->w->threads);
#pragma omp parallel for schedule(static) num_threads(s->w->threads)
	for (size_t i = 0; i < s->p->o.nq; i++)
		gradient_row(s, i, 1);
}

static const struct operators in_time = {
    .model = model_samples, .keep = keep_samples, .gradient = gradient_of_samples};

static void
run_in_time(struct radon_irls *s, struct radon_room *w, const float *in, float *out,
	    struct radon_report *r)
{
	const struct radon_core *p = s->p;

	iterate(s, &in_time, w, in, r);
#pragma omp parallel for schedule(static) num_threads(w->threads)
	for (size_t i = 0; i < p->o.nq; i++) {
		weigh_row(s, i, s->grad + i * p->ntau);
		s->part[i] = radon_energy(s->grad + i * p->ntau, p->ntau);
	}
	find_edges_of_rows(s, r->edge);
	if (!(p->o.q0 > 0)) /* no hyperbola lies beyond q = 0 */
		r->edge[0] = NAN;
	radon_mute_rows(p, s->grad, w->threads);
	if (!p->o.subtract) {
		memcpy(out, s->grad, p->o.nq * p->ntau * sizeof *out);
		return;
	}
	radon_time_model(p, s->grad, s->step, w->threads);
	for (size_t j = 0; j < p->o.nx; j++)
		for (size_t i = j * p->o.nt; i < (j + 1) * p->o.nt; i++)
			out[i] = p->live[j] ? in[i] - s->step[i] : in[i];
}

void
radon_sparse_run(struct radon_irls *s, struct radon_room *w, const float *in, float *out,
		 struct radon_report *r)
{
	const struct radon_core *p = s->p;

	if (p->o.hyperbolic) {
		run_in_time(s, w, in, out, r);
		return;
	}
	iterate(s, &in_spectra, w, in, r);
	panel_to_spectra(s, false);
#pragma omp parallel for schedule(static) num_threads(w->threads)
	for (size_t i = 0; i < p->o.nq; i++) {
		const float *m = w->m + 2 * i * p->ld;
		s->part[i] = energy_of_spectrum(m + 2 * p->kmin, p->kmax + 1 - p->kmin);
	}
	find_edges_of_rows(s, r->edge);
	r->mute = p->o.mute;
	if (r->mute.find)
		radon_gap(&p->o, s->part, &r->mute);
#pragma omp parallel for schedule(static) num_threads(w->threads) if (p->q_mute)
	for (size_t i = 0; i < p->o.nq; i++) {
		const float by = (float)radon_mute_weight(&r->mute, 0, radon_mute_q(&p->o, i));
		for (size_t l = 0; l < 2 * p->ld && p->q_mute; l++)
			w->m[2 * i * p->ld + l] *= by;
	}
	if (!p->o.subtract) {
		radon_panel_out(p, w, out);
		return;
	}
	if (!p->q_mute)
		radon_mute_panel(p, w);
	radon_model_all(p, w);
	radon_gather_out(p, w, in, out);
}
