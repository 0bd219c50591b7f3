#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "radon/radon.h"
#include "t/check.h"

enum { MAXX = 500 };

static double g[MAXX];
static bool live[MAXX];

static const struct radon_options small = {.nt = 90,
					   .nx = 24,
					   .nq = 30,
					   .dt = .004,
					   .q0 = -.05,
					   .dq = .007,
					   .g = g,
					   .eps = .01,
					   .outer = 3,
					   .inner = 10,
					   .threads = 2};

static struct check_rng rng = {7};

/* Regular offsets, or jittered by up to jitter of their distance. */
static void
lay_out(size_t nx, enum radon_curve curve, double jitter)
{
	for (size_t j = 0; j < nx; j++) {
		const double x = ((double)j + .5 + jitter * (rng_unit(&rng) - .5)) / (double)nx;
		radon_curve(curve, 3000 * x, 3000, 2000, &g[j]);
		live[j] = true;
	}
}

static float *
noise(size_t n)
{
	float *x = weir_alloc(n, sizeof *x);

	for (size_t i = 0; i < n; i++)
		x[i] = (float)(rng_unit(&rng) - .5);
	return x;
}

static size_t
panel_size(const struct radon_options *o)
{
	size_t ntau, lead;

	radon_fits(o, &ntau, &lead);
	return o->nq * ntau;
}

static size_t
out_size(const struct radon_options *o)
{
	return o->mode == RADON_MODEL || o->subtract ? o->nx * o->nt : panel_size(o);
}

/* One run in a poisoned array of its own; the caller frees it. NULL: the plan failed. */
static float *
run(const struct radon_options *o, const float *in, struct radon_report *r)
{
	struct radon_plan *p;
	struct radon_work *w;
	float *out;

	if (radon_plan(&p, o))
		return NULL;
	w = radon_work(p, o->threads);
	out = weir_alloc(out_size(o), sizeof *out);
	check_poison(out, out_size(o) * sizeof *out);
	radon_run(p, w, in, out, r);
	radon_work_free(w);
	radon_free(p);
	return out;
}

/* |a - b| / |b|, NaN when anything is. */
static double
distance(const float *a, const double *b, size_t n)
{
	double up = 0, down = 0;

	for (size_t i = 0; i < n; i++) {
		up += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
		down += b[i] * b[i];
	}
	return sqrt(up / (down > 0 ? down : 1));
}

/* --- against direct.c ---------------------------------------------------------------------------------------------- */

static double
adjoint_error(const struct radon_options *o)
{
	float *d = noise(o->nx * o->nt), *m = run(o, d, NULL);
	double *want = weir_alloc(panel_size(o), sizeof *want), e = NAN;

	if (m && !radon_direct_adjoint(o, d, want))
		e = distance(m, want, panel_size(o));
	weir_free(d);
	weir_free(m);
	weir_free(want);
	return e;
}

static double
model_error(struct radon_options o)
{
	const size_t n = panel_size(&o);
	float *m = noise(n), *d;
	double *wide = weir_alloc(n, sizeof *wide), *want = weir_alloc(o.nx * o.nt, sizeof *want);
	double e = NAN;

	o.mode = RADON_MODEL;
	for (size_t i = 0; i < n; i++)
		wide[i] = (double)m[i];
	d = run(&o, m, NULL);
	if (d && !radon_direct_model(&o, wide, want))
		e = distance(d, want, o.nx * o.nt);
	weir_free(d);
	weir_free(m);
	weir_free(wide);
	weir_free(want);
	return e;
}

static void
check_methods(void)
{
	static const enum radon_method methods[] = {RADON_AUTO, RADON_NUFFT, RADON_RECURRENCE,
						    RADON_USFFT2D};
	static const struct {
		size_t nt, nx, nq;
	} sizes[] = {{90, 24, 30}, {50, 1, 1}, {33, 1, 7}, {40, 7, 1},
		     {64, 13, 64}, {1, 5, 5},  {21, 60, 3}};
	struct check_many adjoint = {0}, model = {0};

	for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
		for (size_t m = 0; m < 4; m++)
			for (int curve = 0; curve < 3; curve++) {
				struct radon_options o = small;
				o.nt = sizes[s].nt;
				o.nx = sizes[s].nx;
				o.nq = sizes[s].nq;
				o.method = methods[m];
				lay_out(o.nx, (enum radon_curve)curve, curve ? .8 : 0);
				double a = adjoint_error(&o), b = model_error(o);
				check_case(&adjoint, a <= 2e-6,
					   "%zux%zux%zu method %d curve %d: %g", o.nt, o.nx, o.nq,
					   (int)o.method, curve, a);
				check_case(&model, b <= 2e-6, "%zux%zux%zu method %d curve %d: %g",
					   o.nt, o.nx, o.nq, (int)o.method, curve, b);
			}
	check_end(&adjoint, "radon: adjoint is within 2e-6 of the sum, all methods and curves");
	check_end(&model, "radon: modelling is within 2e-6 of the sum, all methods and curves");
}

static void
check_band(void)
{
	struct radon_options o = small;

	lay_out(o.nx, RADON_PARABOLIC, .5);
	o.fmin = 12;
	o.fmax = 61.5;
	double a = adjoint_error(&o), b = model_error(o);
	check(a <= 2e-6 && b <= 2e-6, "radon: a band is that of the definition", "%g %g", a, b);
	o.fmin = 61;
	o.fmax = 60;
	float *d = noise(o.nx * o.nt), *m = run(&o, d, NULL);
	double top = 0;
	for (size_t i = 0; i < panel_size(&o); i++)
		top = fmax(top, fabs((double)m[i]));
	check(top == 0, "radon: an empty band gives zeros", "%g", top);
	weir_free(d);
	weir_free(m);
}

/* --- the transform as an operator ---------------------------------------------------------------------------------- */

/* |<Rf, m> - <f, R*m>| / (|Rf| |m|) */
static double
dot_test(struct radon_options o)
{
	const size_t n = panel_size(&o), k = o.nx * o.nt;
	float *f = noise(k), *m = noise(n), *rf, *am;
	double a = 0, b = 0, nf = 0, nm = 0;

	rf = run(&o, f, NULL);
	o.mode = RADON_MODEL;
	am = run(&o, m, NULL);
	for (size_t i = 0; i < n; i++) {
		a += (double)rf[i] * (double)m[i];
		nf += (double)rf[i] * (double)rf[i];
		nm += (double)m[i] * (double)m[i];
	}
	for (size_t i = 0; i < k; i++)
		b += (double)f[i] * (double)am[i];
	weir_free(f);
	weir_free(m);
	weir_free(rf);
	weir_free(am);
	return fabs(a - b) / sqrt(nf * nm);
}

static void
check_dot(void)
{
	struct check_many many = {0};

	for (int method = RADON_AUTO; method <= RADON_USFFT2D; method++)
		for (int jitter = 0; jitter < 2; jitter++) {
			struct radon_options o = small;
			o.method = (enum radon_method)method;
			lay_out(o.nx, RADON_PARABOLIC, jitter);
			double e = dot_test(o);
			check_case(&many, e <= 1e-6, "method %d: %g", method, e);
		}
	check_end(&many, "radon: modelling is the adjoint's adjoint to 1e-6, all methods");
}

/* A spike at tau = 20 samples, q = 10 dt: trace j has it at sample 20 + 10 g_j, g_j = 0, .25, 1. */
static void
check_spike(void)
{
	static const size_t at[3] = {20, 22 + 1, 30};
	struct radon_options o = small;
	struct check_many many = {0};
	size_t ntau, lead;

	o.nt = 60;
	o.nx = 3;
	o.nq = 5;
	o.dq = 2 * o.dt;
	o.q0 = 6 * o.dt;
	g[0] = 0;
	g[1] = .3;
	g[2] = 1;
	o.mode = RADON_MODEL;
	for (int method = RADON_AUTO; method <= RADON_USFFT2D; method++) {
		o.method = (enum radon_method)method;
		radon_fits(&o, &ntau, &lead);
		float *m = weir_calloc(o.nq * ntau, sizeof *m), *d;
		m[2 * ntau + lead + 20] = 1;
		d = run(&o, m, NULL);
		for (size_t j = 0; d && j < 3; j++)
			for (size_t t = 0; t < o.nt; t++) {
				const double want = t == at[j];
				check_case(&many, fabs((double)d[j * o.nt + t] - want) < 1e-5,
					   "method %d trace %zu sample %zu: %g", method, j, t,
					   (double)d[j * o.nt + t]);
			}
		check_case(&many, d != NULL, "method %d: no plan", method);
		weir_free(m);
		weir_free(d);
	}
	check_end(&many, "radon: a spike in the panel models a parabola of spikes");
}

/* The order of traces is no part of the transform: adding them in another order changes rounding alone. */
static void
check_order(void)
{
	struct radon_options o = small;
	double *want = weir_alloc(panel_size(&o), sizeof *want);
	float *d, *m;

	lay_out(o.nx, RADON_PARABOLIC, .5);
	d = noise(o.nx * o.nt);
	want = weir_alloc(panel_size(&o), sizeof *want);
	m = run(&o, d, NULL);
	for (size_t i = 0; i < panel_size(&o); i++)
		want[i] = (double)m[i];
	weir_free(m);
	for (size_t j = 0; j < o.nx / 2; j++) {
		const size_t l = o.nx - 1 - j;
		double t = g[j];
		g[j] = g[l];
		g[l] = t;
		for (size_t i = 0; i < o.nt; i++) {
			float v = d[j * o.nt + i];
			d[j * o.nt + i] = d[l * o.nt + i];
			d[l * o.nt + i] = v;
		}
	}
	m = run(&o, d, NULL);
	double e = distance(m, want, panel_size(&o));
	check(e < 1e-6, "radon: shuffled traces change nothing but rounding", "%g", e);
	weir_free(d);
	weir_free(m);
	weir_free(want);
}

/* --- least squares ------------------------------------------------------------------------------------------------- */

/* Events: a primary at each of three times with q = 0, and multiples with q = .1. */
static float *
events(const struct radon_options *o)
{
	float *d = weir_calloc(o->nx * o->nt, sizeof *d);

	for (size_t j = 0; j < o->nx; j++)
		for (int e = 0; e < 6; e++)
			for (size_t t = 0; t < o->nt; t++) {
				const double q = e % 2 ? .1 : 0,
					     t0 = (.2 + .25 * (e / 2)) * (double)o->nt * o->dt;
				const double x = M_PI * 25 * ((double)t * o->dt - t0 - q * g[j]);
				d[j * o->nt + t] += (float)((1 - 2 * x * x) * exp(-x * x));
			}
	return d;
}

static const struct radon_mute beyond = {.n = 1, .q = {.04}, .taper = .02};

/* The difference of the primaries from those of the dense solution, relative to the gather. */
static double
primaries_error(struct radon_options o)
{
	const size_t n = panel_size(&o), k = o.nx * o.nt;
	double *m = weir_alloc(n, sizeof *m), *multiples = weir_alloc(k, sizeof *multiples),
	       e = NAN;
	float *d = events(&o), *out;

	for (size_t j = 0; j < o.nx; j++)
		if (o.live && !o.live[j])
			memset(d + j * o.nt, 0, o.nt * sizeof *d);
	o.mode = RADON_LSQ;
	o.subtract = true;
	o.mute = beyond;
	out = run(&o, d, NULL);
	if (out && !radon_direct_lsq(&o, d, m)) {
		for (size_t i = 0; i < n; i++)
			m[i] *=
			    radon_mute_weight(&o.mute, 0, o.q0 + (double)(i / (n / o.nq)) * o.dq);
		radon_direct_model(&o, m, multiples);
		for (size_t i = 0; i < k; i++)
			multiples[i] =
			    (double)d[i] - (o.live && !o.live[i / o.nt] ? 0 : multiples[i]);
		e = distance(out, multiples, k);
	}
	weir_free(m);
	weir_free(multiples);
	weir_free(d);
	weir_free(out);
	return e;
}

static void
check_lsq(void)
{
	static const double eps[] = {.1, .01, .001};
	struct check_many many = {0};

	for (int method = RADON_AUTO; method <= RADON_RECURRENCE; method++)
		for (size_t e = 0; e < 3; e++)
			for (int kind = 0; kind < 3; kind++) {
				struct radon_options o = small;
				o.method = (enum radon_method)method;
				o.eps = eps[e];
				lay_out(o.nx, RADON_PARABOLIC, kind ? .8 : 0);
				if (kind == 2) {
					live[3] = live[17] = false;
					o.live = live;
				}
				double err = primaries_error(o);
				const double bound =
				    method == RADON_NUFFT ? 1e-6 / sqrt(eps[e]) : 1e-5;
				check_case(&many, err <= bound, "method %d eps %g kind %d: %g",
					   method, eps[e], kind, err);
			}
	check_end(&many, "radon: primaries are within 1e-5 of a dense double solution (NUFFT: 1e-6 "
			 "/ sqrt(eps))");
}

void
check_radon(void)
{
	check_methods();
	check_band();
	check_dot();
	check_spike();
	check_order();
	check_lsq();
}
