/* radon: least squares and sparse solutions, and those of hyperbolic curves. */
#include <complex.h>

#include "t/check_radon.h"

static struct check_rng rng = {11};

/* --- least squares ------------------------------------------------------------------------------------------------- */

static const struct radon_mute beyond = {.n = 1, .q = {.04}, .taper = .02};

/* The distance of lsq, muted and subtracted as o asks for, from the dense solution, relative. */
static double
lsq_error(const struct radon_options *o, const float *d)
{
	const size_t n = scene_panel_size(o), k = o->nx * o->nt;
	double *m = check_alloc(n, sizeof *m), *want = check_alloc(k, sizeof *want);
	const float *out = scene_run(o, d, NULL);
	size_t ntau, lead;

	radon_fits(o, &ntau, &lead);
	if (!out || radon_direct_lsq(o, d, m))
		return NAN;
	for (size_t i = 0; i < n; i++)
		m[i] *=
		    radon_mute_weight(&o->mute, o->t0 + ((double)(i % ntau) - (double)lead) * o->dt,
				      o->q0 + (double)(i / ntau) * o->dq);
	if (!o->subtract)
		return check_apart(out, true, m, n, 0);
	radon_direct_model(o, m, want);
	for (size_t i = 0; i < k; i++) {
		const size_t t = i % o->nt, first = radon_span(d + i - t, o->nt).first;
		want[i] = t < first ? 0 : (double)d[i] - want[i];
	}
	return check_apart(out, true, want, k, 0);
}

/* Noise in live traces, of which the first begins with zeros where something is subtracted. */
static float *
noise_for(const struct radon_options *o, struct check_rng *r)
{
	float *d = scene_noise(r, o->nx * o->nt);

	for (size_t j = 0; j < o->nx; j++)
		if (o->live && !o->live[j])
			memset(d + j * o->nt, 0, o->nt * sizeof *d);
	if (o->subtract)
		memset(d, 0, (o->nt + 3) / 4 * sizeof *d);
	return d;
}

/* Panels, primaries, and primaries beside dead traces. The right-hand side of the NUFFT has its error magnified. */
static void
check_lsq(struct check_many *many, struct check_rng *r, size_t set)
{
	static const double all[] = {.1, .01, .001};
	const double eps = all[set / 3 % 3];
	const int method = RADON_AUTO + (int)set / 9, kind = (int)set % 3;
	struct radon_options o = scene_small;

	o.nt = 60;
	o.mode = RADON_LSQ;
	o.method = (enum radon_method)method;
	o.nu = eps * (double)o.nx / (double)o.nq;
	o.subtract = kind > 0;
	o.mute = beyond;
	o.live = scene_live;
	scene_lay_out(r, o.nx, RADON_PARABOLIC, .8);
	scene_live[3] = scene_live[17] = kind < 2;
	const double error = lsq_error(&o, noise_for(&o, r));
	check_case(many, error <= (method == RADON_NUFFT ? 2e-6 : 1e-6) / sqrt(eps),
		   "method %d eps %g kind %d: %g", method, eps, kind, error);
}

/*
 * On the GPU: fewer curves than lanes, 4, 8, 12, 16 in a lane's registers, and too many for them. There panels keep the bound of
 * primaries, too.
 */
static void
check_lsq_sizes(struct check_many *many, struct check_rng *r, size_t i)
{
	static const size_t nq[] = {1, 2, 128, 129, 300, 500, 515};
	struct radon_options o = scene_small;

	o.mode = RADON_LSQ;
	o.nt = nq[i] < 200 ? 12 : 3;
	o.nq = nq[i];
	o.dq = .1 / (double)nq[i];
	o.nu = .01 * (double)o.nx / (double)o.nq;
	o.subtract = !scene_on->slow;
	o.mute = o.subtract ? beyond : (struct radon_mute){0};
	scene_lay_out(r, o.nx, RADON_PARABOLIC, .8);
	const double error = lsq_error(&o, noise_for(&o, r));
	check_case(many, error <= 1e-5, "%zu curves: %g", nq[i], error);
}

static void
check_mute_in_time(struct check_many *many, struct check_rng *r, size_t subtract)
{
	struct radon_options o = scene_small;

	o.mode = RADON_LSQ;
	o.subtract = subtract;
	o.mute = (struct radon_mute){.n = 2, .t = {.05, .15}, .q = {.02, .08}, .taper = .03};
	scene_lay_out(r, o.nx, RADON_PARABOLIC, .8);
	const double error = lsq_error(&o, noise_for(&o, r));
	check_case(many, error <= 1e-5, "subtract %zu: %g", subtract, error);
}

/* A gather and a panel at one frequency, and the curves' phases there: [nx], [nq], [nq][nx]. */
struct line {
	complex double *d, *m, *a;
};

static complex double
turned(double cycles)
{
	return cexp(2 * M_PI * I * (cycles - rint(cycles)));
}

/* Frequency k of rows of n samples that begin at sample `at` of nfft. */
static void
spectrum(complex double *s, const float *x, size_t rows, size_t n, size_t at, size_t nfft, size_t k)
{
	for (size_t r = 0; r < rows; r++) {
		s[r] = 0;
		for (size_t t = 0; t < n; t++)
			s[r] += (double)x[r * n + t] *
				turned(-(double)((at + t) * k % nfft) / (double)nfft);
	}
}

/* a^H d - a^H a m, or of m NULL a^H d alone: its norm. */
static double
normal_norm(const struct radon_options *o, const struct line *l, bool with_m)
{
	double norm = 0;

	for (size_t i = 0; i < o->nq; i++) {
		complex double sum = 0;
		for (size_t j = 0; j < o->nx; j++) {
			complex double left = l->d[j];
			for (size_t q = 0; with_m && q < o->nq; q++)
				left -= conj(l->a[q * o->nx + j]) * l->m[q];
			sum += l->a[i * o->nx + j] * left;
		}
		norm += creal(sum * conj(sum));
	}
	return sqrt(norm);
}

/* What a^H a makes of white noise of norm 1: its Frobenius norm by the root of nq. */
static double
normal_size(const struct radon_options *o, const struct line *l)
{
	double norm = 0;

	for (size_t i = 0; i < o->nq; i++)
		for (size_t q = 0; q < o->nq; q++) {
			complex double sum = 0;
			for (size_t j = 0; j < o->nx; j++)
				sum += l->a[i * o->nx + j] * conj(l->a[q * o->nx + j]);
			norm += creal(sum * conj(sum));
		}
	return sqrt(norm / (double)o->nq);
}

/*
 * What the normal equations leave, |A^H (d - A m)| in double, as a part of what they may at that frequency; the largest. They
 * may leave the 1e-6 |A^H d| at which the iteration stops, and what rounding to float makes of gather and panel: u |d| and u |m| at
 * each frequency, white, u = 2^-24 log2(nfft), through A^H and A^H A. It is .46 here; stopped at 1e-4 it would be .84, at 1e-3 64.
 * Of the last frequency of an even length a real panel has one part only, so it is left out.
 */
static double
residual(const struct radon_options *o, const float *d, const float *m)
{
	double worst = 0;
	size_t ntau, lead;

	radon_fits(o, &ntau, &lead);
	const double u = log2((double)ntau) / (1 << 24), in = sqrt(scene_energy(d, o->nx * o->nt)),
		     out = sqrt(scene_energy(m, o->nq * ntau));
	complex double *room = check_alloc(o->nx + o->nq * (1 + o->nx), sizeof *room);
	const struct line l = {room, room + o->nx, room + o->nx + o->nq};
	for (size_t k = 0; 2 * k < ntau; k++) {
		spectrum(l.d, d, o->nx, o->nt, lead, ntau, k);
		spectrum(l.m, m, o->nq, ntau, 0, ntau, k);
		for (size_t i = 0; i < o->nq * o->nx; i++)
			l.a[i] = turned((double)k / ((double)ntau * o->dt) *
					(o->q0 + (double)(i / o->nx) * o->dq) * o->g[i % o->nx]);
		const double size = normal_size(o, &l);
		const double may =
		    1e-6 * normal_norm(o, &l, false) + u * (sqrt(size) * in + size * out);
		const double part = normal_norm(o, &l, true) / may;
		worst = part <= worst ? worst : part; /* NaN counts */
	}
	return worst;
}

/* Without damping and with more curves than traces A^H A is singular: conjugate gradients fit the data all the same. */
static void
check_singular(void)
{
	struct radon_options o = scene_small;
	struct radon_report r = {0};

	o.mode = RADON_LSQ;
	o.nu = 0;
	o.nx = 12;
	o.nt = 60;
	o.report = true;
	scene_lay_out(&rng, o.nx, RADON_PARABOLIC, .5);
	const float *d = scene_noise(&rng, o.nx * o.nt), *m = scene_run(&o, d, &r);
	const double left = m ? residual(&o, d, m) : INFINITY;
	check(left <= 1 && r.fallbacks > 0 && r.steps > 0,
	      "singular systems go to conjugate gradients, which solve each frequency",
	      "it leaves %.3g of what it may, %zu fallbacks, %zu steps", left, r.fallbacks,
	      r.steps);
}

/*
 * Noise, and an event beyond the curves, is what a panel cannot explain. The damping grows with the number of curves, so
 * that more of them do not turn it into multiples that add energy: with NU = 1e-3 nx / nq 120 curves added 9 dB.
 */
static void
check_energy(struct check_many *many, struct check_rng *r, size_t set)
{
	static const size_t curves[] = {15, 40, 120};
	const int mode = RADON_LSQ + (int)set / 3;
	struct radon_options o = scene_small;

	o.mode = (enum radon_mode)mode;
	o.nu = mode == RADON_LSQ ? .05 : .003;
	o.nq = curves[set % 3];
	o.q0 = -.1;
	o.dq = .4 / (double)(o.nq - 1);
	o.subtract = true;
	o.mute = beyond;
	scene_lay_out(r, o.nx, RADON_PARABOLIC, .5);
	float *d = check_alloc(o.nx * o.nt, sizeof *d), *out;
	const float *noise = scene_noise(r, o.nx * o.nt);
	memset(d, 0, o.nx * o.nt * sizeof *d);
	scene_events(&o, d);
	for (size_t i = 0; i < o.nx * o.nt; i++)
		d[i] += .2F * noise[i] + 2 * scene_wavelet(&o, i, .25, -.25);
	out = scene_run(&o, d, NULL);
	const double left = scene_energy(out, o.nx * o.nt) / scene_energy(d, o.nx * o.nt);
	check_case(many, left < .9, "mode %d, %zu curves: %g", mode, o.nq, left);
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
}

/* Noise has energy at every frequency, DC and Nyquist too, and amplitudes on both sides of each sample. */
static void
check_sparse_definition(struct check_many *many, struct check_rng *r, size_t kind)
{
	struct radon_options o = scene_small;

	o.mode = RADON_SPARSE;
	o.nt = 31 + kind;
	o.nx = 9;
	o.nq = 11;
	o.inner = kind % 3 == 0 ? 1 : 4;
	o.fmin = kind == 4 || kind == 7 ? 20 : 0;
	o.fmax = kind == 4 || kind == 7 ? 90 : 0;
	o.raise_nu = kind % 2;
	scene_lay_out(r, o.nx, RADON_PARABOLIC, .5);
	scene_live[2] = kind != 5;
	o.live = scene_live;
	float *d = scene_noise(r, o.nx * o.nt), *m;
	for (size_t i = 0; i < o.nx * o.nt; i++)
		d[i] = kind == 1 ? 1 : kind == 2 ? (i % o.nt % 2 ? 1.F : -1.F) : d[i];
	for (size_t j = 4; j < 9 && kind >= 6; j++)
		memset(d + j * o.nt + (kind == 6 ? 0 : o.nt - j), 0,
		       (kind == 6 ? j - 3 : j) * sizeof *d);
	if (!scene_live[2])
		memset(d + 2 * o.nt, 0, o.nt * sizeof *d);
	const double e = scene_error(&o, d, radon_direct_sparse, &m, NULL);
	check_case(many, e <= 1e-4, "kind %zu: %g", kind, e);
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
check_hyperbolic_operators(struct check_many *many, struct check_rng *r, size_t kind)
{
	struct radon_options o = hyperbolic((int)kind);
	const size_t n = o.nx * o.nt, k = scene_panel_size(&o);
	float *d = scene_noise(r, n), *m = scene_noise(r, k);
	double *panel = check_alloc(k, sizeof *panel), *gather = check_alloc(n, sizeof *gather);
	const double c = scene_dot_test(r, o);

	radon_direct_hyperbola_adjoint(&o, scene_widen(d, n), panel);
	radon_direct_hyperbola_model(&o, scene_widen(m, k), gather);
	const double a = check_apart(scene_run(&o, d, NULL), true, panel, k, 0);
	o.mode = RADON_MODEL;
	const double b = check_apart(scene_run(&o, m, NULL), true, gather, n, 0);
	check_case(many, a <= 1e-6 && b <= 1e-6 && c <= 1e-6, "kind %zu: %g %g %g", kind, a, b, c);
}

static void
check_hyperbolic_inverses(struct check_many *many, struct check_rng *r, size_t set)
{
	const int mode = RADON_LSQ + (int)set / 4, kind = (int)set % 4;
	struct radon_options o = hyperbolic(kind);

	o.mode = (enum radon_mode)mode;
	o.raise_nu = mode == RADON_SPARSE && kind % 2;
	scene_inverse(many, o, scene_damaged(r, &o), 2e-5);
}

/* A multiple along a slow hyperbola is removed, and a primary along a fast one stays. */
static void
check_hyperbolic_subtract(struct check_many *many, struct check_rng *r, size_t set)
{
	const int mode = RADON_LSQ + (int)set;
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
	scene_lay_out(r, o.nx, RADON_HYPERBOLIC, .3);
	const size_t n = o.nx * o.nt;
	float *d = check_alloc(n, sizeof *d), *out;
	double *primary = check_alloc(n, sizeof *primary);
	for (size_t i = 0; i < n; i++) {
		const double g = scene_g[i / o.nt];
		primary[i] = (double)scene_wavelet(&o, i, sqrt(.16 + .1 * g), 0);
		d[i] = (float)primary[i] + scene_wavelet(&o, i, sqrt(.09 + .6 * g), 0);
	}
	out = scene_run(&o, d, NULL);
	const double e = 20 * log10(check_apart(out, true, primary, n, 0));
	check_case(many, e < (mode == RADON_LSQ ? -11 : -16), "mode %d: %.1f dB", mode, e);
}

void
check_radon_least_squares(void)
{
	check_whose(scene_on->name);
	check_each_from("least squares are within 1e-6 sqrt(nx / NU nq) of a dense double solution "
			"(NUFFT: twice as much)",
			9 * (RADON_RECURRENCE - RADON_AUTO + 1), &rng, check_lsq);
	check_each_from("least squares of any number of curves", 7, &rng, check_lsq_sizes);
	check_each_from("a mute that depends on time is the definition's", 2, &rng,
			check_mute_in_time);
	check_singular();
	check_whose("");
}

void
check_radon_lsq(void)
{
	check_radon_least_squares();
	check_each_from("radon: removing multiples with the default damping takes energy away, for "
			"any number of curves",
			2 * 3, &rng, check_energy);
	check_sparse();
	check_each_from("radon: sparse panels are those of the definition to 1e-4", 8, &rng,
			check_sparse_definition);
	check_each_from(
	    "radon: hyperbolic sums are the definition's, and modelling is their transpose", 4,
	    &rng, check_hyperbolic_operators);
	check_each_from("radon: hyperbolic inverses are the definition's, on any number of threads",
			2 * 4, &rng, check_hyperbolic_inverses);
	check_each_from("radon: a slow hyperbola is subtracted, and a fast one stays", 2, &rng,
			check_hyperbolic_subtract);
}
