#include <string.h>

#include "common/base/par.h"
#include "radon/block.h"
#include "radon/inverse/sparse.h"
#include "radon/spectra.h"

struct radon_irls *
radon_sparse(const struct radon_core *p)
{
	return radon_irls(p, 2 * p->ld);
}

/* Sets s->res to the spectra of the gather. */
static void
load(struct radon_irls *s)
{
	const struct radon_options *o = &s->p->o;

	radon_forward(s->p, s->w, s->in, o->nx, o->nt, s->p->lead, s->res);
}

/* The sum of |v|^2 over n complex samples. The first and the last count once; the others stand for two and count twice. */
static double
energy_of_spectrum(const float *v, size_t n)
{
	double ends = 0;

	for (size_t i = 0; i < 2; i++)
		ends += (double)v[i] * (double)v[i] +
			(double)v[2 * n - 2 + i] * (double)v[2 * n - 2 + i];
	return 2 * radon_irls_energy_of_row(v, 2 * n) - ends;
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
	return radon_irls_add_up(s, s->p->o.nx);
}

/* s->w->m = the spectra of W x. */
static void
weigh(const struct radon_irls *s, const float *x)
{
	const struct radon_core *p = s->p;

#pragma omp parallel for schedule(static) num_threads(s->w->threads)
	for (size_t i = 0; i < p->o.nq; i++) {
		float *row = s->w->worker[omp_get_thread_num()].row;
		radon_irls_weigh_row(s, x, i, row);
		radon_fft_forward(&p->fft, row, s->w->m + i * p->ld * 2);
	}
}

static void
model(struct radon_irls *s)
{
	const struct radon_core *p = s->p;

#pragma omp parallel for schedule(static) num_threads(s->w->threads)
	for (size_t i = 0; i < p->o.nq; i++) {
		float *row = s->w->worker[omp_get_thread_num()].row;
		radon_irls_direction_row(s, i, row);
		radon_fft_forward(&p->fft, row, s->w->m + i * p->ld * 2);
	}
#pragma omp parallel for schedule(dynamic, 1) num_threads(s->w->threads)
	for (size_t b = p->first; b < p->last; b++)
		radon_block_model(p, &s->w->worker[omp_get_thread_num()], b * LANES,
				  s->w->m + 2 * b * LANES, p->ld, s->step + 2 * b * LANES, p->ld);
}

static void
gradient(struct radon_irls *s)
{
	const struct radon_core *p = s->p;
	struct radon_room *w = s->w;

#pragma omp parallel for schedule(dynamic, 1) num_threads(w->threads)
	for (size_t b = p->first; b < p->last; b++) {
		radon_irls_residual(s, 0, p->o.nx, 2 * b * LANES, 2 * LANES);
		radon_block_adjoint(p, &w->worker[omp_get_thread_num()], b * LANES,
				    s->res + 2 * b * LANES, p->ld, w->m + 2 * b * LANES, p->ld);
	}
#pragma omp parallel for schedule(static) num_threads(w->threads)
	for (size_t i = 0; i < p->o.nq; i++) {
		float *row = w->worker[omp_get_thread_num()].row;
		radon_backward(p, w->m + i * p->ld * 2, row);
		memcpy(s->grad + i * p->ntau, row, p->ntau * sizeof *row);
		radon_irls_gradient_row(s, i, 1 / (float)p->nfft);
	}
}

/* Finds the edges of a report from the panel in s->w->m. */
static void
find_edges(struct radon_irls *s, double edge[2])
{
	const struct radon_core *p = s->p;

#pragma omp parallel for schedule(static) num_threads(s->w->threads)
	for (size_t i = 0; i < p->o.nq; i++)
		s->part[i] =
		    energy_of_spectrum(s->w->m + 2 * (i * p->ld + p->kmin), p->kmax + 1 - p->kmin);
	radon_irls_edges(s, edge);
}

static const struct radon_irls_operators in_spectra = {
    .load = load, .model = model, .keep = keep, .gradient = gradient};

void
radon_sparse_run(struct radon_irls *s, struct radon_room *w, const float *in, float *out,
		 struct radon_report *r)
{
	const struct radon_core *p = s->p;

	radon_irls_run(s, &in_spectra, w, in, r);
	weigh(s, s->u);
	find_edges(s, r->edge);
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
