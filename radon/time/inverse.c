#include <math.h>
#include <string.h>

#include "common/base/par.h"
#include "radon/spectra.h"
#include "radon/time/hyperbola.h"
#include "radon/time/inverse.h"

struct radon_irls *
radon_time_inverse(const struct radon_core *p)
{
	return radon_irls(p, p->o.nt);
}

static void
load(struct radon_irls *s)
{
	memcpy(s->res, s->in, s->p->o.nx * s->p->o.nt * sizeof *s->res);
}

static double
keep(const struct radon_irls *s, float *x)
{
	const size_t nt = s->p->o.nt;

#pragma omp parallel for schedule(static) num_threads(s->w->threads)
	for (size_t j = 0; j < s->p->o.nx; j++) {
		const struct radon_span v = s->span[j];
		float *row = x + j * nt;
		memset(row, 0, v.first * sizeof *row);
		memset(row + v.end, 0, (nt - v.end) * sizeof *row);
		s->part[j] = radon_irls_energy_of_row(row, nt);
	}
	return radon_irls_add_up(s, s->p->o.nx);
}

/* s->grad = W x; s->part receives the energies of its rows. */
static void
weigh(struct radon_irls *s, const float *x)
{
	const size_t n = s->p->ntau;

#pragma omp parallel for schedule(static) num_threads(s->w->threads)
	for (size_t i = 0; i < s->p->o.nq; i++) {
		radon_irls_weigh_row(s, x, i, s->grad + i * n);
		s->part[i] = radon_irls_energy_of_row(s->grad + i * n, n);
	}
}

static void
model(struct radon_irls *s)
{
#pragma omp parallel for schedule(static) num_threads(s->w->threads)
	for (size_t i = 0; i < s->p->o.nq; i++)
		radon_irls_direction_row(s, i, s->grad + i * s->p->ntau);
	hyperbola_model(s->p, s->grad, s->step, s->w->threads);
}

static void
gradient(struct radon_irls *s)
{
#pragma omp parallel for schedule(static) num_threads(s->w->threads)
	for (size_t j = 0; j < s->p->o.nx; j++)
		radon_irls_residual(s, j, j + 1, 0, s->row);
	hyperbola_adjoint(s->p, s->res, s->grad, s->w->threads);
#pragma omp parallel for schedule(static) num_threads(s->w->threads)
	for (size_t i = 0; i < s->p->o.nq; i++)
		radon_irls_gradient_row(s, i, 1);
}

static const struct radon_irls_operators in_time = {
    .load = load, .model = model, .keep = keep, .gradient = gradient};

void
radon_time_inverse_run(struct radon_irls *s, struct radon_room *w, const float *in, float *out,
		       struct radon_report *r)
{
	const struct radon_core *p = s->p;

	radon_irls_run(s, &in_time, w, in, r);
	weigh(s, s->u);
	radon_irls_edges(s, r->edge);
	if (!(p->o.q0 > 0)) /* no hyperbola lies beyond q = 0 */
		r->edge[0] = NAN;
	radon_mute_rows(p, s->grad, w->threads);
	if (!p->o.subtract) {
		memcpy(out, s->grad, p->o.nq * p->ntau * sizeof *out);
		return;
	}
	hyperbola_model(p, s->grad, s->step, w->threads);
	for (size_t j = 0; j < p->o.nx; j++)
		for (size_t i = j * p->o.nt; i < (j + 1) * p->o.nt; i++)
			out[i] = p->live[j] ? in[i] - s->step[i] : in[i];
}
