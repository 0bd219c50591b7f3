/* radon: least squares and sparse solutions. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "t/check_radon.h"

static struct check_rng rng = {11};

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
				const double x =
				    M_PI * 25 * ((double)t * o->dt - t0 - q * scene_g[j]);
				d[j * o->nt + t] += (float)((1 - 2 * x * x) * exp(-x * x));
			}
	return d;
}

static const struct radon_mute beyond = {.n = 1, .q = {.04}, .taper = .02};

/* The difference of the primaries from those of the dense solution, relative to the gather. */
static double
primaries_error(struct radon_options o)
{
	const size_t n = scene_panel_size(&o), k = o.nx * o.nt;
	double *m = weir_alloc(n, sizeof *m), *multiples = weir_alloc(k, sizeof *multiples),
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
			weir_free(d);
			weir_free(noise);
			weir_free(out);
		}
	check_end(&many,
		  "radon: removing multiples with the default damping takes energy away, for any "
		  "number of curves");
}

/* --- sparse, and what must not break ------------------------------------------------------------------------------ */

/* Flat wavelets: what a multiple free gather is. */
static float *
flat_events(const struct radon_options *o)
{
	float *d = weir_calloc(o->nx * o->nt, sizeof *d);

	for (size_t i = 0; i < o->nx * o->nt; i++) {
		const double x = M_PI * 25 * ((double)(i % o->nt) - 40) * o->dt;
		d[i] = (float)((1 - 2 * x * x) * exp(-x * x));
	}
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
	weir_free(out);
	o.mute = (struct radon_mute){0};
	out = scene_run(&o, d, &r);
	change = sqrt(scene_energy(out, n) / whole);
	check(change < .05, "radon: without a mute sparse subtracts nearly all", "%g", change);
	weir_free(out);
	weir_free(d);
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
		const size_t n = scene_panel_size(&o);
		float *d = scene_noise(&rng, o.nx * o.nt), *m;
		for (size_t i = 0; i < o.nx * o.nt; i++)
			d[i] = kind == 1 ? 1 : kind == 2 ? (i % o.nt % 2 ? 1.F : -1.F) : d[i];
		for (size_t j = 4; j < 9 && kind >= 6; j++)
			memset(d + j * o.nt + (kind == 6 ? 0 : o.nt - j), 0,
			       (kind == 6 ? j - 3 : j) * sizeof *d);
		if (!scene_live[2])
			memset(d + 2 * o.nt, 0, o.nt * sizeof *d);
		double *want = weir_alloc(n, sizeof *want), e = NAN;
		m = scene_run(&o, d, NULL);
		if (m && !radon_direct_sparse(&o, d, want))
			e = scene_distance(m, want, n);
		check_case(&many, e <= 1e-4, "kind %d: %g", kind, e);
		weir_free(d);
		weir_free(m);
		weir_free(want);
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
	weir_free(d);
	weir_free(m);
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
	weir_free(d);
	weir_free(a);
	weir_free(b);
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
}
