/* usfft's kernels against the exact sums, within the tolerance that the CPU is held to, and what the CPU does in the same steps. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "gpu/usfft/usfft.h"
#include "t/check_gpu.h"
#include "t/check_usfft.h"
#include "usfft/direct.h"
#include "usfft/plan.h"

/* |a - b| / |b| of 2 n reals, which are floats or doubles; NaN counts. */
static double
apart(const void *a, bool single, const double *b, size_t n)
{
	double diff = 0, norm = 0;

	for (size_t i = 0; i < 2 * n; i++) {
		const double v = single ? (double)((const float *)a)[i] : ((const double *)a)[i];
		diff += (v - b[i]) * (v - b[i]);
		norm += b[i] * b[i];
	}
	return sqrt(diff / norm);
}

/* Where boxes lie: points and targets. */
struct boxes {
	double wide, mid, swide, smid;
};

/* Points of the unit box to one of that width around mid. */
static void
move(struct problem *q, double wide, double mid)
{
	for (size_t i = 0; i < q->pt.m * (size_t)q->o.dim; i++)
		if (q->o.single)
			((float *)q->x)[i] = (float)(mid + wide * (double)((float *)q->x)[i]);
		else
			((double *)q->x)[i] = mid + wide * ((double *)q->x)[i];
}

static double
coordinate(const struct usfft_points *pt, int a, size_t j)
{
	return pt->single ? (double)((const float *)pt->x[a])[j * pt->stride]
			  : ((const double *)pt->x[a])[j * pt->stride];
}

/* The error of a type 3 on the GPU; INFINITY: it failed. */
static double
type3_error(struct gpu *g, const struct usfft_options *o, const struct boxes *b, int sign,
	    struct check_rng *r)
{
	enum { POINTS = 150, TARGETS = 70 };
	double out[2 * TARGETS], want[2 * TARGETS];
	struct problem from, to;
	size_t bad;

	problem_make(&from, o, POINTS, UNIFORM, r);
	problem_make(&to, o, TARGETS, UNIFORM, r);
	move(&from, b->wide, b->mid);
	move(&to, b->swide, b->smid);
	check_poison(out, sizeof out);
	const int err = gpu_usfft_type3(g, o, &from.pt, from.c, &to.pt, sign, out, &bad);
	for (size_t j = 0; j < TARGETS; j++) {
		double s[3] = {0};
		for (int a = 0; a < o->dim; a++)
			s[a] = coordinate(&to.pt, a, j);
		usfft_direct_sum(o->dim, &from.pt, from.cd, sign, s, want + 2 * j);
	}
	const double e = err ? INFINITY : apart(out, o->single, want, TARGETS);
	check_free();
	return e;
}

static void
type3_holds(struct gpu *g, struct check_rng *r)
{
	static const struct boxes b[] = {{1, 0, 40, 0},	    {1, 0.3, 25, 7.5}, {300, 1000, 0.1, 2},
					 {0, 0.2, 9, 1},    {2, 0, 0, 3.25},   {0, 1, 0, 2},
					 {1, -20, 30, 1000}};
	struct check_many many = {0};

	for (size_t i = 0; i < sizeof b / sizeof *b; i++)
		for (int dim = 1; dim <= (b[i].swide > 10 ? 2 : 3); dim++)
			for (int k = 0; k < (dim == 3 ? 2 : 3); k++) {
				const struct usfft_options o = {.dim = dim,
								.n = {1, 1, 1},
								.tol = k == 2 ? 1e-11 : 1e-4,
								.single = k == 1,
								.gauss = k == 0 && i == 1,
								.threads = 1};
				const int order = (int)many.cases % check_orders();
				check_order(order);
				const double e = type3_error(g, &o, &b[i], i % 2 ? 1 : -1, r);
				check_case(&many, e <= o.tol,
					   "%d-D, boxes %zu, tolerance %g, order %d: %s, %.2e", dim,
					   i, o.tol, order, isinf(e) ? gpu_why(g) : "ran", e);
			}
	check_end(&many, "gpu: usfft type 3 stays below its tolerance, wherever its boxes lie");
}

static void
odd_targets(struct gpu *g, struct check_rng *r)
{
	const struct usfft_options o = {.dim = 1, .n = {1}, .tol = 1e-4, .threads = 1};
	struct check_many many = {0};
	struct problem from, to;
	double out[20], sum = 0;
	size_t bad = 99;

	problem_make(&from, &o, 5, UNIFORM, r);
	problem_make(&to, &o, 10, UNIFORM, r);
	from.pt.m = 0;
	check_poison(out, sizeof out);
	check_case(&many, !gpu_usfft_type3(g, &o, &from.pt, from.c, &to.pt, 1, out, &bad),
		   "no points: %s", gpu_why(g));
	for (int i = 0; i < 20; i++)
		sum += fabs(out[i]);
	check_case(&many, sum == 0, "no points give %g", sum);
	from.pt.m = 5;
	to.pt.m = 0;
	check_case(&many, !gpu_usfft_type3(g, &o, &from.pt, from.c, &to.pt, 1, NULL, &bad),
		   "no targets: %s", gpu_why(g));
	to.pt.m = 10;
	((double *)to.x)[3] = NAN;
	check_case(&many,
		   gpu_usfft_type3(g, &o, &from.pt, from.c, &to.pt, 1, out, &bad) == -ENXIO &&
		       bad == 3,
		   "NaN target: %zu", bad);
	((double *)from.x)[2] = INFINITY;
	check_case(&many,
		   gpu_usfft_type3(g, &o, &from.pt, from.c, &to.pt, 1, out, &bad) == -EINVAL &&
		       bad == 2,
		   "infinite point: %zu", bad);
	check_free();
	check_end(&many, "gpu: usfft type 3 of no points, of no targets, and what is not finite");
}

/* Modes that enough points have seen come back, in the steps of the CPU; w: weights, or NULL. */
static void
invert(struct gpu *g, struct check_many *many, struct problem *q, const double *w)
{
	const struct usfft_inverse v = {.sign = 1, .iter = 200, .rtol = 1e-11};
	const size_t bytes = 2 * q->modes * sizeof(double);
	double *b = weir_xalloc(2 * q->pt.m, sizeof *b), *f = weir_xalloc(bytes, 1),
	       *cpu = weir_xalloc(bytes, 1);
	struct usfft_outcome got = {0}, want = {0};
	size_t bad;

	check_poison(f, bytes);
	problem_run(q, 2, 1, b);
	const int err = gpu_usfft_inverse(g, &q->o, &q->pt, w, b, &v, f, &got, &bad);
	const int none = usfft_inverse(&q->o, &q->pt, w, b, &v, cpu, &want, &bad);
	const double error = err ? INFINITY : apart(f, false, q->fd, q->modes);
	const double cpus = none ? INFINITY : apart(f, false, cpu, q->modes);
	check_case(many,
		   got.residual <= v.rtol && error <= 1e-9 && cpus <= 1e-9 &&
		       got.iterations == want.iterations,
		   "%d-D: %s, %d iterations, of the CPU %d, residual %.1e, error %.1e", q->o.dim,
		   err ? gpu_why(g) : "ran", got.iterations, want.iterations, got.residual, error);
	weir_free(b);
	weir_free(f);
	weir_free(cpu);
}

static void
inverse_holds(struct gpu *g, struct check_rng *r)
{
	static const size_t points[] = {60, 500, 2500};
	struct check_many many = {0};

	for (int i = 0; i < 2 * 3; i++) {
		const int dim = 1 + i / 2;
		const struct usfft_options o = {
		    .dim = dim, .tol = 1e-12, .n = {11, 8, 5}, .fft_order = i % 2, .threads = 1};
		const size_t m = points[dim - 1];
		struct problem q;
		double *w = weir_xalloc(m, sizeof *w);
		problem_make(&q, &o, m, UNIFORM, r);
		for (size_t j = 0; j < m; j++)
			w[j] = 0.5 + rng_unit(r);
		check_order(i % check_orders());
		invert(g, &many, &q, i % 2 ? w : NULL);
		weir_free(w);
		check_free();
	}
	check_end(&many, "gpu: usfft's inverse gives back the modes, in the CPU's iterations");
}

/* One iteration, and values that are all zero. */
static void
inverse_stops(struct gpu *g, struct check_rng *r)
{
	const struct usfft_options o = {.dim = 2, .tol = 1e-6, .n = {9, 7}, .threads = 1};
	const struct usfft_inverse v = {.sign = -1, .iter = 1, .rtol = 0};
	struct check_many many = {0};
	struct usfft_outcome got = {0};
	double f[2 * 9 * 7], sum = 0;
	struct problem q;
	size_t bad;

	problem_make(&q, &o, 40, UNIFORM, r);
	check_case(&many,
		   !gpu_usfft_inverse(g, &o, &q.pt, NULL, q.cd, &v, f, &got, &bad) &&
		       got.iterations == 1 && got.residual > 0,
		   "%s, %d iterations", gpu_why(g), got.iterations);
	memset(q.cd, 0, 2 * q.pt.m * sizeof *q.cd);
	check_poison(f, sizeof f);
	check_case(&many,
		   !gpu_usfft_inverse(g, &o, &q.pt, NULL, q.cd, &v, f, &got, &bad) &&
		       got.iterations == 0 && got.residual == 0,
		   "%s, %d iterations of nothing", gpu_why(g), got.iterations);
	for (size_t i = 0; i < sizeof f / sizeof *f; i++)
		sum += fabs(f[i]);
	check_case(&many, sum == 0, "zeros give %g", sum);
	check_free();
	check_end(&many, "gpu: usfft's inverse stops where it is told, and at once for zeros");
}

/*
 * Moves points 2^-40 of a cell beyond multiples of 2^-20. In 2-D and 3-D the CPU cuts places for weights off after 2^-28, which
 * changes these points by no more than 2^-40.
 */
static void
round_points(struct problem *q)
{
	const struct usfft_options o = usfft_pipe_options(&q->o);
	size_t n[3];
	int w;

	usfft_choose(&o, &w, n);
	for (int a = 0; a < o.dim; a++)
		for (size_t j = 0; j < q->pt.m; j++) {
			double *x = (double *)(uintptr_t)q->pt.x[a] + j * q->pt.stride;
			*x = (rint(*x * (double)n[a] * 0x1p20) + 0x1p-20) / ((double)n[a] * 0x1p20);
		}
}

static void
weights_agree(struct gpu *g, struct check_rng *r)
{
	struct check_many many = {0};

	for (int i = 0; i < 3 * 2; i++) {
		const struct usfft_options o = {
		    .dim = 1 + i / 2, .tol = 1e-7, .n = {20, 12, 9}, .threads = 1};
		enum { POINTS = 1000, ROUNDS = 5 };
		double w[POINTS], want[POINTS], worst = 0;
		struct problem q;
		size_t bad;
		problem_make(&q, &o, POINTS, i % 2 ? CLUSTERED : UNIFORM, r);
		round_points(&q);
		check_order(i % check_orders());
		check_poison(w, sizeof w);
		const int err = gpu_usfft_pipe(g, &o, &q.pt, ROUNDS, w, &bad) ||
				usfft_pipe(&o, &q.pt, ROUNDS, want, &bad);
		for (size_t j = 0; j < POINTS && !err; j++) {
			const double e = fabs(w[j] / want[j] - 1);
			worst = e <= worst ? worst : e; /* NaN counts */
		}
		check_case(&many, !err && worst <= 1e-11, "%s: %s, %.2e",
			   problem_name(&q, i % 2 ? CLUSTERED : UNIFORM), err ? gpu_why(g) : "ran",
			   worst);
		check_free();
	}
	check_end(&many, "gpu: usfft's weights are the CPU's");
}

/* Equal float values at one place: `each` of them against one that is as large as all. Rounding must not add up. */
static double
crowd_error(struct gpu *g, const struct usfft_options *o, size_t each, struct check_rng *r)
{
	struct problem one, all;
	double want[2 * 125], sum[2];
	float got[2 * 125];
	struct usfft_plan *p;
	size_t bad;

	problem_make(&one, o, 1, UNIFORM, r);
	problem_make(&all, o, each, UNIFORM, r);
	for (size_t j = 0; j < each; j++) {
		memcpy((float *)all.x + j * (size_t)o->dim, one.x, (size_t)o->dim * sizeof(float));
		memcpy((float *)all.c + 2 * j, one.c, 2 * sizeof(float));
	}
	for (int i = 0; i < 2; i++)
		sum[i] = (double)each * one.cd[i];
	for (size_t k = 0; k < one.modes; k++)
		usfft_direct_mode(o, &one.pt, sum, -1, k, want + 2 * k);
	check_poison(got, sizeof got);
	int err = usfft_plan(&p, o);
	if (!err) {
		err = gpu_usfft_points(g, p, &all.pt, all.c, 2, &bad) ||
		      gpu_usfft_type1(g, p, -1, NULL, got) || gpu_settle(g, NULL, 0);
		usfft_free(p);
	}
	const double e = err ? INFINITY : apart(got, true, want, one.modes);
	check_free();
	return e;
}

static void
crowds_hold(struct gpu *g, struct check_rng *r)
{
	static const size_t each[] = {200, 1000, 10000};
	struct check_many many = {0};

	for (int i = 0; i < 18; i++) {
		const struct usfft_options o = {
		    .dim = 1 + i % 3, .n = {5, 5, 5}, .tol = 1e-6, .single = true, .threads = 1};
		const size_t n = each[i / 3 % 3];
		check_order(i % check_orders());
		const double e = crowd_error(g, &o, n, r);
		check_case(&many, e <= o.tol, "%d-D, %zu points: %s, %.2e", o.dim, n,
			   isinf(e) ? gpu_why(g) : "ran", e);
	}
	check_end(&many,
		  "gpu: usfft, many equal float values at one place keep the least tolerance");
}

static void
type3_and_inverse_hold(struct gpu *g)
{
	struct check_rng r = {43};

	type3_holds(g, &r);
	odd_targets(g, &r);
	inverse_holds(g, &r);
	inverse_stops(g, &r);
	weights_agree(g, &r);
	crowds_hold(g, &r);
}

/* A transform of q to out, which is poisoned before; carried: values go along with the points. 0 or what failed. */
static int
run(struct gpu *g, const struct problem *q, int type, int sign, bool carried, void *out)
{
	const size_t sample = 2 * (q->o.single ? sizeof(float) : sizeof(double));
	struct usfft_plan *p;
	size_t bad;

	check_poison(out, sample * (type == 1 ? q->modes : q->pt.m));
	if (usfft_plan(&p, &q->o))
		die("no plan");
	int err = gpu_usfft_points(g, p, &q->pt, carried ? q->c : NULL, 2, &bad);
	if (!err)
		err = type == 1 ? gpu_usfft_type1(g, p, sign, carried ? NULL : q->c, out)
				: gpu_usfft_type2(g, p, sign, q->f, out);
	usfft_free(p);
	return err ? err : gpu_settle(g, NULL, 0);
}

/* Both types of one problem, with a sign each, in the case's order of fibers. */
static void
hold(struct gpu *g, struct check_many *many, const struct usfft_options *o, size_t m,
     enum kind kind, struct check_rng *r)
{
	struct problem q;

	problem_make(&q, o, m, kind, r);
	for (int type = 1; type <= 2; type++) {
		void *out = weir_xalloc(2 * (type == 1 ? q.modes : m), sizeof(double));
		const int order = (int)many->cases % check_orders();
		const int sign = many->cases / 2 % 2 ? 1 : -1;
		check_order(order);
		const int err = run(g, &q, type, sign, many->cases % 3 == 0, out);
		const double e = err ? INFINITY : problem_error(&q, type, sign, out);
		check_case(many, e <= o->tol, "%s type %d, order %d: %s, error %.2e",
			   problem_name(&q, kind), type, order, err ? gpu_why(g) : "ran", e);
		weir_free(out);
	}
	check_free();
}

/* 400 points; in 3-D with many taps a part of the grid comes in slabs. */
static void
tolerances_hold(struct gpu *g, bool single, struct check_rng *r)
{
	static const size_t n[3][3] = {{1000}, {48, 35}, {18, 10, 13}};
	struct check_many many = {0};

	for (int dim = 1; dim <= 3; dim++)
		for (double tol = 1e-2; tol > (single ? 5e-7 : 5e-14); tol /= 10) {
			struct usfft_options o = {
			    .dim = dim, .tol = tol, .single = single, .threads = 1};
			memcpy(o.n, n[dim - 1], sizeof o.n);
			hold(g, &many, &o, 400, (enum kind)(many.cases / 2 % KINDS), r);
		}
	check_end(&many, single ? "gpu: usfft in float, tolerances 1e-2 to 1e-6"
				: "gpu: usfft in double, tolerances 1e-2 to 1e-13");
}

/* Axes of one tile and less than a window, one point and several subproblems of a tile. */
static void
shapes_hold(struct gpu *g, struct check_rng *r)
{
	static const size_t n[] = {1, 2, 3, 7, 16, 31, 129};
	struct check_many many = {0};

	for (size_t i = 0; i < sizeof n / sizeof *n; i++)
		for (size_t m = 1; m < 4000; m = 3 * m + 1) {
			struct usfft_options o = {.dim = 1 + (int)((m + i) % 3),
						  .tol = i % 2 ? 1e-8 : 1e-4,
						  .single = i % 2 == 0,
						  .n = {n[i], n[(i + 3) % 7], n[(i + 5) % 7]},
						  .fft_order = i % 2,
						  .threads = 1};
			hold(g, &many, &o, m, i == 4 ? DUPLICATE : UNIFORM, r);
		}
	check_end(&many, "gpu: usfft, odd, single and short axes, one point and many");
}

/* An axis of more tiles than 256 or 65536; the Gaussian window. */
static void
others_hold(struct gpu *g, struct check_rng *r)
{
	struct check_many many[2] = {0};

	for (int i = check_large ? 2 : 0; i < 3; i++) {
		struct usfft_options o = {.dim = 1,
					  .tol = i < 2 ? 1e-12 : 1e-5,
					  .n = {150000 + (size_t)i},
					  .single = i == 2,
					  .threads = 1};
		hold(g, &many[0], &o, 5000, i % 2 ? UNIFORM : FAR, r);
	}
	for (double tol = 1e-2; tol > 5e-9; tol /= 100) {
		struct usfft_options o = {
		    .dim = 2, .tol = tol, .n = {30, 41}, .gauss = true, .threads = 1};
		hold(g, &many[1], &o, 300, UNIFORM, r);
	}
	check_end(&many[0], "gpu: usfft, a long axis is as exact as a short one");
	check_end(&many[1], "gpu: usfft, the Gaussian window");
}

/* The order in which threads and blocks run changes no bit; nor does the way that values came. */
static void
same_bytes(struct gpu *g, struct check_rng *r)
{
	struct check_many many = {0};

	for (int dim = 1; dim <= 3; dim++) {
		struct usfft_options o = {
		    .dim = dim, .tol = 1e-4, .n = {40, 30, 20}, .single = dim == 2, .threads = 1};
		struct problem q;
		problem_make(&q, &o, 5000, dim == 3 ? UNIFORM : CLUSTERED, r);
		const size_t bytes = 2 * q.modes * (o.single ? sizeof(float) : sizeof(double));
		char *one = weir_xalloc(bytes, 1), *more = weir_xalloc(bytes, 1);
		check_order(0);
		int err = run(g, &q, 1, -1, false, one);
		for (int i = 0; i < check_orders(); i++) {
			check_order(i);
			err |= run(g, &q, 1, -1, i % 2, more);
			check_case(&many, !err && !memcmp(one, more, bytes), "%d-D, order %d", dim,
				   i);
		}
		weir_free(one);
		weir_free(more);
		check_free();
	}
	check_end(&many, "gpu: usfft gives the same bytes in every run");
}

/* Coordinates and values as columns of one record, and as arrays of their own. */
static void
strides_agree(struct gpu *g, struct check_rng *r)
{
	enum { M = 300 };
	struct usfft_options o = {.dim = 2, .tol = 1e-6, .n = {20, 17}, .threads = 1};
	double record[M * 5], x[2][M], c[2 * M], out[2][2 * 20 * 17];
	const struct usfft_points pt[2] = {{M, 5, false, {record + 1, record}},
					   {M, 1, false, {x[0], x[1]}}};
	struct usfft_plan *p;
	size_t bad;
	int err = 0;

	for (size_t i = 0; i < M * 5; i++)
		record[i] = rng_unit(r) - .5;
	for (size_t j = 0; j < M; j++) {
		x[0][j] = record[5 * j + 1];
		x[1][j] = record[5 * j];
		memcpy(c + 2 * j, record + 5 * j + 3, 2 * sizeof *c);
	}
	if (usfft_plan(&p, &o))
		die("no plan");
	for (int i = 0; i < 2; i++)
		err |= gpu_usfft_points(g, p, &pt[i], i ? c : record + 3, i ? 2 : 5, &bad) ||
		       gpu_usfft_type1(g, p, 1, NULL, out[i]) || gpu_settle(g, NULL, 0);
	check(!err && !memcmp(out[0], out[1], sizeof out[0]),
	      "gpu: usfft reads columns of a record as arrays of their own", "%s",
	      err ? gpu_why(g) : "they differ");
	usfft_free(p);
}

static void
odd_points(struct gpu *g)
{
	struct check_many many = {0};
	struct usfft_options o = {.dim = 1, .tol = 1e-3, .n = {8}, .threads = 1};
	double x[3] = {.1, .2, .3}, c[6] = {1, 2, 3, 4, 5, 6}, out[16], none[2];
	struct usfft_points pt = {.m = 3, .stride = 1, .x = {x}};
	struct usfft_plan *p;
	size_t bad = 9;
	double sum = 0;

	if (usfft_plan(&p, &o))
		die("no plan");
	check_case(&many, gpu_usfft_points(g, p, &pt, c, 2, &bad) == 0, "refused");
	c[5] = NAN;
	check_case(&many, gpu_usfft_points(g, p, &pt, c, 2, &bad) == -EINVAL && bad == 2,
		   "NaN value: %zu", bad);
	x[1] = x[2] = INFINITY;
	check_case(&many, gpu_usfft_points(g, p, &pt, c, 2, &bad) == -EINVAL && bad == 1,
		   "infinite point: %zu", bad);
	pt.m = 0;
	check_poison(out, sizeof out);
	check_case(&many,
		   !gpu_usfft_points(g, p, &pt, c, 2, &bad) &&
		       !gpu_usfft_type1(g, p, -1, NULL, out) &&
		       !gpu_usfft_type2(g, p, -1, out, none),
		   "no points: %s", gpu_why(g));
	for (int i = 0; i < 16; i++)
		sum += fabs(out[i]);
	check_case(&many, sum == 0, "no points give %g", sum);
	usfft_free(p);
	check_end(&many, "gpu: usfft finds what is not finite, and takes no points at all");
}

static void
too_large(struct gpu *g)
{
	struct usfft_options o = {.dim = 1, .tol = 1e-6, .n = {4096}, .threads = 1};
	double x = 0;
	const struct usfft_points pt = {.m = 1, .stride = 1, .x = {&x}};
	struct usfft_plan *p;
	size_t bad;

	if (usfft_plan(&p, &o))
		die("no plan");
	p->grid.n[0] = (size_t)1 << 31;
	check(gpu_usfft_points(g, p, &pt, NULL, 0, &bad) == -EIO && strstr(gpu_why(g), "too large"),
	      "gpu: usfft refuses a grid of 2^31 cells", "%s", gpu_why(g));
	usfft_free(p);
	if (!cudacpu_memory)
		return;
	check_memory(g, 1000);
	if (usfft_plan(&p, &o))
		die("no plan");
	check(gpu_usfft_points(g, p, &pt, NULL, 0, &bad) == -EIO && strstr(gpu_why(g), "memory"),
	      "gpu: usfft says that the device has no memory", "%s", gpu_why(g));
	check_memory(g, 0);
	usfft_free(p);
}

void
check_gpu_usfft(struct gpu *g)
{
	struct check_rng r = {41};

	tolerances_hold(g, false, &r);
	tolerances_hold(g, true, &r);
	shapes_hold(g, &r);
	others_hold(g, &r);
	same_bytes(g, &r);
	strides_agree(g, &r);
	odd_points(g);
	too_large(g);
	type3_and_inverse_hold(g);
}
