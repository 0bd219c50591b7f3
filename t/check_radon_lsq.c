/* radon: least squares and sparse solutions, and those of hyperbolic curves. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "t/check_radon.h"

static struct check_rng rng = {11};

/* --- least squares ------------------------------------------------------------------------------------------------- */

/* The events of the scene alone. */
static float *
events(const struct radon_options *o)
{
	float *d = check_alloc(o->nx * o->nt, sizeof *d);

	memset(d, 0, o->nx * o->nt * sizeof *d);
	scene_events(o, d);
	return d;
}

static const struct radon_mute beyond = {.n = 1, .q = {.04}, .taper = .02};

/* The difference of the primaries from those of the dense solution, relative to the gather. */
static double
primaries_error(struct radon_options o)
{
	const size_t n = scene_panel_size(&o), k = o.nx * o.nt;
	double *m = check_alloc(n, sizeof *m), *multiples = check_alloc(k, sizeof *multiples),
	       e = NAN;
	float *d = events(&o), *out;

	for (size_t j = 0; j < o.nx; j++)
		if (o.live && !o.live[j])
			memset(d + j * o.nt, 0, o.nt * sizeof *d);
	o.mode = RADON_LSQ;
	o.subtract = true;
	o.mute = beyond;
	out = scene_run(&o, d, NULL);
	if (out && !radon_direct_lsq(&o, d, m)) {
		for (size_t i = 0; i < n; i++)
			m[i] *=
			    radon_mute_weight(&o.mute, 0, o.q0 + (double)(i / (n / o.nq)) * o.dq);
		radon_direct_model(&o, m, multiples);
		for (size_t i = 0; i < k; i++)
			multiples[i] =
			    (double)d[i] - (o.live && !o.live[i / o.nt] ? 0 : multiples[i]);
		e = scene_distance(out, multiples, k);
	}
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
				struct radon_options o = scene_small;
				o.method = (enum radon_method)method;
				o.nu = eps[e] * (double)o.nx / (double)o.nq;
				scene_lay_out(&rng, o.nx, RADON_PARABOLIC, kind ? .8 : 0);
				if (kind == 2) {
					scene_live[3] = scene_live[17] = false;
					o.live = scene_live;
				}
				double err = primaries_error(o);
				const double bound =
				    (method == RADON_NUFFT ? 2e-6 : 1e-6) / sqrt(eps[e]);
				check_case(&many, err <= bound, "method %d eps %g kind %d: %g",
					   method, eps[e], kind, err);
				check_free();
			}
	check_end(&many,
		  "radon: primaries are within 1e-6 sqrt(nx / NU nq) of a dense double solution "
		  "(NUFFT: twice as much)");
}

/*
 * Noise, and an event beyond the curves, is what a panel cannot explain. The damping grows with the number of curves, so
 * that more of them do not turn it into multiples that add energy: with NU = 1e-3 nx / nq 120 curves added 9 dB.
 */
static void
check_energy(void)
{
	static const size_t curves[] = {15, 40, 120};
	struct check_many many = {0};

	for (int mode = RADON_LSQ; mode <= RADON_SPARSE; mode++)
		for (size_t c = 0; c < 3; c++) {
			struct radon_options o = scene_small;
			o.mode = (enum radon_mode)mode;
			o.nu = mode == RADON_LSQ ? .05 : .003;
			o.nq = curves[c];
			o.q0 = -.1;
			o.dq = .4 / (double)(o.nq - 1);
			o.subtract = true;
			o.mute = beyond;
			scene_lay_out(&rng, o.nx, RADON_PARABOLIC, .5);
			float *d = events(&o), *noise = scene_noise(&rng, o.nx * o.nt), *out;
			for (size_t i = 0; i < o.nx * o.nt; i++)
				d[i] += .2F * noise[i] + 2 * scene_wavelet(&o, i, .25, -.25);
			out = scene_run(&o, d, NULL);
			const double left =
			    scene_energy(out, o.nx * o.nt) / scene_energy(d, o.nx * o.nt);
			check_case(&many, left < .9, "mode %d, %zu curves: %g", mode, o.nq, left);
			check_free();
		}
	check_end(&many,
		  "radon: removing multiples with the default damping takes energy away, for any "
		  "number of curves");
}

/* --- sparse, and what must not break ------------------------------------------------------------------------------ */

/* A flat wavelet: what a gather without multiples is. */
static float *
flat_events(const struct radon_options *o)
{
	float *d = check_alloc(o->nx * o->nt, sizeof *d);

	for (size_t i = 0; i < o->nx * o->nt; i++)
		d[i] = scene_wavelet(o, i, 40 * o->dt, 0);
	return d;
}

static void
check_sparse(void)
{
	struct radon_options o = scene_small;
	const size_t n = o.nx * o.nt;
	struct radon_report r;
	float *d = flat_events(&o), *out;
	double change, whole = scene_energy(d, n);

	scene_lay_out(&rng, o.nx, RADON_PARABOLIC, .5);
	o.mode = RADON_SPARSE;
	o.subtract = true;
	o.mute = beyond;
	out = scene_run(&o, d, &r);
	for (size_t i = 0; i < n; i++)
		out[i] -= d[i];
	change = sqrt(scene_energy(out, n) / whole);
	check(change < .02 && r.misfit < 1e-3 && r.steps == 35,
	      "radon: sparse explains flat events and leaves them alone",
	      "change %g, misfit %g, %zu steps", change, r.misfit, r.steps);
	o.mute = (struct radon_mute){0};
	out = scene_run(&o, d, &r);
	change = sqrt(scene_energy(out, n) / whole);
	check(change < .05, "radon: without a mute sparse subtracts nearly all", "%g", change);
	check_free();
}

/* Noise has energy at every frequency, DC and Nyquist too, and amplitudes on both sides of each sample. */
static void
check_sparse_definition(void)
{
	struct check_many many = {0};

	for (int kind = 0; kind < 8; kind++) {
		struct radon_options o = scene_small;
		o.mode = RADON_SPARSE;
		o.nt = 31 + (size_t)kind;
		o.nx = 9;
		o.nq = 11;
		o.inner = kind % 3 == 0 ? 1 : 4;
		o.fmin = kind == 4 || kind == 7 ? 20 : 0;
		o.fmax = kind == 4 || kind == 7 ? 90 : 0;
		o.raise_nu = kind % 2;
		scene_lay_out(&rng, o.nx, RADON_PARABOLIC, .5);
		scene_live[2] = kind != 5;
		o.live = scene_live;
		float *d = scene_noise(&rng, o.nx * o.nt), *m;
		for (size_t i = 0; i < o.nx * o.nt; i++)
			d[i] = kind == 1 ? 1 : kind == 2 ? (i % o.nt % 2 ? 1.F : -1.F) : d[i];
		for (size_t j = 4; j < 9 && kind >= 6; j++)
			memset(d + j * o.nt + (kind == 6 ? 0 : o.nt - j), 0,
			       (kind == 6 ? j - 3 : j) * sizeof *d);
		if (!scene_live[2])
			memset(d + 2 * o.nt, 0, o.nt * sizeof *d);
		const double e = scene_error(&o, d, radon_direct_sparse, &m, NULL);
		check_case(&many, e <= 1e-4, "kind %d: %g", kind, e);
		check_free();
	}
	check_end(&many, "radon: sparse panels are those of the definition to 1e-4");
}

/* Without damping and with more curves than traces A^H A is singular: conjugate gradients fit the data all the same. */
static void
check_singular(void)
{
	struct radon_options o = scene_small;
	struct radon_report r = {0};
	float *d, *m;

	o.mode = RADON_LSQ;
	o.nu = 0;
	o.nx = 9;
	o.fmin = 10;
	o.fmax = 60;
	o.report = true;
	scene_lay_out(&rng, o.nx, RADON_PARABOLIC, .5);
	d = flat_events(&o);
	m = scene_run(&o, d, &r);
	check(m && r.fallbacks > 0 && r.steps > 0 && r.misfit < 1e-6 &&
		  isfinite(scene_energy(m, scene_panel_size(&o))),
	      "radon: undamped, with more curves than traces, the data are fitted",
	      "misfit %g, %zu fallbacks", r.misfit, r.fallbacks);
	check_free();
}

/* A mute along q alone and the same one given twice in time are one. */
static void
check_mute_paths(void)
{
	struct radon_options o = scene_small;
	float *d, *a, *b;
	double up = 0;

	scene_lay_out(&rng, o.nx, RADON_PARABOLIC, .5);
	d = events(&o);
	o.mode = RADON_LSQ;
	o.subtract = true;
	o.mute = beyond;
	a = scene_run(&o, d, NULL);
	o.mute = (struct radon_mute){
	    .n = 2, .t = {0, .2}, .q = {beyond.q[0], beyond.q[0]}, .taper = beyond.taper};
	b = scene_run(&o, d, NULL);
	for (size_t i = 0; i < o.nx * o.nt; i++)
		up += pow((double)a[i] - (double)b[i], 2);
	up = sqrt(up / scene_energy(d, o.nx * o.nt));
	check(up < 1e-6, "radon: a mute per curve equals the same mute per time", "%g", up);
	check_free();
}

/* --- hyperbolic curves --------------------------------------------------------------------------------------------- */

/* A small problem; kinds 1 to 3 begin before the shot, after it, and between its samples. */
static struct radon_options
hyperbolic(int kind)
{
	static const double first[] = {0, -.03, .08, .0815};
	struct radon_options o = scene_small;

	o.hyperbolic = true;
	o.method = RADON_TIME;
	o.nt = 40 + (size_t)kind;
	o.nx = 7;
	o.nq = 9;
	o.t0 = first[kind];
	o.q0 = kind == 1 ? 0 : .001;
	o.dq = .003;
	scene_lay_out(&rng, o.nx, RADON_HYPERBOLIC, .5);
	scene_g[0] = 0;
	return o;
}

/* Both operators are the definition's, and each is the transpose of the other. */
static void
check_hyperbolic_operators(void)
{
	struct check_many many = {0};

	for (int kind = 0; kind < 4; kind++) {
		struct radon_options o = hyperbolic(kind);
		const size_t n = o.nx * o.nt, k = scene_panel_size(&o);
		float *d = scene_noise(&rng, n), *m = scene_noise(&rng, k);
		double *panel = check_alloc(k, sizeof *panel),
		       *gather = check_alloc(n, sizeof *gather);
		const double c = scene_dot_test(&rng, o);
		radon_direct_hyperbola_adjoint(&o, scene_widen(d, n), panel);
		radon_direct_hyperbola_model(&o, scene_widen(m, k), gather);
		const double a = scene_distance(scene_run(&o, d, NULL), panel, k);
		o.mode = RADON_MODEL;
		const double b = scene_distance(scene_run(&o, m, NULL), gather, n);
		check_case(&many, a <= 1e-6 && b <= 1e-6 && c <= 1e-6, "kind %d: %g %g %g", kind, a,
			   b, c);
		check_free();
	}
	check_end(&many,
		  "radon: hyperbolic sums are the definition's, and modelling is their transpose");
}

/* lsq and sparse, with a dead trace and muted beginnings, on one thread and on three. */
static void
check_hyperbolic_inverses(void)
{
	struct check_many many = {0};

	for (int mode = RADON_LSQ; mode <= RADON_SPARSE; mode++)
		for (int kind = 0; kind < 4; kind++) {
			struct radon_options o = hyperbolic(kind);
			o.mode = (enum radon_mode)mode;
			o.inner = 4;
			o.raise_nu = mode == RADON_SPARSE && kind % 2;
			o.live = scene_live;
			scene_live[3] = false;
			const size_t k = scene_panel_size(&o);
			float *d = scene_noise(&rng, o.nx * o.nt);
			memset(d + 3 * o.nt, 0, o.nt * sizeof *d);
			memset(d + 5 * o.nt, 0, 9 * sizeof *d);
			memset(d + 7 * o.nt - 4, 0, 4 * sizeof *d);
			struct radon_report r;
			float *m;
			const double e = scene_error(&o, d, radon_direct_sparse, &m, &r);
			o.threads = 3;
			float *again = scene_run(&o, d, NULL);
			check_case(&many, e <= 2e-5 && !memcmp(m, again, k * sizeof *m),
				   "mode %d kind %d: %g", mode, kind, e);
			check_case(
			    &many,
			    r.misfit > 0 && r.misfit < 1 && r.steps == (mode == RADON_LSQ ? 4 : 7),
			    "mode %d kind %d: misfit %g, %zu steps", mode, kind, r.misfit, r.steps);
			check_free();
		}
	check_end(&many,
		  "radon: hyperbolic inverses are the definition's, on any number of threads");
}

/* A multiple along a slow hyperbola is removed, and a primary along a fast one stays. */
static void
check_hyperbolic_subtract(void)
{
	struct check_many many = {0};

	for (int mode = RADON_LSQ; mode <= RADON_SPARSE; mode++) {
		struct radon_options o = scene_small;
		o.hyperbolic = o.subtract = true;
		o.method = RADON_TIME;
		o.mode = (enum radon_mode)mode;
		o.nu = mode == RADON_LSQ ? .05 : .003;
		o.nt = 250;
		o.nq = 41;
		o.q0 = 0;
		o.dq = .02;
		o.mute = (struct radon_mute){.n = 1, .q = {.3}, .taper = .08};
		scene_lay_out(&rng, o.nx, RADON_HYPERBOLIC, .3);
		const size_t n = o.nx * o.nt;
		float *d = check_alloc(n, sizeof *d), *out;
		double *primary = check_alloc(n, sizeof *primary);
		for (size_t i = 0; i < n; i++) {
			const double g = scene_g[i / o.nt];
			primary[i] = (double)scene_wavelet(&o, i, sqrt(.16 + .1 * g), 0);
			d[i] = (float)primary[i] + scene_wavelet(&o, i, sqrt(.09 + .6 * g), 0);
		}
		out = scene_run(&o, d, NULL);
		const double e = 20 * log10(scene_distance(out, primary, n));
		check_case(&many, e < (mode == RADON_LSQ ? -11 : -16), "mode %d: %.1f dB", mode, e);
		check_free();
	}
	check_end(&many, "radon: a slow hyperbola is subtracted, and a fast one stays");
}

void
check_radon_lsq(void)
{
	check_lsq();
	check_energy();
	check_sparse();
	check_sparse_definition();
	check_singular();
	check_mute_paths();
	check_hyperbolic_operators();
	check_hyperbolic_inverses();
	check_hyperbolic_subtract();
}
