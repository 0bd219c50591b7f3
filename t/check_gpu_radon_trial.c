/* Problems for the checks of radon on the GPU. */
#include <math.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "t/check_gpu.h"
#include "t/check_gpu_radon.h"

struct radon_options
trial_options(void)
{
	struct radon_options o = scene_small;

	o.nt = 60;
	o.live = scene_live;
	o.unfactored = true;
	o.threads = 1;
	return o;
}

struct trial
trial_new(const struct radon_options *o, struct check_rng *r)
{
	struct trial t = {.o = *o};
	size_t ntau, lead;

	radon_fits(o, &ntau, &lead);
	const size_t gather = o->nx * o->nt, panel = o->nq * ntau;
	t.in = o->mode == RADON_MODEL ? panel : gather;
	t.out = o->mode == RADON_MODEL || o->subtract ? gather : panel;
	for (int i = 0; i < GATHERS; i++) {
		t.x[i] = weir_xalloc(t.in, sizeof *t.x[i]);
		t.y[i] = weir_xalloc(t.out, sizeof *t.y[i]);
		check_poison(t.y[i], t.out * sizeof *t.y[i]);
		for (size_t k = 0; k < t.in; k++)
			t.x[i][k] = (float)(rng_unit(r) - .5);
		for (size_t j = 0; j < o->nx && t.in == gather; j++)
			if (!scene_live[j])
				memset(t.x[i] + j * o->nt, 0, o->nt * sizeof **t.x);
		if (o->subtract)
			memset(t.x[i], 0, (o->nt + 3) / 4 * sizeof **t.x);
	}
	t.want = weir_xalloc(gather > panel ? gather : panel, sizeof *t.want);
	return t;
}

void
trial_free(struct trial *t)
{
	for (int i = 0; i < GATHERS; i++) {
		weir_free(t->x[i]);
		weir_free(t->y[i]);
	}
	weir_free(t->want);
}

int
trial_run(struct gpu *gpu, struct trial *t, size_t n, struct radon_report *report)
{
	struct radon_plan *p;

	if (radon_plan(&p, &t->o))
		die("no plan");
	struct gpu_span told[GATHERS];
	for (size_t i = 0; i < n; i++)
		told[i] = (struct gpu_span){t->x[i], t->in * sizeof *t->x[i]};
	gpu_ahead(gpu, told, n);
	const int ran = gpu_radon_run(gpu, p, n, (const float *const *)t->x, t->y, report);
	const int err = ran ? ran : gpu_settle(gpu, NULL, 0);
	gpu_ahead(gpu, NULL, 0);
	radon_free(p);
	return err;
}

/* The definition for gather i: of subtract with a mute that depends on q alone. */
static void
define(struct trial *t, int i)
{
	const struct radon_options *o = &t->o;
	size_t ntau, lead;

	radon_fits(o, &ntau, &lead);
	double *m = weir_xalloc(o->nq * ntau, sizeof *m);
	for (size_t k = 0; o->mode == RADON_MODEL && k < t->in; k++)
		m[k] = (double)t->x[i][k];
	if (o->mode == RADON_MODEL) {
		radon_direct_model(o, m, t->want);
	} else if (o->mode == RADON_ADJOINT) {
		radon_direct_adjoint(o, t->x[i], t->want);
	} else {
		radon_direct_lsq(o, t->x[i], o->subtract ? m : t->want);
		double *panel = o->subtract ? m : t->want;
		for (size_t k = 0; k < o->nq * ntau; k++)
			panel[k] *= radon_mute_weight(
			    &o->mute, o->t0 + ((double)(k % ntau) - (double)lead) * o->dt,
			    o->q0 + (double)(k / ntau) * o->dq);
		if (o->subtract)
			radon_direct_model(o, m, t->want);
		for (size_t k = 0; o->subtract && k < t->out; k++)
			t->want[k] = (double)t->x[i][k] - (scene_live[k / o->nt] ? t->want[k] : 0);
		for (size_t k = 0; o->subtract && k < (o->nt + 3) / 4; k++)
			t->want[k] = 0;
	}
	weir_free(m);
}

/* The worst relative l2 error of the gathers. */
static double
trial_error(struct trial *t)
{
	double worst = 0;

	for (int i = 0; i < GATHERS; i++) {
		double diff = 0, norm = 0;
		define(t, i);
		for (size_t k = 0; k < t->out; k++) {
			const double e = (double)t->y[i][k] - t->want[k];
			diff += e * e;
			norm += t->want[k] * t->want[k];
		}
		const double e = sqrt(diff / (norm > 0 ? norm : 1));
		worst = e <= worst ? worst : e; /* NaN counts */
	}
	return worst;
}

void
trial_hold(struct gpu *gpu, const struct radon_options *o, struct check_rng *r,
	   struct check_many *many, double bound)
{
	struct trial t = trial_new(o, r);
	const int order = (int)many->cases % check_orders();

	check_order(order);
	const int err = trial_run(gpu, &t, GATHERS, NULL);
	const double e = err ? INFINITY : trial_error(&t);
	check_case(many, e <= bound, "%zux%zux%zu mode %d method %d nu %g, order %d: %s, %.3g",
		   o->nt, o->nx, o->nq, (int)o->mode, (int)o->method, o->nu, order,
		   err ? gpu_why(gpu) : "ran", e);
	trial_free(&t);
}
