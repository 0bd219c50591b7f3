/* usfft's kernels against the exact sums, within the tolerance that the CPU is held to, and what the CPU does in the same steps. */
#include "gpu/usfft/usfft.h"
#include "t/check_gpu.h"
#include "t/check_usfft.h"
#include "usfft/plan.h"

/* An error that has a reason prints it. */
static int
told(int err)
{
	if (err == -EIO)
		printf("# %s\n", gpu_why(gpu_on));
	return err;
}

static int
points(struct usfft_plan *p, const struct usfft_points *pt, const void *c, size_t cstride,
       size_t *bad)
{
	return told(gpu_usfft_points(gpu_on, p, pt, c, cstride, bad));
}

static int
type1(struct usfft_plan *p, int sign, const void *c, void *modes)
{
	const int err = gpu_usfft_type1(gpu_on, p, sign, c, modes);

	return told(err ? err : gpu_settle(gpu_on, NULL, 0));
}

static int
type2(struct usfft_plan *p, int sign, const void *modes, void *c)
{
	const int err = gpu_usfft_type2(gpu_on, p, sign, modes, c);

	return told(err ? err : gpu_settle(gpu_on, NULL, 0));
}

static int
type3(const struct usfft_options *o, const struct usfft_points *pt, const void *c,
      const struct usfft_points *targets, int sign, void *out, size_t *bad)
{
	return told(gpu_usfft_type3(gpu_on, o, pt, c, targets, sign, out, bad));
}

static int
inverse(const struct usfft_options *o, const struct usfft_points *pt, const double *w,
	const double *b, const struct usfft_inverse *v, double *modes, struct usfft_outcome *got,
	size_t *bad)
{
	return told(gpu_usfft_inverse(gpu_on, o, pt, w, b, v, modes, got, bad));
}

static struct engine on_gpu = {.name = "gpu: usfft, ",
			       .begin = check_order,
			       .points = points,
			       .type1 = type1,
			       .type2 = type2,
			       .type3 = type3,
			       .inverse = inverse};

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
weights_agree(struct check_many *many, struct check_rng *r, size_t i)
{
	enum { POINTS = 1000, ROUNDS = 5 };
	const enum kind kind = i % 2 ? CLUSTERED : UNIFORM;
	const struct usfft_options o = {
	    .dim = 1 + (int)i / 2, .tol = 1e-7, .n = {20, 12, 9}, .threads = 1};
	double w[POINTS], want[POINTS], worst = 0;
	struct problem q;
	size_t bad;

	problem_make(&q, &o, POINTS, kind, r);
	round_points(&q);
	check_order(i);
	check_poison(w, sizeof w);
	const int err = told(gpu_usfft_pipe(gpu_on, &o, &q.pt, ROUNDS, w, &bad)) ||
			usfft_pipe(&o, &q.pt, ROUNDS, want, &bad);
	for (size_t j = 0; j < POINTS && !err; j++) {
		const double e = fabs(w[j] / want[j] - 1);
		worst = e <= worst ? worst : e; /* NaN counts */
	}
	check_case(many, !err && worst <= 1e-11, "%s: returns %d, %.2e", problem_name(&q, kind),
		   err, worst);
}

/* The order in which threads and blocks run changes no bit; nor does the way that values came. */
static void
same_bytes(struct check_many *many, struct check_rng *r, size_t set)
{
	const int dim = 1 + (int)set;
	const struct usfft_options o = {
	    .dim = dim, .tol = 1e-4, .n = {40, 30, 20}, .single = dim == 2, .threads = 1};
	struct problem q;

	problem_make(&q, &o, 5000, dim == 3 ? UNIFORM : CLUSTERED, r);
	const size_t bytes = 2 * q.modes * (o.single ? sizeof(float) : sizeof(double));
	char *one = check_alloc(bytes, 1), *more = check_alloc(bytes, 1);
	check_order(0);
	int err = problem_run_on(&on_gpu, &q, 1, -1, false, one);
	for (size_t i = 0; i < check_orders(); i++) {
		check_order(i);
		err |= problem_run_on(&on_gpu, &q, 1, -1, i % 2, more);
		check_case(many, !err && !memcmp(one, more, bytes), "%d-D, order %zu", dim, i);
	}
}

/* Coordinates and values as columns of one record, and as arrays of their own. */
static void
strides_agree(struct check_rng *r)
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
		err |= points(p, &pt[i], i ? c : record + 3, i ? 2 : 5, &bad) ||
		       type1(p, 1, NULL, out[i]);
	check(!err && !memcmp(out[0], out[1], sizeof out[0]),
	      "gpu: usfft reads columns of a record as arrays of their own", "%s",
	      err ? "it failed" : "they differ");
	usfft_free(p);
}

/* A grid of 2^31 cells, and a device without memory. */
static void
too_large(void)
{
	static const struct {
		size_t cells, memory;
		const char *says, *name;
	} cases[] = {{(size_t)1 << 31, 0, "too large", "gpu: usfft refuses a grid of 2^31 cells"},
		     {0, 1000, "memory", "gpu: usfft says that the device has no memory"}};
	const struct usfft_options o = {.dim = 1, .tol = 1e-6, .n = {4096}, .threads = 1};
	double x = 0;
	const struct usfft_points pt = {.m = 1, .stride = 1, .x = {&x}};

	for (int i = 0; i < (cudacpu_memory ? 2 : 1); i++) {
		struct usfft_plan *p;
		size_t bad;
		check_memory(cases[i].memory);
		if (usfft_plan(&p, &o))
			die("no plan");
		p->grid.n[0] = cases[i].cells ? cases[i].cells : p->grid.n[0];
		check(gpu_usfft_points(gpu_on, p, &pt, NULL, 0, &bad) == -EIO &&
			  strstr(gpu_why(gpu_on), cases[i].says),
		      cases[i].name, "%s", gpu_why(gpu_on));
		usfft_free(p);
	}
	check_memory(0);
}

void
check_gpu_usfft(void)
{
	struct check_rng r = {41};

	on_gpu.every = check_large ? 3 : 2;
	check_usfft_on(&on_gpu);
	check_each_from("gpu: usfft's weights are the CPU's", 3 * 2, &r, weights_agree);
	check_each_from("gpu: usfft gives the same bytes in every run", 3, &r, same_bytes);
	strides_agree(&r);
	too_large();
}
