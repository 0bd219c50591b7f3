/* wconv's kernels against the definition, within the bound of the page. */
#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "gpu/wconv/wconv.h"
#include "t/check_gpu.h"
#include "t/check_wconv.h"

/* A problem for the kernels, which sum directly; its centre anywhere. */
static void
pose(struct conv_job *j, struct check_rng *r, size_t w, size_t h, size_t kw, size_t kh, size_t gx,
     size_t gy)
{
	conv_pose(j, w, h, kw, kh, gx, gy);
	j->q.cx = rng_below(r, kw);
	j->q.cy = rng_below(r, kh);
	j->q.threads = 1;
	j->q.method = WCONV_DIRECT;
}

/* A NaN here and there; a single one where it spreads. */
static void
pierce(struct conv_job *j, struct check_rng *r)
{
	const size_t n = j->q.w * j->q.h * j->q.planes, size = img_type_size(j->q.in);

	for (size_t i = 0; img_is_float(j->q.in) && i < n; i++)
		if (j->q.nan == WCONV_NAN_PROPAGATE ? i == 20 && n > 40 : !rng_below(r, 150))
			memset((char *)j->image + i * size, 0xff, size);
}

/* Every other job tells before a step which samples come. */
struct steps {
	struct gpu *g;
	const char *end; /* of the item; NULL: nothing is told */
};

static int
step(void *with, struct wconv_plan *p, const void *in, void *out)
{
	const struct steps *const s = with;
	int err;

	if (s->end)
		gpu_ahead(s->g, &(struct gpu_span){in, (size_t)(s->end - (const char *)in)}, 1);
	err = gpu_wconv_run(s->g, p, in, out);
	return err ? err : gpu_settle(s->g, NULL, 0);
}

static bool
run_on(struct gpu *g, struct conv_job *j, bool told)
{
	const size_t bytes = j->q.w * j->q.h * j->q.planes * img_type_size(j->q.in);
	struct steps s = {g, told ? (const char *)j->image + bytes : NULL};
	const bool ran = conv_run(j, step, &s);

	gpu_ahead(g, NULL, 0);
	return ran;
}

/* Fills, runs, compares and frees. */
static void
hold(struct gpu *g, struct conv_job *j, struct check_rng *r, struct check_many *m, double bound)
{
	const int order = (int)m->cases % check_orders();

	check_order(order);
	conv_fill(j, r);
	pierce(j, r);
	const bool ran = run_on(g, j, m->cases % 2);
	conv_define(j);
	const double e = ran ? conv_error(j) : INFINITY;
	check_case(
	    m, e <= bound,
	    "%zux%zux%zu, kernels %zux%zu in %zux%zu, edge %d, nan %d, order %d: %s, error %.3g",
	    j->q.w, j->q.h, j->q.planes, j->q.kw, j->q.kh, j->q.gx, j->q.gy, (int)j->q.edge,
	    (int)j->q.nan, order, ran ? "ran" : gpu_why(g), e);
	conv_drop(j);
}

static const struct {
	size_t w, h, kw, kh, gx, gy;
} shapes[] = {{1, 1, 1, 1, 1, 1},     {5, 3, 7, 9, 1, 1},    {300, 1, 5, 3, 3, 1},
	      {1, 64, 3, 5, 1, 3},    {97, 33, 13, 8, 4, 3}, {40, 40, 33, 9, 16, 16},
	      {270, 31, 2, 30, 1, 4}, {600, 20, 65, 3, 2, 2}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void
pose_shape(struct conv_job *j, struct check_rng *r, size_t s)
{
	pose(j, r, shapes[s].w, shapes[s].h, shapes[s].kw, shapes[s].kh, shapes[s].gx,
	     shapes[s].gy);
}

/* --- series of problems: each function poses problem i ------------------------------------------------------------- */

/* Kernels whose numbers are polynomials of degree 0 to 3 of the place, as coefficients of x^i y^j. */
static void
pose_polynomial(struct conv_job *j, struct check_rng *r, size_t i)
{
	const int degree = (int)i % 4;

	pose(j, r, 70, 40, 9, 7, (size_t)(degree + 1) * (size_t)(degree + 2) / 2, 1);
	j->q.degree = degree;
	j->q.zero_x = 35;
	j->q.zero_y = 20;
	j->q.scale_x = j->q.scale_y = 40;
	if (i > 3) { /* positive powers: the local kernels' sums stay away from 0 */
		j->q.normalise = true;
		j->q.zero_x = j->q.zero_y = -1;
		j->q.scale_x = j->q.scale_y = 100;
	}
}

static void
pose_edges(struct conv_job *j, struct check_rng *r, size_t i)
{
	const size_t s = i / 6, e = i % 6;

	pose_shape(j, r, s);
	j->q.edge = (enum wconv_edge)((e + s) % 5);
	j->q.correlate = e % 2;
	j->q.normalise = e % 3 == 1;
	j->q.output = e == 2 ? WCONV_FULL : WCONV_SAME;
	j->q.nan = WCONV_NAN_ZERO;
}

/* Kernels that differ along x, along y, both or not, taller and wider than the picture, many tiles and few; polynomials. */
static void
pose_transforms(struct conv_job *j, struct check_rng *r, size_t i)
{
	if (i >= 3 * SHAPES) {
		pose_polynomial(j, r, i - 3 * SHAPES);
		j->q.method = WCONV_FFT;
		return;
	}
	pose_shape(j, r, i % SHAPES);
	j->q.method = WCONV_FFT;
	j->q.edge = (enum wconv_edge)((i + i / SHAPES) % 5);
	j->q.nan = (enum wconv_nan)(i % 3);
	j->q.correlate = i % 2;
	j->q.planes = 1 + i % 3 / 2;
	j->q.output = i % 5 == 4 ? WCONV_FULL : WCONV_SAME;
	j->q.in_double = i / SHAPES == 1;
	j->q.in = j->q.in_double ? IMG_F64 : i % 4 == 3 ? IMG_U8 : IMG_F32;
	j->q.out = j->q.in_double ? IMG_F64 : IMG_F32;
}

static void
pose_doubles(struct conv_job *j, struct check_rng *r, size_t i)
{
	pose_shape(j, r, i);
	j->q.in_double = true;
	j->q.in = i % 2 ? IMG_F64 : IMG_F32;
	j->q.out = IMG_F64;
}

static void
pose_unknown(struct conv_job *j, struct check_rng *r, size_t i)
{
	pose_shape(j, r, i / 3);
	j->q.edge = (i / 3 + i) % 2 ? WCONV_RENORMALISE : WCONV_REFLECT;
	j->q.nan = (enum wconv_nan)(i % 3);
}

/* The last one has more planes than there are blocks along an axis but the first. */
static void
pose_planes(struct conv_job *j, struct check_rng *r, size_t i)
{
	if (i == SHAPES) {
		pose(j, r, 1, 1, 1, 1, 1, 1);
		j->q.planes = 65537;
		return;
	}
	pose_shape(j, r, i);
	j->q.planes = 1 + i % 3;
	j->q.in = IMG_U8;
	j->q.out = i % 2 ? IMG_U8 : IMG_F32;
	j->q.top = i % 2 ? 199 : 0;
	j->q.normalise = true;
}

/* Memory for one tile at a time, for some, for all. */
static void
pose_parts(struct conv_job *j, struct check_rng *r, size_t i)
{
	(void)i;
	pose(j, r, 90, 70, 11, 9, 3, 4);
	j->q.method = WCONV_FFT;
}

static const struct {
	const char *name;
	void (*pose)(struct conv_job *j, struct check_rng *r, size_t i);
	size_t n, seed,
	    memory; /* memory: of the device, 4 times as much for the next problem; 0: plenty */
} series[] = {
    {"gpu: wconv, awkward shapes and edges are within 3e-7 of the definition", pose_edges,
     6 * SHAPES, 31, 0},
    {"gpu: wconv by transforms is within 3e-7 of the definition, in double within 1e-14",
     pose_transforms, 3 * SHAPES + 8, 36, 0},
    {"gpu: wconv by transforms, as many tiles at a time as fit in memory", pose_parts, 3, 37,
     300000},
    {"gpu: wconv in double is within 1e-14 of the definition", pose_doubles, SHAPES, 32, 0},
    {"gpu: wconv, pixels that are no numbers and edges that are unknown are the definition's",
     pose_unknown, 3 * SHAPES, 33, 0},
    {"gpu: wconv, colours and integers, rounded and clipped", pose_planes, SHAPES + 1, 34, 0},
    {"gpu: wconv, kernels as polynomials of degree 0 to 3", pose_polynomial, 8, 35, 0}};

static void
series_agree(struct gpu *g)
{
	for (size_t s = 0; s < sizeof series / sizeof *series; s++) {
		struct check_many m = {0};
		struct check_rng r = {series[s].seed};
		if (series[s].memory && !cudacpu_memory)
			continue;
		for (size_t i = 0; i < series[s].n; i++) {
			struct conv_job j;
			series[s].pose(&j, &r, i);
			const double bound = j.q.in_double	 ? 1e-14
					     : j.q.out == IMG_U8 ? .5001
								 : 3e-7;
			check_memory(g, series[s].memory << 2 * i);
			hold(g, &j, &r, &m, bound);
		}
		check_memory(g, 0);
		check_end(&m, series[s].name);
	}
}

/* Steps of a few tiles and of all, shares without a row, and windows that see the other end of the picture. */
static void
shares_agree(struct gpu *one, struct gpu *several, struct check_many *m)
{
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
		pose(&j, &r, cases[i].w, cases[i].h, cases[i].kw, cases[i].kh, cases[i].gx,
		     cases[i].gy);
		j.q.method = cases[i].method;
		j.q.edge = cases[i].edge;
		j.q.planes = 1 + i / 4;
		conv_fill(&j, &r);
		check_order((int)i % check_orders());
		bool ran = run_on(one, &j, true);
		void *const by_one = j.got;
		j.got = NULL;
		ran &= run_on(several, &j, true);
		check_case(m, ran && !memcmp(by_one, j.got, j.nout * img_type_size(j.q.out)),
			   "case %zu: %s", i, ran ? "they differ" : gpu_why(several));
		weir_free(by_one);
		conv_drop(&j);
	}
}

void
check_gpu_wconv(struct gpu *g)
{
	series_agree(g);
	check_on_devices("gpu: wconv gives the bytes of one device", shares_agree);
}
