/* radon's kernels against the definition, within the CPU's bounds; least squares against the normal equations and the CPU's reports too. */
#include <complex.h>
#include <math.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "gpu/radon/radon.h"
#include "t/check_gpu.h"
#include "t/check_radon.h"

enum { GATHERS = 5 };

/* GATHERS gathers or panels of noise, and where their results go. */
struct trial {
	struct radon_options o;
	size_t in, out; /* samples of each */
	float *x[GATHERS], *y[GATHERS];
	double *want;
};

/* The scene of t/check_radon.h for the GPU: its live traces, one thread. */
static struct radon_options
trial_options(void)
{
	struct radon_options o = scene_small;

	o.nt = 60;
	o.live = scene_live;
	o.unfactored = true;
	o.threads = 1;
	return o;
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
			if (!scene_live[j])
				memset(t.x[i] + j * o->nt, 0, o->nt * sizeof **t.x);
		if (o->subtract)
			memset(t.x[i], 0, (o->nt + 3) / 4 * sizeof **t.x);
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

/* The first n gathers, poisoned before by trial_new(); what gpu_radon_run() gives. */
static int
trial_run(struct gpu *gpu, struct trial *t, size_t n, struct radon_report *report)
{
	struct radon_plan *p;

	if (radon_plan(&p, &t->o))
		die("no plan");
	struct gpu_span told[GATHERS];
	for (size_t i = 0; i < n; i++)
		told[i] = (struct gpu_span){t->x[i], t->in * sizeof *t->x[i]};
	gpu_ahead(gpu, told, n);
	const int ran = gpu_radon_run(gpu, p, n, (const float *const *)t->x, t->y, report);
	const int err = ran ? ran : gpu_settle(gpu, NULL, 0);
	gpu_ahead(gpu, NULL, 0);
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
			t->want[k] = (double)t->x[i][k] - (scene_live[k / o->nt] ? t->want[k] : 0);
		for (size_t k = 0; o->subtract && k < (o->nt + 3) / 4; k++)
			t->want[k] = 0;
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

/* A case of many: a new trial of o against the definition, whose relative l2 error is at most bound. */
static void
trial_hold(struct gpu *gpu, const struct radon_options *o, struct check_rng *r,
	   struct check_many *many, double bound)
{
	struct trial t = trial_new(o, r);
	const int order = (int)many->cases % check_orders();

	check_order(order);
	const int err = trial_run(gpu, &t, GATHERS, NULL);
	const double e = err ? INFINITY : trial_error(&t);
	check_case(many, e <= bound, "%zux%zux%zu mode %d method %d nu %g, order %d: %s, %.3g",
		   o->nt, o->nx, o->nq, (int)o->mode, (int)o->method, o->nu, order,
		   err ? gpu_why(gpu) : "ran", e);
	trial_free(&t);
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
				struct radon_options o = trial_options();
				o.mode = RADON_LSQ;
				o.method = (enum radon_method)method;
				o.nu = eps[e] * (double)o.nx / (double)o.nq;
				o.subtract = kind > 0;
				o.mute = (struct radon_mute){.n = 1, .q = {.03}, .taper = .02};
				scene_lay_out(r, o.nx, RADON_PARABOLIC, .8);
				if (kind == 2)
					scene_live[3] = scene_live[17] = false;
				trial_hold(gpu, &o, r, &many,
					   (method == RADON_NUFFT ? 2e-6 : 1e-6) / sqrt(eps[e]));
			}
	check_end(&many,
		  "gpu: radon, least squares are within 1e-6 sqrt(nx / NU nq) of a dense double "
		  "solution (NUFFT: 2e-6)");
}

/* More curves than lanes, as many as a lane's registers hold, and more: 4, 8, 12, 16 a lane, and in memory. */
static void
curves_agree(struct gpu *gpu, struct check_rng *r)
{
	static const size_t nq[] = {1, 2, 128, 129, 300, 500, 515};
	struct check_many many = {0};

	for (size_t i = 0; i < sizeof nq / sizeof *nq; i++) {
		struct radon_options o = trial_options();
		o.mode = RADON_LSQ;
		o.nt = nq[i] < 200 ? 12 : 3;
		o.nq = nq[i];
		o.dq = .1 / (double)nq[i];
		o.nu = .01 * (double)o.nx / (double)o.nq;
		scene_lay_out(r, o.nx, RADON_PARABOLIC, .8);
		trial_hold(gpu, &o, r, &many, 1e-5);
	}
	check_end(&many, "gpu: radon, least squares of any number of curves");
}

static void
mute_in_time_agrees(struct gpu *gpu, struct check_rng *r)
{
	struct check_many many = {0};

	for (int subtract = 0; subtract < 2; subtract++) {
		struct radon_options o = trial_options();
		o.mode = RADON_LSQ;
		o.subtract = subtract;
		o.mute =
		    (struct radon_mute){.n = 2, .t = {.05, .15}, .q = {.02, .08}, .taper = .03};
		scene_lay_out(r, o.nx, RADON_PARABOLIC, .8);
		trial_hold(gpu, &o, r, &many, 1e-5);
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

static double
norm_of(const float *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (double)x[i] * (double)x[i];
	return sqrt(sum);
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
	const double u = log2((double)ntau) / (1 << 24), in = norm_of(d, o->nx * o->nt),
		     out = norm_of(m, o->nq * ntau);
	complex double *room = weir_xalloc(o->nx + o->nq * (1 + o->nx), sizeof *room);
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
	weir_free(room);
	return worst;
}

/* No damping and more curves than traces: Levinson's recursion is given up, as on the CPU. */
static void
singular_systems(struct gpu *gpu, struct check_rng *r)
{
	struct radon_options o = trial_options();
	struct radon_report report[GATHERS], cpu = {0};

	o.mode = RADON_LSQ;
	o.nu = 0;
	o.nx = 12;
	o.report = true;
	scene_lay_out(r, o.nx, RADON_PARABOLIC, .5);
	struct trial t = trial_new(&o, r);
	check_order(0);
	const int err = trial_run(gpu, &t, GATHERS, report);
	const double left = err ? INFINITY : residual(&o, t.x[0], t.y[0]);
	run_on_cpu(&t, t.y[1], &cpu);
	const double cpus = residual(&o, t.x[0], t.y[1]);
	check(left <= 1 && cpus <= 1 && report[0].fallbacks == cpu.fallbacks && cpu.fallbacks > 0 &&
		  report[0].steps > 0,
	      "gpu: radon, singular systems go to conjugate gradients, which solve each frequency",
	      "%s, leaves %.3g of what it may, the CPU %.3g, %zu fallbacks, of the CPU %zu",
	      err ? gpu_why(gpu) : "ran", left, cpus, report[0].fallbacks, cpu.fallbacks);
	trial_free(&t);
}

static bool
same_edge(double a, double b)
{
	return fabs(a - b) <= 1e-4 * b;
}

/* What -v prints, and what warnings come from. */
static void
misfits_agree(struct gpu *gpu, struct check_rng *r)
{
	struct check_many many = {0};

	for (int method = RADON_AUTO; method <= RADON_NUFFT; method++)
		for (int i = 0; i < 2; i++) {
			struct radon_options o = trial_options();
			struct radon_report report[GATHERS], cpu = {0};
			o.mode = RADON_LSQ;
			o.method = (enum radon_method)method;
			o.report = true;
			o.nt = 60 + (size_t)i;
			o.fmin = i ? 15 : 0;
			o.fmax = i ? 70 : 0;
			scene_lay_out(r, o.nx, RADON_PARABOLIC, .8);
			scene_live[3] = i;
			struct trial t = trial_new(&o, r);
			check_order(method % check_orders());
			const int err = trial_run(gpu, &t, GATHERS, report);
			run_on_cpu(&t, t.y[1], &cpu);
			const bool edges = same_edge(report[0].edge[0], cpu.edge[0]) &&
					   same_edge(report[0].edge[1], cpu.edge[1]);
			check_case(&many,
				   !err && edges &&
				       fabs(report[0].misfit - cpu.misfit) <= 1e-5 * cpu.misfit,
				   "method %d, %d: %.9g, not %.9g; edges %g %g, not %g %g", method,
				   i, report[0].misfit, cpu.misfit, report[0].edge[0],
				   report[0].edge[1], cpu.edge[0], cpu.edge[1]);
			trial_free(&t);
		}
	check_end(&many, "gpu: radon, the misfit and the edges are the CPU's");
}

static void
least_squares_agree(struct gpu *gpu, struct check_rng *r)
{
	lsq_agrees(gpu, r);
	curves_agree(gpu, r);
	mute_in_time_agrees(gpu, r);
	singular_systems(gpu, r);
	misfits_agree(gpu, r);
}

static const struct {
	size_t nt, nx, nq;
} shapes[] = {{1, 1, 1},    {40, 1, 30},  {33, 30, 1}, {50, 5, 7},
	      {50, 40, 13}, {61, 13, 70}, {20, 3, 600}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static struct radon_options
shaped(struct check_rng *r, size_t s, enum radon_method method)
{
	struct radon_options o = trial_options();

	scene_lay_out(r, shapes[s].nx, (enum radon_curve)(s % 3), .8);
	o.nt = shapes[s].nt;
	o.nx = shapes[s].nx;
	o.nq = shapes[s].nq;
	o.method = method;
	return o;
}

/* All shapes; then bands. */
static void
transforms_agree(struct gpu *gpu, struct check_rng *r)
{
	struct check_many many = {0};

	for (size_t s = 0; s < SHAPES; s++)
		for (int method = RADON_AUTO; method <= RADON_RECURRENCE; method++)
			for (int mode = 0; mode < 2; mode++) {
				struct radon_options o = shaped(r, s, (enum radon_method)method);
				o.mode = mode ? RADON_MODEL : RADON_ADJOINT;
				trial_hold(gpu, &o, r, &many, 2e-6);
			}
	for (int i = 0; i < 6; i++) {
		struct radon_options o = trial_options();
		scene_lay_out(r, o.nx, RADON_PARABOLIC, .8);
		o.mode = i / 3 ? RADON_MODEL : RADON_ADJOINT;
		o.fmin = i % 3 == 1 ? 20 : 0;
		o.fmax = i % 3 == 2 ? 30 : 60;
		trial_hold(gpu, &o, r, &many, 2e-6);
	}
	check_end(&many,
		  "gpu: radon, adjoint and modelling, of bands too, are within 2e-6 of the sums");
}

/* Results and reports of one device, and of several. */
static void
shares_agree(struct gpu *one, struct gpu *several, struct check_many *m)
{
	struct check_rng r = {52};

	for (int mode = 0; mode < 3; mode++) {
		struct radon_options o = trial_options();
		struct radon_report report[2][GATHERS];
		o.mode = mode == 0 ? RADON_ADJOINT : mode == 1 ? RADON_MODEL : RADON_LSQ;
		o.report = true;
		scene_lay_out(&r, o.nx, RADON_PARABOLIC, .8);
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
	struct radon_options o = trial_options();

	o.mode = RADON_LSQ;
	for (size_t i = 0; i < 3; i++) {
		scene_lay_out(r, o.nx, RADON_PARABOLIC, .8);
		check_memory(gpu, (size_t)400000 << i);
		trial_hold(gpu, &o, r, &many, 1e-5);
		check_memory(gpu, 0);
	}
	check_end(&many, "gpu: radon takes as many gathers at a time as fit in memory");
}

/*
 * A gather's result is the same in any order of threads, and alone as among others: on a GPU only where their number is the
 * same, since cuFFT may choose other kernels for another number.
 */
static void
same_bytes(struct gpu *gpu, struct check_rng *r)
{
	struct check_many many = {0};

	for (int mode = 0; mode < 3; mode++) {
		struct radon_options o = trial_options();
		o.mode = mode == 0 ? RADON_ADJOINT : mode == 1 ? RADON_MODEL : RADON_LSQ;
		scene_lay_out(r, o.nx, RADON_PARABOLIC, .8);
		struct trial t = trial_new(&o, r);
		float *one = weir_xalloc(t.out, sizeof *one);
		check_order(0);
		int err = trial_run(gpu, &t, GATHERS, NULL);
		memcpy(one, t.y[0], t.out * sizeof *one);
		for (int i = 0; i < check_orders(); i++) {
			check_order(i);
			check_poison(t.y[0], t.out * sizeof *one);
			err |= trial_run(gpu, &t, i || !cudacpu_order ? GATHERS : 1, NULL);
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
	least_squares_agree(gpu, &r);
	same_bytes(gpu, &r);
	if (cudacpu_memory)
		short_memory_agrees(gpu, &r);
	check_on_devices("gpu: radon gives the bytes of one device", shares_agree);
}
