/* wconv's kernels against the definition, within the bounds of gpu/wconv/wconv.h. */
#include "gpu/wconv/wconv.h"
#include "t/check_gpu.h"
#include "t/check_wconv.h"

/* --- the convolution -------------------------------------------------------------------------------------------------- */

/* Every other job tells before a step which samples come, up to here; NULL: nothing is told. */
static const char *end;

static int
step(struct wconv_plan *p, const void *in, void *out)
{
	if (end)
		gpu_ahead(gpu_on, &(struct gpu_span){in, (size_t)(end - (const char *)in)}, 1);
	const int err = gpu_wconv_run(gpu_on, p, in, out);
	return err ? err : gpu_settle(gpu_on, NULL, 0);
}

static bool
run_on(struct gpu *g, struct conv_job *j, bool told)
{
	const size_t bytes = j->q.w * j->q.h * j->q.planes * img_type_size(j->q.in);

	gpu_on = g;
	end = told ? (const char *)j->image + bytes : NULL;
	j->q.on_device = true;
	const bool ran = conv_run(j, step);
	gpu_ahead(gpu_on, NULL, 0);
	return ran;
}

/* Runs a job that is posed and filled, by direct sums and, with `both`, by transforms. */
static void
hold(struct conv_job *j, bool both, struct check_many *m)
{
	const double bound = j->q.in_double ? 1e-14 : img_is_float(j->q.out) ? 3e-7 : .501;

	for (int method = WCONV_DIRECT; method <= (both ? WCONV_FFT : WCONV_DIRECT); method++) {
		const size_t order = m->cases % check_orders();
		check_order(order);
		j->q.method = (enum wconv_method)method;
		const bool ran = run_on(gpu_on, j, m->cases % 2);
		if (ran && !j->want)
			conv_define(j);
		const double e = ran ? conv_error(j) : INFINITY;
		check_case(m, e <= bound,
			   "%zux%zux%zu, kernels %zux%zu in %zux%zu, edge %d, nan %d, method %d, "
			   "order %zu: %s, error %.3g",
			   j->q.w, j->q.h, j->q.planes, j->q.kw, j->q.kh, j->q.gx, j->q.gy,
			   (int)j->q.edge, (int)j->q.nan, method, order,
			   ran ? "ran" : gpu_why(gpu_on), e);
	}
}

static void
hold_both(struct check_many *m, struct conv_job *j)
{
	j->q.threads = 1;
	hold(j, true, m);
}

/* More planes than there are blocks along an axis of a grid but the first. */
static void
planes_agree(void)
{
	struct check_many m = {0};
	struct check_rng rng = {34};
	struct conv_job j;

	conv_pose(&j, 1, 1, 1, 1, 1, 1);
	j.q.planes = 65537;
	conv_fill(&j, &rng);
	hold(&j, false, &m);
	check_end(&m, "gpu: wconv, 65537 planes");
}

/* Steps of a few tiles and of all, shares without a row, and windows that see the other end of the picture. */
static void
shares_agree(struct gpu *one, struct check_many *m)
{
	struct gpu *const several = gpu_on;
	static const struct {
		size_t w, h, kw, kh, gx, gy;
		enum wconv_method method;
		enum wconv_edge edge;
	} cases[] = {{40, 150, 9, 7, 2, 5, WCONV_DIRECT, WCONV_REFLECT},
		     {40, 150, 9, 7, 2, 5, WCONV_FFT, WCONV_REFLECT},
		     {70, 90, 5, 13, 3, 1, WCONV_DIRECT, WCONV_WRAP},
		     {70, 90, 5, 13, 3, 1, WCONV_FFT, WCONV_WRAP},
		     {300, 2, 3, 3, 1, 1, WCONV_DIRECT, WCONV_ZERO},
		     {90, 400, 11, 5, 3, 9, WCONV_FFT, WCONV_NEAREST}};
	struct check_rng r = {38};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct conv_job j;
		conv_pose(&j, cases[i].w, cases[i].h, cases[i].kw, cases[i].kh, cases[i].gx,
			  cases[i].gy);
		j.q.threads = 1;
		j.q.method = cases[i].method;
		j.q.edge = cases[i].edge;
		j.q.planes = 1 + i / 4;
		conv_fill(&j, &r);
		check_order(i);
		bool ran = run_on(one, &j, true);
		void *const by_one = j.got;
		ran &= run_on(several, &j, true);
		check_case(m, ran && !memcmp(by_one, j.got, j.nout * img_type_size(j.q.out)),
			   "case %zu: %s", i, ran ? "they differ" : gpu_why(several));
	}
}

/* --- memory ----------------------------------------------------------------------------------------------------------- */

enum { W = 90, H = 70 };

/* With memory for one tile at a time, for some, for all, `run` makes the same bytes of a picture of W x H. */
static void
memory_agrees(size_t least, const char *name, bool (*run)(struct conv_job *j, float *to))
{
	struct check_many m = {0};
	struct check_rng rng = {44};
	float *first = check_alloc(W * H, sizeof *first), *got = check_alloc(W * H, sizeof *got);
	struct conv_job j;

	conv_pose(&j, W, H, 11, 9, 3, 4);
	j.q.method = WCONV_FFT;
	j.q.threads = 8;
	conv_fill(&j, &rng);
	for (size_t part = 0; cudacpu_memory && part < 4; part++) {
		check_memory(part < 3 ? least << (2 * part) : 0);
		check_case(&m, run(&j, part ? got : first), "%s", gpu_why(gpu_on));
		check_case(&m, !part || !memcmp(first, got, W * H * sizeof *got),
			   "other bytes with memory %zu", part);
	}
	if (cudacpu_memory)
		check_end(&m, name);
}

static bool
convolve(struct conv_job *j, float *to)
{
	const bool ran = run_on(gpu_on, j, false);

	if (ran)
		memcpy(to, j->got, W * H * sizeof *to);
	return ran;
}

static bool
adjoin(struct conv_job *j, float *to)
{
	struct wconv_plan *p;
	struct why why;
	const bool ran =
	    !wconv_plan(&p, &j->q, &why) && !gpu_wconv_adjoint(gpu_on, p, j->image, to);

	wconv_free(p);
	return ran;
}

/* One deconvolution of j's image; g NULL: by the CPU. */
static int
restore(struct gpu *g, const struct conv_job *j, struct wconv_restore_options o, float *x,
	struct wconv_restored *done, struct why *why)
{
	struct wconv_restore *r;

	o.on_device = g != NULL;
	check_poison(x, W * H * sizeof *x);
	if (wconv_restore_plan(&r, &j->q, &o, why))
		return -2;
	const int e = g ? gpu_wconv_restore(g, r, j->image, x, done, why)
			: wconv_restore_run(r, j->image, x, done, why);
	wconv_restore_free(r);
	return e;
}

static bool
deconvolve(struct conv_job *j, float *to)
{
	struct wconv_restored done;
	struct why why;

	return !restore(gpu_on, j, (struct wconv_restore_options){.steps = 3}, to, &done, &why);
}

void
check_gpu_wconv(void)
{
	check_whose("gpu: ");
	for (size_t s = 0; s < CONV_SERIES; s++)
		conv_check(&conv_series[s], hold_both);
	check_whose("");
	planes_agree();
	memory_agrees(300000, "gpu: wconv, as many tiles at a time as fit in memory", convolve);
	check_on_devices("gpu: wconv gives the bytes of one device", shares_agree);
}

/* --- the adjoint ------------------------------------------------------------------------------------------------------- */

static int
scatter(struct wconv_plan *p, const void *in, void *out)
{
	static size_t runs;

	check_order(runs++);
	return gpu_wconv_adjoint(gpu_on, p, in, out);
}

void
check_gpu_wconv_adjoint(void)
{
	conv_check_adjoint("gpu: wconv,", scatter, true);
	memory_agrees(400000,
		      "gpu: wconv's adjoint has the same bytes for any number of tiles at a time",
		      adjoin);
}

/* --- the deconvolution, against a dense matrix and against the CPU ------------------------------------------------------ */

static int
run_on_gpu(struct wconv_restore *r, const void *y, void *x, struct wconv_restored *done,
	   struct why *why)
{
	static size_t runs;

	check_order(runs++);
	return gpu_wconv_restore(gpu_on, r, y, x, done, why);
}

static void
dense_agrees(void)
{
	static const char *const names[] = {
	    "gpu: wconv's Richardson-Lucy is that of a dense matrix",
	    "gpu: wconv's least squares is the dense solution"};

	for (int i = 0; i < 2; i++) {
		struct check_many m = {0};
		dense_hold(
		    &m, (struct wconv_restore_options){.least_squares = i == 1, .on_device = true},
		    run_on_gpu);
		check_end(&m, names[i]);
	}
}

/*
 * Whether the root mean square of the difference is within twice the bound of check_wconv_dense.c. A x varies by less than a
 * factor of 3, the sums of kernels inside the picture by less than 4; the condition is 1 / damp^2 + 1.
 */
static bool
is_near(const float *got, const float *want, const struct wconv_restore_options *o, size_t steps)
{
	const double bound = o->least_squares ? (1 + 1 / (o->damp * o->damp)) * (3e-7 + 2e-6)
					      : (double)steps * (3 * 3e-7 + 4 * 2e-6);
	double miss = 0, all = 0;

	for (size_t i = 0; i < W * H; i++) {
		const double e = (double)got[i] - (double)want[i];
		miss += e * e;
		all += (double)want[i] * (double)want[i];
	}
	return sqrt(miss / all) <= 2 * bound;
}

/* Several tiles, a polynomial basis that is normalised, a mask, and a stop at the noise: after as many steps as the CPU. */
static void
stops_agree(struct check_many *m, struct check_rng *rng, size_t i)
{
	const struct wconv_restore_options o = {.least_squares = i % 2,
						.damp = .1,
						.steps = 200,
						.noise = i % 2 ? .25 : .27,
						.scatters = i / 4};
	float *got = check_alloc(W * H, sizeof *got), *want = check_alloc(W * H, sizeof *want);
	struct wconv_restored by_gpu = {0}, by_cpu = {0};
	struct conv_job j;
	struct why why;

	conv_pose(&j, W, H, 11, 9, 3, i / 2 % 2 ? 1 : 4);
	j.q.degree = i / 2 % 2 ? 1 : -1;
	j.q.scale_x = j.q.scale_y = 300;
	j.q.normalise = true;
	j.q.edge = WCONV_RENORMALISE;
	j.q.method = i / 2 % 2 ? WCONV_DIRECT : WCONV_FFT;
	j.q.threads = 8;
	conv_fill(&j, rng);
	for (size_t k = 20; k < W * H; k += 1000)
		((float *)j.image)[k] = NAN;
	check_order(i);
	check_case(m, !restore(gpu_on, &j, o, got, &by_gpu, &why), "%zu: %s", i, gpu_why(gpu_on));
	check_case(m, !restore(NULL, &j, o, want, &by_cpu, &why), "%zu: the CPU fails", i);
	check_case(m,
		   by_gpu.steps == by_cpu.steps && by_gpu.steps > 1 && by_gpu.steps < 200 &&
		       by_gpu.rms <= o.noise,
		   "%zu: %zu steps to %g, %zu to %g", i, by_gpu.steps, by_gpu.rms, by_cpu.steps,
		   by_cpu.rms);
	check_case(m, is_near(got, want, &o, by_gpu.steps), "%zu: another picture", i);
}

/* Data that cannot be deconvolved are refused with the CPU's words. */
static void
refusals_agree(struct check_many *m, struct check_rng *rng, size_t i)
{
	const struct wconv_restore_options o = {.steps = 2, .least_squares = i == 2};
	float *x = check_alloc(W * H, sizeof *x);
	struct why why = {0};
	struct wconv_restored done;
	struct conv_job j;

	conv_pose(&j, W, H, 3, 3, 1, 1);
	conv_fill(&j, rng);
	for (size_t k = 0; k < W * H && i != 1; k++)
		((float *)j.image)[k] = NAN;
	for (size_t k = 0; k < 9 && i == 1; k++)
		((float *)j.kernels)[k] *= -1;
	check_case(m,
		   restore(gpu_on, &j, o, x, &done, &why) == -1 &&
		       strstr(why.text, i == 1 ? "nothing positive" : "no sample is known"),
		   "%zu: '%s'", i, why.text);
}

void
check_gpu_wconv_restore(void)
{
	dense_agrees();
	check_each(
	    "gpu: wconv's deconvolution stops at the noise, after as many steps as the CPU's", 8,
	    45, stops_agree);
	memory_agrees(
	    1000000,
	    "gpu: wconv's deconvolution has the same bytes for any number of tiles at a time",
	    deconvolve);
	check_each("gpu: wconv refuses what cannot be deconvolved, in the CPU's words", 3, 47,
		   refusals_agree);
}
