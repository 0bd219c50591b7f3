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
	float *x = check_alloc(n, sizeof *x);

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

static float *
cpu_run(const struct radon_options *o, const float *in, struct radon_report *r)
{
	struct radon_plan *p;
	float *out;

	if (radon_plan(&p, o))
		return NULL;
	struct radon_work *w = radon_work(p, o->threads);
	out = check_alloc(scene_out_size(o), sizeof *out);
	check_poison(out, scene_out_size(o) * sizeof *out);
	radon_run(p, w, in, out, r);
	radon_work_free(w);
	radon_free(p);
	return out;
}

const struct scene_engine scene_cpu = {"radon: ", false, cpu_run};
const struct scene_engine *scene_on = &scene_cpu;

float *
scene_run(const struct radon_options *o, const float *in, struct radon_report *r)
{
	return scene_on->run(o, in, r);
}

double
scene_dot(const float *a, const float *b, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (double)a[i] * (double)b[i];
	return sum;
}

double
scene_energy(const float *x, size_t n)
{
	return scene_dot(x, x, n);
}

float
scene_wavelet(const struct radon_options *o, size_t i, double t0, double q)
{
	const double x = M_PI * 25 * ((double)(i % o->nt) * o->dt - t0 - q * scene_g[i / o->nt]);

	return (float)((1 - 2 * x * x) * exp(-x * x));
}

void
scene_events(const struct radon_options *o, float *d)
{
	for (size_t i = 0; i < o->nx * o->nt; i++)
		for (int e = 0; e < 6; e++)
			d[i] += scene_wavelet(o, i, (.2 + .25 * (e / 2)) * (double)o->nt * o->dt,
					      e % 2 ? .1 : 0);
}

double *
scene_widen(const float *x, size_t n)
{
	double *y = check_alloc(n, sizeof *y);

	for (size_t i = 0; i < n; i++)
		y[i] = (double)x[i];
	return y;
}

double
scene_error(const struct radon_options *o, const float *d, scene_direct *direct, float **got,
	    struct radon_report *r)
{
	double *want = check_alloc(scene_panel_size(o), sizeof *want);

	*got = scene_run(o, d, r);
	return *got && !direct(o, d, want) ? check_apart(*got, true, want, scene_panel_size(o), 0)
					   : NAN;
}

float *
scene_damaged(struct check_rng *r, const struct radon_options *o)
{
	float *d = scene_noise(r, o->nx * o->nt);

	scene_live[3] = false;
	memset(d + 3 * o->nt, 0, o->nt * sizeof *d);
	memset(d + 5 * o->nt, 0, 9 * sizeof *d);
	memset(d + 7 * o->nt - 4, 0, 4 * sizeof *d);
	return d;
}

void
scene_inverse(struct check_many *many, struct radon_options o, const float *d, double bound)
{
	const size_t n = scene_panel_size(&o);
	struct radon_report r;
	float *m;

	o.inner = 4;
	o.live = scene_live;
	const double e = scene_error(&o, d, radon_direct_sparse, &m, &r);
	o.threads = 3;
	const float *again = scene_run(&o, d, NULL);
	check_case(many,
		   e <= bound && !memcmp(m, again, n * sizeof *m) && r.misfit > 0 && r.misfit < 1 &&
		       r.steps == (o.mode == RADON_LSQ ? 4 : 7),
		   "mode %d, %zu samples, from %g Hz: %g, misfit %g, %zu steps", (int)o.mode, o.nt,
		   o.fmin, e, r.misfit, r.steps);
}

double
scene_adjoint_error(struct check_rng *r, const struct radon_options *o)
{
	float *m;

	return scene_error(o, scene_noise(r, o->nx * o->nt), radon_direct_adjoint, &m, NULL);
}

/*
 * A gather of few samples is a small window of what a panel's curves meet, and may by chance hold hardly any of its energy. So it
 * is one of several, of as many panels, which have 64 samples or more.
 */
double
scene_model_error(struct check_rng *r, struct radon_options o)
{
	const size_t n = scene_panel_size(&o), k = o.nx * o.nt, panels = (64 + k - 1) / k;
	float *got = check_alloc(panels * k, sizeof *got);
	double *want = check_alloc(panels * k, sizeof *want);

	o.mode = RADON_MODEL;
	for (size_t i = 0; i < panels; i++) {
		const float *m = scene_noise(r, n), *d = scene_run(&o, m, NULL);
		if (!d || radon_direct_model(&o, scene_widen(m, n), want + i * k))
			return NAN;
		memcpy(got + i * k, d, k * sizeof *d);
	}
	return check_apart(got, true, want, panels * k, 0);
}

double
scene_dot_test(struct check_rng *r, struct radon_options o)
{
	const size_t n = scene_panel_size(&o), k = o.nx * o.nt;
	float *f = scene_noise(r, k), *m = scene_noise(r, n), *rf, *am;

	rf = scene_run(&o, f, NULL);
	o.mode = RADON_MODEL;
	am = scene_run(&o, m, NULL);
	return fabs(scene_dot(rf, m, n) - scene_dot(f, am, k)) /
	       sqrt(scene_energy(rf, n) * scene_energy(m, n));
}
