/* Type 3, the inverse and the weights of usfft. */
#include "t/check_usfft.h"

enum { SHAPES = 9 };

/* Where boxes lie: points and targets. */
struct boxes {
	double wide, mid, swide, smid;
};

/* Points of the unit box to one of that width around mid. */
static void
move(struct problem *q, double wide, double mid)
{
	for (size_t i = 0; i < q->pt.m * (size_t)q->o.dim; i++)
		real_set(q->x, i, mid + wide * real_at(q->x, i, q->o.single), q->o.single);
}

/* The error of type 3, relative to the norm of the exact sums or to `least` where that is larger; INFINITY: it failed. */
static double
type3_error(const struct engine *e, const struct problem *from, const struct problem *to, int sign,
	    double least)
{
	const int dim = from->o.dim;
	const size_t m = to->pt.m;
	double *out = check_alloc(m, 2 * sizeof *out), *want = check_alloc(m, 2 * sizeof *want);
	size_t bad;

	check_poison(out, m * 2 * sizeof *out);
	if (e->type3(&from->o, &from->pt, from->c, &to->pt, sign, out, &bad))
		return INFINITY;
	for (size_t i = 0; i < m; i++) {
		double s[3] = {0};
		for (int a = 0; a < dim; a++)
			s[a] = real_at(to->pt.x[a], i * to->pt.stride, to->pt.single);
		usfft_direct_sum(dim, &from->pt, from->cd, sign, s, want + 2 * i);
	}
	return check_apart(out, from->o.single, want, 2 * m, least);
}

static double
boxes_error(const struct usfft_options *o, const struct boxes *b, int sign, struct check_rng *r)
{
	/* 300 and 270: more than a block of phases */
	const size_t m = 300 / engine_on->every, l = 270 / engine_on->every;
	struct problem from, to;

	problem_make(&from, o, m, UNIFORM, r);
	problem_make(&to, o, l, UNIFORM, r);
	move(&from, b->wide, b->mid);
	move(&to, b->swide, b->smid);
	return type3_error(engine_on, &from, &to, sign, 0);
}

/* Targets far away, i rising. */
static void
check_far(struct check_many *many, struct check_rng *r, size_t i)
{
	const double far = 100 * pow(5, (double)(i / 12)),
		     mid = i % 3 ? 0 : 123.4 * (double)(i % 12);
	const struct boxes b = {1 + (double)(i % 4), mid / 7, 2 * far, mid};
	const struct usfft_options o = {
	    .dim = 1, .n = {1}, .tol = i % 2 ? 1e-13 : 1e-14, .threads = 2};
	const double error = boxes_error(&o, &b, i % 2 ? 1 : -1, r);

	check_case(many, error <= o.tol, "targets to %g, tol %g: %.2e", far, o.tol, error);
}

/* Boxes of many shapes; from i = SHAPES on, targets far away. */
static void
check_type3(struct check_many *many, struct check_rng *r, size_t i)
{
	static const struct boxes shape[SHAPES] = {
	    {1, 0, 40, 0},	{1, 0.3, 25, 7.5}, {300, 1000, 0.1, 2},
	    {0, 0.2, 9, 1},	{2, 0, 0, 3.25},   {0, 1, 0, 2},
	    {1, -20, 30, 1000}, {2e-16, 1, 0, 2},  {0, 0.7, 8e-16, 4}};
	static const double tol[] = {1e-4, 1e-3, 1e-11, 1e-6, 1e-9, 1e-12};

	if (i >= SHAPES) {
		check_far(many, r, i - SHAPES);
		return;
	}
	for (int dim = 1; dim <= (shape[i].swide > 20 ? 2 : 3); dim++)
		for (size_t k = 0; k < (engine_on->every == 1 ? 6 : dim == 3 ? 2 : 3); k++) {
			const struct usfft_options o = {.dim = dim,
							.n = {1, 1, 1},
							.tol = tol[k],
							.single = k == 0,
							.gauss = k == 1 && i == 1,
							.threads = 2};
			engine_begin(many);
			const double error = boxes_error(&o, &shape[i], i % 2 ? 1 : -1, r);
			check_case(many, error <= o.tol, "%d-D case %zu tol %g: %.2e", dim, i,
				   o.tol, error);
		}
}

/*
 * The error of type 3 in one dimension, with `cells` = 4 X S, of equal values at both ends of a box, and of targets at both
 * ends of theirs. It is relative to what values of random phase give where the sums cancel.
 */
static double
ends_error(double tol, double cells, struct check_rng *r)
{
	enum { M = 180, L = 30 };
	const struct usfft_options o = {.dim = 1, .n = {1}, .tol = tol, .threads = 1};
	struct problem from, to;

	problem_make(&from, &o, M, UNIFORM, r);
	problem_make(&to, &o, L, UNIFORM, r);
	double *x = from.x, *s = to.x, *c = from.c;
	for (size_t i = 0; i < M; i++) {
		x[i] = rng_below(r, 2) ? 1 : -1;
		c[2 * i] = c[2 * i + 1] = from.cd[2 * i] = from.cd[2 * i + 1] = 1;
	}
	for (size_t i = 0; i < L; i++)
		s[i] = cells / 4 * (i ? 1 - 1e-3 * rng_unit(r) : -1);
	return type3_error(&on_cpu, &from, &to, 1, sqrt(2.0 * M * L));
}

static void
check_type3_ends(struct check_many *many, struct check_rng *r, size_t set)
{
	const double tol = pow(10, -3 - (double)set);

	for (double cells = 20; cells < 500; cells *= 1.06) {
		const double e = ends_error(tol, cells, r);
		check_case(many, e <= tol, "tol %g, %g cells: %.2e", tol, cells, e);
	}
}

static void
check_odd_targets(struct check_rng *r)
{
	const struct engine *const e = engine_on;
	const struct usfft_options o = {.dim = 1, .n = {1}, .tol = 1e-4, .threads = 1};
	struct check_many many = {0};
	struct problem from, to;
	double out[20], sum = 0;
	size_t bad = 99;

	problem_make(&from, &o, 5, UNIFORM, r);
	problem_make(&to, &o, 10, UNIFORM, r);
	from.pt.m = 0;
	check_poison(out, sizeof out);
	check_case(&many, !e->type3(&o, &from.pt, from.c, &to.pt, 1, out, &bad), "no points");
	for (int i = 0; i < 20; i++)
		sum += fabs(out[i]);
	check_case(&many, sum == 0, "no points give %g", sum);
	from.pt.m = 5;
	to.pt.m = 0;
	check_case(&many, !e->type3(&o, &from.pt, from.c, &to.pt, 1, NULL, &bad), "no targets");
	to.pt.m = 10;
	((double *)to.x)[3] = NAN;
	check_case(&many,
		   e->type3(&o, &from.pt, from.c, &to.pt, 1, out, &bad) == -ENXIO && bad == 3,
		   "NaN target: %zu", bad);
	((double *)from.x)[2] = INFINITY;
	check_case(&many,
		   e->type3(&o, &from.pt, from.c, &to.pt, 1, out, &bad) == -EINVAL && bad == 2,
		   "infinite point: %zu", bad);
	check_end(&many, "type 3 of no points, of no targets, and what is not finite");
}

/* Modes seen at enough points come back, in as many iterations as the CPU takes. */
static void
check_inverse(struct check_many *many, struct check_rng *r, size_t i)
{
	static const size_t points[] = {60, 500, 2500};
	const struct usfft_inverse v = {.sign = 1, .iter = 200, .rtol = 1e-11};
	const struct usfft_options o = {
	    .dim = 1 + (int)i / 2, .tol = 1e-12, .n = {11, 8, 5}, .fft_order = i % 2, .threads = 2};
	const size_t m = points[i / 2];
	struct usfft_outcome got = {0}, want = {0};
	struct problem q;
	size_t bad;

	problem_make(&q, &o, m, UNIFORM, r);
	double *b = check_alloc(2 * m, sizeof *b), *w = check_alloc(m, sizeof *w),
	       *f = check_alloc(2 * q.modes, sizeof *f),
	       *cpu = check_alloc(2 * q.modes, sizeof *cpu);
	for (size_t j = 0; j < m; j++)
		w[j] = 0.5 + rng_unit(r);
	w = i % 2 ? w : NULL;
	problem_run(&q, 2, 1, b);
	engine_begin(many);
	const int err = engine_on->inverse(&o, &q.pt, w, b, &v, f, &got, &bad) ||
			usfft_inverse(&o, &q.pt, w, b, &v, cpu, &want, &bad);
	const double error = check_apart(f, false, q.fd, 2 * q.modes, 0),
		     apart = check_apart(f, false, cpu, 2 * q.modes, 0);
	check_case(many,
		   !err && got.residual <= v.rtol && error <= 1e-9 && apart <= 1e-9 &&
		       got.iterations == want.iterations,
		   "%d-D: returns %d, %d iterations, of the CPU %d, residual %.1e, error %.1e",
		   o.dim, err, got.iterations, want.iterations, got.residual, error);
}

/* One iteration, and values that are all zero. */
static void
check_inverse_stops(struct check_rng *r)
{
	const struct engine *const e = engine_on;
	const struct usfft_options o = {.dim = 2, .tol = 1e-6, .n = {9, 7}, .threads = 1};
	const struct usfft_inverse v = {.sign = -1, .iter = 1, .rtol = 0};
	struct check_many many = {0};
	struct usfft_outcome got = {0};
	double f[2 * 9 * 7], sum = 0;
	struct problem q;
	size_t bad;

	problem_make(&q, &o, 40, UNIFORM, r);
	check_case(&many,
		   !e->inverse(&o, &q.pt, NULL, q.cd, &v, f, &got, &bad) && got.iterations == 1 &&
		       got.residual > 0,
		   "%d iterations", got.iterations);
	memset(q.cd, 0, 2 * q.pt.m * sizeof *q.cd);
	check_poison(f, sizeof f);
	check_case(&many,
		   !e->inverse(&o, &q.pt, NULL, q.cd, &v, f, &got, &bad) && got.iterations == 0 &&
		       got.residual == 0,
		   "%d iterations of nothing", got.iterations);
	for (size_t i = 0; i < sizeof f / sizeof *f; i++)
		sum += fabs(f[i]);
	check_case(&many, sum == 0, "zeros give %g", sum);
	check_end(&many, "the inverse stops where it is told, and at once for zeros");
}

/* Conjugate gradients come to the dense solution: weights, damping, coils. */
static double
dense_error(const struct problem *q, const double *w, const double *b, struct usfft_inverse v)
{
	double *f = check_alloc(2 * q->modes, sizeof *f),
	       *want = check_alloc(2 * q->modes, sizeof *f);
	struct usfft_outcome got;
	size_t bad;

	if (usfft_direct_inverse(&q->o, &q->pt, w, b, &v, want) ||
	    usfft_inverse(&q->o, &q->pt, w, b, &v, f, &got, &bad))
		die("no inverse");
	return check_apart(f, false, want, 2 * q->modes, 0);
}

static void
check_dense(struct check_many *many, struct check_rng *r, size_t i)
{
	enum { M = 120, COILS = 3 };
	struct usfft_options o = {.dim = 1 + (int)(i % 3),
				  .tol = 1e-12,
				  .n = {i % 3 ? 6 : 30, i % 3 == 2 ? 3 : 7, 4},
				  .fft_order = i % 2,
				  .threads = 2};
	struct usfft_inverse v = {.sign = i % 4 < 2 ? 1 : -1,
				  .iter = 500,
				  .rtol = 1e-12,
				  .damp = i % 5 ? .02 * (double)i : 0,
				  .coils = i % 3 ? COILS : i % 2};
	struct problem q;
	double b[2 * M * COILS], w[M];

	problem_make(&q, &o, M, UNIFORM, r);
	double *maps = check_alloc(2 * q.modes * COILS, sizeof *maps);
	for (size_t k = 0; k < 2 * q.modes * COILS; k++)
		maps[k] = v.damp > 0 && k / 2 % q.modes % 5 == 1 ? 0 : 1e3 * rng_normal(r);
	for (size_t k = 0; k < 2 * M * COILS; k++)
		b[k] = rng_normal(r);
	for (size_t k = 0; k < M; k++)
		w[k] = rng_unit(r);
	v.maps = maps;
	const double e = dense_error(&q, i % 7 ? w : NULL, b, v);
	check_case(many, e <= 1e-8, "case %zu: %.1e", i, e);
}

/* The sum that --tv minimises, by its definition; w is what weighs each point, and most the largest mode of the right side. */
static double
variation_sum(const struct problem *q, const double *w, double nu, double most, const double *f)
{
	double sum = 0;

	for (size_t j = 0; j < q->pt.m; j++) {
		double v[2];
		usfft_direct_point(&q->o, &q->pt, f, 1, j, v);
		sum += w[j] * (pow(v[0] - q->cd[2 * j], 2) + pow(v[1] - q->cd[2 * j + 1], 2));
	}
	for (size_t k = 0; k < q->modes; k++) {
		double square = 0;
		for (size_t a = 0, step = 1; a < 3; step *= q->o.n[a++]) {
			const double *at = f + 2 * k, *next = at + 2 * step;
			if (k / step % q->o.n[a] + 1 < q->o.n[a])
				square += pow(next[0] - at[0], 2) + pow(next[1] - at[1], 2);
		}
		sum += nu * most * sqrt(square);
	}
	return sum;
}

/* What --tv finds is no worse than what lies near it in random directions, and scaled. The sum is convex. */
static void
check_variation(struct check_many *many, struct check_rng *r, size_t i)
{
	const struct usfft_options o = {
	    .dim = 1 + (int)(i % 3), .tol = 1e-12, .n = {i % 3 ? 5 : 20, 4, 3}, .threads = 2};
	const bool few = i >= 12; /* fewer points than modes, and large nu */
	const struct usfft_inverse v = {
	    .sign = 1,
	    .iter = few ? 2500 : 20000,
	    .rtol = 1e-7,
	    .tv = pow(10, few ? 2 - (double)(i / 3 % 3) : -1 - (double)(i % 4))};
	struct usfft_outcome got;
	struct problem q;
	double w[90], most = 0, worse = 0;
	size_t bad;

	problem_make(&q, &o, few ? 10 : 90, UNIFORM, r);
	double *f = check_alloc(2 * q.modes, sizeof *f), *g = check_alloc(2 * q.modes, sizeof *g);
	double *wb = check_alloc(2 * q.pt.m, sizeof *wb);
	for (size_t j = 0; j < 2 * q.pt.m; j++) {
		w[j / 2] = j % 2 ? w[j / 2] : rng_unit(r);
		wb[j] = w[j / 2] * q.cd[j];
	}
	for (size_t k = 0; k < q.modes; k++) {
		usfft_direct_mode(&q.o, &q.pt, wb, -1, k, g);
		most = fmax(most, hypot(g[0], g[1]));
	}
	const int err = usfft_inverse(&q.o, &q.pt, w, q.cd, &v, f, &got, &bad);
	const double least = variation_sum(&q, w, v.tv, most, f);
	for (int t = 0; t < 20; t++) {
		const double by = pow(10, -t % 4);
		for (size_t k = 0; k < 2 * q.modes; k++)
			g[k] = t < 4 ? f[k] * (1 + by) : f[k] + by * rng_normal(r);
		worse = fmax(worse, 1 - variation_sum(&q, w, v.tv, most, g) / least);
	}
	check_case(many, !err && got.residual <= v.rtol && worse <= 1e-7,
		   "case %zu: %d, residual %.1e, %.1e less near it", i, err, got.residual, worse);
	/* Stopped early, products in single precision have come as near. */
	struct usfft_inverse early = v;
	double excess[2];
	early.rtol = 1e-4;
	for (int single = 0; single < 2; single++) {
		q.o.single = single;
		if (usfft_inverse(&q.o, &q.pt, w, q.cd, &early, f, &got, &bad))
			die("no image");
		excess[single] = variation_sum(&q, w, v.tv, most, f) / least - 1;
	}
	check_case(many, excess[0] != excess[1] && excess[1] <= 2 * excess[0] + 1e-5,
		   "case %zu: %.2e above the least in single precision, %.2e", i, excess[1],
		   excess[0]);
	check_free();
}

/* Maps of noisy random lattices are those of the definition; those of one coil are 1 or 0. */
static void
check_map(struct check_many *many, struct check_rng *r, size_t i)
{
	struct usfft_centre c = {.sign = i % 2 ? 1 : -1,
				 .threads = 2,
				 .coils = 1 + i % 3,
				 .n = {9, i % 4 ? 7 : 1, i % 5 ? 1 : 4},
				 .region = {7, i % 4 ? 5 : 1, i % 5 ? 1 : 3},
				 .window = {3, i % 4 ? 2 : 1, i % 5 ? 1 : 2}};
	const size_t points = c.region[0] * c.region[1] * c.region[2];
	const size_t pixels = c.n[0] * c.n[1] * c.n[2], x[3] = {i % 9, i % c.n[1], i % c.n[2]};
	const size_t at = x[0] + 9 * (x[1] + c.n[1] * x[2]);
	double *k = check_alloc(2 * points * c.coils, sizeof *k);
	double *maps = check_alloc(2 * pixels * c.coils, sizeof *maps), want[2 * 3], worst = 0;

	for (size_t p = 0; p < points * c.coils;
	     p++) { /* one pixel, of each coil a part, and noise */
		const double turn = 2 * M_PI * (double)(p % 7 * x[0]) / 9;
		k[2 * p] = (double)(1 + p / points) * cos(turn) + .02 * rng_normal(r);
		k[2 * p + 1] = c.sign * (double)(1 + p / points) * sin(turn) + .02 * rng_normal(r);
	}
	const int err = usfft_espirit(&c, k, maps);
	if (usfft_direct_map(&c, k, x, want))
		die("no map");
	for (size_t p = 0; p < 2 * c.coils; p++)
		worst = fmax(worst, fabs(maps[2 * (p / 2 * pixels + at) + p % 2] - want[p]));
	check_case(many, (!err || err == -ENODATA) && worst <= 1e-6, "case %zu: %d, %.1e", i, err,
		   worst);
	check_free();
}

/* Points on a lattice share the box evenly; a point that is there twice counts half. */
static void
check_pipe(void)
{
	struct usfft_options o = {.dim = 2, .tol = 1e-6, .n = {16, 16}, .threads = 1};
	double x[2 * 257], w[257], worst = 0;
	struct usfft_points pt = {.m = 257, .stride = 2, .x = {x, x + 1}};
	size_t bad;

	for (size_t j = 0; j < 257; j++) {
		x[2 * j] = (double)(j % 16) / 16;
		x[2 * j + 1] = (double)(j / 16 % 16) / 16;
	}
	if (usfft_pipe(&o, &pt, 30, w, &bad))
		die("no weights");
	for (size_t j = 1; j < 256; j++)
		worst = fmax(worst, fabs(w[j] - 1.0 / 256));
	check(worst <= 0.02 / 256, "weights of a lattice are even", "off by %g of 1/256",
	      worst * 256);
	check(fabs(w[0] - w[256]) <= 1e-12 && fabs(w[0] + w[256] - 1.0 / 256) <= 0.02 / 256,
	      "two points in one place share its weight", "%g and %g", w[0] * 256, w[256] * 256);
}

/*
 * A point at radius r of a spoke stands for its part of a ring, also in the middle, where points are dense. The ends of
 * spokes stand for empty places, too.
 */
static void
check_pipe_spokes(void)
{
	enum { SPOKES = 100, SAMPLES = 64, M = SPOKES * SAMPLES };
	struct usfft_options o = {.dim = 2, .tol = 1e-6, .n = {32, 32}, .threads = 1};
	double x[2 * M], w[M], worst = 0;
	struct usfft_points pt = {.m = M, .stride = 2, .x = {x, x + 1}};
	size_t bad;

	for (size_t j = 0; j < M; j++) {
		const double turn = M_PI * (double)(j / SAMPLES) / SPOKES;
		const double r = ((double)(j % SAMPLES) + .5) / SAMPLES - .5;
		x[2 * j] = r * cos(turn);
		x[2 * j + 1] = r * sin(turn);
	}
	if (usfft_pipe(&o, &pt, 30, w, &bad))
		die("no weights");
	for (size_t j = 0; j < M; j++) {
		const double r = hypot(x[2 * j], x[2 * j + 1]);
		if (r < .45)
			worst = fmax(worst, fabs(w[j] / (M_PI * r / SPOKES / SAMPLES) - 1));
	}
	check(worst <= .1, "weights of spokes are shares of rings", "off by %g", worst);
}

void
check_usfft_types(void)
{
	struct check_rng r = {43};

	check_each_from("type 3 stays below its tolerance, wherever its boxes lie",
			SHAPES + (engine_on->every == 1 ? 5 * 12 : 0), &r, check_type3);
	check_odd_targets(&r);
	check_each_from("the inverse gives back modes that enough points have seen", 2 * 3, &r,
			check_inverse);
	check_inverse_stops(&r);
}

void
check_usfft_more(void)
{
	struct check_rng r = {23};

	check_each_from("type 3 keeps its tolerance at the ends of both boxes", 9, &r,
			check_type3_ends);
	check_each_from("the inverse is that of the dense equations, damped, weighted, of coils",
			24, &r, check_dense);
	check_each_from("total variation: nothing near the image is better", 24, &r,
			check_variation);
	check_each_from("maps of coils are those of the definition", 60, &r, check_map);
	check_pipe();
	check_pipe_spokes();
}
