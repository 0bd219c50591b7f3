/* The costs of this machine, measured with the plan's own tasks. */
#include <errno.h>
#include <time.h>

#include "common/mem.h"
#include "wconv/costs.h"
#include "wconv/plan.h"

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A task to be timed. */
struct task {
	const struct wconv_plan *p;
	void *x;
	void (*run)(const struct task *t);
};

static void
run_transform(const struct task *t)
{
	t->p->core->measure(&t->p->columns, t->x, false);
	t->p->core->measure(&t->p->columns, t->x, true);
}

static void
run_rows(const struct task *t)
{
	t->p->core->rows(t->p, 0, 0, 0, t->p->scratch);
}

static void
run_tile(const struct task *t)
{
	t->p->core->tile(t->p, 0, 0, 0, t->p->scratch);
}

/* Seconds of one run: the least of five means over half a millisecond. */
static double
time_task(const struct task *t)
{
	double best = 1;

	for (int i = 0; i < 5; i++) {
		const double start = now();
		size_t n = 0;
		do {
			t->run(t);
			n++;
		} while (now() - start < 5e-4);
		const double mean = (now() - start) / (double)n;
		best = mean < best ? mean : best;
	}
	return best;
}

static int
measure_transforms(struct wconv_costs *c, const struct wconv_core *core)
{
	const size_t most = wconv_sizes[WCONV_SIZES - 1];
	struct wconv_plan p = {.core = core};
	struct task t = {&p, weir_calloc(2 * most, core->lanes * core->sample), run_transform};
	int e = t.x ? 0 : -ENOMEM;

	for (size_t i = 0; !e && i < WCONV_SIZES; i++) {
		e = wconv_fft_plan(&p.columns, wconv_sizes[i], core->sample);
		c->transform[i] = e ? 0 : time_task(&t) / 2;
		wconv_fft_free(&p.columns);
	}
	weir_free(t.x);
	return e;
}

/* One kernel of k x k over one tile of zeros. */
static int
plan_one_tile(struct wconv_plan **p, const struct wconv_costs *c, enum wconv_method method,
	      size_t k, bool in_double, const void *zeros)
{
	static const double node[] = {0};
	const enum img_type type = in_double ? IMG_F64 : IMG_F32;
	const struct wconv_problem q = {.w = 128,
					.h = 32,
					.planes = 1,
					.in = type,
					.out = type,
					.W = 128,
					.H = 32,
					.kw = k,
					.kh = k,
					.gx = 1,
					.gy = 1,
					.kernels = zeros,
					.step_row = k,
					.node_x = node,
					.node_y = node,
					.degree = -1,
					.in_double = in_double,
					.method = method,
					.threads = 1};
	char err[WCONV_ERR];

	return wconv_plan(p, &q, c, err) ? -ENOMEM : 0;
}

static int
measure_tile(struct wconv_costs *c, enum wconv_method method, size_t k, bool in_double, void *zeros)
{
	struct wconv_plan *p;
	int e = plan_one_tile(&p, c, method, k, in_double, zeros);

	if (e)
		return e;
	for (size_t i = 0; i < wconv_count(p); i++)
		wconv_run(p, zeros, zeros);
	const struct task rows = {p, NULL, run_rows}, tile = {p, NULL, run_tile};
	const struct wconv_tile *X = p->x.tile, *Y = p->y.tile;
	const double h = (double)(Y->b - Y->a), w = (double)(X->b - X->a),
		     lanes = (double)p->core->lanes;
	const double whole = time_task(&tile);
	if (p->direct) {
		c->tap = whole / (h * (double)(k * k) * 4 * __builtin_ceil(w / lanes / 4));
	} else {
		const double n = (double)p->rows.n, m = (double)p->columns.n,
			     groups = __builtin_ceil(h / lanes);
		const double row = time_task(&rows), column = wconv_transform_cost(c, p->columns.n);
		const double left = (whole - groups * row) / (double)p->rows.blocks - 2 * column;
		const double turn = (row - wconv_transform_cost(c, p->rows.n / 2)) / n;
		c->turn = turn > 0 ? turn : 0;
		c->product = left > 0 ? left / m : 0;
	}
	wconv_free(p);
	return 0;
}

int
wconv_costs_measure(struct wconv_costs *c, bool in_double)
{
	void *zeros = weir_calloc(128 * 128, sizeof(double));
	int e = zeros ? 0 : -ENOMEM;

	*c = *wconv_costs_builtin();
	e = e ? e : measure_transforms(c, wconv_find_core(NULL, in_double));
	e = e ? e : measure_tile(c, WCONV_FFT, 49, in_double, zeros);
	e = e ? e : measure_tile(c, WCONV_DIRECT, 7, in_double, zeros);
	weir_free(zeros);
	return e;
}
