/* radon: traces in a plane, and curves with two axes. */
#include "t/check_radon.h"

static struct check_rng rng = {23};

enum { METHODS = RADON_RECURRENCE + 1 };
static double plane_h[SCENE_TRACES];

/* nx traces in a square, whose corners have g = h = 1; nq by nr curves. */
static struct radon_options
problem(size_t nx, size_t nq, size_t nr)
{
	struct radon_options o = scene_small;

	o.nt = 60;
	o.nx = nx;
	o.nq = nq * nr;
	o.nr = nr;
	o.h = plane_h;
	o.dq = .006;
	o.r0 = -.04;
	o.dr = nr > 1 ? .009 : 0;
	for (size_t j = 0; j < nx; j++) {
		scene_g[j] = pow(rng_unit(&rng), 2);
		plane_h[j] = pow(rng_unit(&rng), 2);
		scene_live[j] = true;
	}
	return o;
}

static void
check_operators(struct check_many *many, struct check_rng *r, size_t set)
{
	static const size_t sizes[][3] = {
	    {24, 15, 14}, {7, 5, 3}, {30, 13, 1}, {5, 1, 9}, {1, 1, 1}};
	const int method = (int)set % METHODS;
	const size_t s = set / METHODS;
	struct radon_options o = problem(sizes[s][0], sizes[s][1], sizes[s][2]);
	size_t ntau, lead, want, want_lead;

	o.method = (enum radon_method)method;
	o.most = s == 1 ? .1 : 0;
	radon_direct_axis(&o, &want, &want_lead);
	radon_fits(&o, &ntau, &lead);
	const double a = scene_adjoint_error(r, &o), b = scene_model_error(r, o),
		     c = scene_dot_test(r, o);
	check_case(many, ntau == want && lead == want_lead, "size %zu: axis", s);
	check_case(many, a <= 2e-6 && b <= 2e-6 && c <= 1e-6, "size %zu method %d: %g %g %g", s,
		   method, a, b, c);
}

/* With h = 0, or with one r of 0, the second axis changes nothing. */
static void
check_one_axis(void)
{
	struct radon_options o = problem(24, 15, 1), plain;
	float *d = scene_noise(&rng, o.nx * o.nt), *a, *b;

	o.r0 = 0;
	plain = o;
	plain.nr = 0;
	const size_t n = scene_panel_size(&o);
	a = scene_run(&o, d, NULL);
	b = scene_run(&plain, d, NULL);
	const double e = check_apart(a, true, scene_widen(b, n), n, 0);
	check(n == scene_panel_size(&plain) && e < 1e-6,
	      "radon: one curve of 0 along y is no axis at all", "%g", e);
}

static void
check_inverses(struct check_many *many, struct check_rng *r, size_t set)
{
	const int mode = RADON_LSQ + (int)set / 2, band = (int)set % 2;
	struct radon_options o = problem(15, 5, 4);

	o.mode = (enum radon_mode)mode;
	o.raise_nu = mode == RADON_SPARSE && band;
	o.fmin = band ? 20 : 0;
	o.fmax = band ? 90 : 0;
	scene_inverse(many, o, scene_damaged(r, &o), 1e-4);
}

/* Steps enough lead to the dense solution. */
static void
check_dense(void)
{
	struct radon_options o = problem(12, 4, 3);
	float *m;

	o.mode = RADON_LSQ;
	o.nu = .05;
	o.nt = 40;
	o.inner = 300;
	o.fmax = 100; /* the two differ at Nyquist, where a sample of the spectrum is real */
	const double e =
	    scene_error(&o, scene_noise(&rng, o.nx * o.nt), radon_direct_lsq, &m, NULL);
	check(e <= 1e-3, "radon: lsq in a plane goes to the dense solution", "%g", e);
}

/*
 * A flat primary, and a multiple with another moveout along y than along x. One axis of the distance from 0 cannot tell them
 * apart well; two axes can.
 */
static void
check_ellipse(void)
{
	struct radon_options o = problem(60, 15, 15);
	double e[2];

	o.mode = RADON_SPARSE;
	o.nu = .003;
	o.nt = 150;
	o.subtract = true;
	o.q0 = o.r0 = -.06;
	o.dq = o.dr = .02;
	o.mute = (struct radon_mute){.n = 1, .q = {.03}, .taper = .02};
	float *d = check_alloc(o.nx * o.nt, sizeof *d);
	double *primary = check_alloc(o.nx * o.nt, sizeof *primary);
	for (size_t i = 0; i < o.nx * o.nt; i++) {
		const size_t j = i / o.nt;
		primary[i] = (double)scene_wavelet(&o, i, .15, 0);
		d[i] = (float)primary[i] +
		       scene_wavelet(&o, i, .3 + .18 * scene_g[j] + .06 * plane_h[j], 0) +
		       scene_wavelet(&o, i, .2 + .06 * scene_g[j] + .16 * plane_h[j], 0);
	}
	for (int axes = 2; axes >= 1; axes--) {
		if (axes == 1) {
			o.nr = 0;
			o.nq = 61;
			o.dq = .36 / 60;
			for (size_t j = 0; j < o.nx; j++)
				scene_g[j] = (scene_g[j] + plane_h[j]) / 2;
		}
		float *out = scene_run(&o, d, NULL);
		e[axes - 1] = 20 * log10(check_apart(out, true, primary, o.nx * o.nt, 0));
	}
	check(e[1] < -14 && e[0] > -5, "radon: elliptic moveouts need two axes",
	      "%.1f dB with two axes, %.1f with one", e[1], e[0]);
}

/* Energy beyond one end of either axis tells of it. */
static void
check_edges(struct check_many *many, struct check_rng *r, size_t end)
{
	static const double q[5] = {.3, -.2, .05, .05, .05}, h[5] = {.05, .05, .3, -.2, .05};
	struct radon_options o = problem(60, 21, 21);
	struct radon_report report;

	(void)r;
	o.mode = RADON_SPARSE;
	o.nt = 150;
	o.q0 = o.r0 = -.1;
	o.dq = o.dr = .015;
	float *d = check_alloc(o.nx * o.nt, sizeof *d);
	for (size_t i = 0; i < o.nx * o.nt; i++)
		d[i] = scene_wavelet(
		    &o, i, .3 + q[end] * scene_g[i / o.nt] + h[end] * plane_h[i / o.nt], 0);
	scene_run(&o, d, &report);
	check_case(many, (report.edge[0] > 3) == (end == 1 || end == 3), "end %zu: low %g", end,
		   report.edge[0]);
	check_case(many, (report.edge[1] > 3) == (end == 0 || end == 2), "end %zu: high %g", end,
		   report.edge[1]);
}

static void
check_mute_and_alias(void)
{
	struct radon_options o = problem(3, 3, 2);
	double apart;

	o.q0 = o.r0 = .3;
	o.dq = .1;
	o.dr = .4;
	scene_g[0] = plane_h[0] = plane_h[1] = plane_h[2] = 0;
	scene_g[1] = .5;
	scene_g[2] = plane_h[1] = 1;
	const double mean = radon_mute_q(&o, 4), lowest = radon_alias(&o, &apart);
	o.mute.radial = true;
	const double far = radon_mute_q(&o, 4);
	check(fabs(mean - .55) < 1e-12 && fabs(far - hypot(.4, .7)) < 1e-12,
	      "radon: a mute in a plane takes the mean of q and r, or their distance from 0",
	      "%g %g", mean, far);
	check(fabs(lowest - 2.5) < 1e-9 && apart == o.dr,
	      "radon: the axis whose curves alias first is found", "%g Hz, %g s", lowest, apart);
}

void
check_radon_plane(void)
{
	check_each_from("radon: sums over a plane are the definition's, and transposes",
			5 * METHODS, &rng, check_operators);
	check_one_axis();
	check_each_from("radon: inverses in a plane are the definition's, on any number of threads",
			2 * 2, &rng, check_inverses);
	check_dense();
	check_ellipse();
	check_each_from("radon: events beyond either axis of curves are told", 5, &rng,
			check_edges);
	check_mute_and_alias();
}
