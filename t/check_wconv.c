/* wconv: every method, level and precision against direct.c. */
#include "t/check_wconv.h"

/* --- series of problems: each function poses problem i --------------------------------------------------------------- */

/* Makes kernel k a Gaussian that is as wide along x as `wide` times the kernel, turned by `turn` radians, with the sum 1. */
static void
shape_kernel(struct conv_job *j, size_t k, double wide, double turn)
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
			real_set(j->kernels, k * n + i, g / sum, !j->q.in_double);
		}
}

/* Gaussians: sums over a part of such kernels stay well away from 0. Even a corner of the image knows a quarter of the weight. */
static void
pose_edges(struct conv_job *j, struct check_rng *rng, size_t i)
{
	conv_pose_shape(j, i / CONV_EDGES);
	conv_fill(j, rng);
	for (size_t k = 0; k < j->q.gx * j->q.gy; k++)
		shape_kernel(j, k, .35 / (1 + .02 * (double)k), .1 * (double)k);
	j->q.edge = (enum wconv_edge)(i % CONV_EDGES);
	j->bound = j->q.edge == WCONV_RENORMALISE ? 2 * 3e-7 * 4 : 3e-7;
}

/* A centre anywhere, flipped kernels, every size of output. */
static void
pose_outputs(struct conv_job *j, struct check_rng *rng, size_t i)
{
	conv_pose(j, 71, 45, 12, 7, 3, 2);
	conv_fill(j, rng);
	j->q.output = (enum wconv_output)(i % 3);
	j->q.correlate = i / 3 % 2;
	j->q.cx = i / 6 * 5;
	j->q.cy = i / 6 * 3;
	j->q.normalise = i / 6 == 1;
	j->bound = 3e-7;
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
pose_unknown(struct conv_job *j, struct check_rng *rng, size_t i)
{
	const bool product = i / 18;

	conv_pose(j, 83, 60, 9, 11, product ? 1 : 3, product ? 1 : 2);
	conv_fill(j, rng);
	flatten(j, rng);
	pierce(j, rng);
	j->q.nan = (enum wconv_nan)(i % 3);
	j->q.edge = (enum wconv_edge)(i / 3 % CONV_EDGES);
	j->bound = j->q.nan == WCONV_NAN_INTERPOLATE ? 9 * 11 * 3e-7 : 6e-7;
}

static void
pose_types(struct conv_job *j, struct check_rng *rng, size_t i)
{
	static const enum img_type in[] = {IMG_U8, IMG_U16, IMG_F32, IMG_F64};

	conv_pose(j, 50, 37, 10, 9, 2, 3);
	j->q.in = in[i % 4];
	j->q.planes = i / 4 % 2 ? 3 : 1;
	j->q.in_double = i / 8;
	j->q.out = j->q.in_double ? IMG_F64 : IMG_F32;
	j->bound = j->q.in_double ? 4e-15 : 3e-7;
	conv_fill(j, rng);
}

/* Results are the nearest integers, but where the definition lies next to a half. */
static void
pose_integers(struct conv_job *j, struct check_rng *rng, size_t i)
{
	conv_pose(j, 64, 40, 5, 5, 2, 2);
	j->q.in = j->q.out = IMG_U8;
	j->q.top = i % 2 ? 199 : 255;
	j->q.planes = 1 + i % 3;
	j->bound = .501;
	conv_fill(j, rng);
	for (size_t k = 0; k < 100; k++)
		((float *)j->kernels)[k] /= 10;
}

/* Where a local kernel is divided by its sum, a tile's error is multiplied by its largest sum over its smallest, here 3. */
static void
pose_polynomials(struct conv_job *j, struct check_rng *rng, size_t i)
{
	const size_t degree = i % 4;

	conv_pose(j, 90, 70, 11, 13, (degree + 1) * (degree + 2) / 2, 1);
	conv_fill(j, rng);
	for (size_t k = 11 * 13; k < 11 * 13 * j->q.gx; k++)
		((float *)j->kernels)[k] *= .1f;
	j->q.normalise = i > 3;
	j->q.degree = (int)degree;
	j->q.zero_x = 44.5;
	j->q.zero_y = 34.5;
	j->q.scale_x = 45;
	j->q.scale_y = 35;
	j->bound = i > 3 ? 3 * 3e-7 : 3e-7;
}

/* Copies kernel `from` over kernel `to`. */
static void
copy_kernel(struct conv_job *j, size_t to, size_t from)
{
	const size_t n = j->q.kw * j->q.kh;

	memcpy((float *)j->kernels + to * n, (float *)j->kernels + from * n, n * sizeof(float));
}

static void
pose_equal_kernels(struct conv_job *j, struct check_rng *rng, size_t kind)
{
	conv_pose(j, 88, 75, 9, 10, 4, 4);
	conv_fill(j, rng);
	j->bound = 3e-7;
	for (size_t k = 0; k < 16; k++)
		if (kind == 0) /* all */
			copy_kernel(j, k, 0);
		else if (kind == 1) /* along x */
			copy_kernel(j, k, k / 4 * 4);
		else if (kind == 2) /* along y */
			copy_kernel(j, k, k % 4);
		else if (k % 4 >= 2 && k / 4 >= 2) /* a corner of the grid */
			copy_kernel(j, k, 10);
}

/* Noise in 0..1, and the same on a level of 100. */
static void
pose_gaussians(struct conv_job *j, struct check_rng *rng, size_t i)
{
	static const struct {
		size_t w, h, kw, kh;
	} products[] = {{300, 120, 3, 5},  {301, 119, 5, 5},  {77, 40, 9, 4},
			{5, 3, 7, 9},	   {64, 1, 15, 15},   {1, 64, 15, 15},
			{300, 90, 31, 31}, {1100, 70, 17, 2}, {110, 104, 101, 101}};
	const bool twice =
	    i / 2 % 2 && i / 4 != 8; /* in double the definition of the last is off by 9.7e-15 */

	conv_pose(j, products[i / 4].w, products[i / 4].h, products[i / 4].kw, products[i / 4].kh,
		  1, 1);
	j->q.in_double = twice;
	j->q.in = j->q.out = twice ? IMG_F64 : IMG_F32;
	j->q.edge = WCONV_REFLECT;
	j->bound = twice ? 4e-15 : 3e-7;
	conv_fill(j, rng);
	shape_kernel(j, 0, i % 2 ? .2 : .4, 0);
	for (size_t k = 0; i % 4 == 1 && k < j->q.w * j->q.h; k++)
		((float *)j->image)[k] += 100;
}

/* Boxes, binomials and differences on integers: no result is rounded. */
static void
pose_exact(struct conv_job *j, struct check_rng *rng, size_t i)
{
	static const double rows[][7] = {{1, 1, 1, 1, 1, 1, 1},
					 {1, 6, 15, 20, 15, 6, 1},
					 {3, 5, 0, 0, 0, 5, 3},
					 {-1, 0, 0, 0, 0, 0, 1}};
	const size_t k = i / 3;

	conv_pose(j, 70, 45, 7, 7, 1, 1);
	conv_fill(j, rng);
	for (size_t t = 0; t < 49; t++)
		((float *)j->kernels)[t] = (float)(rows[k % 4][t % 7] * rows[k / 4][t / 7]);
	for (size_t t = 0; t < 70 * 45; t++)
		((float *)j->image)[t] = (float)rng_below(rng, 1000);
	j->q.output = (enum wconv_output)(i % 3);
	j->q.correlate = k % 3 == 1;
	j->q.cx = k % 7;
}

/* Samples near the largest number: sums over columns are no larger than results. */
static void
pose_large(struct conv_job *j, struct check_rng *rng, size_t i)
{
	conv_pose(j, 40, 40, 5, 5, 1, 1);
	conv_fill(j, rng);
	shape_kernel(j, 0, .3, 0);
	for (size_t k = 0; k < 1600; k++)
		((float *)j->image)[k] = (k % 3 ? -3.3e38f : 3.3e38f);
	for (size_t k = 0; i && k < 25; k++)
		((float *)j->kernels)[k] *= 1e-30f;
	j->bound = 3e-7;
}

const struct conv_series conv_series[CONV_SERIES] = {
    {"wconv: all edges are the definition's, also where the kernel exceeds the image", pose_edges,
     CONV_SHAPES *CONV_EDGES, 2},
    {"wconv: same, valid and full results, flipped or not, with the centre anywhere", pose_outputs,
     18, 3},
    {"wconv: unknown pixels reach the results whose windows have them, and no other", pose_unknown,
     36, 4},
    {"wconv: 8 and 16 bits, float and double, one plane or three, in both precisions", pose_types,
     16, 5},
    {"wconv: results of the input's type are rounded and clipped to its maxval", pose_integers, 6,
     6},
    {"wconv: kernels as polynomials of degree 0 to 3, also normalised at each pixel",
     pose_polynomials, 8, 7},
    {"wconv: equal neighbours in the grid give what they would give apart", pose_equal_kernels, 4,
     8}};

/* Of one kernel, of a grid, with equal kernels or without, and of a basis. Filling in divides by the known part of a kernel, twice. */
static void
pose_variances(struct conv_job *j, struct check_rng *rng, size_t i)
{
	const size_t kind = i % 4, gx = kind == 0 ? 1 : kind == 3 ? 6 : 4;

	conv_pose(j, 61, 47, 5, 4, gx, gx == 4 ? 2 : 1);
	j->q.in_double = i / 24;
	j->q.out = j->q.in_double ? IMG_F64 : IMG_F32;
	conv_fill(j, rng);
	if (kind == 2 && !j->q.in_double)
		copy_kernel(j, 2, 1);
	for (size_t k = 20; i < 4 && k < 20 * gx * j->q.gy; k++)
		((float *)j->kernels)[k] -= .3f;
	for (size_t k = 0; k < 61 * 47; k += 17)
		((float *)j->image)[k] = i / 4 % 3 ? NAN : 1;
	j->q.variance = true;
	j->q.degree = kind == 3 ? 2 : -1;
	j->q.scale_x = j->q.scale_y = 90;
	j->q.normalise = i / 4 % 2;
	j->q.nan = (enum wconv_nan)(i / 4 % 3);
	j->q.edge = i / 12 % 2 ? WCONV_RENORMALISE : WCONV_REFLECT;
	j->bound = (j->q.in_double ? 4e-15 : 3e-7) * (i < 4 ? 1 : 8);
}

static const struct conv_series variances = {"wconv: variances go by the squares of kernels",
					     pose_variances, 48, 36};

/* Of one kernel that is the product of a column and a row. */
static const struct conv_series products[] = {
    {"wconv: Gaussians are summed by column and row, within 3e-7 of the definition", pose_gaussians,
     36, 31, true},
    {"wconv: boxes, binomials and differences of whole numbers are exact", pose_exact, 48, 33,
     true},
    {"wconv: sums by column and row overflow only where results do", pose_large, 2, 35, true}};

void
conv_check(const struct conv_series *s, void (*hold)(struct check_many *m, struct conv_job *j))
{
	struct check_many m = {0};
	struct check_rng rng = {s->seed};

	for (size_t i = 0; i < s->n; i++) {
		struct conv_job j;
		s->pose(&j, &rng, i);
		j.product = s->product;
		if (s->product)
			j.q.method = WCONV_DIRECT;
		hold(&m, &j);
		check_free();
	}
	check_end(&m, s->name);
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
	check_case(&m, conv_run(&j, NULL) && !j.product, "noise");
	shape_kernel(&j, 0, .3, .5);
	check_case(&m, conv_run(&j, NULL) && !j.product, "a Gaussian that is turned");
	shape_kernel(&j, 0, .3, 0);
	check_case(&m, conv_run(&j, NULL) && j.product, "a Gaussian");
	((float *)j.kernels)[20] *= 1.00002f;
	check_case(&m, conv_run(&j, NULL) && !j.product, "a Gaussian with one other sample");
	shape_kernel(&j, 0, .3, 0);
	for (size_t i = 0; i < 63; i++) /* the sum of |K| is far from |sum K| */
		((float *)j.kernels)[i] *= (float)((double)(i % 9) - 3.999);
	check_case(&m, conv_run(&j, NULL) && !j.product, "the derivative of a Gaussian, rounded");
	memset(j.kernels, 0, 63 * sizeof(float));
	check_case(&m, conv_run(&j, NULL) && !j.product, "zeros");
	shape_kernel(&j, 0, .3, 0);
	j.q.on_device = true;
	check_case(&m, conv_run(&j, NULL) && !j.product, "a plan for a GPU");
	check_end(&m, "wconv: kernels that are only nearly products are summed sample by sample");
}

/* --- parts of a picture ---------------------------------------------------------------------------------------------- */

/* A part of w x h pixels at (x,y): where its result lies in the whole, and whether it is as it is there. */
struct share {
	size_t x, y, w, h;
	ptrdiff_t x0, y0; /* of its result */
	size_t pw, ph;
	float *result;
};

static bool
run_part(const struct conv_job *j, struct share *t)
{
	struct conv_job part = *j;
	struct wconv_plan *p;
	struct why why;

	part.q.x0 = t->x;
	part.q.y0 = t->y;
	part.q.w = t->w;
	part.q.h = t->h;
	part.image = check_alloc(t->w * t->h, sizeof(float));
	for (size_t r = 0; r < t->h; r++)
		memcpy((float *)part.image + r * t->w,
		       (float *)j->image + (t->y + r) * j->q.w + t->x, t->w * sizeof(float));
	const bool ran = conv_run(&part, NULL) && !wconv_plan(&p, &part.q, &why);
	if (ran) {
		wconv_shape(p, &t->pw, &t->ph, &t->x0, &t->y0);
		wconv_free(p);
	}
	t->result = part.got;
	return ran && t->pw > 0 && t->ph > 0;
}

/* How many of its results in [x,x1) x [y,y1) of the whole are other bytes than there. */
static size_t
count_other(const struct conv_job *j, const struct share *t, ptrdiff_t x, ptrdiff_t x1, ptrdiff_t y,
	    ptrdiff_t y1)
{
	const float *whole = j->got;
	size_t n = 0;

	for (ptrdiff_t r = y; r < y1; r++)
		for (ptrdiff_t c = x; c < x1; c++)
			n += memcmp(t->result + (size_t)(r - t->y0) * t->pw + (size_t)(c - t->x0),
				    whole + (size_t)r * j->q.w + (size_t)c, sizeof(float)) != 0;
	return n;
}

static void
hold_part(struct check_many *m, const struct conv_job *j, size_t x, size_t y, size_t w, size_t h,
	  const char *what)
{
	struct share t = {x, y, w, h};
	const bool ran = run_part(j, &t);
	const size_t other =
	    ran ? count_other(j, &t, t.x0, t.x0 + (ptrdiff_t)t.pw, t.y0, t.y0 + (ptrdiff_t)t.ph)
		: 1;

	check_case(m, !other, "%s, %zux%zu at %zu,%zu: %zu results differ", what, w, h, x, y,
		   other);
}

static void
check_parts(struct check_many *m, struct check_rng *rng, size_t e)
{
	struct conv_job j;

	conv_pose(&j, 120, 90, 7, e < 4 ? 5 : e < 8 ? 17 : 7, e < 4 ? 3 : 1, e < 4 ? 2 : 1);
	conv_fill(&j, rng);
	if (e >= 4 && e < 8)
		conv_multiply(&j);
	j.q.edge = (enum wconv_edge)(e % 4);
	j.q.method = WCONV_DIRECT;
	check_case(m, conv_run(&j, NULL), "no plan");
	hold_part(m, &j, 0, 0, 60, 50, "the upper left part");
	hold_part(m, &j, 33, 20, 41, 30, "an inner part");
	hold_part(m, &j, 70, 40, 50, 50, "the lower right part");
}

/* The tiles of x or y that lie in [lo,hi): their results from *from up to *to. */
static void
whole_tiles(const struct wconv_plan *p, bool y, ptrdiff_t lo, ptrdiff_t hi, ptrdiff_t *from,
	    ptrdiff_t *to)
{
	const struct wconv_chosen c = wconv_chosen(p);
	const size_t n = y ? c.tiles_y : c.tiles_x;
	const ptrdiff_t end = (ptrdiff_t)(y ? p->q.H : p->q.W);

	*from = *to = -1;
	for (size_t i = 0; i < n; i++) {
		const ptrdiff_t a = wconv_border(p, y, i),
				b = i + 1 < n ? wconv_border(p, y, i + 1) : end;
		if (a < lo || b > hi)
			continue;
		*from = *from < 0 ? a : *from;
		*to = b;
	}
}

/* A part cut where tiles begin, and parts cut anywhere, of which the tiles that lie in them are held. */
static void
check_parts_of_transforms(void)
{
	struct check_many m = {0};
	struct check_rng rng = {13};
	struct why why;
	struct wconv_plan *p;
	struct conv_job j;
	ptrdiff_t x, x1, y, y1;
	size_t held = 0;

	conv_pose(&j, 500, 400, 31, 24, 4, 3);
	conv_fill(&j, &rng);
	j.q.method = WCONV_FFT;
	check_case(&m, conv_run(&j, NULL) && !wconv_plan(&p, &j.q, &why), "no plan");
	whole_tiles(p, false, 60, 440, &x, &x1);
	whole_tiles(p, true, 60, 340, &y, &y1);
	const size_t before_x = 31 - 1 - j.q.cx, before_y = 24 - 1 - j.q.cy;
	check_case(&m, x > 0 && y > 0, "too few tiles");
	hold_part(&m, &j, (size_t)x - before_x, (size_t)y - before_y, (size_t)(x1 - x) + 30,
		  (size_t)(y1 - y) + 23, "a part cut where tiles begin");
	hold_part(&m, &j, 0, 0, (size_t)x1 + j.q.cx, (size_t)y1 + j.q.cy, "the corner before it");
	for (size_t i = 0; i < 12; i++) {
		struct share t = {rng_below(&rng, 100), rng_below(&rng, 80),
				  250 + rng_below(&rng, 150), 200 + rng_below(&rng, 120)};
		check_case(&m, run_part(&j, &t), "no plan for a part");
		whole_tiles(p, false, t.x0, t.x0 + (ptrdiff_t)t.pw, &x, &x1);
		whole_tiles(p, true, t.y0, t.y0 + (ptrdiff_t)t.ph, &y, &y1);
		const size_t other = count_other(&j, &t, x, x1, y, y1);
		check_case(&m, !other, "%zux%zu at %zu,%zu: %zu results differ", t.w, t.h, t.x, t.y,
			   other);
		held += (size_t)(x1 - x) * (size_t)(y1 - y);
	}
	check_case(&m, held > 100000, "only %zu results held", held);
	wconv_free(p);
	check_end(&m,
		  "wconv: tiles that lie in a part have the bytes of the whole, by transforms too");
}

/* --- threads, long sums, filling in, what is refused ------------------------------------------------------------------- */

static void
check_threads(struct check_many *m, struct check_rng *rng, size_t i)
{
	struct conv_job j;

	conv_pose(&j, 700, 500, i % 3 ? 33 : 5, i % 3 ? 29 : 5, i >= 2 ? 1 : 5, i >= 2 ? 1 : 4);
	conv_fill(&j, rng);
	if (i == 2)
		conv_multiply(&j);
	j.q.method = i == 1 ? WCONV_FFT : WCONV_DIRECT;
	j.q.threads = 1;
	check_case(m, conv_run(&j, NULL), "no plan");
	void *one = j.got;
	for (int t = 2; t <= 5; t++) {
		j.q.threads = t;
		check_case(m, conv_run(&j, NULL) && !memcmp(one, j.got, j.nout * sizeof(float)),
			   "%d threads differ", t);
	}
}

/* The job once more in double precision, its results as the definition. false: no plan. */
static bool
define_by_transforms(struct conv_job *j)
{
	const size_t nk = j->q.kw * j->q.kh * j->q.gx * j->q.gy;
	double *kernels = check_alloc(nk, sizeof *kernels);
	struct conv_job twice = *j;

	for (size_t k = 0; k < nk; k++)
		kernels[k] = (double)((float *)j->kernels)[k];
	twice.q.kernels = kernels;
	twice.q.in_double = true;
	twice.q.out = IMG_F64;
	const bool ran = conv_run(&twice, NULL);
	j->want = twice.got;
	return ran;
}

/* The bound of wconv.h for the transforms that are chosen, on points or where the image is lit all over. */
static double
bound_of(const struct conv_job *j, bool points)
{
	struct why why;
	struct wconv_plan *p;

	if (wconv_plan(&p, &j->q, &why))
		return 0;
	struct wconv_chosen c = wconv_chosen(p);
	wconv_free(p);
	const double length = log2((double)c.px * (double)c.py);
	return points ? 3e-8 * length : fmax(3e-7, 1.8e-8 * length);
}

/* 0: the noise that is there; 1: a ramp; 2: points. */
static void
draw(struct conv_job *j, int kind)
{
	float *image = j->image;

	for (size_t i = 0; kind > 0 && i < j->q.w * j->q.h; i++)
		image[i] = kind == 1 ? (float)(i % j->q.w + i / j->q.w) : i % 1009 ? 0 : 1;
}

static const size_t lengths[] = {31, 64, 200, 300, 601, 901, 5, 7, 21, 31, 101};

/* Sums of thousands of products, added up plainly, are past the bound from 31x31 on. */
static void
check_long(struct check_many *m, struct check_rng *rng, size_t set)
{
	const bool fft = set / 3 < 6;
	const size_t size = lengths[set / 3], kind = set % 3, grid = fft ? 1 + set / 3 % 2 : 1;
	struct conv_job j;

	if (!fft && kind == 2)
		return;
	conv_pose(&j, fft ? 700 : 300, fft ? 500 : 120, size, size, grid, grid);
	conv_fill(&j, rng);
	draw(&j, (int)kind);
	for (size_t k = 0; !fft && k < j.q.w * j.q.h; k++)
		((float *)j.image)[k] += 100;
	j.q.method = fft ? WCONV_FFT : WCONV_DIRECT;
	const double bound = fft ? bound_of(&j, kind == 2) : 3e-7;
	const bool ran = conv_run(&j, NULL) && define_by_transforms(&j);
	const double e = ran ? conv_error(&j) : INFINITY;
	check_case(m, e <= bound, "kernels of %zu, image %zu: error %.3g, bound %.3g", size, kind,
		   e, bound);
}

/* The known part of the kernels' weight at each result, in place of want: ones convolved as the image is, 0 where unknown. */
static void
define_known(const struct conv_job *j, struct conv_job *ones)
{
	*ones = *j;
	ones->q.node_x = ones->node[0];
	ones->q.node_y = ones->node[1];
	ones->image = check_alloc(j->q.w * j->q.h, sizeof(float));
	for (size_t i = 0; i < j->q.w * j->q.h; i++)
		((float *)ones->image)[i] = isfinite(((float *)j->image)[i]) ? 1 : 0;
	ones->q.nan = WCONV_NAN_ZERO;
	if (j->q.edge == WCONV_RENORMALISE)
		ones->q.edge = WCONV_ZERO;
	conv_define(ones);
}

/* Where F is filled in, its error is at most 2 b (W / known) W max|I|; kernels of 1 here, so that W = kw kh. */
static void
check_filling(struct check_many *m, struct check_rng *rng, size_t e)
{
	struct conv_job j, ones;

	conv_pose(&j, 83, 60, 9, 11, 3, 2);
	conv_fill(&j, rng);
	for (size_t i = 0; i < 99 * 6; i++)
		((float *)j.kernels)[i] = 1;
	for (size_t i = 0; i < 83 * 60; i++)
		((float *)j.image)[i] =
		    i % 83 / 20 == 1 || !rng_below(rng, 60) ? NAN : (float)rng_unit(rng);
	j.q.edge = (enum wconv_edge)e;
	j.q.nan = WCONV_NAN_INTERPOLATE;
	j.q.method = WCONV_FFT;
	check_case(m, conv_run(&j, NULL), "%zu: no plan", e);
	conv_define(&j);
	ones.nout = j.nout;
	define_known(&j, &ones);
	for (size_t i = 0; i < j.nout; i++) {
		const double got = conv_got(&j, i), want = j.want[i];
		const double bound = 2 * 3e-7 * 99 / ones.want[i] * 99;
		check_case(m, isnan(got) ? isnan(want) : fabs(got - want) <= bound,
			   "edge %zu, result %zu: %.9g, not %.9g; bound %.2g", e, i, got, want,
			   bound);
	}
}

/* The program refuses the rest, or cannot ask for it. */
static void
check_refusals(void)
{
	struct check_many m = {0};
	struct check_rng rng = {12};
	struct conv_job j;

	conv_pose(&j, 10, 10, 3, 3, 2, 2);
	conv_fill(&j, &rng);
	memset(j.kernels, 0, 36 * sizeof(float));
	check_case(&m, conv_run(&j, NULL), "kernels of 0");
	j.q.cx = 3;
	check_case(&m, !conv_run(&j, NULL), "a centre outside");
	j.q.cx = 1;
	j.q.output = WCONV_VALID;
	j.q.w = j.q.W = 2;
	check_case(&m, !conv_run(&j, NULL), "no valid pixel");
	check_end(
	    &m, "wconv: kernels of 0 are taken; a centre outside, and no valid pixel, are refused");
}

/* ThreadSanitizer takes memory of its own for each allocation: 522 MB here, where the program alone takes 32. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define OWN_MEMORY 600000000
#endif
#endif
#ifndef OWN_MEMORY
#define OWN_MEMORY 0
#endif

/* A header may claim more pixels than arrive. With edges of all kinds, a plan for 4e8 pixels in a row takes 2 to 10 GB at once. */
static void
check_claims(void)
{
	struct check_many m = {0};
	struct check_rng rng = {13};
	struct conv_job j;

	conv_pose(&j, 10, 1, 3, 1, 2, 1);
	conv_fill(&j, &rng);
	j.q.w = j.q.W = 400000000;
	for (int edge = WCONV_ZERO; edge <= WCONV_RENORMALISE; edge++) {
		const size_t before = weir_peak_bytes();
		struct why why = {0};
		struct wconv_plan *p;
		j.q.edge = (enum wconv_edge)edge;
		check_case(&m, !wconv_plan(&p, &j.q, &why), "edge %d: %s", edge, why.text);
		wconv_free(p);
		check_case(&m, weir_peak_bytes() - before < OWN_MEMORY + 200000000,
			   "edge %d: %zu bytes", edge, weir_peak_bytes() - before);
	}
	check_end(&m, "wconv: a plan writes to no memory of pixels that have not arrived");
}

void
check_wconv(void)
{
	for (size_t i = 0; i < CONV_SERIES; i++)
		conv_check(&conv_series[i], conv_hold);
	conv_check(&variances, conv_hold);
	for (size_t i = 0; i < sizeof products / sizeof *products; i++)
		conv_check(&products[i], conv_hold);
	check_others();
	check_each("wconv: a part that knows its place gives the same bytes as the whole", 12, 9,
		   check_parts);
	check_parts_of_transforms();
	check_each("wconv: the same bytes for any number of threads", 4, 10, check_threads);
	check_each("wconv: long transforms are within 1.8e-8 log2(Px Py) of double precision, "
		   "points within 3e-8, long sums within 3e-7",
		   3 * sizeof lengths / sizeof *lengths, 14, check_long);
	check_each(
	    "wconv: filling in multiplies the error by twice the inverse of the known weight", 6,
	    15, check_filling);
	check_refusals();
	check_claims();
	check_wconv_adjoint();
	check_wconv_restore();
	check_wconv_volume();
}
