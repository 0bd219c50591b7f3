/* wconv: the adjoint against the definition, and against the convolution by the dot-product test. */
#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/real.h"
#include "t/check_wconv.h"

/* A job, results y to be scattered, and what comes of them. */
struct pair {
	struct conv_job j;
	double *y, *want;
	void *got;
};

/* The adjoint of p->y by the plan; false: it cannot be planned. */
static bool
scatter(struct pair *p)
{
	const size_t size = p->j.q.in_double ? 8 : 4;
	struct wconv_plan *plan;
	struct wconv_adjoint *a;
	struct why why;
	bool ran = !wconv_plan(&plan, &p->j.q, &why);

	if (!ran)
		return false;
	ran = !wconv_adjoint_plan(&a, plan, &why);
	void *in = weir_xalloc(p->j.nout, size);
	weir_free(p->got);
	p->got = weir_xalloc(p->j.q.w * p->j.q.h, size);
	check_poison(p->got, p->j.q.w * p->j.q.h * size);
	for (size_t i = 0; i < p->j.nout; i++)
		real_set(in, i, p->y[i], size == 4);
	for (int twice = 0; ran && twice < 2; twice++) /* the second run leaves the same */
		wconv_adjoint_run(a, in, p->got);
	if (ran)
		wconv_adjoint_free(a);
	wconv_free(plan);
	weir_free(in);
	return ran;
}

/* |<A x, y> - <x, A' y>| / (|A x| |y|), by what the plans made of x and y. */
static double
dot_error(const struct pair *p)
{
	double left = 0, right = 0, fx = 0, yy = 0;

	for (size_t i = 0; i < p->j.nout; i++) {
		const double f = conv_got(&p->j, i);
		if (isnan(f)) /* too little of its window is known */
			continue;
		left += f * p->y[i];
		fx += f * f;
		yy += p->y[i] * p->y[i];
	}
	for (size_t i = 0; i < p->j.q.w * p->j.q.h; i++)
		right += real_at(p->j.image, i, !p->j.q.in_double) *
			 real_at(p->got, i, !p->j.q.in_double);
	return fabs(left - right) / (sqrt(fx * yy) + 1e-300);
}

/* max |got - want| / max |want| */
static double
scatter_error(const struct pair *p)
{
	double worst = 0, peak = 0;

	for (size_t i = 0; i < p->j.q.w * p->j.q.h; i++) {
		const double e = fabs(real_at(p->got, i, !p->j.q.in_double) - p->want[i]);
		worst = e <= worst ? worst : e; /* NaN too */
		peak = fmax(peak, fabs(p->want[i]));
	}
	return peak > 0 ? worst / peak : worst;
}

/* The job, posed and filled, by both methods at every level. */
static void
hold(struct check_many *m, struct pair *p, struct check_rng *rng, const char *what)
{
	static const enum wconv_method methods[] = {WCONV_DIRECT, WCONV_FFT};
	const double single[] = {3e-7, p->j.q.edge == WCONV_NEAREST ? 4e-6 : 7.5e-7};

	for (size_t i = 0; i < 6; i++) {
		const double bound = p->j.q.in_double ? 1e-14 : single[i % 2];
		p->j.q.method = methods[i % 2];
		p->j.q.registers = 16 << i / 2;
		if (!conv_run(&p->j, NULL, NULL)) {
			check_case(m, false, "%s: no plan", what);
			return;
		}
		if (!p->y) {
			p->y = weir_xalloc(p->j.nout, sizeof *p->y);
			p->want = weir_xalloc(p->j.q.w * p->j.q.h, sizeof *p->want);
			for (size_t k = 0; k < p->j.nout; k++)
				p->y[k] = (double)(float)rng_unit(rng);
			wconv_direct_adjoint(&p->j.q, p->y, p->want);
		}
		const bool ran = scatter(p);
		const double e = ran ? scatter_error(p) : INFINITY,
			     d = ran ? dot_error(p) : INFINITY;
		check_case(
		    m, e <= bound && d <= bound,
		    "%s, %zux%zu, kernels %zux%zu in %zux%zu, %s, level %zu: error %.3g, dot %.3g",
		    what, p->j.q.w, p->j.q.h, p->j.q.kw, p->j.q.kh, p->j.q.gx, p->j.q.gy,
		    i % 2 ? "transforms" : "direct", i / 2, e, d);
	}
}

static void
drop(struct pair *p)
{
	conv_drop(&p->j);
	weir_free(p->y);
	weir_free(p->want);
	weir_free(p->got);
}

static const struct {
	size_t w, h, kw, kh, gx, gy;
} shapes[] = {{1, 1, 1, 1, 1, 1},    {5, 3, 7, 9, 1, 1},     {64, 1, 5, 3, 3, 1},
	      {1, 64, 3, 5, 1, 3},   {97, 53, 13, 8, 4, 3},  {61, 67, 31, 17, 2, 5},
	      {128, 96, 4, 4, 8, 8}, {40, 40, 9, 9, 16, 16}, {149, 31, 2, 30, 1, 4},
	      {2, 5, 7, 7, 1, 1},    {6, 8, 9, 9, 2, 2}};
enum { SHAPES = sizeof shapes / sizeof *shapes, EDGES = 6 };

static const char *const edges[] = {"zero", "reflect", "mirror", "nearest", "wrap", "renormalise"};

/*
 * Any kernels, and one that is the product of a column and a row. An edge that renormalises multiplies errors where little of a
 * kernel is known; these seeds have no such place.
 */
static void
check_edges(void)
{
	struct check_many m = {0};
	struct check_rng of[] = {{21}, {25}};

	for (size_t s = 0; s < 2 * SHAPES; s++)
		for (int e = 0; e < 2 * EDGES; e++) {
			const bool product = s >= SHAPES;
			const size_t i = s % SHAPES;
			struct check_rng *rng = &of[product];
			struct pair p = {0};
			conv_pose(&p.j, shapes[i].w, shapes[i].h, shapes[i].kw, shapes[i].kh,
				  product ? 1 : shapes[i].gx, product ? 1 : shapes[i].gy);
			p.j.q.in_double = e < EDGES;
			p.j.q.in = p.j.q.out = e < EDGES ? IMG_F64 : IMG_F32;
			p.j.q.edge = (enum wconv_edge)(e % EDGES);
			p.j.q.correlate = product && e % 2;
			conv_fill(&p.j, rng);
			if (product)
				conv_multiply(&p.j);
			hold(&m, &p, rng, edges[e % EDGES]);
			drop(&p);
		}
	check_end(&m,
		  "wconv: the adjoint passes the dot-product test at all edges, of products too");
}

/* A centre anywhere, flipped kernels, every size of output, nodes or polynomials, normalised or not. */
static void
check_forms(void)
{
	static const char *const names[] = {"same", "valid", "full"};
	struct check_many m = {0};
	struct check_rng rng = {22};

	for (int i = 0; i < 48; i++) {
		const int degree = i / 12 - 1; /* -1: nodes */
		const size_t n = (size_t)((degree + 1) * (degree + 2) / 2);
		struct pair p = {0};
		conv_pose(&p.j, 71, 45, 12, 7, degree < 0 ? 3 : n, degree < 0 ? 2 : 1);
		p.j.q.in_double = true;
		p.j.q.in = p.j.q.out = IMG_F64;
		p.j.q.output = (enum wconv_output)(i % 3);
		p.j.q.correlate = i / 3 % 2;
		p.j.q.normalise = i / 6 % 2;
		p.j.q.cx = (size_t)(i % 5) * 2;
		p.j.q.cy = (size_t)(i % 7);
		p.j.q.degree = degree;
		p.j.q.zero_x = p.j.q.zero_y = -20;
		p.j.q.scale_x = p.j.q.scale_y = 100;
		p.j.q.repeat = i % 2;
		conv_fill(&p.j, &rng);
		hold(&m, &p, &rng, names[i % 3]);
		drop(&p);
	}
	check_end(&m,
		  "wconv: the adjoint of same, valid and full results, of nodes and polynomials");
}

/* Nine parts of a picture: each part's own adjoint. */
static void
check_parts(void)
{
	struct check_many m = {0};
	struct check_rng rng = {23};

	for (size_t i = 0; i < 18; i++) {
		struct pair p = {0};
		conv_pose(&p.j, 90, 70, 11, 8, 3, 4);
		p.j.q.in_double = true;
		p.j.q.in = p.j.q.out = IMG_F64;
		p.j.q.x0 = i % 3 * 30;
		p.j.q.y0 = i / 3 % 3 * 20;
		p.j.q.w = 30;
		p.j.q.h = i / 3 % 3 == 2 ? 30 : 20;
		p.j.q.edge = i < 9 ? WCONV_REFLECT : WCONV_RENORMALISE;
		conv_fill(&p.j, &rng);
		hold(&m, &p, &rng, "a part");
		drop(&p);
	}
	check_end(&m, "wconv: the adjoint of a part of a picture");
}

/* Several bands, of several tiles across, on any number of threads. */
static void
check_adjoint_threads(void)
{
	struct check_many m = {0};
	struct check_rng rng = {24};

	for (int method = 1; method <= 2; method++) {
		struct pair p = {0};
		float *first = weir_xalloc(400 * 700, sizeof *first);
		conv_pose(&p.j, 400, 700, method == 1 ? 5 : 21, 9, 5, 6);
		p.j.q.edge = WCONV_MIRROR;
		p.j.q.method = (enum wconv_method)method;
		conv_fill(&p.j, &rng);
		check_case(&m, conv_run(&p.j, NULL, NULL), "no plan");
		p.y = weir_xalloc(p.j.nout, sizeof *p.y);
		for (size_t k = 0; k < p.j.nout; k++)
			p.y[k] = rng_unit(&rng);
		for (int t = 1; t <= 7; t += 2) {
			p.j.q.threads = t;
			check_case(&m, scatter(&p), "no plan");
			if (t == 1)
				memcpy(first, p.got, 400 * 700 * sizeof *first);
			check_case(&m, !memcmp(first, p.got, 400 * 700 * sizeof *first),
				   "%d threads differ", t);
			check_case(&m, dot_error(&p) <= 1e-6, "%d threads: dot %g", t,
				   dot_error(&p));
		}
		weir_free(first);
		drop(&p);
	}
	check_end(&m, "wconv: the adjoint has the same bytes for any number of threads");
}

void
check_wconv_adjoint(void)
{
	check_edges();
	check_forms();
	check_parts();
	check_adjoint_threads();
}
