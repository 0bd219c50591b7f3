/* wconv: every method, level and precision against direct.c. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "t/check.h"
#include "wconv/costs.h"
#include "wconv/plan.h"

/* A problem with what it borrows. */
struct job {
	struct wconv_problem q;
	double node[2][16];
	void *kernels, *image;
	size_t nout;
	double *want;
	void *got;
};

/* w x h pixels, kernels of kw x kh in a grid of gx x gy, nodes at the cells' centres. */
static void
pose(struct job *j, size_t w, size_t h, size_t kw, size_t kh, size_t gx, size_t gy)
{
	memset(j, 0, sizeof *j);
	j->q = (struct wconv_problem){.w = w,
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
				      .cx = kw / 2,
				      .cy = kh / 2,
				      .threads = 2};
	for (size_t i = 0; i < gx; i++)
		j->node[0][i] = ((double)i + .5) * (double)w / (double)gx - .5;
	for (size_t i = 0; i < gy; i++)
		j->node[1][i] = ((double)i + .5) * (double)h / (double)gy - .5;
	j->q.node_x = j->node[0];
	j->q.node_y = j->node[1];
}

/* Positive kernels, and an image of numbers in 0..1. */
static void
fill(struct job *j, struct check_rng *rng)
{
	struct wconv_problem *q = &j->q;
	const size_t nk = q->gx * q->gy * q->kw * q->kh, ni = q->w * q->h * q->planes;

	j->kernels = weir_alloc(nk, q->in_double ? 8 : 4);
	j->image = weir_alloc(ni, img_type_size(q->in));
	q->kernels = j->kernels;
	for (size_t i = 0; i < nk; i++)
		if (q->in_double)
			((double *)j->kernels)[i] = rng_unit(rng);
		else
			((float *)j->kernels)[i] = (float)rng_unit(rng);
	for (size_t i = 0; i < ni; i++)
		switch (q->in) {
		case IMG_U8:
			((unsigned char *)j->image)[i] = (unsigned char)rng_below(rng, 256);
			break;
		case IMG_U16:
			((unsigned short *)j->image)[i] = (unsigned short)rng_below(rng, 65536);
			break;
		case IMG_F64:
			((double *)j->image)[i] = rng_unit(rng);
			break;
		default:
			((float *)j->image)[i] = (float)rng_unit(rng);
		}
}

/* Runs the plan over the whole image, row blocks as it asks for them. false: it cannot be planned. */
static bool
run(struct job *j)
{
	const size_t in_row = j->q.w * j->q.planes * img_type_size(j->q.in);
	char err[WCONV_ERR];
	struct wconv_plan *p;
	size_t w, h, in = 0, out = 0;
	ptrdiff_t x0, y0;

	if (wconv_plan(&p, &j->q, NULL, err))
		return false;
	wconv_shape(p, &w, &h, &x0, &y0);
	const size_t out_row = w * j->q.planes * img_type_size(j->q.out);
	j->nout = w * h * j->q.planes;
	weir_free(j->got);
	j->got = weir_alloc(j->nout, img_type_size(j->q.out));
	check_poison(j->got, h * out_row);
	for (size_t i = 0; i < p->bands; i++) {
		const struct wconv_step s = wconv_step(p, 0);
		wconv_run(p, (char *)j->image + in * in_row, (char *)j->got + out * out_row);
		in += s.rows_in;
		out += s.rows_out;
	}
	wconv_free(p);
	return in == j->q.h && out == h;
}

static void
define(struct job *j)
{
	weir_free(j->want);
	j->want = weir_alloc(j->nout, sizeof *j->want);
	wconv_direct(&j->q, j->image, j->want);
}

static void
drop(struct job *j)
{
	weir_free(j->kernels);
	weir_free(j->image);
	weir_free(j->want);
	weir_free(j->got);
}

static double
got(const struct job *j, size_t i)
{
	switch (j->q.out) {
	case IMG_F64:
		return ((const double *)j->got)[i];
	case IMG_U8:
		return ((const unsigned char *)j->got)[i];
	case IMG_U16:
		return ((const unsigned short *)j->got)[i];
	default:
		return ((const float *)j->got)[i];
	}
}

/* max |got - want| / max |want|; NaN must stand at the same places, else INFINITY. */
static double
error_of(const struct job *j)
{
	double worst = 0, peak = 0;

	for (size_t i = 0; i < j->nout; i++) {
		const double a = got(j, i), b = j->want[i];
		if (isnan(a) != isnan(b))
			return INFINITY;
		if (isnan(a))
			continue;
		worst = fmax(worst, fabs(a - b));
		peak = fmax(peak, fabs(b));
	}
	return peak > 0 ? worst / peak : worst;
}

static const enum wconv_method methods[] = {WCONV_DIRECT, WCONV_FFT};
static const char *const levels[] = {"baseline", "x86-64-v3", NULL};

/* The job by both methods, at every level, within bound of the definition. */
static void
hold(struct check_many *m, struct job *j, double bound, const char *what)
{
	bool defined = false;

	for (size_t i = 0; i < 2; i++)
		for (size_t l = 0; l < 3; l++) {
			j->q.method = methods[i];
			j->q.level = levels[l];
			if (!run(j)) {
				check_case(m, false, "%s: no plan", what);
				continue;
			}
			if (!defined)
				define(j);
			defined = true;
			const double e = error_of(j);
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
	      {128, 96, 4, 4, 8, 8}, {40, 40, 9, 9, 16, 16}, {149, 31, 2, 30, 1, 4}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void
check_shapes(void)
{
	struct check_many m = {0};
	struct check_rng rng = {1};

	for (size_t s = 0; s < SHAPES; s++) {
		struct job j;
		pose(&j, shapes[s].w, shapes[s].h, shapes[s].kw, shapes[s].kh, shapes[s].gx,
		     shapes[s].gy);
		fill(&j, &rng);
		hold(&m, &j, 3e-7, "zero edges");
		drop(&j);
	}
	check_end(&m, "wconv: awkward shapes by both methods at every level are within 3e-7 of the "
		      "definition");
}

void check_wconv(void);

void
check_wconv(void)
{
	check_shapes();
}
