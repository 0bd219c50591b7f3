/* radon's kernels against the definition, within the CPU's bounds. */
#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "t/check_gpu.h"
#include "t/check_gpu_radon.h"

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
	check_end(&many, "gpu: radon, adjoint and modelling are within 2e-6 of the sums");
}

static void
bands_agree(struct gpu *gpu, struct check_rng *r)
{
	struct check_many many = {0};

	for (int mode = 0; mode < 2; mode++)
		for (int i = 0; i < 3; i++) {
			struct radon_options o = trial_options();
			scene_lay_out(r, o.nx, RADON_PARABOLIC, .8);
			o.mode = mode ? RADON_MODEL : RADON_ADJOINT;
			o.fmin = i == 1 ? 20 : 0;
			o.fmax = i == 2 ? 30 : 60;
			trial_hold(gpu, &o, r, &many, 2e-6);
		}
	check_end(&many, "gpu: radon, a band is that of the definition");
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
		gpu_release(gpu);
		cudacpu_memory((size_t)400000 << i);
		trial_hold(gpu, &o, r, &many, 1e-5);
		cudacpu_memory((size_t)1 << 40);
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
	bands_agree(gpu, &r);
	check_gpu_radon_lsq(gpu, &r);
	same_bytes(gpu, &r);
	if (cudacpu_memory)
		short_memory_agrees(gpu, &r);
	check_on_devices("gpu: radon gives the bytes of one device", shares_agree);
}
