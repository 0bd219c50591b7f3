#include <math.h>
#include <string.h>

#include "radon/block.h"
#include "radon/plan.h"
#include "radon/spectra.h"
#include "radon/time/hyperbola.h"
#include "radon/time/shift.h"

/* lsq and sparse without live traces or without frequencies: the panel is zeros, and nothing is subtracted. */
static void
run_dead(const struct radon_core *p, const float *in, float *out)
{
	if (p->o.subtract)
		memcpy(out, in, p->o.nx * p->o.nt * sizeof *out);
	else
		memset(out, 0, p->o.nq * p->ntau * sizeof *out);
}

static void
run_adjoint(const struct radon_plan *p, struct radon_room *w, const float *in, float *out)
{
	const struct radon_core *c = &p->core;

	radon_forward(c, w, in, c->o.nx, c->o.nt, c->lead, w->d);
	if (p->two) {
		radon_2d_adjoint(p->two, c, w, out);
		return;
	}
	radon_adjoint_all(c, w);
	radon_panel_out(c, w, out);
}

static void
run_model(const struct radon_plan *p, struct radon_room *w, const float *in, float *out)
{
	const struct radon_core *c = &p->core;

	if (p->two) {
		radon_2d_model(p->two, c, in, w);
	} else {
		radon_forward(c, w, in, c->o.nq, c->ntau, 0, w->m);
		radon_model_all(c, w);
	}
	radon_gather_out(c, w, NULL, out);
}

static void
run_in_time(const struct radon_core *c, struct radon_work *w, const float *in, float *out,
	    struct radon_report *r)
{
	const int threads = w->room.threads;

	if (c->o.mode == RADON_MODEL && c->o.hyperbolic)
		hyperbola_model(c, in, out, threads);
	else if (c->o.mode == RADON_MODEL)
		radon_time_model(c, in, out, threads);
	else if (c->o.mode != RADON_ADJOINT && !c->nlive)
		run_dead(c, in, out);
	else if (c->o.mode != RADON_ADJOINT)
		radon_time_inverse_run(w->irls, &w->room, in, out, r);
	else if (c->o.hyperbolic)
		hyperbola_adjoint(c, in, out, threads);
	else
		radon_time_adjoint(c, in, out, threads);
	if (c->o.mode == RADON_ADJOINT)
		radon_mute_rows(c, out, threads);
}

/* Finds the NU of a run. Returns false when there is no memory. */
static bool
find_nu(struct radon_work *w, const float *in, double *nu)
{
	if (!w->evidence)
		return true;
	const int err = radon_evidence_run(w->evidence, in, nu);
	*nu = err ? NAN : *nu * .1;
	return !err;
}

void
radon_run(const struct radon_plan *p, struct radon_work *w, const float *in, float *out,
	  struct radon_report *report)
{
	const struct radon_core *c = &p->core;
	struct radon_report own, *r = report ? report : &own;

	*r = (struct radon_report){.edge = {NAN, NAN}, .nu = c->o.nu, .adapt = INFINITY};
	if (!find_nu(w, in, &r->nu))
		return;
	if (c->o.method == RADON_TIME)
		run_in_time(c, w, in, out, r);
	else if (c->o.mode == RADON_ADJOINT)
		run_adjoint(p, &w->room, in, out);
	else if (c->o.mode == RADON_MODEL)
		run_model(p, &w->room, in, out);
	else if (!c->nlive || c->first == c->last)
		run_dead(c, in, out);
	else if (w->irls)
		radon_sparse_run(w->irls, &w->room, in, out, r);
	else
		radon_lsq_run(c, p->solver, &w->room, w->lsq, in, out, r);
	if (c->o.subtract)
		radon_keep_muted(&c->o, in, out);
	if (w->adapt)
		r->adapt = radon_adapt(w->adapt, in, out);
}
