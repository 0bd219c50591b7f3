/* The kernels of wconv's adjoint against its definition. */
#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/real.h"
#include "gpu/wconv/wconv.h"
#include "t/check_gpu.h"
#include "t/check_wconv.h"

/* Results to be scattered, in doubles and in the plan's own precision; the pixels that they give, by definition and by the GPU. */
struct scattered {
	double *y, *want;
	void *in, *got;
};

/* max |got - want| / max |want| over the pixels of the item */
static double
find_error(const struct conv_job *j, const struct scattered *s)
{
	double worst = 0, peak = 0;

	for (size_t i = 0; i < j->q.w * j->q.h; i++) {
		const double e = fabs(real_at(s->got, i, !j->q.in_double) - s->want[i]);
		worst = e <= worst ? worst : e; /* NaN too */
		peak = fmax(peak, fabs(s->want[i]));
	}
	return peak > 0 ? worst / peak : worst;
}

/* One pass by the GPU of what s holds. Returns the error; infinity when the GPU fails. */
static double
scatter(struct gpu *g, const struct conv_job *j, const struct wconv_plan *p, struct scattered *s)
{
	check_poison(s->got, j->q.w * j->q.h * (j->q.in_double ? sizeof(double) : sizeof(float)));
	return gpu_wconv_adjoint(g, p, s->in, s->got) ? (double)INFINITY : find_error(j, s);
}

/* Noise of w x h results, and what the definition makes of it. */
static struct scattered
scattered_new(const struct conv_job *j, size_t w, size_t h, struct check_rng *r)
{
	const size_t size = j->q.in_double ? sizeof(double) : sizeof(float), n = j->q.w * j->q.h;
	struct scattered s = {.y = weir_xalloc(w * h, sizeof *s.y),
			      .want = weir_xalloc(n, sizeof *s.want),
			      .in = weir_xalloc(w * h, size),
			      .got = weir_xalloc(n, size)};

	for (size_t i = 0; i < w * h; i++) {
		s.y[i] = (double)(float)rng_unit(r);
		real_set(s.in, i, s.y[i], size == sizeof(float));
	}
	wconv_direct_adjoint(&j->q, s.y, s.want);
	return s;
}

static void
scattered_free(struct scattered *s)
{
	weir_free(s->y);
	weir_free(s->want);
	weir_free(s->in);
	weir_free(s->got);
}

/* Holds a filled job by either method to one definition. bound: of each method. */
static void
hold_filled(struct gpu *g, struct conv_job *j, const double bound[2], struct check_rng *r,
	    struct check_many *m)
{
	static const enum wconv_method methods[] = {WCONV_DIRECT, WCONV_FFT};
	struct scattered s;

	for (int i = 0; i < 2; i++) {
		const int order = (int)m->cases % check_orders();
		struct wconv_plan *p;
		struct why why;
		size_t w, h;
		ptrdiff_t x0, y0;
		j->q.method = methods[i];
		check_order(order);
		if (wconv_plan(&p, &j->q, &why)) {
			check_case(m, false, "no plan: %s", why.text);
			return;
		}
		wconv_shape(p, &w, &h, &x0, &y0);
		if (!i)
			s = scattered_new(j, w, h, r);
		const double e = scatter(g, j, p, &s);
		check_case(m, e <= bound[i],
			   "%zux%zu, kernels %zux%zu in %zux%zu, edge %d, output %d, degree %d, "
			   "double %d, method %d, order %d: error %.3g, %s",
			   j->q.w, j->q.h, j->q.kw, j->q.kh, j->q.gx, j->q.gy, (int)j->q.edge,
			   (int)j->q.output, j->q.degree, j->q.in_double, i, order, e, gpu_why(g));
		wconv_free(p);
	}
	scattered_free(&s);
}

/* Fills the job, and holds both methods in both precisions to the definition. */
static void
hold(struct gpu *g, const struct conv_job *posed, struct check_rng *r, struct check_many *m)
{
	static const double bound[2][2] = {{3e-7, 1e-6}, {1e-14, 1e-14}};

	for (int precise = 0; precise < 2; precise++) {
		struct conv_job j = *posed;
		j.q.node_x = j.node[0];
		j.q.node_y = j.node[1];
		j.q.in_double = precise;
		j.q.in = j.q.out = precise ? IMG_F64 : IMG_F32;
		conv_fill(&j, r);
		hold_filled(g, &j, bound[precise], r, m);
		conv_drop(&j);
	}
}

static const struct {
	size_t w, h, kw, kh, gx, gy;
} shapes[] = {{1, 1, 1, 1, 1, 1},    {5, 3, 7, 9, 1, 1},      {64, 1, 5, 3, 3, 1},
	      {1, 64, 3, 5, 1, 3},   {97, 33, 13, 8, 4, 3},   {61, 67, 31, 17, 2, 5},
	      {128, 40, 4, 4, 8, 8}, {40, 40, 33, 9, 16, 16}, {600, 20, 65, 3, 2, 2}};
enum { SHAPES = sizeof shapes / sizeof *shapes, EDGES = 6 };

static void
edges_agree(struct gpu *g)
{
	struct check_many m = {0};
	struct check_rng r = {41};

	for (size_t s = 0; s < SHAPES; s++)
		for (int e = 0; e < EDGES; e++) {
			struct conv_job j;
			conv_pose(&j, shapes[s].w, shapes[s].h, shapes[s].kw, shapes[s].kh,
				  shapes[s].gx, shapes[s].gy);
			j.q.edge = (enum wconv_edge)e;
			j.q.threads = 1 + e % 3 * 16;
			hold(g, &j, &r, &m);
		}
	check_end(&m, "gpu: wconv's adjoint is the definition's, at all edges");
}

/* A centre anywhere, flipped kernels, every size of output, nodes or polynomials, normalised or not. */
static void
forms_agree(struct gpu *g)
{
	struct check_many m = {0};
	struct check_rng r = {42};

	for (int i = 0; i < 48; i++) {
		const int degree = i / 12 - 1; /* -1: nodes */
		const size_t n = (size_t)((degree + 1) * (degree + 2) / 2);
		struct conv_job j;
		conv_pose(&j, 71, 45, 12, 7, degree < 0 ? 3 : n, degree < 0 ? 2 : 1);
		j.q.output = (enum wconv_output)(i % 3);
		j.q.correlate = i / 3 % 2;
		j.q.normalise = i / 6 % 2;
		j.q.edge = (enum wconv_edge)(i % EDGES);
		j.q.cx = (size_t)(i % 5) * 2;
		j.q.cy = (size_t)(i % 7);
		j.q.degree = degree;
		j.q.zero_x = j.q.zero_y = -20;
		j.q.scale_x = j.q.scale_y = 100;
		hold(g, &j, &r, &m);
	}
	check_end(&m,
		  "gpu: wconv's adjoint of same, valid and full results, of nodes and polynomials");
}

/* Nine parts of a picture. */
static void
parts_agree(struct gpu *g)
{
	struct check_many m = {0};
	struct check_rng r = {43};

	for (size_t i = 0; i < 18; i++) {
		struct conv_job j;
		conv_pose(&j, 90, 70, 11, 8, 3, 4);
		j.q.x0 = i % 3 * 30;
		j.q.y0 = i / 3 % 3 * 20;
		j.q.w = 30;
		j.q.h = i / 3 % 3 == 2 ? 30 : 20;
		j.q.edge = i < 9 ? WCONV_REFLECT : WCONV_RENORMALISE;
		hold(g, &j, &r, &m);
	}
	check_end(&m, "gpu: wconv's adjoint of a part of a picture");
}

/* With memory for one tile at a time, for some, for all, the bytes are the same. */
static void
memory_agrees(struct gpu *g)
{
	struct check_many m = {0};
	struct check_rng r = {44};
	float *first = weir_xalloc(90 * 70, sizeof *first),
	      *got = weir_xalloc(90 * 70, sizeof *got);
	struct wconv_plan *p;
	struct why why;
	struct conv_job j;

	conv_pose(&j, 90, 70, 11, 9, 3, 4);
	j.q.method = WCONV_FFT;
	j.q.threads = 8;
	conv_fill(&j, &r);
	check_case(&m, !wconv_plan(&p, &j.q, &why), "%s", why.text);
	for (size_t part = 0; part < 3; part++) {
		check_memory(g, (size_t)400000 << (2 * part));
		check_case(&m, !gpu_wconv_adjoint(g, p, j.image, part ? got : first), "%s",
			   gpu_why(g));
		check_case(&m, !part || !memcmp(first, got, 90 * 70 * sizeof *got),
			   "other bytes with memory %zu", part);
		check_memory(g, 0);
	}
	wconv_free(p);
	weir_free(first);
	weir_free(got);
	conv_drop(&j);
	check_end(&m, "gpu: wconv's adjoint has the same bytes for any number of tiles at a time");
}

void
check_gpu_wconv_adjoint(struct gpu *g)
{
	edges_agree(g);
	forms_agree(g);
	parts_agree(g);
	if (cudacpu_memory)
		memory_agrees(g);
}
