#include <math.h>
#include <string.h>

#include "common/par.h"
#include "radon/plan.h"
#include "radon/sparse.h"
#include "radon/toeplitz.h"
#include "radon/usfft2d.h"

/* --- one block of frequencies -------------------------------------------------------------------------------------- */

void
radon_block_adjoint(const struct radon_plan *p, struct radon_lane_work *w, size_t k, const float *d,
		    size_t ldd, float *m, size_t ldm)
{
	if (p->nufft)
		usfft_line_type1(&p->line, &w->line, 1, k, d, ldd, m, ldm);
	else
		recurrence_adjoint(p, w, k, d, ldd, m, ldm);
}

void
radon_block_model(const struct radon_plan *p, struct radon_lane_work *w, size_t k, const float *m,
		  size_t ldm, float *d, size_t ldd)
{
	if (p->nufft)
		usfft_line_type2(&p->line, &w->line, -1, k, m, ldm, d, ldd);
	else
		recurrence_model(p, w, k, m, ldm, d, ldd);
}

/* m = n rows of LANES complex, with the mute that depends on q alone, to where rows have stride ld. */
static void
weigh_rows(const struct radon_plan *p, const float *m, float *to, size_t ld)
{
	for (size_t i = 0; i < p->o.nq; i++)
		for (size_t l = 0; l < 2 * LANES; l++)
			to[2 * i * ld + l] =
			    m[2 * i * LANES + l] * (p->q_mute ? p->q_weight[i] : 1);
}

/* The sample at Nyquist is real in the spectrum of a real panel. */
static void
make_real(const struct radon_plan *p, size_t k, float *m)
{
	const size_t l = p->nfft / 2 - k;

	for (size_t i = 0; p->nfft / 2 >= k && l < LANES && i < p->o.nq; i++)
		m[2 * (i * LANES + l) + 1] = 0;
}

/* |d|^2 and |d - model|^2 of the block at k, over the band and the live traces. */
static void
add_misfit(const struct radon_plan *p, struct radon_lane_work *w, size_t k, const float *d,
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

/* --- all of them --------------------------------------------------------------------------------------------------- */

static void
adjoint_all(const struct radon_plan *p, struct radon_work *w)
{
#pragma omp parallel for schedule(dynamic, 1) num_threads(w->threads)
	for (size_t b = p->first; b < p->last; b++) {
		struct radon_lane_work *l = &w->lane[omp_get_thread_num()];
		radon_block_adjoint(p, l, b * LANES, w->d + 2 * b * LANES, p->ld, l->m, LANES);
		weigh_rows(p, l->m, w->m + 2 * b * LANES, p->ld);
	}
}

void
radon_model_all(const struct radon_plan *p, struct radon_work *w)
{
#pragma omp parallel for schedule(dynamic, 1) num_threads(w->threads)
	for (size_t b = p->first; b < p->last; b++) {
		struct radon_lane_work *l = &w->lane[omp_get_thread_num()];
		radon_block_model(p, l, b * LANES, w->m + 2 * b * LANES, p->ld, l->d, LANES);
		for (size_t j = 0; j < p->o.nx; j++)
			memcpy(w->d + 2 * (j * p->ld + b * LANES), l->d + 2 * j * LANES,
			       2 * LANES * sizeof *l->d);
	}
}

/*
 * Per block: right-hand side, solution, and, where the mute allows, the model of what is kept at once, so that the panel is
 * never more than a block.
 */
static void
lsq_all(const struct radon_plan *p, struct radon_work *w, bool model, struct radon_report *r)
{
	size_t steps = 0;

#pragma omp parallel for schedule(dynamic, 1) num_threads(w->threads) reduction(+ : steps)
	for (size_t b = p->first; b < p->last; b++) {
		struct radon_lane_work *l = &w->lane[omp_get_thread_num()];
		float *d = w->d + 2 * b * LANES, *m = w->m + 2 * b * LANES;
		if (p->exact_rhs)
			recurrence_adjoint(p, l, b * LANES, d, p->ld, l->m, LANES);
		else
			radon_block_adjoint(p, l, b * LANES, d, p->ld, l->m, LANES);
		steps += toeplitz_solve(p->solver, l->solve, b - p->first, l->m);
		make_real(p, b * LANES, l->m);
		if (p->o.report)
			add_misfit(p, l, b * LANES, d, w->part + 2 * b);
		if (model) {
			weigh_rows(p, l->m, l->m, LANES);
			radon_block_model(p, l, b * LANES, l->m, LANES, d, p->ld);
		} else {
			weigh_rows(p, l->m, m, p->ld);
		}
	}
	r->steps = steps;
}

void
radon_weigh_panel(const struct radon_plan *p, struct radon_work *w)
{
#pragma omp parallel for schedule(static) num_threads(w->threads)
	for (size_t i = 0; i < p->o.nq; i++)
		for (size_t l = 0; l < 2 * p->ld && p->q_mute; l++)
			w->m[2 * i * p->ld + l] *= p->q_weight[i];
}

static void
sum_misfit(const struct radon_plan *p, const struct radon_work *w, struct radon_report *r)
{
	double all = 0, left = 0;

	for (size_t b = p->first; p->o.report && b < p->last; b++) {
		all += w->part[2 * b];
		left += w->part[2 * b + 1];
	}
	r->misfit = !p->o.report ? NAN : all > 0 ? left / all : 0;
	for (size_t k = p->kmin; k <= p->kmax; k++) {
		const size_t b = k / LANES - p->first, l = k % LANES;
		r->fallbacks += toeplitz_unsafe(p->solver, b, l) != 0;
		r->condition = fmax(r->condition, toeplitz_condition(p->solver, b, l));
	}
}

/* --- runs ---------------------------------------------------------------------------------------------------------- */

static void
run_lsq(const struct radon_plan *p, struct radon_work *w, const float *in, float *out,
	struct radon_report *r)
{
	const bool at_once = p->o.subtract && p->q_mute;

	radon_forward(p, w, in, p->o.nx, p->o.nt, p->lead, w->d);
	lsq_all(p, w, at_once, r);
	sum_misfit(p, w, r);
	if (p->o.subtract && !at_once) {
		radon_mute_panel(p, w);
		radon_model_all(p, w);
	}
	if (p->o.subtract)
		radon_gather_out(p, w, in, out);
	else
		radon_panel_out(p, w, out);
}

/* A gather of dead traces alone, and an empty band: an empty panel, and nothing to subtract. */
static void
run_dead(const struct radon_plan *p, const float *in, float *out)
{
	if (p->o.subtract)
		memcpy(out, in, p->o.nx * p->o.nt * sizeof *out);
	else
		memset(out, 0, p->o.nq * p->ntau * sizeof *out);
}

static void
run_adjoint(const struct radon_plan *p, struct radon_work *w, const float *in, float *out)
{
	radon_forward(p, w, in, p->o.nx, p->o.nt, p->lead, w->d);
	if (p->two) {
		radon_2d_adjoint(p->two, p, w, out);
		return;
	}
	adjoint_all(p, w);
	radon_panel_out(p, w, out);
}

static void
run_model(const struct radon_plan *p, struct radon_work *w, const float *in, float *out)
{
	if (p->two) {
		radon_2d_model(p->two, p, in, w);
	} else {
		radon_forward(p, w, in, p->o.nq, p->ntau, 0, w->m);
		radon_model_all(p, w);
	}
	radon_gather_out(p, w, NULL, out);
}

void
radon_run(const struct radon_plan *p, struct radon_work *w, const float *in, float *out,
	  struct radon_report *report)
{
	struct radon_report own, *r = report ? report : &own;

	*r = (struct radon_report){0};
	if (p->o.method == RADON_TIME && p->o.mode == RADON_MODEL)
		radon_time_model(p, in, out, w->threads);
	else if (p->o.method == RADON_TIME)
		radon_time_adjoint(p, in, out, w->threads);
	else if (p->o.mode == RADON_ADJOINT)
		run_adjoint(p, w, in, out);
	else if (p->o.mode == RADON_MODEL)
		run_model(p, w, in, out);
	else if (!p->nlive || p->first == p->last)
		run_dead(p, in, out);
	else if (p->o.mode == RADON_LSQ)
		run_lsq(p, w, in, out, r);
	else
		radon_sparse_run(p, w, in, out, r);
}
