#include <math.h>
#include <string.h>

#include "common/cpu.h"
#include "common/mem.h"
#include "common/par.h"
#include "radon/block.h"
#include "radon/inverse/sparse.h"
#include "radon/inverse/weights.h"
#include "radon/spectra.h"

struct radon_sparse {
	float *u, *weight, *dir, *grad; /* [nq][nfft] */
	float *res, *step;		/* [nx][ld] complex: residual, A W dir */
	struct radon_span *span;	/* [nx]: the data of each trace */
};

struct radon_sparse *
radon_sparse_room(const struct radon_core *p)
{
	struct radon_sparse *s = weir_calloc(1, sizeof *s);
	const size_t row = p->nfft * sizeof(float), spectrum = p->ld * 2 * sizeof(float);

	if (!s)
		return NULL;
	s->u = weir_alloc(p->o.nq, row);
	s->weight = weir_alloc(p->o.nq, row);
	s->dir = weir_alloc(p->o.nq, row);
	s->grad = weir_alloc(p->o.nq, row);
	s->res = weir_calloc(p->o.nx, spectrum);
	s->step = weir_calloc(p->o.nx, spectrum);
	s->span = weir_alloc(p->o.nx, sizeof *s->span);
	if (s->u && s->weight && s->dir && s->grad && s->res && s->step && s->span)
		return s;
	radon_sparse_free(s);
	return NULL;
}

void
radon_sparse_free(struct radon_sparse *s)
{
	if (!s)
		return;
	weir_free(s->u);
	weir_free(s->weight);
	weir_free(s->dir);
	weir_free(s->grad);
	weir_free(s->res);
	weir_free(s->step);
	weir_free(s->span);
	weir_free(s);
}

static double
add_up(double (*part)[5], size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += part[i][0];
	return sum;
}

WEIR_CLONES(multiply,
	    (float *restrict to, const float *restrict a, const float *restrict b, size_t n),
	    (to, a, b, n))
{
	for (size_t i = 0; i < n; i++)
		to[i] = a[i] * b[i];
}

/* --- gathers, as spectra in the band ------------------------------------------------------------------------------- */

/* The sum of |v|^2 over n complex samples. The first and the last count once; the others stand for two and count twice. */
WEIR_CLONES_OF(double, energy_of_row, (const float *v, size_t n), (v, n))
{
	double sum[16] = {0}, all = 0;

	for (size_t i = 0; i + 16 <= 2 * n; i += 16)
		for (size_t c = 0; c < 16; c++)
			sum[c] += (double)v[i + c] * (double)v[i + c];
	for (size_t i = 2 * n / 16 * 16; i < 2 * n; i++)
		sum[0] += (double)v[i] * (double)v[i];
	for (size_t c = 0; c < 16; c++)
		all += sum[c];
	for (size_t i = 0; i < 2; i++)
		all -= ((double)v[i] * (double)v[i] +
			(double)v[2 * n - 2 + i] * (double)v[2 * n - 2 + i]) /
		       2;
	return 2 * all;
}

/*
 * Zeroes what is in no equation: dead traces, frequencies outside the band, and then the times at which the trace is muted.
 * Returns the energy of the rest.
 */
static double
keep_row(const struct radon_core *p, const struct radon_sparse *s, float *time, size_t j, float *v)
{
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
		fftwf_execute_dft_r2c(p->forward, time, (fftwf_complex *)v);
	}
	return energy_of_row(v, p->nw) / (double)p->nfft;
}

/* keep_row() for all traces. Returns the sum of the energies. */
static double
keep_equations(const struct radon_core *p, const struct radon_sparse *s, struct radon_room *w,
	       float *x)
{
#pragma omp parallel for schedule(static) num_threads(w->threads)
	for (size_t j = 0; j < p->o.nx; j++) {
		float *time = w->lane[omp_get_thread_num()].row;
		w->part[j][0] = keep_row(p, s, time, j, x + 2 * j * p->ld);
	}
	return add_up(w->part, p->o.nx);
}

/* Copies the gather in w->d to s->res and zeroes there what is in no equation. Returns the energy of s->res. */
static double
start(const struct radon_core *p, struct radon_sparse *s, struct radon_room *w)
{
	memcpy(s->res, w->d, p->o.nx * p->ld * 2 * sizeof *s->res);
	return keep_equations(p, s, w, s->res);
}

/* w->m = the spectra of W u. */
static void
weighted_spectra(const struct radon_core *p, struct radon_sparse *s, struct radon_room *w,
		 const float *u)
{
#pragma omp parallel for schedule(static) num_threads(w->threads)
	for (size_t i = 0; i < p->o.nq; i++) {
		float *row = w->lane[omp_get_thread_num()].row;
		multiply(row, u + i * p->nfft, s->weight + i * p->nfft, p->nfft);
		fftwf_execute_dft_r2c(p->forward, row, (fftwf_complex *)(w->m + i * p->ld * 2));
	}
}

/* s->step = A W x; returns its energy. */
static double
apply(const struct radon_core *p, struct radon_sparse *s, struct radon_room *w, const float *x)
{
	weighted_spectra(p, s, w, x);
#pragma omp parallel for schedule(dynamic, 1) num_threads(w->threads)
	for (size_t b = p->first; b < p->last; b++)
		radon_block_model(p, &w->lane[omp_get_thread_num()], b * LANES,
				  w->m + 2 * b * LANES, p->ld, s->step + 2 * b * LANES, p->ld);
	return keep_equations(p, s, w, s->step);
}

WEIR_CLONES_OF(double, gradient_row,
	       (float *restrict grad, const float *restrict row, const float *restrict weight,
		const float *restrict u, size_t n, float scale, float damping),
	       (grad, row, weight, u, n, scale, damping))
{
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		grad[i] = weight[i] * row[i] * scale - damping * u[i];
		sum += (double)grad[i] * (double)grad[i];
	}
	return sum;
}

/* s->grad = (A W)^H res - damping u; returns its energy. */
static double
gradient(const struct radon_core *p, struct radon_sparse *s, struct radon_room *w, float damping)
{
#pragma omp parallel for schedule(dynamic, 1) num_threads(w->threads)
	for (size_t b = p->first; b < p->last; b++)
		radon_block_adjoint(p, &w->lane[omp_get_thread_num()], b * LANES,
				    s->res + 2 * b * LANES, p->ld, w->m + 2 * b * LANES, p->ld);
#pragma omp parallel for schedule(static) num_threads(w->threads)
	for (size_t i = 0; i < p->o.nq; i++) {
		float *row = w->lane[omp_get_thread_num()].row;
		const size_t at = i * p->nfft;
		radon_backward(p, w->m + i * p->ld * 2, row);
		w->part[i][0] = gradient_row(s->grad + at, row, s->weight + at, s->u + at, p->nfft,
					     1 / (float)p->nfft, damping);
	}
	return add_up(w->part, p->o.nq);
}

/* --- the iteration ------------------------------------------------------------------------------------------------- */

/* y = a x + b y */
WEIR_CLONES(combine, (float *restrict y, const float *restrict x, size_t n, float a, float b),
	    (y, x, n, a, b))
{
	for (size_t i = 0; i < n; i++)
		y[i] = a * x[i] + b * y[i];
}

/* y = a x + b y for `rows` rows of n. */
static void
combine_rows(const struct radon_room *w, float *y, const float *x, size_t rows, size_t n, double a,
	     double b)
{
#pragma omp parallel for schedule(static) num_threads(w->threads)
	for (size_t r = 0; r < rows; r++)
		combine(y + r * n, x + r * n, n, (float)a, (float)b);
}

/* Returns |x|^2 of a panel. Each row has its own sum, and the sums are added in order. */
static double
energy(const struct radon_core *p, struct radon_room *w, const float *x)
{
#pragma omp parallel for schedule(static) num_threads(w->threads)
	for (size_t i = 0; i < p->o.nq; i++) {
		double sum = 0;
		for (size_t t = 0; t < p->nfft; t++)
			sum += (double)x[i * p->nfft + t] * (double)x[i * p->nfft + t];
		w->part[i][0] = sum;
	}
	return add_up(w->part, p->o.nq);
}

/*
 * Finds s->u for the current weights, from 0. On entry s->res holds the gather, on return the residual. Returns the number of
 * steps.
 */
static size_t
conjugate_gradients(const struct radon_core *p, struct radon_sparse *s, struct radon_room *w,
		    double damping)
{
	const size_t rows = p->o.nq, n = p->nfft;
	double g, next;
	int step;

	memset(s->u, 0, rows * n * sizeof *s->u);
	g = gradient(p, s, w, (float)damping);
	memcpy(s->dir, s->grad, rows * n * sizeof *s->dir);
	const double enough = 1e-10 * g;
	for (step = 0; step < p->o.inner && g > enough; step++) {
		const double alpha = g / (apply(p, s, w, s->dir) + damping * energy(p, w, s->dir));
		combine_rows(w, s->u, s->dir, rows, n, alpha, 1);
		combine_rows(w, s->res, s->step, p->o.nx, 2 * p->ld, -alpha, 1);
		next = gradient(p, s, w, (float)damping);
		combine_rows(w, s->dir, s->grad, rows, n, 1, next / g);
		g = next;
	}
	return (size_t)step;
}

/* s->grad = the amplitude of m = W u around each sample. Returns the greatest amplitude. */
static float
amplitudes(const struct radon_core *p, struct radon_sparse *s, struct radon_room *w)
{
	float top = 0;

#pragma omp parallel for schedule(static) num_threads(w->threads) reduction(max : top)
	for (size_t i = 0; i < p->o.nq; i++) {
		float *row = w->lane[omp_get_thread_num()].row, *to = s->grad + i * p->nfft;
		multiply(row, s->u + i * p->nfft, s->weight + i * p->nfft, p->nfft);
		top = fmaxf(top, radon_amplitudes(row, to, p->nfft));
	}
	return top;
}

static void
reweigh(const struct radon_core *p, struct radon_sparse *s, struct radon_room *w)
{
	const float top = amplitudes(p, s, w);

#pragma omp parallel for schedule(static) num_threads(w->threads)
	for (size_t i = 0; i < p->o.nq; i++)
		radon_weights(s->grad + i * p->nfft, top, s->weight + i * p->nfft, p->nfft);
}

/* Finds the edges of a report from the panel in w->m. */
static void
find_edges(const struct radon_core *p, struct radon_room *w, double edge[2])
{
	const size_t lo = p->kmin, n = p->kmax + 1 - lo, nq = p->o.nq;

#pragma omp parallel for schedule(static) num_threads(w->threads)
	for (size_t i = 0; i < nq; i++)
		w->part[i][0] = energy_of_row(w->m + 2 * (i * p->ld + lo), n);
	const double sum[3] = {w->part[0][0] + w->part[nq > 1][0],
			       w->part[nq - 1][0] + w->part[nq > 1 ? nq - 2 : 0][0],
			       add_up(w->part, nq)};
	radon_edges(p, sum, edge);
}

void
radon_sparse_run(const struct radon_core *p, struct radon_sparse *s, struct radon_room *w,
		 const float *in, float *out, struct radon_report *r)
{
	double all = 0;

	for (size_t i = 0; i < p->o.nq * p->nfft; i++)
		s->weight[i] = 1;
	for (size_t j = 0; j < p->o.nx; j++)
		s->span[j] = radon_span(in + j * p->o.nt, p->o.nt);
	radon_forward(p, w, in, p->o.nx, p->o.nt, p->lead, w->d);
	for (int i = 0; i < p->o.outer; i++) {
		if (i)
			reweigh(p, s, w);
		all = start(p, s, w);
		r->steps += conjugate_gradients(p, s, w, radon_damping(p));
	}
	r->misfit = all > 0 ? keep_equations(p, s, w, s->res) / all : 0;
	weighted_spectra(p, s, w, s->u);
	find_edges(p, w, r->edge);
	radon_weigh_panel(p, w);
	if (!p->o.subtract) {
		radon_panel_out(p, w, out);
		return;
	}
	if (!p->q_mute)
		radon_mute_panel(p, w);
	radon_model_all(p, w);
	radon_gather_out(p, w, in, out);
}
