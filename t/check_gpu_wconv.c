/* wconv's kernels against the definition, within the bound of the page. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "common/mem.h"
#include "gpu/wconv.h"
#include "t/check.h"
#include "t/check_gpu.h"

enum { NODES = 16 };

/* A problem with what it borrows. */
struct job {
	struct wconv_problem q;
	double node[2][NODES];
	void *kernels, *image;
	double *want;
	void *got;
	size_t n; /* results */
};

static struct job
job_new(struct check_rng *r, size_t w, size_t h, size_t kw, size_t kh, size_t gx, size_t gy)
{
	struct job j = {.q = {.w = w,
			      .h = h,
			      .planes = 1,
			      .in = IMG_F32,
			      .out = IMG_F32,
			      .W = w,
			      .H = h,
			      .kw = kw,
			      .kh = kh,
			      .gx = gx,
			      .gy = gy,
			      .step_row = kw,
			      .step_x = kw * kh,
			      .step_y = kw * kh * gx,
			      .degree = -1,
			      .scale_x = 1,
			      .scale_y = 1,
			      .cx = rng_below(r, kw),
			      .cy = rng_below(r, kh),
			      .threads = 1,
			      .method = WCONV_DIRECT}};

	for (size_t i = 0; i < gx; i++)
		j.node[0][i] = ((double)i + .5) * (double)w / (double)gx - .5;
	for (size_t i = 0; i < gy; i++)
		j.node[1][i] = ((double)i + .5) * (double)h / (double)gy - .5;
	return j;
}

static double
random_pixel(struct check_rng *r, const struct wconv_problem *q)
{
	if (!img_is_float(q->in))
		return (double)rng_below(r, 200);
	return rng_below(r, 150) || q->nan == WCONV_NAN_PROPAGATE ? rng_unit(r) : (double)NAN;
}

static void
job_fill(struct job *j, struct check_rng *r)
{
	const struct wconv_problem *q = &j->q;
	const size_t nk = q->gx * q->gy * q->kw * q->kh, ni = q->w * q->h * q->planes;

	j->kernels = weir_xalloc(nk, sizeof(double));
	j->image = weir_xalloc(ni, sizeof(double));
	for (size_t i = 0; i < nk; i++)
		if (q->in_double)
			((double *)j->kernels)[i] = rng_unit(r);
		else
			((float *)j->kernels)[i] = (float)rng_unit(r);
	for (size_t i = 0; i < ni; i++) {
		const double v = random_pixel(r, q);
		if (q->in == IMG_U8)
			((uint8_t *)j->image)[i] = (uint8_t)v;
		else if (q->in == IMG_F64)
			((double *)j->image)[i] = v;
		else
			((float *)j->image)[i] = (float)v;
	}
	if (img_is_float(q->in) && q->nan == WCONV_NAN_PROPAGATE && ni > 40)
		memset((char *)j->image + 20 * img_type_size(q->in), 0xff, img_type_size(q->in));
}

static void
job_free(struct job *j)
{
	weir_free(j->kernels);
	weir_free(j->image);
	weir_free(j->want);
	weir_free(j->got);
}

/* got: by the kernels, step by step; want: by the definition. */
static bool
job_run(struct gpu *g, struct job *j)
{
	const size_t in_row = j->q.w * j->q.planes * img_type_size(j->q.in);
	size_t w, h, in = 0, out = 0;
	char err[WCONV_ERR];
	struct wconv_plan *p;
	ptrdiff_t x0, y0;
	bool ran = true;

	j->q.kernels = j->kernels;
	j->q.node_x = j->node[0];
	j->q.node_y = j->node[1];
	if (wconv_plan(&p, &j->q, NULL, err))
		return false;
	wconv_shape(p, &w, &h, &x0, &y0);
	const size_t out_row = w * j->q.planes * img_type_size(j->q.out);
	j->n = w * h * j->q.planes;
	j->got = weir_xalloc(j->n, img_type_size(j->q.out));
	j->want = weir_xalloc(j->n, sizeof *j->want);
	check_poison(j->got, h * out_row);
	for (size_t i = 0; i < wconv_count(p); i++) {
		const struct wconv_step s = wconv_steps(p, i);
		ran &= !gpu_wconv_run(g, p, (char *)j->image + in * in_row,
				      (char *)j->got + out * out_row);
		in += s.rows_in;
		out += s.rows_out;
	}
	wconv_free(p);
	wconv_direct(&j->q, j->image, j->want);
	return ran && in == j->q.h && out == h;
}

/* max |got - want| / max |want|, of integers max |got - want|; INFINITY where one is NaN and the other not. */
static double
job_error(const struct job *j)
{
	double worst = 0, peak = 0;

	for (size_t i = 0; i < j->n; i++) {
		const double b = j->want[i], a = j->q.out == IMG_F64  ? ((const double *)j->got)[i]
						 : j->q.out == IMG_U8 ? ((const uint8_t *)j->got)[i]
								      : ((const float *)j->got)[i];
		if (isnan(a) != isnan(b))
			return INFINITY;
		worst = isnan(a) ? worst : fmax(worst, fabs(a - b));
		peak = isnan(a) ? peak : fmax(peak, fabs(b));
	}
	return peak > 0 && j->q.out != IMG_U8 ? worst / peak : worst;
}

/* Fills, runs, compares and frees. */
static void
hold(struct gpu *g, struct job *j, struct check_rng *r, struct check_many *m, double bound)
{
	const int order = (int)m->cases % check_orders();

	check_order(order);
	job_fill(j, r);
	const bool ran = job_run(g, j);
	const double e = ran ? job_error(j) : INFINITY;
	check_case(
	    m, e <= bound,
	    "%zux%zux%zu, kernels %zux%zu in %zux%zu, edge %d, nan %d, order %d: %s, error %.3g",
	    j->q.w, j->q.h, j->q.planes, j->q.kw, j->q.kh, j->q.gx, j->q.gy, (int)j->q.edge,
	    (int)j->q.nan, order, ran ? "ran" : gpu_why(g), e);
	job_free(j);
}

static const struct {
	size_t w, h, kw, kh, gx, gy;
} shapes[] = {{1, 1, 1, 1, 1, 1},     {5, 3, 7, 9, 1, 1},    {300, 1, 5, 3, 3, 1},
	      {1, 64, 3, 5, 1, 3},    {97, 33, 13, 8, 4, 3}, {40, 40, 33, 9, 16, 16},
	      {270, 31, 2, 30, 1, 4}, {600, 20, 65, 3, 2, 2}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static struct job
shaped(struct check_rng *r, size_t s)
{
	return job_new(r, shapes[s].w, shapes[s].h, shapes[s].kw, shapes[s].kh, shapes[s].gx,
		       shapes[s].gy);
}

static void
shapes_agree(struct gpu *g)
{
	struct check_many m = {0};
	struct check_rng r = {31};

	for (size_t s = 0; s < SHAPES; s++)
		for (int e = 0; e < 6; e++) {
			struct job j = shaped(&r, s);
			j.q.edge = (enum wconv_edge)((e + (int)s) % 6);
			j.q.constant = .75;
			j.q.correlate = e % 2;
			j.q.normalise = e % 3 == 1;
			j.q.output = e == 2 ? WCONV_FULL : WCONV_SAME;
			j.q.nan = WCONV_NAN_ZERO;
			hold(g, &j, &r, &m, 3e-7);
		}
	check_end(&m, "gpu: wconv, awkward shapes and edges are within 3e-7 of the definition");
}

/* Kernels that differ along x, along y, both or not, taller and wider than the picture, many tiles and few. */
static void
transforms_agree(struct gpu *g)
{
	struct check_many m = {0};
	struct check_rng r = {36};

	for (size_t s = 0; s < 3 * SHAPES; s++) {
		struct job j = shaped(&r, s % SHAPES);
		j.q.method = WCONV_FFT;
		j.q.edge = (enum wconv_edge)((s + s / SHAPES) % 6);
		j.q.nan = (enum wconv_nan)(s % 3);
		j.q.constant = .75;
		j.q.correlate = s % 2;
		j.q.planes = 1 + s % 3 / 2;
		j.q.output = s % 5 == 4 ? WCONV_FULL : WCONV_SAME;
		j.q.in_double = s / SHAPES == 1;
		j.q.in = j.q.in_double ? IMG_F64 : s % 4 == 3 ? IMG_U8 : IMG_F32;
		j.q.out = j.q.in_double ? IMG_F64 : IMG_F32;
		hold(g, &j, &r, &m, j.q.in_double ? 1e-14 : 3e-7);
	}
	for (int degree = 0; degree < 4; degree++) {
		struct job j =
		    job_new(&r, 70, 40, 9, 7, (size_t)(degree + 1) * (size_t)(degree + 2) / 2, 1);
		j.q.degree = degree;
		j.q.zero_x = 35;
		j.q.zero_y = 20;
		j.q.scale_x = j.q.scale_y = 40;
		j.q.method = WCONV_FFT;
		hold(g, &j, &r, &m, 3e-7);
	}
	check_end(&m, "gpu: wconv by transforms is within 3e-7 of the definition, in double within "
		      "1e-14");
}

/* Memory for one tile at a time, for some, for all. */
static void
tiles_in_parts_agree(struct gpu *g)
{
	struct check_many m = {0};
	struct check_rng r = {37};

	for (size_t part = 0; part < 3 && cudacpu_memory; part++) {
		struct job j = job_new(&r, 90, 70, 11, 9, 3, 4);
		j.q.method = WCONV_FFT;
		gpu_release(g);
		cudacpu_memory((size_t)300000 << (2 * part));
		hold(g, &j, &r, &m, 3e-7);
		cudacpu_memory((size_t)1 << 40);
	}
	check_end(&m, "gpu: wconv by transforms, as many tiles at a time as fit in memory");
}

static void
doubles_agree(struct gpu *g)
{
	struct check_many m = {0};
	struct check_rng r = {32};

	for (size_t s = 0; s < SHAPES; s++) {
		struct job j = shaped(&r, s);
		j.q.in_double = true;
		j.q.in = s % 2 ? IMG_F64 : IMG_F32;
		j.q.out = IMG_F64;
		hold(g, &j, &r, &m, 1e-14);
	}
	check_end(&m, "gpu: wconv in double is within 1e-14 of the definition");
}

static void
unknown_pixels_agree(struct gpu *g)
{
	struct check_many m = {0};
	struct check_rng r = {33};

	for (size_t s = 0; s < SHAPES; s++)
		for (int nan = 0; nan < 3; nan++) {
			struct job j = shaped(&r, s);
			j.q.edge = (s + (size_t)nan) % 2 ? WCONV_RENORMALISE : WCONV_REFLECT;
			j.q.nan = (enum wconv_nan)nan;
			hold(g, &j, &r, &m, 3e-7);
		}
	check_end(&m, "gpu: wconv, pixels that are no numbers and edges that are unknown are the "
		      "definition's");
}

static void
planes_and_types_agree(struct gpu *g)
{
	struct check_many m = {0};
	struct check_rng r = {34};

	for (size_t s = 0; s < SHAPES; s++) {
		struct job j = shaped(&r, s);
		j.q.planes = 1 + s % 3;
		j.q.in = IMG_U8;
		j.q.out = s % 2 ? IMG_U8 : IMG_F32;
		j.q.top = s % 2 ? 199 : 0;
		j.q.normalise = true;
		hold(g, &j, &r, &m, s % 2 ? .5001 : 3e-7);
	}
	check_end(&m, "gpu: wconv, colours and integers, rounded and clipped");
}

/* Kernels as coefficients of x^i y^j, i + j <= 3. */
static void
polynomials_agree(struct gpu *g)
{
	struct check_many m = {0};
	struct check_rng r = {35};

	for (int degree = 0; degree < 4; degree++) {
		struct job j =
		    job_new(&r, 70, 40, 9, 7, (size_t)(degree + 1) * (size_t)(degree + 2) / 2, 1);
		j.q.degree = degree;
		j.q.zero_x = 35;
		j.q.zero_y = 20;
		j.q.scale_x = j.q.scale_y = 40;
		hold(g, &j, &r, &m, 3e-7);
	}
	check_end(&m, "gpu: wconv, kernels as polynomials of degree 0 to 3");
}

void
check_gpu_wconv(struct gpu *g)
{
	shapes_agree(g);
	transforms_agree(g);
	tiles_in_parts_agree(g);
	doubles_agree(g);
	unknown_pixels_agree(g);
	planes_and_types_agree(g);
	polynomials_agree(g);
}
