/* wconv: kernels that are products of a column and a row, summed by these. */
#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "t/check_wconv.h"

/* Whether the plan for direct sums of the job takes the kernel for a product. */
static bool
is_product(struct conv_job *j)
{
	struct wconv_plan *p;
	struct why why;

	j->q.method = WCONV_DIRECT;
	if (wconv_plan(&p, &j->q, &why))
		return false;
	const bool product = p->product;
	wconv_free(p);
	return product;
}

/* The job at every level within bound of the definition. */
static void
hold(struct check_many *m, struct conv_job *j, double bound, const char *what)
{
	check_case(m, is_product(j), "%s, kernel %zux%zu: no product", what, j->q.kw, j->q.kh);
	for (size_t l = 0; l < 3; l++) {
		j->q.registers = 16 << l;
		const bool ran = conv_run(j, NULL, NULL);
		if (ran && l == 0)
			conv_define(j);
		const double e = ran ? conv_error(j) : INFINITY;
		check_case(m, e <= bound, "%s, %zux%zu, kernel %zux%zu, level %zu: error %.3g",
			   what, j->q.w, j->q.h, j->q.kw, j->q.kh, l, e);
	}
}

/* A Gaussian that is as wide along x and y as `wide` times the kernel, turned by `turn` radians, with the sum 1. */
static void
shape(struct conv_job *j, double wide, double turn)
{
	const size_t kw = j->q.kw, n = kw * j->q.kh;
	double sum = 0;

	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < n; i++) {
			const double x = ((double)(i % kw) - (double)j->q.cx) / (double)kw / wide;
			const double y =
			    ((double)(i / kw) - (double)j->q.cy) / (double)j->q.kh / wide;
			const double u = cos(turn) * x + sin(turn) * y,
				     v = cos(turn) * y - sin(turn) * x;
			const double g = exp(-.5 * (u * u + .3 * v * v));
			sum += pass ? 0 : g;
			if (j->q.in_double)
				((double *)j->kernels)[i] = g / sum;
			else
				((float *)j->kernels)[i] = (float)(g / sum);
		}
}

static const struct {
	size_t w, h, kw, kh;
} shapes[] = {{300, 120, 3, 5},	 {301, 119, 5, 5},  {77, 40, 9, 4},
	      {5, 3, 7, 9},	 {64, 1, 15, 15},   {1, 64, 15, 15},
	      {300, 90, 31, 31}, {1100, 70, 17, 2}, {150, 140, 101, 101}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* Noise in 0..1, and the same on a level of 100. */
static void
check_gaussians(void)
{
	struct check_many m = {0};
	struct check_rng rng = {31};

	for (size_t s = 0; s < SHAPES; s++)
		for (int kind = 0; kind < 4; kind++) {
			struct conv_job j;
			if (kind >= 2 && shapes[s].kw == 101) /* the definition is off by 9.7e-15 */
				continue;
			conv_pose(&j, shapes[s].w, shapes[s].h, shapes[s].kw, shapes[s].kh, 1, 1);
			j.q.in_double = kind >= 2;
			j.q.in = j.q.out = kind >= 2 ? IMG_F64 : IMG_F32;
			conv_fill(&j, &rng);
			shape(&j, kind % 2 ? .2 : .4, 0);
			for (size_t i = 0; kind == 1 && i < j.q.w * j.q.h; i++)
				((float *)j.image)[i] += 100;
			j.q.edge = WCONV_REFLECT;
			hold(&m, &j, kind >= 2 ? 4e-15 : 3e-7, "a Gaussian");
			conv_drop(&j);
		}
	check_end(&m,
		  "wconv: Gaussians are summed by column and row, within 3e-7 of the definition");
}

/* Kernels next to products are none. */
static void
check_others(void)
{
	struct check_many m = {0};
	struct check_rng rng = {32};
	struct conv_job j;

	conv_pose(&j, 40, 40, 9, 7, 1, 1);
	conv_fill(&j, &rng);
	check_case(&m, !is_product(&j), "noise");
	shape(&j, .3, .5);
	check_case(&m, !is_product(&j), "a Gaussian that is turned");
	shape(&j, .3, 0);
	check_case(&m, is_product(&j), "a Gaussian");
	((float *)j.kernels)[20] *= 1.00002f;
	check_case(&m, !is_product(&j), "a Gaussian with one other sample");
	shape(&j, .3, 0);
	for (size_t i = 0; i < 63; i++) /* the sum of |K| is far from |sum K| */
		((float *)j.kernels)[i] *= (float)((double)(i % 9) - 3.999);
	check_case(&m, !is_product(&j), "the derivative of a Gaussian, rounded");
	memset(j.kernels, 0, 63 * sizeof(float));
	check_case(&m, !is_product(&j), "zeros");
	shape(&j, .3, 0);
	j.q.on_device = true;
	check_case(&m, !is_product(&j), "a plan for a GPU");
	check_end(&m, "wconv: kernels that are only nearly products are summed sample by sample");
	conv_drop(&j);
}

/* Boxes, binomials and differences on integers: no result is rounded. */
static void
check_exact(void)
{
	static const double rows[][7] = {{1, 1, 1, 1, 1, 1, 1},
					 {1, 6, 15, 20, 15, 6, 1},
					 {3, 5, 0, 0, 0, 5, 3},
					 {-1, 0, 0, 0, 0, 0, 1}};
	struct check_many m = {0};
	struct check_rng rng = {33};

	for (size_t k = 0; k < 16; k++)
		for (int o = 0; o < 3; o++) {
			struct conv_job j;
			conv_pose(&j, 70, 45, 7, 7, 1, 1);
			conv_fill(&j, &rng);
			for (size_t i = 0; i < 49; i++)
				((float *)j.kernels)[i] =
				    (float)(rows[k % 4][i % 7] * rows[k / 4][i / 7]);
			for (size_t i = 0; i < 70 * 45; i++)
				((float *)j.image)[i] = (float)rng_below(&rng, 1000);
			j.q.output = (enum wconv_output)o;
			j.q.correlate = k % 3 == 1;
			j.q.cx = k % 7;
			hold(&m, &j, 0, "whole numbers");
			conv_drop(&j);
		}
	check_end(&m, "wconv: boxes, binomials and differences of whole numbers are exact");
}

/* All edges and modes, with NaN and infinity here and there. */
static void
check_unknown(void)
{
	static const char *const names[] = {"propagate", "interpolate", "zero"};
	struct check_many m = {0};
	struct check_rng rng = {34};

	for (int i = 0; i < 21; i++) {
		struct conv_job j;
		conv_pose(&j, 83, 60, 9, 11, 1, 1);
		conv_fill(&j, &rng);
		for (size_t k = 0; k < 99; k++)
			((float *)j.kernels)[k] = 1;
		for (size_t k = 0; k < 83 * 60; k++)
			((float *)j.image)[k] = k % 421 == 7	 ? NAN
						: k % 997 == 400 ? -INFINITY
								 : (float)rng_below(&rng, 100);
		j.q.nan = (enum wconv_nan)(i % 3);
		j.q.edge = (enum wconv_edge)(i / 3);
		hold(&m, &j, i % 3 == WCONV_NAN_INTERPOLATE ? 9 * 11 * 3e-7 : 6e-7, names[i % 3]);
		conv_drop(&j);
	}
	check_end(&m,
		  "wconv: sums by column and row keep the rules of unknown pixels at all edges");
}

/* Samples near the largest number: sums over columns are no larger than results. */
static void
check_large(void)
{
	struct check_many m = {0};
	struct check_rng rng = {35};
	struct conv_job j;

	conv_pose(&j, 40, 40, 5, 5, 1, 1);
	conv_fill(&j, &rng);
	shape(&j, .3, 0);
	for (size_t i = 0; i < 1600; i++)
		((float *)j.image)[i] = (i % 3 ? -3.3e38f : 3.3e38f);
	hold(&m, &j, 3e-7, "large samples");
	for (size_t i = 0; i < 25; i++)
		((float *)j.kernels)[i] *= 1e-30f;
	hold(&m, &j, 3e-7, "small kernels");
	check_end(&m, "wconv: sums by column and row overflow only where results do");
	conv_drop(&j);
}

void
check_wconv_product(void)
{
	check_gaussians();
	check_others();
	check_exact();
	check_unknown();
	check_large();
}
