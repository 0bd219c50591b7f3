/* wconv: the adjoint against the definition, and against the convolution by the dot-product test. */
#include "t/check_wconv.h"

/* The function that is checked; on_device: a GPU's. */
struct way {
	conv_scatter *scatter;
	bool on_device;
};

/* A job, results y to be scattered, and what comes of them. */
struct pair {
	struct conv_job j;
	double *y, *want;
	void *got;
};

static int
scatter_on_cpu(struct wconv_plan *p, const void *in, void *out)
{
	struct wconv_adjoint *a;
	struct why why;

	if (wconv_adjoint_plan(&a, p, &why))
		return -1;
	for (int twice = 0; twice < 2; twice++) /* the second run leaves the same */
		wconv_adjoint_run(a, in, out);
	wconv_adjoint_free(a);
	return 0;
}

/* The adjoint of p->y; false: it cannot be planned, or it failed. */
static bool
scatter(const struct way *way, struct pair *p)
{
	const size_t size = p->j.q.in_double ? 8 : 4, n = p->j.q.w * p->j.q.h;
	struct wconv_plan *plan;
	struct why why;

	if (wconv_plan(&plan, &p->j.q, &why))
		return false;
	void *in = check_alloc(p->j.nout, size);
	p->got = check_alloc(n, size);
	check_poison(p->got, n * size);
	for (size_t i = 0; i < p->j.nout; i++)
		real_set(in, i, p->y[i], size == 4);
	const bool ran = !way->scatter(plan, in, p->got);
	wconv_free(plan);
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

/* Makes noise of the results, and what the definition makes of that. */
static void
define(struct pair *p, struct check_rng *rng)
{
	p->y = check_alloc(p->j.nout, sizeof *p->y);
	p->want = check_alloc(p->j.q.w * p->j.q.h, sizeof *p->want);
	for (size_t k = 0; k < p->j.nout; k++)
		p->y[k] = (double)(float)rng_unit(rng);
	wconv_direct_adjoint(&p->j.q, p->y, p->want);
}

static double
bound_of(const struct way *way, const struct wconv_problem *q)
{
	if (q->in_double)
		return 1e-14;
	if (q->method == WCONV_DIRECT)
		return 3e-7;
	return way->on_device ? 1e-6 : q->edge == WCONV_NEAREST ? 4e-6 : 7.5e-7;
}

/* The job, posed and filled, by both methods, on the CPU at every level. */
static void
hold(const struct way *way, struct check_many *m, struct pair *p, struct check_rng *rng)
{
	for (int i = 0; i < (way->on_device ? 2 : 6); i++) {
		p->j.q.method = i % 2 ? WCONV_FFT : WCONV_DIRECT;
		p->j.q.registers = way->on_device ? 0 : 16 << i / 2;
		bool ran = conv_run(&p->j, NULL);
		if (ran && !p->y)
			define(p, rng);
		ran = ran && scatter(way, p);
		const double e = ran ? conv_relative(p->got, p->want, p->j.q.w * p->j.q.h,
						     !p->j.q.in_double)
				     : INFINITY,
			     d = ran ? dot_error(p) : INFINITY, bound = bound_of(way, &p->j.q);
		check_case(
		    m, e <= bound && d <= bound,
		    "%zux%zu, kernels %zux%zu in %zux%zu, edge %d, output %d, degree %d, double "
		    "%d, %s, %d bytes: error %.3g, dot %.3g",
		    p->j.q.w, p->j.q.h, p->j.q.kw, p->j.q.kh, p->j.q.gx, p->j.q.gy,
		    (int)p->j.q.edge, (int)p->j.q.output, p->j.q.degree, p->j.q.in_double,
		    i % 2 ? "transforms" : "direct", p->j.q.registers, e, d);
	}
}

/* --- series of problems: each function poses problem i --------------------------------------------------------------- */

/*
 * Any kernels, and one that is the product of a column and a row. An edge that renormalises multiplies errors where little of a
 * kernel is known; these seeds have no such place.
 */
static void
pose_edges(struct conv_job *j, size_t i)
{
	conv_pose_shape(j, i / CONV_EDGES % CONV_SHAPES);
	j->q.edge = (enum wconv_edge)(i % CONV_EDGES);
	j->product = i / CONV_EDGES / CONV_SHAPES;
	j->q.correlate = j->product && i % 2;
	if (j->product)
		j->q.gx = j->q.gy = 1;
}

/* A centre anywhere, flipped kernels, every size of output, nodes or polynomials, normalised or not. */
static void
pose_forms(struct conv_job *j, size_t i)
{
	const int degree = (int)i / 12 - 1; /* -1: nodes */
	const size_t n = (size_t)((degree + 1) * (degree + 2) / 2);

	conv_pose(j, 71, 45, 12, 7, degree < 0 ? 3 : n, degree < 0 ? 2 : 1);
	j->q.edge = (enum wconv_edge)(i % WCONV_RENORMALISE);
	j->q.output = (enum wconv_output)(i % 3);
	j->q.correlate = i / 3 % 2;
	j->q.normalise = i / 6 % 2;
	j->q.cx = i % 5 * 2;
	j->q.cy = i % 7;
	j->q.degree = degree;
	j->q.zero_x = j->q.zero_y = -20;
	j->q.scale_x = j->q.scale_y = 100;
	j->q.repeat = i % 2;
}

/* Nine parts of a picture: each part's own adjoint. */
static void
pose_parts(struct conv_job *j, size_t i)
{
	conv_pose(j, 90, 70, 11, 8, 3, 4);
	j->q.x0 = i % 3 * 30;
	j->q.y0 = i / 3 % 3 * 20;
	j->q.w = 30;
	j->q.h = i / 3 % 3 == 2 ? 30 : 20;
	j->q.edge = i < 9 ? WCONV_REFLECT : WCONV_RENORMALISE;
}

static const struct {
	const char *name;
	void (*pose)(struct conv_job *j, size_t i);
	size_t n, products,
	    seed; /* products: cases more that are, which a device does not tell from others */
} series[] = {{"the adjoint passes the dot-product test at all edges, of products too", pose_edges,
	       CONV_SHAPES *CONV_EDGES, CONV_SHAPES *CONV_EDGES, 21},
	      {"the adjoint of same, valid and full results, of nodes and polynomials", pose_forms,
	       48, 0, 22},
	      {"the adjoint of a part of a picture", pose_parts, 18, 0, 23}};

void
conv_check_adjoint(const char *where, conv_scatter *scatters, bool on_device)
{
	const struct way way = {scatters, on_device};
	char name[128];

	for (size_t s = 0; s < sizeof series / sizeof *series; s++) {
		struct check_many m = {0};
		struct check_rng rng = {series[s].seed};
		const size_t n = series[s].n + (on_device ? 0 : series[s].products);
		for (size_t i = 0; i < n; i++) {
			struct pair p = {0};
			series[s].pose(&p.j, i);
			/* Each value of all else meets both: single, double, single, double, double, single ... */
			p.j.q.in_double = (i + i / 4) % 2;
			p.j.q.in = p.j.q.out = p.j.q.in_double ? IMG_F64 : IMG_F32;
			p.j.q.threads = on_device ? 1 + (int)(i % 3) * 16 : 2;
			conv_fill(&p.j, &rng);
			if (p.j.product)
				conv_multiply(&p.j);
			hold(&way, &m, &p, &rng);
			check_free();
		}
		snprintf(name, sizeof name, "%s %s", where, series[s].name);
		check_end(&m, name);
	}
}

/* Several bands, of several tiles across, on any number of threads. */
static void
check_adjoint_threads(struct check_many *m, struct check_rng *rng, size_t set)
{
	static const struct way cpu = {scatter_on_cpu, false};
	const int method = 1 + (int)set;
	struct pair p = {0};
	float *first = check_alloc(400 * 700, sizeof *first);

	conv_pose(&p.j, 400, 700, method == 1 ? 5 : 21, 9, 5, 6);
	p.j.q.edge = WCONV_MIRROR;
	p.j.q.method = (enum wconv_method)method;
	conv_fill(&p.j, rng);
	check_case(m, conv_run(&p.j, NULL), "no plan");
	p.y = check_alloc(p.j.nout, sizeof *p.y);
	for (size_t k = 0; k < p.j.nout; k++)
		p.y[k] = rng_unit(rng);
	for (int t = 1; t <= 7; t += 2) {
		p.j.q.threads = t;
		check_case(m, scatter(&cpu, &p), "no plan");
		if (t == 1)
			memcpy(first, p.got, 400 * 700 * sizeof *first);
		check_case(m, !memcmp(first, p.got, 400 * 700 * sizeof *first), "%d threads differ",
			   t);
		check_case(m, dot_error(&p) <= 1e-6, "%d threads: dot %g", t, dot_error(&p));
	}
}

void
check_wconv_adjoint(void)
{
	conv_check_adjoint("wconv:", scatter_on_cpu, false);
	check_each("wconv: the adjoint has the same bytes for any number of threads", 2, 24,
		   check_adjoint_threads);
}
