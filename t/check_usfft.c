/* usfft against the exact sums of direct.c. */
#include "t/check_usfft.h"

/* Both types of a problem stay below its tolerance. */
static void
check_both(struct check_many *many, struct problem *q, enum kind kind)
{
	for (int type = 1; type <= 2; type++) {
		void *out = check_alloc(2 * (type == 1 ? q->modes : q->pt.m), sizeof(double));
		const int sign = (type == 1) == (kind % 2 == 0) ? -1 : 1;
		engine_begin(many);
		const int err = problem_run_on(engine_on, q, type, sign, many->cases % 3 != 2, out);
		const double error = err ? INFINITY : problem_error(q, type, sign, out);
		check_case(many, error <= q->o.tol,
			   "%s type %d, registers of %d, case %zu: returns %d, error %.2e",
			   problem_name(q, kind), type, q->o.registers, many->cases, err, error);
	}
}

static void
check_error(struct check_many *many, const struct usfft_options *o, size_t m, enum kind kind,
	    struct check_rng *r)
{
	struct problem q;

	problem_make(&q, o, m, kind, r);
	check_both(many, &q, kind);
}

static const size_t small[3][3] = {{1000}, {48, 35}, {18, 10, 13}};

/* Where not every case runs, each tolerance has one kind of points. */
static void
check_tolerances(bool single, struct check_rng *r)
{
	const double least = single ? 5e-7 : engine_on->every > 1 ? 5e-14 : 5e-15;
	struct check_many many = {0};

	for (size_t set = 0; set < 3 * KINDS; set++) {
		const enum kind kind = set % KINDS;
		struct usfft_options o = {
		    .dim = 1 + (int)set / KINDS, .single = single, .threads = 2};
		struct problem q;
		size_t i = 0;
		memcpy(o.n, small[set / KINDS], sizeof o.n);
		problem_make(&q, &o, 400, kind, r);
		for (q.o.tol = 1e-2; q.o.tol > least; q.o.tol /= 10, i++)
			if (engine_on->every == 1 || i % KINDS == (size_t)kind)
				check_both(&many, &q, kind);
		check_free();
	}
	check_end(&many, single ? "float: errors stay below tolerances 1e-2 to 1e-6"
				: "double: errors stay below tolerances from 1e-2 on");
}

/* Axes shorter than a window, and tiles of many points. */
static void
check_shapes(struct check_many *many, struct check_rng *r, size_t i)
{
	static const size_t n[] = {1, 2, 3, 7, 16, 31, 129};

	for (size_t m = 1; m < 4000; m = 3 * m + 1) {
		struct usfft_options o = {.dim = 1 + (int)((m + i) % 3),
					  .tol = i % 2 ? 1e-8 : 1e-4,
					  .single = i % 2 == 0,
					  .n = {n[i], n[(i + 3) % 7], n[(i + 5) % 7]},
					  .fft_order = i % 2,
					  .threads = 1 + (int)(i % 3)};
		check_error(many, &o, m, i == 4 ? DUPLICATE : UNIFORM, r);
	}
}

/* Long 1-D grids are cut into rows, and have more tiles than 65536 on the GPU. */
static void
check_long(struct check_many *many, struct check_rng *r, size_t i)
{
	const struct usfft_options o = {.dim = 1,
					.tol = i < 2 ? 1e-12 : 1e-5,
					.n = {150000 + i},
					.single = i == 2,
					.fft_order = i == 3,
					.threads = 2};

	if (i % engine_on->every == engine_on->every - 1)
		check_error(many, &o, 5000, i % 2 ? UNIFORM : FAR, r);
}

/* The Gaussian window of the paper keeps its tolerances. */
static void
check_gauss(struct check_many *many, struct check_rng *r, size_t i)
{
	const struct usfft_options o = {
	    .dim = 2, .tol = pow(10, -2 - (double)i), .n = {30, 41}, .gauss = true, .threads = 1};

	if (i % engine_on->every == 0)
		check_error(many, &o, 300, UNIFORM, r);
}

static void
check_not_finite(void)
{
	const struct engine *const e = engine_on;
	struct check_many many = {0};
	struct usfft_options o = {.dim = 1, .tol = 1e-3, .n = {8}, .threads = 2};
	double x[3] = {0.1, 0.2, 0.3}, c[6] = {1, 2, 3, 4, 5, 6};
	struct usfft_points pt = {.m = 3, .stride = 1, .x = {x}};
	struct usfft_plan *p;
	size_t bad = 9;

	if (usfft_plan(&p, &o))
		die("no plan");
	check_case(&many, e->points(p, &pt, c, 2, &bad) == 0, "refused");
	c[5] = NAN;
	check_case(&many, e->points(p, &pt, c, 2, &bad) == -EINVAL && bad == 2, "NaN value: %zu",
		   bad);
	x[1] = x[2] = INFINITY;
	check_case(&many, e->points(p, &pt, c, 2, &bad) == -EINVAL && bad == 1,
		   "infinite point: %zu", bad);
	usfft_free(p);
	check_end(&many, "what is not finite is refused, and found");
}

/* The sum of nothing is zero, and type 2 has nothing to write. */
static void
check_no_points(struct check_many *many, struct check_rng *r, size_t set)
{
	const struct engine *const e = engine_on;
	const int dim = 1 + (int)set;
	struct usfft_options o = {.dim = dim, .tol = 1e-6, .n = {9, 5, 3}, .threads = 2};
	const struct usfft_points none = {.stride = 1};
	struct usfft_plan *p;
	double c[2] = {7, 7}, f[2 * 9 * 5 * 3];
	size_t bad, modes = dim == 1 ? 9 : dim == 2 ? 45 : 135;

	(void)r;
	check_poison(f, sizeof f);
	if (usfft_plan(&p, &o) || e->points(p, &none, c, 2, &bad) || e->type1(p, -1, NULL, f))
		die("no plan");
	for (size_t i = 0; i < 2 * modes; i++)
		check_case(many, f[i] == 0, "%d-D: mode %zu is %g", dim, i / 2, f[i]);
	if (e->points(p, &none, NULL, 0, &bad) || e->type2(p, -1, f, c))
		die("no plan");
	check_case(many, c[0] == 7 && c[1] == 7, "%d-D: type 2 wrote", dim);
	usfft_free(p);
}

/* The loops of every kind of register that the CPU has, for all numbers of taps that tolerances ask for. */
static void
check_registers(struct check_many *many, struct check_rng *r, size_t i)
{
	int bytes[3];
	const int kinds = problem_registers(bytes);
	struct usfft_options o = {.dim = 1 + (int)(i % 3), .single = i >= 3, .threads = 2};
	struct problem q;

	memcpy(o.n, small[i % 3], sizeof o.n);
	problem_make(&q, &o, 300, UNIFORM, r);
	for (int b = 0; b < kinds; b++)
		for (q.o.tol = 1e-1; q.o.tol > (o.single ? 1e-6 : 1e-14); q.o.tol /= 3) {
			q.o.registers = bytes[b];
			check_both(many, &q, UNIFORM);
		}
}

/* <A c, f> = <c, A* f>: A is type 1, A* type 2 with the other sign. */
static void
check_adjoint(struct check_many *many, struct check_rng *r, size_t set)
{
	const int dim = 1 + (int)set;
	struct usfft_options o = {.dim = dim, .tol = 1e-9, .n = {21, 16, 9}, .threads = 2};
	struct problem q;

	problem_make(&q, &o, 500, UNIFORM, r);
	double *f = check_alloc(2 * q.modes, sizeof *f), *c = check_alloc(1000, sizeof *c);
	problem_run(&q, 1, 1, f);
	problem_run(&q, 2, -1, c);
	const double a = real_dot(f, q.fd, 2 * q.modes), b = real_dot(q.cd, c, 1000);
	const double size = sqrt(real_dot(f, f, 2 * q.modes) * real_dot(q.fd, q.fd, 2 * q.modes));
	check_case(many, fabs(a - b) <= 1e-13 * size, "%d-D: %.17g against %.17g", dim, a, b);
}

/* Tiles heavier than a piece included; and values that come by index, where there are seven threads. */
static void
check_threads(struct check_many *many, struct check_rng *r, size_t set)
{
	const int dim = 1 + (int)set / 2, type = 1 + (int)set % 2;
	struct usfft_options o = {.dim = dim, .tol = 1e-4, .n = {dim == 1 ? 70000 : 60, 50, 20}};
	struct problem q;
	const enum kind kind = dim == 2 ? CLUSTERED : UNIFORM;

	problem_make(&q, &o, 50000, kind, r);
	const size_t bytes = 16 * (type == 1 ? q.modes : q.pt.m);
	char *one = check_alloc(bytes, 1), *more = check_alloc(bytes, 1);
	q.o.threads = 1;
	problem_run(&q, type, -1, one);
	for (q.o.threads = 2; q.o.threads <= 7; q.o.threads += 5) {
		problem_run_on(&on_cpu, &q, type, -1, q.o.threads == 2, more);
		check_case(many, !memcmp(one, more, bytes), "%s type %d: %d threads",
			   problem_name(&q, kind), type, q.o.threads);
	}
}

/* In 1-D such a plan has one tile, more points than a thread takes at a time, and points that stay unsorted. */
static void
check_one_tile(struct check_many *many, struct check_rng *r, size_t single)
{
	struct usfft_options o = {.dim = 1,
				  .tol = single ? 1e-5 : 1e-10,
				  .single = single,
				  .n = {3000},
				  .threads = 2,
				  .type = 2};
	struct usfft_plan *p;
	struct problem q;
	size_t bad;

	problem_make(&q, &o, 20000, FAR, r);
	double *f = check_alloc(q.modes, 2 * sizeof *f), *c = check_alloc(q.pt.m, 2 * sizeof *c);
	if (usfft_plan(&p, &q.o) || usfft_points(p, &q.pt, NULL, 0, &bad))
		die("no plan");
	usfft_type2(p, 1, q.f, c);
	usfft_type1(p, 1, q.c, f);
	const double two = problem_error(&q, 2, 1, c), one = problem_error(&q, 1, 1, f);
	check_case(many, two < o.tol && one < o.tol, "single %zu: %g %g", single, two, one);
	usfft_free(p);
}

static void
check_refused(void)
{
	struct check_many many = {0};
	const struct usfft_options bad[] = {
	    {.dim = 0, .tol = 1, .n = {1}, .threads = 1},
	    {.dim = 4, .tol = 1, .n = {1}, .threads = 1},
	    {.dim = 1, .tol = 0, .n = {1}, .threads = 1},
	    {.dim = 1, .tol = NAN, .n = {1}, .threads = 1},
	    {.dim = 2, .tol = 1, .n = {1, 0}, .threads = 1},
	    {.dim = 3, .tol = 1, .n = {1u << 30, 1u << 30, 1u << 30}, .threads = 1}};

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct usfft_plan *p = (struct usfft_plan *)&many;
		check_case(&many, usfft_plan(&p, &bad[i]) < 0 && !p, "case %zu", i);
	}
	check_end(&many, "what cannot be planned is refused");
}

void
check_usfft_on(const struct engine *e)
{
	struct check_rng r = {11};

	engine_on = e;
	check_whose(e->name);
	check_tolerances(false, &r);
	check_tolerances(true, &r);
	check_each_from("odd, single and short axes, one point and many, both orders of modes", 7,
			&r, check_shapes);
	check_each_from("a long axis is as exact as a short one", 4, &r, check_long);
	check_each_from("the Gaussian window stays below tolerances 1e-2 to 1e-9", 8, &r,
			check_gauss);
	check_not_finite();
	check_each_from("no points: modes are zero, and no values", 3, &r, check_no_points);
	check_usfft_crowds();
	check_usfft_types();
	check_whose("");
	engine_on = &on_cpu;
}

void
check_usfft(void)
{
	struct check_rng r = {13};

	check_usfft_on(&on_cpu);
	check_each_from("every kind of register keeps the tolerance", 6, &r, check_registers);
	check_each_from("type 2 is the adjoint of type 1", 3, &r, check_adjoint);
	check_each_from("the same bytes for any number of threads", 3 * 2, &r, check_threads);
	check_each_from("a plan for type 2 serves type 1, too", 2, &r, check_one_tile);
	check_refused();
	check_usfft_batch();
	check_usfft_more();
	check_usfft_sky();
}
