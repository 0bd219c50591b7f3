#include <math.h>

#include "common/base/mem.h"
#include "t/check_radon.h"

double scene_g[SCENE_TRACES];
bool scene_live[SCENE_TRACES];

const struct radon_options scene_small = {.nt = 90,
					  .nx = 24,
					  .nq = 30,
					  .dt = .004,
					  .q0 = -.05,
					  .dq = .007,
					  .g = scene_g,
					  .nu = .008,
					  .outer = 3,
					  .inner = 20,
					  .threads = 2};

void
scene_lay_out(struct check_rng *r, size_t nx, enum radon_curve curve, double jitter)
{
	for (size_t j = 0; j < nx; j++) {
		const double x = ((double)j + .5 + jitter * (rng_unit(r) - .5)) / (double)nx;
		radon_curve(curve, 3000 * x, 3000, 2000, &scene_g[j]);
		scene_live[j] = true;
	}
}

float *
scene_noise(struct check_rng *r, size_t n)
{
	float *x = weir_alloc(n, sizeof *x);

	for (size_t i = 0; i < n; i++)
		x[i] = (float)(rng_unit(r) - .5);
	return x;
}

size_t
scene_panel_size(const struct radon_options *o)
{
	size_t ntau, lead;

	radon_fits(o, &ntau, &lead);
	return o->nq * ntau;
}

size_t
scene_out_size(const struct radon_options *o)
{
	return o->mode == RADON_MODEL || o->subtract ? o->nx * o->nt : scene_panel_size(o);
}

float *
scene_run(const struct radon_options *o, const float *in, struct radon_report *r)
{
	struct radon_plan *p;
	struct radon_work *w;
	float *out;

	if (radon_plan(&p, o))
		return NULL;
	w = radon_work(p, o->threads);
	out = weir_alloc(scene_out_size(o), sizeof *out);
	check_poison(out, scene_out_size(o) * sizeof *out);
	radon_run(p, w, in, out, r);
	radon_work_free(w);
	radon_free(p);
	return out;
}

double
scene_distance(const float *a, const double *b, size_t n)
{
	double up = 0, down = 0;

	for (size_t i = 0; i < n; i++) {
		up += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
		down += b[i] * b[i];
	}
	return sqrt(up / (down > 0 ? down : 1));
}

double
scene_energy(const float *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (double)x[i] * (double)x[i];
	return sum;
}

double
scene_decibels(const float *out, const float *wanted, size_t n)
{
	double up = 0;

	for (size_t i = 0; i < n; i++)
		up += ((double)out[i] - (double)wanted[i]) * ((double)out[i] - (double)wanted[i]);
	return 10 * log10(up / scene_energy(wanted, n));
}

float
scene_wavelet(const struct radon_options *o, size_t i, double t0, double q)
{
	const double x = M_PI * 25 * ((double)(i % o->nt) * o->dt - t0 - q * scene_g[i / o->nt]);

	return (float)((1 - 2 * x * x) * exp(-x * x));
}

double
scene_adjoint_error(struct check_rng *r, const struct radon_options *o)
{
	float *d = scene_noise(r, o->nx * o->nt), *m = scene_run(o, d, NULL);
	double *want = weir_alloc(scene_panel_size(o), sizeof *want), e = NAN;

	if (m && !radon_direct_adjoint(o, d, want))
		e = scene_distance(m, want, scene_panel_size(o));
	weir_free(d);
	weir_free(m);
	weir_free(want);
	return e;
}

double
scene_model_error(struct check_rng *r, struct radon_options o)
{
	const size_t n = scene_panel_size(&o);
	float *m = scene_noise(r, n), *d;
	double *wide = weir_alloc(n, sizeof *wide), *want = weir_alloc(o.nx * o.nt, sizeof *want);
	double e = NAN;

	o.mode = RADON_MODEL;
	for (size_t i = 0; i < n; i++)
		wide[i] = (double)m[i];
	d = scene_run(&o, m, NULL);
	if (d && !radon_direct_model(&o, wide, want))
		e = scene_distance(d, want, o.nx * o.nt);
	weir_free(d);
	weir_free(m);
	weir_free(wide);
	weir_free(want);
	return e;
}

double
scene_dot_test(struct check_rng *r, struct radon_options o)
{
	const size_t n = scene_panel_size(&o), k = o.nx * o.nt;
	float *f = scene_noise(r, k), *m = scene_noise(r, n), *rf, *am;
	double a = 0, b = 0, nf = 0, nm = 0;

	rf = scene_run(&o, f, NULL);
	o.mode = RADON_MODEL;
	am = scene_run(&o, m, NULL);
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
