/* radon's kernels against the definition, within the CPU's bounds. */
#include <math.h>
#include <string.h>

#include "common/die.h"
#include "common/mem.h"
#include "gpu/radon.h"
#include "t/check.h"
#include "t/check_gpu.h"

enum { MAXX = 80, GATHERS = 3 };

static double g[MAXX];
static bool live[MAXX];

static const struct radon_options small = {.nt = 60,
					   .nx = 24,
					   .nq = 30,
					   .dt = .004,
					   .q0 = -.05,
					   .dq = .007,
					   .g = g,
					   .live = live,
					   .eps = .01,
					   .unfactored = true,
					   .threads = 1};

/* GATHERS gathers or panels of noise, and where their results go. */
struct trial {
	struct radon_options o;
	size_t in, out; /* samples of each */
	float *x[GATHERS], *y[GATHERS];
	double *want;
};

static void
lay_out(struct check_rng *r, size_t nx, enum radon_curve curve, double jitter)
{
	for (size_t j = 0; j < nx; j++) {
		const double x = ((double)j + .5 + jitter * (rng_unit(r) - .5)) / (double)nx;
		radon_curve(curve, 3000 * x, 3000, 2000, &g[j]);
		live[j] = true;
	}
}

static struct trial
trial_new(const struct radon_options *o, struct check_rng *r)
{
	struct trial t = {.o = *o};
	size_t ntau, lead;

	radon_fits(o, &ntau, &lead);
	const size_t gather = o->nx * o->nt, panel = o->nq * ntau;
	t.in = o->mode == RADON_MODEL ? panel : gather;
	t.out = o->mode == RADON_MODEL || o->subtract ? gather : panel;
	for (int i = 0; i < GATHERS; i++) {
		t.x[i] = weir_xalloc(t.in, sizeof *t.x[i]);
		t.y[i] = weir_xalloc(t.out, sizeof *t.y[i]);
		check_poison(t.y[i], t.out * sizeof *t.y[i]);
		for (size_t k = 0; k < t.in; k++)
			t.x[i][k] = (float)(rng_unit(r) - .5);
		for (size_t j = 0; j < o->nx && t.in == gather; j++)
			if (!live[j])
				memset(t.x[i] + j * o->nt, 0, o->nt * sizeof **t.x);
	}
	t.want = weir_xalloc(gather > panel ? gather : panel, sizeof *t.want);
	return t;
}

static void
trial_free(struct trial *t)
{
	for (int i = 0; i < GATHERS; i++) {
		weir_free(t->x[i]);
		weir_free(t->y[i]);
	}
	weir_free(t->want);
}

static int
trial_run(struct gpu *gpu, struct trial *t, size_t n, struct radon_report *report)
{
	struct radon_plan *p;

	if (radon_plan(&p, &t->o))
		die("no plan");
	const int err = gpu_radon_run(gpu, p, n, (const float *const *)t->x, t->y, report);
	radon_free(p);
	return err;
}

/* The definition for gather i: of subtract with a mute that depends on q alone. */
static void
define(struct trial *t, int i)
{
	const struct radon_options *o = &t->o;
	size_t ntau, lead;

	radon_fits(o, &ntau, &lead);
	double *m = weir_xalloc(o->nq * ntau, sizeof *m);
	for (size_t k = 0; o->mode == RADON_MODEL && k < t->in; k++)
		m[k] = (double)t->x[i][k];
	if (o->mode == RADON_MODEL) {
		radon_direct_model(o, m, t->want);
	} else if (o->mode == RADON_ADJOINT) {
		radon_direct_adjoint(o, t->x[i], t->want);
	} else {
		radon_direct_lsq(o, t->x[i], o->subtract ? m : t->want);
		double *panel = o->subtract ? m : t->want;
		for (size_t k = 0; k < o->nq * ntau; k++)
			panel[k] *= radon_mute_weight(
			    &o->mute, o->t0 + ((double)(k % ntau) - (double)lead) * o->dt,
			    o->q0 + (double)(k / ntau) * o->dq);
		if (o->subtract)
			radon_direct_model(o, m, t->want);
		for (size_t k = 0; o->subtract && k < t->out; k++)
			t->want[k] = (double)t->x[i][k] - (live[k / o->nt] ? t->want[k] : 0);
	}
	weir_free(m);
}

/* The worst relative l2 error of the gathers. */
static double
trial_error(struct trial *t)
{
	double worst = 0;

	for (int i = 0; i < GATHERS; i++) {
		double diff = 0, norm = 0;
		define(t, i);
		for (size_t k = 0; k < t->out; k++) {
			const double e = (double)t->y[i][k] - t->want[k];
			diff += e * e;
			norm += t->want[k] * t->want[k];
		}
		const double e = sqrt(diff / (norm > 0 ? norm : 1));
		worst = e <= worst ? worst : e; /* NaN counts */
	}
	return worst;
}

static void
hold(struct gpu *gpu, const struct radon_options *o, struct check_rng *r, struct check_many *many,
     double bound)
{
	struct trial t = trial_new(o, r);
	const int order = (int)many->cases % check_orders();

	check_order(order);
	const int err = trial_run(gpu, &t, GATHERS, NULL);
	const double e = err ? INFINITY : trial_error(&t);
	check_case(many, e <= bound, "%zux%zux%zu mode %d method %d eps %g, order %d: %s, %.3g",
		   o->nt, o->nx, o->nq, (int)o->mode, (int)o->method, o->eps, order,
		   err ? gpu_why(gpu) : "ran", e);
	trial_free(&t);
}

static const struct {
	size_t nt, nx, nq;
} shapes[] = {{1, 1, 1}, {40, 1, 30}, {33, 30, 1}, {50, 5, 7}, {50, 40, 13}, {61, 13, 70}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static struct radon_options
shaped(struct check_rng *r, size_t s, enum radon_method method)
{
	struct radon_options o = small;

	lay_out(r, shapes[s].nx, (enum radon_curve)(s % 3), .8);
	o.nt = shapes[s].nt;
	o.nx = shapes[s].nx;
	o.nq = shapes[s].nq;
	o.method = method;
	return o;
}

static void
transforms_agree(struct gpu *gpu, struct check_rng *r)
{
	struct check_many many = {0};

	for (size_t s = 0; s < SHAPES; s++)
		for (int method = RADON_AUTO; method <= RADON_RECURRENCE; method++)
			for (int mode = 0; mode < 2; mode++) {
				struct radon_options o = shaped(r, s, (enum radon_method)method);
				o.mode = mode ? RADON_MODEL : RADON_ADJOINT;
				hold(gpu, &o, r, &many, 2e-6);
			}
	check_end(&many, "gpu: radon, adjoint and modelling are within 2e-6 of the sums");
}

static void
bands_agree(struct gpu *gpu, struct check_rng *r)
{
	struct check_many many = {0};

	for (int mode = 0; mode < 2; mode++)
		for (int i = 0; i < 3; i++) {
			struct radon_options o = small;
			lay_out(r, o.nx, RADON_PARABOLIC, .8);
			o.mode = mode ? RADON_MODEL : RADON_ADJOINT;
			o.fmin = i == 1 ? 20 : 0;
			o.fmax = i == 2 ? 30 : 60;
			hold(gpu, &o, r, &many, 2e-6);
		}
	check_end(&many, "gpu: radon, a band is that of the definition");
}

/* Panels: the NUFFT's right-hand side has its error magnified. */
static void
lsq_agrees(struct gpu *gpu, struct check_rng *r)
{
	static const double eps[] = {.1, .01, .001};
	struct check_many many = {0};

	for (int method = RADON_AUTO; method <= RADON_NUFFT; method++)
		for (size_t e = 0; e < 3; e++)
			for (int kind = 0; kind < 3; kind++) {
				struct radon_options o = small;
				o.mode = RADON_LSQ;
				o.method = (enum radon_method)method;
				o.eps = eps[e];
				o.subtract = kind > 0;
				o.mute = (struct radon_mute){.n = 1, .q = {.03}, .taper = .02};
				lay_out(r, o.nx, RADON_PARABOLIC, .8);
				if (kind == 2)
					live[3] = live[17] = false;
				hold(gpu, &o, r, &many,
				     method == RADON_NUFFT ? 2e-6 / sqrt(eps[e]) : 1e-5);
			}
	check_end(&many, "gpu: radon, least squares are within 1e-5 of a dense double solution");
}

static void
mute_in_time_agrees(struct gpu *gpu, struct check_rng *r)
{
	struct check_many many = {0};

	for (int subtract = 0; subtract < 2; subtract++) {
		struct radon_options o = small;
		o.mode = RADON_LSQ;
		o.subtract = subtract;
		o.mute =
		    (struct radon_mute){.n = 2, .t = {.05, .15}, .q = {.02, .08}, .taper = .03};
		lay_out(r, o.nx, RADON_PARABOLIC, .8);
		hold(gpu, &o, r, &many, 1e-5);
	}
	check_end(&many, "gpu: radon, a mute that depends on time");
}

/* radon_run() of gather 0, to y. */
static void
run_on_cpu(const struct trial *t, float *y, struct radon_report *report)
{
	struct radon_options o = t->o;
	struct radon_plan *p;

	o.unfactored = false;
	if (radon_plan(&p, &o))
		die("no plan");
	struct radon_work *w = radon_work(p, 1);
	radon_run(p, w, t->x[0], y, report);
	radon_work_free(w);
	radon_free(p);
}

/* |A x - A y| / |A y| of two panels. */
static double
modelled_apart(const struct radon_options *o, const float *x, const float *y)
{
	const size_t n = o->nx * o->nt;
	double diff = 0, norm = 0;
	size_t ntau, lead;

	radon_fits(o, &ntau, &lead);
	double *m = weir_xalloc(o->nq * ntau, sizeof *m), *ax = weir_xalloc(n, sizeof *ax),
	       *ay = weir_xalloc(n, sizeof *ay);
	for (size_t k = 0; k < o->nq * ntau; k++)
		m[k] = (double)x[k];
	radon_direct_model(o, m, ax);
	for (size_t k = 0; k < o->nq * ntau; k++)
		m[k] = (double)y[k];
	radon_direct_model(o, m, ay);
	for (size_t k = 0; k < n; k++) {
		diff += (ax[k] - ay[k]) * (ax[k] - ay[k]);
		norm += ay[k] * ay[k];
	}
	weir_free(m);
	weir_free(ax);
	weir_free(ay);
	return sqrt(diff / norm);
}

/*
 * No damping and more curves than traces: Levinson's recursion is given up, as on the CPU. The solution is not unique; what
 * it models is, but for the directions that a residual of 1e-6 leaves open at low frequencies: both leave 6 % of the
 * noise's energy, and their models are .026 apart.
 */
static void
singular_systems(struct gpu *gpu, struct check_rng *r)
{
	struct radon_options o = small;
	struct radon_report report[GATHERS], cpu = {0};

	o.mode = RADON_LSQ;
	o.eps = 0;
	o.nx = 12;
	o.report = true;
	lay_out(r, o.nx, RADON_PARABOLIC, .5);
	struct trial t = trial_new(&o, r);
	check_order(0);
	const int err = trial_run(gpu, &t, GATHERS, report);
	run_on_cpu(&t, t.y[1], &cpu);
	const double apart = err ? INFINITY : modelled_apart(&o, t.y[0], t.y[1]);
	check(apart <= .05 && fabs(report[0].misfit - cpu.misfit) <= .05 * cpu.misfit &&
		  report[0].fallbacks == cpu.fallbacks && cpu.fallbacks > 0 && report[0].steps > 0,
	      "gpu: radon, singular systems go to conjugate gradients, whose models are the CPU's",
	      "%s, %.3g apart, misfit %.4g, of the CPU %.4g, %zu fallbacks, of the CPU %zu",
	      err ? gpu_why(gpu) : "ran", apart, report[0].misfit, cpu.misfit, report[0].fallbacks,
	      cpu.fallbacks);
	trial_free(&t);
}

/* What -v prints. */
static void
misfits_agree(struct gpu *gpu, struct check_rng *r)
{
	struct check_many many = {0};

	for (int method = RADON_AUTO; method <= RADON_NUFFT; method++)
		for (int i = 0; i < 2; i++) {
			struct radon_options o = small;
			struct radon_report report[GATHERS], cpu = {0};
			o.mode = RADON_LSQ;
			o.method = (enum radon_method)method;
			o.report = true;
			o.nt = 60 + (size_t)i;
			o.fmin = i ? 15 : 0;
			o.fmax = i ? 70 : 0;
			lay_out(r, o.nx, RADON_PARABOLIC, .8);
			live[3] = i;
			struct trial t = trial_new(&o, r);
			check_order(method % check_orders());
			const int err = trial_run(gpu, &t, GATHERS, report);
			run_on_cpu(&t, t.y[1], &cpu);
			check_case(&many,
				   !err && fabs(report[0].misfit - cpu.misfit) <= 1e-5 * cpu.misfit,
				   "method %d, %d: %.9g, not %.9g", method, i, report[0].misfit,
				   cpu.misfit);
			trial_free(&t);
		}
	check_end(&many, "gpu: radon, the misfit is the CPU's");
}

/* Results and reports of one device, and of several. */
static void
shares_agree(struct gpu *one, struct gpu *several, struct check_many *m)
{
	struct check_rng r = {52};

	for (int mode = 0; mode < 3; mode++) {
		struct radon_options o = small;
		struct radon_report report[2][GATHERS];
		o.mode = mode == 0 ? RADON_ADJOINT : mode == 1 ? RADON_MODEL : RADON_LSQ;
		o.report = true;
		lay_out(&r, o.nx, RADON_PARABOLIC, .8);
		struct trial t = trial_new(&o, &r);
		float *want = weir_xalloc(GATHERS * t.out, sizeof *want);
		check_order(mode);
		bool ok = !trial_run(one, &t, GATHERS, report[0]);
		for (size_t i = 0; i < GATHERS; i++) {
			memcpy(want + i * t.out, t.y[i], t.out * sizeof *want);
			check_poison(t.y[i], t.out * sizeof *want);
		}
		ok &= !trial_run(several, &t, GATHERS, report[1]);
		for (size_t i = 0; i < GATHERS && ok; i++) {
			ok &= !memcmp(want + i * t.out, t.y[i], t.out * sizeof *want);
			ok &= mode < 2 || report[0][i].misfit == report[1][i].misfit;
		}
		check_case(m, ok, "mode %d: %s", mode, gpu_why(several));
		weir_free(want);
		trial_free(&t);
	}
}

/* As many gathers at a time as fit, one at least. */
static void
short_memory_agrees(struct gpu *gpu, struct check_rng *r)
{
	struct check_many many = {0};
	struct radon_options o = small;

	o.mode = RADON_LSQ;
	for (size_t i = 0; i < 3; i++) {
		lay_out(r, o.nx, RADON_PARABOLIC, .8);
		gpu_release(gpu);
		cudacpu_memory((size_t)400000 << i);
		hold(gpu, &o, r, &many, 1e-5);
		cudacpu_memory((size_t)1 << 40);
	}
	check_end(&many, "gpu: radon takes as many gathers at a time as fit in memory");
}

/* A gather's result is the same alone and among others, in any order of threads. */
static void
same_bytes(struct gpu *gpu, struct check_rng *r)
{
	struct check_many many = {0};

	for (int mode = 0; mode < 3; mode++) {
		struct radon_options o = small;
		o.mode = mode == 0 ? RADON_ADJOINT : mode == 1 ? RADON_MODEL : RADON_LSQ;
		lay_out(r, o.nx, RADON_PARABOLIC, .8);
		struct trial t = trial_new(&o, r);
		float *one = weir_xalloc(t.out, sizeof *one);
		check_order(0);
		int err = trial_run(gpu, &t, GATHERS, NULL);
		memcpy(one, t.y[0], t.out * sizeof *one);
		for (int i = 0; i < check_orders(); i++) {
			check_order(i);
			check_poison(t.y[0], t.out * sizeof *one);
			err |= trial_run(gpu, &t, i ? GATHERS : 1, NULL);
			check_case(&many, !err && !memcmp(one, t.y[0], t.out * sizeof *one),
				   "mode %d, order %d", (int)o.mode, i);
		}
		weir_free(one);
		trial_free(&t);
	}
	check_end(&many, "gpu: radon gives the same bytes in every run, alone or in a batch");
}

void
check_gpu_radon(struct gpu *gpu)
{
	struct check_rng r = {51};

	transforms_agree(gpu, &r);
	bands_agree(gpu, &r);
	lsq_agrees(gpu, &r);
	mute_in_time_agrees(gpu, &r);
	singular_systems(gpu, &r);
	misfits_agree(gpu, &r);
	same_bytes(gpu, &r);
	if (cudacpu_memory)
		short_memory_agrees(gpu, &r);
	check_on_devices("gpu: radon gives the bytes of one device", shares_agree);
}
