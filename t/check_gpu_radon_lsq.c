/* radon's least squares on the GPU: against the definition, the normal equations and the CPU's reports. */
#include <complex.h>
#include <math.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "t/check_gpu.h"
#include "t/check_gpu_radon.h"

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

void
check_gpu_radon_lsq(struct gpu *gpu, struct check_rng *r)
{
	lsq_agrees(gpu, r);
	curves_agree(gpu, r);
	mute_in_time_agrees(gpu, r);
	singular_systems(gpu, r);
	misfits_agree(gpu, r);
}
