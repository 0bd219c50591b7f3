#include <errno.h>
#include <math.h>

#include "common/base/mem.h"
#include "common/base/par.h"
#include "radon/block.h"
#include "radon/inverse/lsq.h"
#include "radon/recurrence.h"
#include "radon/spectra.h"

struct radon_lsq_work {
	int threads;
	struct toeplitz_work **solve; /* owned: one a thread */
};

/* --- plans and work ------------------------------------------------------------------------------------------------ */

static int
factor_blocks(const struct radon_core *p, struct toeplitz *s, struct radon_room *w,
	      struct radon_lsq_work *own)
{
	int err = 0;

#pragma omp parallel for schedule(dynamic, 1) num_threads(w->threads) reduction(min : err)
	for (size_t b = p->first; b < p->last; b++) {
		const int thread = omp_get_thread_num();
		double *t = w->worker[thread].sum;
		recurrence_column(p, &w->worker[thread], b * LANES, t);
		for (size_t i = 0; i < LANES; i++)
			t[i] += radon_damping(p);
		const int e = toeplitz_factor(s, own->solve[thread], b - p->first, t);
		err = e < err ? e : err;
	}
	return err;
}

int
radon_lsq_factor(struct toeplitz **to, const struct radon_core *p)
{
	const int threads = p->o.threads > 0 ? p->o.threads : 1;
	struct toeplitz *s = toeplitz_new(p->o.nq, p->last - p->first);
	struct radon_lsq_work *own = s ? radon_lsq_work(s, threads) : NULL;
	struct radon_room w = {0};
	int err = -ENOMEM;

	if (own && radon_room_take(&w, p, threads))
		err = factor_blocks(p, s, &w, own);
	radon_room_free(&w);
	radon_lsq_work_free(own);
	if (err) {
		toeplitz_free(s);
		s = NULL;
	}
	*to = s;
	return err;
}

struct radon_lsq_work *
radon_lsq_work(const struct toeplitz *s, int threads)
{
	struct radon_lsq_work *w = weir_calloc(1, sizeof *w);
	bool ok;

	if (!w)
		return NULL;
	w->threads = threads;
	w->solve = weir_calloc((size_t)threads, sizeof *w->solve);
	ok = w->solve != NULL;
	for (int i = 0; ok && i < threads; i++)
		ok = (w->solve[i] = toeplitz_work(s)) != NULL;
	if (ok)
		return w;
	radon_lsq_work_free(w);
	return NULL;
}

void
radon_lsq_work_free(struct radon_lsq_work *w)
{
	if (!w)
		return;
	for (int i = 0; w->solve && i < w->threads; i++)
		toeplitz_work_free(w->solve[i]);
	weir_free(w->solve);
	weir_free(w);
}

/* --- runs ---------------------------------------------------------------------------------------------------------- */

/* Makes the sample at Nyquist real, as it is in the spectrum of a real panel. */
static void
make_real(const struct radon_core *p, size_t k, float *m)
{
	const size_t l = p->nfft / 2 - k;

	for (size_t i = 0; p->nfft / 2 >= k && l < LANES && i < p->o.nq; i++)
		m[2 * (i * LANES + l) + 1] = 0;
}

/* sum = |d|^2 and |d - model|^2 of the block at k, over the band and the live traces. */
static void
add_misfit(const struct radon_core *p, struct radon_worker *w, size_t k, const float *d,
	   double sum[2])
{
	radon_block_model(p, w, k, w->m, LANES, w->d, LANES);
	sum[0] = sum[1] = 0;
	for (size_t j = 0; j < p->o.nx; j++)
		for (size_t l = 0; l < 2 * LANES; l++) {
			const size_t f = k + l / 2;
			const double both = f == 0 || f == p->nfft / 2 ? 1 : 2;
			const double x = (double)d[2 * j * p->ld + l],
				     y = x - (double)w->d[2 * j * LANES + l];
			if (!p->live[j] || f < p->kmin || f > p->kmax)
				continue;
			sum[0] += both * x * x;
			sum[1] += both * y * y;
		}
}

/* sum = the energy of the first two curves of the block at k, of the last two, and of all. */
static void
add_edges(const struct radon_core *p, size_t k, const float *m, double sum[3])
{
	sum[0] = sum[1] = sum[2] = 0;
	for (size_t i = 0; i < p->o.nq; i++) {
		float row = 0;
		for (size_t l = 0; l < 2 * LANES; l++)
			if (k + l / 2 >= p->kmin && k + l / 2 <= p->kmax)
				row += m[2 * i * LANES + l] * m[2 * i * LANES + l];
		sum[0] += i < 2 ? (double)row : 0;
		sum[1] += i + 2 >= p->o.nq ? (double)row : 0;
		sum[2] += (double)row;
	}
}

/*
 * Finds the right-hand side and the solution of each block. With `model` it also models the muted solution at once, so that the
 * panel in memory is never more than a block of each thread.
 */
static void
solve_blocks(const struct radon_core *p, const struct toeplitz *s, struct radon_room *w,
	     struct radon_lsq_work *own, bool model, struct radon_report *r)
{
	size_t steps = 0;

#pragma omp parallel for schedule(dynamic, 1) num_threads(w->threads) reduction(+ : steps)
	for (size_t b = p->first; b < p->last; b++) {
		const int thread = omp_get_thread_num();
		struct radon_worker *l = &w->worker[thread];
		float *d = w->d + 2 * b * LANES, *m = w->m + 2 * b * LANES;
		if (p->exact_rhs)
			recurrence_adjoint(p, l, b * LANES, d, p->ld, l->m, LANES);
		else
			radon_block_adjoint(p, l, b * LANES, d, p->ld, l->m, LANES);
		steps += toeplitz_solve(s, own->solve[thread], b - p->first, l->m);
		make_real(p, b * LANES, l->m);
		if (p->o.report)
			add_misfit(p, l, b * LANES, d, w->part[b]);
		add_edges(p, b * LANES, l->m, w->part[b] + 2);
		if (model) {
			radon_weigh_rows(p, l->m, l->m, LANES);
			radon_block_model(p, l, b * LANES, l->m, LANES, d, p->ld);
		} else {
			radon_weigh_rows(p, l->m, m, p->ld);
		}
	}
	r->steps = steps;
}

static void
sum_figures(const struct radon_core *p, const struct toeplitz *s, const struct radon_room *w,
	    struct radon_report *r)
{
	double all = 0, left = 0, edges[3] = {0};

	for (size_t b = p->first; p->o.report && b < p->last; b++) {
		all += w->part[b][0];
		left += w->part[b][1];
	}
	for (size_t b = p->first; b < p->last; b++)
		for (int i = 0; i < 3; i++)
			edges[i] += w->part[b][2 + i];
	radon_edges(p, edges, r->edge);
	r->misfit = !p->o.report ? NAN : all > 0 ? left / all : 0;
	for (size_t k = p->kmin; k <= p->kmax; k++) {
		const size_t b = k / LANES - p->first, l = k % LANES;
		r->fallbacks += toeplitz_unsafe(s, b, l) != 0;
		r->condition = fmax(r->condition, toeplitz_condition(s, b, l));
	}
}

void
radon_lsq_run(const struct radon_core *p, const struct toeplitz *s, struct radon_room *w,
	      struct radon_lsq_work *own, const float *in, float *out, struct radon_report *r)
{
	const bool at_once = p->o.subtract && p->q_mute;

	radon_forward(p, w, in, p->o.nx, p->o.nt, p->lead, w->d);
	solve_blocks(p, s, w, own, at_once, r);
	sum_figures(p, s, w, r);
	if (p->o.subtract && !at_once) {
		radon_mute_panel(p, w);
		radon_model_all(p, w);
	}
	if (p->o.subtract)
		radon_gather_out(p, w, in, out);
	else
		radon_panel_out(p, w, out);
}
