/* radon's kernels against the definition, by the checks of t/check_radon.h, and beside the CPU. */
#include "gpu/radon/radon.h"
#include "t/check_gpu.h"
#include "t/check_radon.h"

enum { GATHERS = 5 };

static size_t gathers = GATHERS; /* of a run */
static size_t runs;		 /* the order of fibers changes from run to run */

/* Runs p for the gathers, and waits for the results. 0 or -errno; its reason is printed. */
static int
run_all(const struct radon_plan *p, const float *const *in, size_t bytes, float **out,
	struct radon_report *report)
{
	struct gpu_span told[GATHERS];

	for (size_t i = 0; i < gathers; i++)
		told[i] = (struct gpu_span){in[i], bytes};
	gpu_ahead(gpu_on, told, gathers);
	const int ran = gpu_radon_run(gpu_on, p, gathers, in, out, report);
	const int err = ran ? ran : gpu_settle(gpu_on, NULL, 0);
	gpu_ahead(gpu_on, NULL, 0);
	if (err)
		printf("# %s\n", gpu_why(gpu_on));
	return err;
}

/*
 * Runs the gather together with others, which are 2, 4, 8 and 16 times as strong. Each transform is linear, and a power of two
 * takes part in no rounding, so that their results are those multiples of the first one, bit by bit.
 */
static float *
gpu_run(const struct radon_options *given, const float *in, struct radon_report *report)
{
	struct radon_options o = *given;
	struct radon_report reports[GATHERS];
	struct radon_plan *p;
	const float *x[GATHERS];
	float *y[GATHERS];

	o.unfactored = true;
	o.threads = 1;
	if (radon_plan(&p, &o))
		die("no plan");
	const size_t n = o.mode == RADON_MODEL ? scene_panel_size(&o) : o.nx * o.nt;
	const size_t made = scene_out_size(&o);
	for (size_t i = 0; i < gathers; i++) {
		float *times = check_alloc(n, sizeof *times);
		for (size_t k = 0; k < n; k++)
			times[k] = ldexpf(in[k], (int)i);
		x[i] = times;
		y[i] = check_alloc(made, sizeof **y);
		check_poison(y[i], made * sizeof **y);
	}
	check_order(runs++);
	const int err = run_all(p, x, n * sizeof *in, y, reports);
	radon_free(p);
	if (report)
		*report = reports[0];
	for (size_t i = 1; i < gathers && !err; i++)
		for (size_t k = 0; k < made; k++)
			if (!(y[i][k] == ldexpf(y[0][k], (int)i))) {
				printf("# gather %zu, sample %zu: %g, not 2^%zu times %g\n", i, k,
				       (double)y[i][k], i, (double)y[0][k]);
				return NULL;
			}
	return err ? NULL : y[0];
}

static const struct scene_engine scene_gpu = {"gpu: radon, ", true, gpu_run};

static struct radon_options
options(enum radon_mode mode, struct check_rng *r)
{
	struct radon_options o = scene_small;

	o.mode = mode;
	o.nt = 60;
	o.live = scene_live;
	scene_lay_out(r, o.nx, RADON_PARABOLIC, .8);
	return o;
}

/* What -v prints, and what warnings come from. */
static void
reports_agree(struct check_many *many, struct check_rng *r, size_t set)
{
	const int method = RADON_AUTO + (int)set / 3, i = (int)set % 3;
	struct radon_options o = options(RADON_LSQ, r);
	struct radon_report got = {0}, want;
	bool edges = true;

	o.method = (enum radon_method)method;
	o.report = true;
	o.nt = 60 + (size_t)i;
	o.fmin = i == 1 ? 15 : 0;
	o.fmax = i == 1 ? 70 : 0;
	o.nu = i == 2 ? 0 : o.nu; /* singular */
	o.nx = i == 2 ? 12 : o.nx;
	const float *d = scene_noise(r, o.nx * o.nt);
	gpu_run(&o, d, &got);
	scene_cpu.run(&o, d, &want);
	for (int side = 0; side < 2; side++)
		edges &= fabs(got.edge[side] - want.edge[side]) <= 1e-4 * want.edge[side];
	const bool misfit = fabs(got.misfit - want.misfit) <= 1e-5 * want.misfit;
	check_case(many,
		   (i == 2 || (edges && misfit)) && got.fallbacks == want.fallbacks &&
		       (want.fallbacks > 0) == (i == 2),
		   "method %d, %d: %.9g, not %.9g; edges %g %g, not %g %g; %zu fallbacks, not %zu",
		   method, i, got.misfit, want.misfit, got.edge[0], got.edge[1], want.edge[0],
		   want.edge[1], got.fallbacks, want.fallbacks);
}

static const enum radon_mode modes[] = {RADON_ADJOINT, RADON_MODEL, RADON_LSQ};

/* Results and reports of one device, and of several. */
static void
shares_agree(struct gpu *one, struct check_many *m)
{
	struct gpu *const several = gpu_on;
	struct check_rng r = {52};

	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		struct radon_options o = options(modes[i], &r);
		struct radon_report a, b;
		o.report = true;
		const float *in = scene_noise(&r, scene_panel_size(&o) + o.nx * o.nt);
		gpu_on = one;
		const float *want = gpu_run(&o, in, &a);
		gpu_on = several;
		const float *got = gpu_run(&o, in, &b);
		check_case(m,
			   want && got && !memcmp(want, got, scene_out_size(&o) * sizeof *got) &&
			       (o.mode != RADON_LSQ || a.misfit == b.misfit),
			   "mode %d", (int)o.mode);
	}
}

/* As many gathers at a time as fit, one at least. */
static void
short_memory_agrees(struct check_many *many, struct check_rng *r, size_t i)
{
	const struct radon_options o = options(RADON_LSQ, r);
	const float *d = scene_noise(r, o.nx * o.nt);
	float *m;

	check_memory((size_t)400000 << i);
	const double error = scene_error(&o, d, radon_direct_lsq, &m, NULL);
	check_memory(0);
	check_case(many, error <= 1e-5, "%zu bytes: %g", (size_t)400000 << i, error);
}

/*
 * A gather's result is the same in any order of threads, and alone as among others: on a GPU only where their number is the
 * same, since cuFFT may choose other kernels for another number.
 */
static void
same_bytes(struct check_many *many, struct check_rng *r, size_t i)
{
	const struct radon_options o = options(modes[i], r);
	const float *in = scene_noise(r, scene_panel_size(&o) + o.nx * o.nt);
	const float *one = gpu_run(&o, in, NULL);

	for (size_t k = 0; k < check_orders(); k++) {
		gathers = k || !cudacpu_order ? GATHERS : 1;
		const float *again = gpu_run(&o, in, NULL);
		check_case(many,
			   one && again && !memcmp(one, again, scene_out_size(&o) * sizeof *one),
			   "mode %d, run %zu", (int)o.mode, k);
	}
	gathers = GATHERS;
}

void
check_gpu_radon(void)
{
	struct check_rng r = {51};

	scene_on = &scene_gpu;
	check_radon_transforms();
	check_radon_least_squares();
	check_each_from("gpu: radon, the misfit, the edges and the fallbacks are the CPU's",
			3 * (RADON_NUFFT - RADON_AUTO + 1), &r, reports_agree);
	check_each_from("gpu: radon gives the same bytes in every run, alone or in a batch", 3, &r,
			same_bytes);
	if (cudacpu_memory)
		check_each_from("gpu: radon takes as many gathers at a time as fit in memory", 3,
				&r, short_memory_agrees);
	check_on_devices("gpu: radon gives the bytes of one device", shares_agree);
	scene_on = &scene_cpu;
}
