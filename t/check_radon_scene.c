#include <math.h>

#include "common/mem.h"
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
					  .inner = 10,
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

float
scene_wavelet(const struct radon_options *o, size_t i, double t0, double q)
{
	const double x = M_PI * 25 * ((double)(i % o->nt) * o->dt - t0 - q * scene_g[i / o->nt]);

	return (float)((1 - 2 * x * x) * exp(-x * x));
}
