/* wconv: every method, level and precision against direct.c. */
#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "t/check_wconv.h"

static const enum wconv_method methods[] = {WCONV_DIRECT, WCONV_FFT};

/* The job by both methods, at every level, within bound of the definition. */
static void
hold(struct check_many *m, struct conv_job *j, double bound, const char *what)
{
	bool defined = false;

	for (size_t i = 0; i < 2; i++)
		for (size_t l = 0; l < 3; l++) {
			j->q.method = methods[i];
			j->q.registers = 16 << l;
			if (!conv_run(j, NULL, NULL)) {
				check_case(m, false, "%s: no plan", what);
				continue;
			}
			if (!defined)
				conv_define(j);
			defined = true;
			const double e = conv_error(j);
			check_case(
			    m, e <= bound,
			    "%s, %zux%zu, kernels %zux%zu in %zux%zu, %s, level %zu: error %.3g",
			    what, j->q.w, j->q.h, j->q.kw, j->q.kh, j->q.gx, j->q.gy,
			    i ? "transforms" : "direct", l, e);
		}
}

static const struct {
	size_t w, h, kw, kh, gx, gy;
} shapes[] = {{1, 1, 1, 1, 1, 1},    {5, 3, 7, 9, 1, 1},     {64, 1, 5, 3, 3, 1},
	      {1, 64, 3, 5, 1, 3},   {97, 53, 13, 8, 4, 3},  {61, 67, 31, 17, 2, 5},
	      {128, 96, 4, 4, 8, 8}, {40, 40, 9, 9, 16, 16}, {149, 31, 2, 30, 1, 4},
	      {70, 37, 3, 3, 1, 1},  {1101, 41, 5, 5, 1, 1}, {90, 34, 7, 7, 1, 1}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void
check_shapes(void)
{
	struct check_many m = {0};
	struct check_rng rng = {1};

	for (size_t s = 0; s < SHAPES; s++) {
		struct conv_job j;
		conv_pose(&j, shapes[s].w, shapes[s].h, shapes[s].kw, shapes[s].kh, shapes[s].gx,
			  shapes[s].gy);
		conv_fill(&j, &rng);
		hold(&m, &j, 3e-7, "zero edges");
		conv_drop(&j);
	}
	check_end(&m, "wconv: awkward shapes by both methods at every level are within 3e-7 of the "
		      "definition");
}

static const char *const edges[] = {"zero", "reflect", "mirror", "nearest", "wrap", "renormalise"};

/* Gaussian kernels: sums over a part of them stay well away from 0, and most of the weight is at the centre. */
static void
shape_kernels(struct conv_job *j)
{
	const size_t n = j->q.kw * j->q.kh;

	for (size_t k = 0; k < j->q.gx * j->q.gy; k++)
		for (size_t i = 0; i < n; i++) {
			const double x =
			    ((double)(i % j->q.kw) - (double)j->q.cx) / (double)j->q.kw;
			const double y =
			    ((double)(i / j->q.kw) - (double)j->q.cy) / (double)j->q.kh;
			const double v = exp(-(4 + .3 * (double)k) * (x * x + y * y));
			if (j->q.in_double)
				((double *)j->kernels)[k * n + i] = v;
			else
				((float *)j->kernels)[k * n + i] = (float)v;
		}
}

static void
check_edges(void)
{
	struct check_many m = {0};
	struct check_rng rng = {2};

	for (size_t s = 0; s < SHAPES; s++)
		for (int e = 0; e < 6; e++) {
			struct conv_job j;
			conv_pose(&j, shapes[s].w, shapes[s].h, shapes[s].kw, shapes[s].kh,
				  shapes[s].gx, shapes[s].gy);
			conv_fill(&j, &rng);
			shape_kernels(&j);
			j.q.edge = (enum wconv_edge)e;
			hold(&m, &j, e == WCONV_RENORMALISE ? 6e-7 : 3e-7, edges[e]);
			conv_drop(&j);
		}
	check_end(&m,
		  "wconv: all edges are the definition's, also where the kernel exceeds the image");
}

/* A centre anywhere, flipped kernels, every size of output. */
static void
check_outputs(void)
{
	static const char *const names[] = {"same", "valid", "full"};
	struct check_many m = {0};
	struct check_rng rng = {3};

	for (int o = 0; o < 3; o++)
		for (int flip = 0; flip < 2; flip++)
			for (size_t c = 0; c < 3; c++) {
				struct conv_job j;
				conv_pose(&j, 71, 45, 12, 7, 3, 2);
				conv_fill(&j, &rng);
				j.q.output = (enum wconv_output)o;
				j.q.correlate = flip;
				j.q.cx = c * 5;
				j.q.cy = c * 3;
				j.q.normalise = c == 1;
				hold(&m, &j, 3e-7, names[o]);
				conv_drop(&j);
			}
	check_end(&m,
		  "wconv: same, valid and full results, flipped or not, with the centre anywhere");
}

/* Kernels of 1, pixels of small integers: known pixels are counted exactly. */
static void
flatten(struct conv_job *j, struct check_rng *rng)
{
	for (size_t i = 0; i < j->q.kw * j->q.kh * j->q.gx * j->q.gy; i++)
		((float *)j->kernels)[i] = 1;
	for (size_t i = 0; i < j->q.w * j->q.h; i++)
		((float *)j->image)[i] = (float)rng_below(rng, 100);
}

/* NaN and infinity here and there, and a hole that some windows do not look out of. */
static void
pierce(struct conv_job *j, struct check_rng *rng)
{
	float *image = j->image;

	for (size_t i = 0; i < 12; i++)
		image[rng_below(rng, j->q.w * j->q.h)] = i % 3 ? NAN : -INFINITY;
	for (size_t y = 30; y < 50; y++)
		for (size_t x = 30; x < 50; x++)
			image[y * j->q.w + x] = NAN;
}

/*
 * Filling in divides by the known part of the kernel, and multiplies the error of a transform: here by 9 x 11 where a
 * window knows a single pixel.
 */
static void
check_unknown(void)
{
	static const char *const names[] = {"propagate", "interpolate", "zero"};
	struct check_many m = {0};
	struct check_rng rng = {4};

	for (int mode = 0; mode < 3; mode++)
		for (int e = 0; e < 6; e++) {
			struct conv_job j;
			conv_pose(&j, 83, 60, 9, 11, 3, 2);
			conv_fill(&j, &rng);
			flatten(&j, &rng);
			pierce(&j, &rng);
			j.q.nan = (enum wconv_nan)mode;
			j.q.edge = (enum wconv_edge)e;
			hold(&m, &j, mode == WCONV_NAN_INTERPOLATE ? 9 * 11 * 3e-7 : 6e-7,
			     names[mode]);
			conv_drop(&j);
		}
	check_end(&m,
		  "wconv: unknown pixels reach the results whose windows have them, and no other");
}

static void
check_types(void)
{
	static const enum img_type in[] = {IMG_U8, IMG_U16, IMG_F32, IMG_F64};
	struct check_many m = {0};
	struct check_rng rng = {5};

	for (size_t t = 0; t < 4; t++)
		for (size_t planes = 1; planes <= 3; planes += 2)
			for (int twice = 0; twice < 2; twice++) {
				struct conv_job j;
				conv_pose(&j, 50, 37, 10, 9, 2, 3);
				j.q.in = in[t];
				j.q.planes = planes;
				j.q.in_double = twice;
				j.q.out = twice ? IMG_F64 : IMG_F32;
				conv_fill(&j, &rng);
				hold(&m, &j, twice ? 1e-15 * 4 : 3e-7, twice ? "double" : "float");
				conv_drop(&j);
			}
	check_end(&m,
		  "wconv: 8 and 16 bits, float and double, one plane or three, in both precisions");
}

/* Rounded and clipped results are those of the definition but where it lies next to a half. */
static void
check_rounding(void)
{
	struct check_many m = {0};
	struct check_rng rng = {6};
	struct conv_job j;

	conv_pose(&j, 64, 40, 5, 5, 2, 2);
	j.q.in = j.q.out = IMG_U8;
	j.q.top = 200;
	conv_fill(&j, &rng);
	for (size_t i = 0; i < 100; i++)
		((float *)j.kernels)[i] /= 10;
	check_case(&m, conv_run(&j, NULL, NULL), "no plan");
	conv_define(&j);
	for (size_t i = 0; i < j.nout; i++) {
		const double want = fmin(fmax(rint(j.want[i]), 0), 200);
		const bool tie = fabs(fabs(j.want[i] - floor(j.want[i])) - .5) < 1e-3;
		check_case(&m, tie || conv_got(&j, i) == want, "sample %zu: %g is not %g", i,
			   conv_got(&j, i), want);
	}
	check_end(&m, "wconv: results of the input's type are rounded and clipped to its maxval");
	conv_drop(&j);
}

/* Where a local kernel is divided by its sum, a tile's error is multiplied by its largest sum over its smallest, here 3. */
static void
check_polynomials(void)
{
	struct check_many m = {0};
	struct check_rng rng = {7};

	for (int d = 0; d <= 7; d++) {
		struct conv_job j;
		conv_pose(&j, 90, 70, 11, 13, (size_t)(d % 4 + 1) * (size_t)(d % 4 + 2) / 2, 1);
		conv_fill(&j, &rng);
		for (size_t i = 11 * 13; i < 11 * 13 * j.q.gx; i++)
			((float *)j.kernels)[i] *= .1f;
		j.q.normalise = d > 3;
		j.q.degree = d % 4;
		j.q.zero_x = 44.5;
		j.q.zero_y = 34.5;
		j.q.scale_x = 45;
		j.q.scale_y = 35;
		hold(&m, &j, d > 3 ? 3 * 3e-7 : 3e-7,
		     d > 3 ? "polynomials, normalised" : "polynomials");
		conv_drop(&j);
	}
	check_end(&m,
		  "wconv: kernels as polynomials of degree 0 to 3, also normalised at each pixel");
}

/* Copies kernel `from` over kernel `to`. */
static void
copy_kernel(struct conv_job *j, size_t to, size_t from)
{
	const size_t n = j->q.kw * j->q.kh;

	memcpy((float *)j->kernels + to * n, (float *)j->kernels + from * n, n * sizeof(float));
}

static void
check_equal_kernels(void)
{
	struct check_many m = {0};
	struct check_rng rng = {8};

	for (int kind = 0; kind < 4; kind++) {
		struct conv_job j;
		conv_pose(&j, 88, 75, 9, 10, 4, 4);
		conv_fill(&j, &rng);
		for (size_t k = 0; k < 16; k++)
			if (kind == 0) /* all */
				copy_kernel(&j, k, 0);
			else if (kind == 1) /* along x */
				copy_kernel(&j, k, k / 4 * 4);
			else if (kind == 2) /* along y */
				copy_kernel(&j, k, k % 4);
			else if (k % 4 >= 2 && k / 4 >= 2) /* a corner of the grid */
				copy_kernel(&j, k, 10);
		hold(&m, &j, 3e-7, "equal kernels");
		conv_drop(&j);
	}
	check_end(&m, "wconv: equal neighbours in the grid give what they would give apart");
}

void check_wconv(void);

void
check_wconv(void)
{
	check_shapes();
	check_edges();
	check_outputs();
	check_unknown();
	check_types();
	check_rounding();
	check_polynomials();
	check_equal_kernels();
	check_wconv_parts();
	check_wconv_more();
	check_wconv_adjoint();
	check_wconv_restore();
	check_wconv_volume();
	check_wconv_product();
}
