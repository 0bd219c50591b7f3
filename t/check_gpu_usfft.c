/* usfft's kernels against the exact sums, within the tolerance that the CPU is held to. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "gpu/usfft/usfft.h"
#include "t/check_gpu.h"
#include "t/check_usfft.h"
#include "usfft/plan.h"

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

/* More tiles than one pass of the sort can tell apart. */
static void
long_axis_holds(struct gpu *g, struct check_rng *r)
{
	struct check_many many = {0};

	for (int i = check_large ? 2 : 0; i < 3; i++) {
		struct usfft_options o = {.dim = 1,
					  .tol = i < 2 ? 1e-12 : 1e-5,
					  .n = {150000 + (size_t)i},
					  .single = i == 2,
					  .threads = 1};
		hold(g, &many, &o, 5000, i % 2 ? UNIFORM : FAR, r);
	}
	check_end(&many, "gpu: usfft, a long axis is as exact as a short one");
}

static void
gauss_holds(struct gpu *g, struct check_rng *r)
{
	struct check_many many = {0};

	for (double tol = 1e-2; tol > 5e-9; tol /= 100) {
		struct usfft_options o = {
		    .dim = 2, .tol = tol, .n = {30, 41}, .gauss = true, .threads = 1};
		hold(g, &many, &o, 300, UNIFORM, r);
	}
	check_end(&many, "gpu: usfft, the Gaussian window");
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
	gpu_release(g);
	cudacpu_memory(1000);
	if (usfft_plan(&p, &o))
		die("no plan");
	check(gpu_usfft_points(g, p, &pt, NULL, 0, &bad) == -EIO && strstr(gpu_why(g), "memory"),
	      "gpu: usfft says that the device has no memory", "%s", gpu_why(g));
	cudacpu_memory((size_t)1 << 40);
	usfft_free(p);
}

void
check_gpu_usfft(struct gpu *g)
{
	struct check_rng r = {41};

	tolerances_hold(g, false, &r);
	tolerances_hold(g, true, &r);
	shapes_hold(g, &r);
	long_axis_holds(g, &r);
	gauss_holds(g, &r);
	same_bytes(g, &r);
	strides_agree(g, &r);
	odd_points(g);
	too_large(g);
	check_gpu_usfft_more(g);
}
