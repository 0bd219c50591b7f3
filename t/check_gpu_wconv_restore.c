/* The kernels of wconv's deconvolution against a dense matrix, and against the CPU. */
#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "gpu/wconv/wconv.h"
#include "t/check_gpu.h"
#include "t/check_wconv_dense.h"

/* Runs in the next order of fibers. */
static int
run_on_gpu(void *with, struct wconv_restore *r, const void *y, void *x, struct wconv_restored *done,
	   struct why *why)
{
	static int runs;

	check_order(runs++ % check_orders());
	return gpu_wconv_restore(with, r, y, x, done, why);
}

static void
dense_agrees(struct gpu *g)
{
	struct check_many lucy = {0}, squares = {0};

	dense_hold(&lucy, (struct wconv_restore_options){.on_device = true}, run_on_gpu, g);
	check_end(&lucy, "gpu: wconv's Richardson-Lucy is that of a dense matrix");
	dense_hold(&squares,
		   (struct wconv_restore_options){.least_squares = true, .on_device = true},
		   run_on_gpu, g);
	check_end(&squares, "gpu: wconv's least squares is the dense solution");
}

enum { W = 90, H = 70 };

/* One deconvolution of j's image. */
static int
run_once(struct gpu *g, struct conv_job *j, struct wconv_restore_options o, float *x,
	 struct wconv_restored *done)
{
	struct wconv_restore *r;
	struct why why;
	int e = -1;

	o.on_device = g != NULL;
	if (wconv_restore_plan(&r, &j->q, &o, &why))
		return -1;
	check_poison(x, W * H * sizeof *x);
	e = g ? gpu_wconv_restore(g, r, j->image, x, done, &why)
	      : wconv_restore_run(r, j->image, x, done, &why);
	wconv_restore_free(r);
	return e;
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
stops_agree(struct gpu *g)
{
	struct check_many m = {0};
	struct check_rng rng = {45};
	float *got = weir_xalloc(W * H, sizeof *got), *want = weir_xalloc(W * H, sizeof *want);

	for (int i = 0; i < 8; i++) {
		const struct wconv_restore_options o = {.least_squares = i % 2,
							.damp = .1,
							.steps = 200,
							.noise = i % 2 ? .25 : .27,
							.scatters = i / 4};
		struct wconv_restored by_gpu = {0}, by_cpu = {0};
		struct conv_job j;
		conv_pose(&j, W, H, 11, 9, 3, i / 2 % 2 ? 1 : 4);
		j.q.degree = i / 2 % 2 ? 1 : -1;
		j.q.scale_x = j.q.scale_y = 300;
		j.q.normalise = true;
		j.q.edge = WCONV_RENORMALISE;
		j.q.method = i / 2 % 2 ? WCONV_DIRECT : WCONV_FFT;
		j.q.threads = 8;
		conv_fill(&j, &rng);
		for (size_t k = 20; k < W * H; k += 1000)
			((float *)j.image)[k] = NAN;
		check_order(i % check_orders());
		check_case(&m, !run_once(g, &j, o, got, &by_gpu), "%d: %s", i, gpu_why(g));
		check_case(&m, !run_once(NULL, &j, o, want, &by_cpu), "%d: the CPU fails", i);
		check_case(&m,
			   by_gpu.steps == by_cpu.steps && by_gpu.steps > 1 && by_gpu.steps < 200 &&
			       by_gpu.rms <= o.noise,
			   "%d: %zu steps to %g, %zu to %g", i, by_gpu.steps, by_gpu.rms,
			   by_cpu.steps, by_cpu.rms);
		check_case(&m, is_near(got, want, &o, by_gpu.steps), "%d: another picture", i);
		conv_drop(&j);
	}
	check_end(
	    &m, "gpu: wconv's deconvolution stops at the noise, after as many steps as the CPU's");
	weir_free(got);
	weir_free(want);
}

/* With memory for some tiles at a time, or for all, the bytes are the same. */
static void
memory_agrees(struct gpu *g)
{
	struct check_many m = {0};
	struct check_rng rng = {46};
	const struct wconv_restore_options o = {.steps = 3};
	float *first = weir_xalloc(W * H, sizeof *first), *got = weir_xalloc(W * H, sizeof *got);
	struct wconv_restored done;
	struct conv_job j;

	conv_pose(&j, W, H, 11, 9, 3, 4);
	j.q.method = WCONV_FFT;
	j.q.threads = 8;
	conv_fill(&j, &rng);
	for (size_t part = 0; part < 3; part++) {
		check_memory(g, (size_t)1000000 << (2 * part));
		check_case(&m, !run_once(g, &j, o, part ? got : first, &done), "%s", gpu_why(g));
		check_case(&m, !part || !memcmp(first, got, W * H * sizeof *got),
			   "other bytes with memory %zu", part);
		check_memory(g, 0);
	}
	check_end(
	    &m, "gpu: wconv's deconvolution has the same bytes for any number of tiles at a time");
	weir_free(first);
	weir_free(got);
	conv_drop(&j);
}

/* Data that cannot be deconvolved are refused with the CPU's words. */
static void
refusals_agree(struct gpu *g)
{
	struct check_many m = {0};
	struct check_rng rng = {47};

	for (int i = 0; i < 3; i++) {
		const struct wconv_restore_options o = {
		    .steps = 2, .least_squares = i == 2, .on_device = true};
		struct why why = {0};
		struct wconv_restored done;
		struct wconv_restore *r;
		struct conv_job j;
		float *x = weir_xalloc(W * H, sizeof *x);
		conv_pose(&j, W, H, 3, 3, 1, 1);
		conv_fill(&j, &rng);
		for (size_t k = 0; k < W * H && i != 1; k++)
			((float *)j.image)[k] = NAN;
		for (size_t k = 0; k < 9 && i == 1; k++)
			((float *)j.kernels)[k] *= -1;
		check_case(&m, !wconv_restore_plan(&r, &j.q, &o, &why), "%s", why.text);
		check_case(&m,
			   gpu_wconv_restore(g, r, j.image, x, &done, &why) == -1 &&
			       strstr(why.text, i == 1 ? "nothing positive" : "no sample is known"),
			   "%d: '%s'", i, why.text);
		wconv_restore_free(r);
		weir_free(x);
		conv_drop(&j);
	}
	check_end(&m, "gpu: wconv refuses what cannot be deconvolved, in the CPU's words");
}

void
check_gpu_wconv_restore(struct gpu *g)
{
	dense_agrees(g);
	stops_agree(g);
	if (cudacpu_memory)
		memory_agrees(g);
	refusals_agree(g);
}
