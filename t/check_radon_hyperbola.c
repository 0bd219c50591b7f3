/* radon: hyperbolic curves. */
#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "t/check_radon.h"

static struct check_rng rng = {19};

/* A small problem; kinds 1 to 3 begin before the shot, after it, and between its samples. */
static struct radon_options
problem(int kind)
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

static double *
widen(const float *x, size_t n)
{
	double *y = weir_alloc(n, sizeof *y);

	for (size_t i = 0; i < n; i++)
		y[i] = (double)x[i];
	return y;
}

static double
dot(const float *a, const double *b, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (double)a[i] * b[i];
	return sum;
}

/* Both operators are the definition's, and each is the transpose of the other. */
static void
check_operators(void)
{
	struct check_many many = {0};

	for (int kind = 0; kind < 4; kind++) {
		struct radon_options o = problem(kind);
		const size_t n = o.nx * o.nt, k = scene_panel_size(&o);
		float *d = scene_noise(&rng, n), *m = scene_noise(&rng, k);
		double *wide = widen(d, n), *wide_m = widen(m, k);
		double *want = weir_alloc(k, sizeof *want), *want_d = weir_alloc(n, sizeof *want_d);
		o.mode = RADON_ADJOINT;
		float *panel = scene_run(&o, d, NULL);
		radon_direct_hyperbola_adjoint(&o, wide, want);
		const double e = panel ? scene_distance(panel, want, k) : NAN;
		o.mode = RADON_MODEL;
		float *gather = scene_run(&o, m, NULL);
		radon_direct_hyperbola_model(&o, wide_m, want_d);
		const double f = gather ? scene_distance(gather, want_d, n) : NAN;
		const double x = dot(panel, wide_m, k), y = dot(gather, wide, n);
		check_case(&many, e <= 1e-6 && f <= 1e-6, "kind %d: %g %g", kind, e, f);
		check_case(&many,
			   fabs(x - y) <= 1e-6 * sqrt(scene_energy(panel, k) * scene_energy(m, k)),
			   "kind %d: <A'd, m> = %.9g, <d, Am> = %.9g", kind, x, y);
		weir_free(d);
		weir_free(m);
		weir_free(wide);
		weir_free(wide_m);
		weir_free(want);
		weir_free(want_d);
		weir_free(panel);
		weir_free(gather);
	}
	check_end(&many,
		  "radon: hyperbolic sums are the definition's, and modelling is their transpose");
}

/* lsq and sparse, with a dead trace and muted beginnings, on one thread and on three. */
static void
check_inverses(void)
{
	struct check_many many = {0};

	for (int mode = RADON_LSQ; mode <= RADON_SPARSE; mode++)
		for (int kind = 0; kind < 4; kind++) {
			struct radon_options o = problem(kind);
			o.mode = (enum radon_mode)mode;
			o.inner = 4;
			o.raise_nu = mode == RADON_SPARSE && kind % 2;
			o.live = scene_live;
			scene_live[3] = false;
			const size_t n = o.nx * o.nt, k = scene_panel_size(&o);
			float *d = scene_noise(&rng, n);
			memset(d + 3 * o.nt, 0, o.nt * sizeof *d);
			memset(d + 5 * o.nt, 0, 9 * sizeof *d);
			memset(d + 7 * o.nt - 4, 0, 4 * sizeof *d);
			double *want = weir_alloc(k, sizeof *want);
			struct radon_report r;
			float *m = scene_run(&o, d, &r);
			radon_direct_hyperbola_inverse(&o, d, want);
			const double e = m ? scene_distance(m, want, k) : NAN;
			o.threads = 3;
			float *again = scene_run(&o, d, NULL);
			check_case(&many, e <= 2e-5 && !memcmp(m, again, k * sizeof *m),
				   "mode %d kind %d: %g", mode, kind, e);
			check_case(
			    &many,
			    r.misfit > 0 && r.misfit < 1 && r.steps == (mode == RADON_LSQ ? 4 : 7),
			    "mode %d kind %d: misfit %g, %zu steps", mode, kind, r.misfit, r.steps);
			weir_free(d);
			weir_free(want);
			weir_free(m);
			weir_free(again);
		}
	check_end(&many,
		  "radon: hyperbolic inverses are the definition's, on any number of threads");
}

/* A multiple along a slow hyperbola is removed, and a primary along a fast one stays. */
static void
check_subtract(void)
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
		float *d = weir_alloc(n, sizeof *d), *out;
		double *primary = weir_alloc(n, sizeof *primary);
		for (size_t i = 0; i < n; i++) {
			const double g = scene_g[i / o.nt];
			primary[i] = (double)scene_wavelet(&o, i, sqrt(.16 + .1 * g), 0);
			d[i] = (float)primary[i] + scene_wavelet(&o, i, sqrt(.09 + .6 * g), 0);
		}
		out = scene_run(&o, d, NULL);
		const double e = 20 * log10(scene_distance(out, primary, n));
		check_case(&many, e < (mode == RADON_LSQ ? -11 : -16), "mode %d: %.1f dB", mode, e);
		weir_free(d);
		weir_free(primary);
		weir_free(out);
	}
	check_end(&many, "radon: a slow hyperbola is subtracted, and a fast one stays");
}

static void
check_refused(void)
{
	struct radon_options o = problem(0);
	struct radon_plan *p;
	int refused = 0;

	o.q0 = -.01;
	refused += radon_plan(&p, &o) != 0;
	o = problem(0);
	o.method = RADON_NUFFT;
	refused += radon_plan(&p, &o) != 0;
	o = problem(0);
	o.nt = 1;
	refused += radon_plan(&p, &o) != 0;
	check(refused == 3, "radon: hyperbolic curves of other methods or negative q are refused",
	      "%d", refused);
}

void
check_radon_hyperbola(void)
{
	check_operators();
	check_inverses();
	check_subtract();
	check_refused();
}
