/* The definition of hyperbolic curves: sums in time, sample by sample, and conjugate gradients, all in double. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "radon/direct.h"

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

void
radon_direct_hyperbola_adjoint(const struct radon_options *o, const double *gather, double *panel)
{
	size_t ntau, lead;

	axis(o, &ntau, &lead);
	for (size_t i = 0; i < o->nq; i++)
		for (size_t n = 0; n < ntau; n++) {
			double sum = 0;
			for (size_t j = 0; j < o->nx; j++)
				for (size_t t = 0; t < o->nt; t++)
					sum += coefficient(o, lead, i, n, j, t) *
					       gather[j * o->nt + t];
			panel[i * ntau + n] = sum;
		}
}

void
radon_direct_hyperbola_model(const struct radon_options *o, const double *panel, double *gather)
{
	size_t ntau, lead;

	axis(o, &ntau, &lead);
	for (size_t j = 0; j < o->nx; j++)
		for (size_t t = 0; t < o->nt; t++) {
			double sum = 0;
			for (size_t i = 0; i < o->nq; i++)
				for (size_t n = 0; n < ntau; n++)
					sum +=
					    coefficient(o, lead, i, n, j, t) * panel[i * ntau + n];
			gather[j * o->nt + t] = sum;
		}
}

/* --- inverses ------------------------------------------------------------------------------------------------------ */

struct descent {
	const struct radon_options *o;
	const float *gather;
	size_t panel, n;	    /* samples of a panel, and of the gather */
	double *u, *w, *dir, *grad; /* panels */
	double *res, *step;	    /* gathers */
};

/* Zeroes dead traces and the zeros that a trace of the gather begins or ends with. Returns the energy of the rest. */
static double
keep_equations(const struct descent *s, double *x)
{
	const size_t nt = s->o->nt;
	double sum = 0;

	for (size_t i = 0; i < s->n; i++) {
		const float *trace = s->gather + i / nt * nt;
		bool before = false, after = false;
		for (size_t t = 0; t < nt; t++) {
			before |= t <= i % nt && trace[t] != 0;
			after |= t >= i % nt && trace[t] != 0;
		}
		if (!before || !after || !radon_direct_is_live(s->o, i / nt))
			x[i] = 0;
		sum += x[i] * x[i];
	}
	return sum;
}

/* s->step = A W x; returns its energy. */
static double
apply(struct descent *s, const double *x)
{
	for (size_t i = 0; i < s->panel; i++)
		s->grad[i] = s->w[i] * x[i];
	radon_direct_hyperbola_model(s->o, s->grad, s->step);
	return keep_equations(s, s->step);
}

/* s->grad = W A^T res - damping u; returns its energy. */
static double
gradient(struct descent *s)
{
	double sum = 0;

	radon_direct_hyperbola_adjoint(s->o, s->res, s->grad);
	for (size_t i = 0; i < s->panel; i++) {
		s->grad[i] = s->w[i] * s->grad[i] - radon_direct_damping(s->o) * s->u[i];
		sum += s->grad[i] * s->grad[i];
	}
	return sum;
}

/* Returns the energy of the gather. */
static double
descend(struct descent *s, int most)
{
	double g, next;

	for (size_t i = 0; i < s->n; i++)
		s->res[i] = (double)s->gather[i];
	const double all = keep_equations(s, s->res);
	memset(s->u, 0, s->panel * sizeof *s->u);
	g = gradient(s);
	memcpy(s->dir, s->grad, s->panel * sizeof *s->dir);
	for (int step = 0; step < most && g > 0; step++, g = next) {
		double dd = 0;
		for (size_t i = 0; i < s->panel; i++)
			dd += s->dir[i] * s->dir[i];
		const double alpha = g / (apply(s, s->dir) + radon_direct_damping(s->o) * dd);
		for (size_t i = 0; i < s->panel; i++)
			s->u[i] += alpha * s->dir[i];
		for (size_t i = 0; i < s->n; i++)
			s->res[i] -= alpha * s->step[i];
		next = gradient(s);
		for (size_t i = 0; i < s->panel; i++)
			s->dir[i] = s->grad[i] + next / g * s->dir[i];
	}
	return all;
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
		s->grad[i] = sqrt(sum);
		top = fmax(top, s->grad[i]);
	}
	for (size_t i = 0; i < s->panel; i++)
		s->w[i] = top > 0 ? fmax(sqrt(s->grad[i] / top), .01) : 1;
}

int
radon_direct_hyperbola_inverse(const struct radon_options *o, const float *gather, double *panel)
{
	const int sets = o->mode == RADON_SPARSE ? o->outer : 1;
	struct radon_options own = *o;
	struct descent s = {.o = &own, .gather = gather, .n = o->nx * o->nt};
	size_t ntau, lead;
	double *room, all = 0;

	axis(o, &ntau, &lead);
	s.panel = o->nq * ntau;
	if (!(room = weir_alloc(4 * s.panel + 2 * s.n, sizeof *room)))
		return -ENOMEM;
	s.u = room;
	s.w = room + s.panel;
	s.dir = room + 2 * s.panel;
	s.grad = room + 3 * s.panel;
	s.res = room + 4 * s.panel;
	s.step = s.res + s.n;
	for (size_t i = 0; i < s.panel; i++)
		s.w[i] = 1;
	for (int i = 0; i < sets; i++) {
		if (i)
			reweigh(&s);
		if (i == 1 && o->raise_nu)
			own.nu = radon_direct_raised(o, keep_equations(&s, s.res) / all);
		all = descend(&s, radon_direct_steps(o, i, sets));
	}
	for (size_t i = 0; i < s.panel; i++)
		panel[i] = s.w[i] * s.u[i];
	weir_free(room);
	return 0;
}
