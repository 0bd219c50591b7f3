/* Type 3, the inverse and the weights of usfft. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/die.h"
#include "t/check_usfft.h"
#include "usfft/direct.h"
#include "usfft/inverse.h"

/* Coordinates of spread `wide` around `mid`. */
static void
cloud(size_t m, int dim, double wide, double mid, struct usfft_points *pt, struct check_rng *r)
{
	double *x = check_alloc(m * (size_t)dim, sizeof *x);

	*pt = (struct usfft_points){.m = m, .stride = (size_t)dim};
	for (size_t i = 0; i < m * (size_t)dim; i++)
		x[i] = mid + wide * (rng_unit(r) - 0.5);
	for (int a = 0; a < dim; a++)
		pt->x[a] = x + a;
}

/* The error of type 3, relative to the norm of the exact sums or to `least` where that is larger. */
static double
type3_error(const struct usfft_options *o, const struct usfft_points *pt, const double *c,
	    const struct usfft_points *to, int sign, double least)
{
	double *out = check_alloc(to->m, 2 * sizeof *out),
	       *want = check_alloc(to->m, 2 * sizeof *want);
	size_t bad;

	check_poison(out, to->m * 2 * sizeof *out);
	if (usfft_type3(o, pt, c, to, sign, out, &bad))
		die("no type 3");
	for (size_t i = 0; i < to->m; i++) {
		double t[3] = {0};
		for (int a = 0; a < o->dim; a++)
			t[a] = ((const double *)to->x[a])[i * to->stride];
		usfft_direct_sum(o->dim, pt, c, sign, t, want + 2 * i);
	}
	return problem_distance(out, want, 2 * to->m, least);
}

/* Error of type 3 between clouds of given sizes and centres. */
static double
clouds_error(int dim, double tol, double wide, double mid, double swide, double smid, int sign,
	     struct check_rng *r)
{
	const size_t m = 300, l = 270; /* more than a block of phases */
	const struct usfft_options o = {.dim = dim, .tol = tol, .threads = 2};
	struct usfft_points pt, to;
	double c[2 * 300];

	cloud(m, dim, wide, mid, &pt, r);
	cloud(l, dim, swide, smid, &to, r);
	for (size_t j = 0; j < 2 * m; j++)
		c[j] = rng_normal(r);
	const double e = type3_error(&o, &pt, c, &to, sign, 0);
	check_free();
	return e;
}

static void
check_type3(struct check_rng *r)
{
	static const struct {
		double wide, mid, swide, smid;
	} shape[] = {{1, 0, 40, 0},	 {1, 0.3, 25, 7.5}, {300, 1000, 0.1, 2},
		     {0, 0.2, 9, 1},	 {2, 0, 0, 3.25},   {0, 1, 0, 2},
		     {1, -20, 30, 1000}, {2e-16, 1, 0, 2},  {0, 0.7, 8e-16, 4}};
	struct check_many many = {0};

	for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
		for (int dim = 1; dim <= (shape[i].swide > 20 ? 2 : 3); dim++)
			for (double tol = 1e-3; tol > 1e-13; tol /= 1e3) {
				double e =
				    clouds_error(dim, tol, shape[i].wide, shape[i].mid,
						 shape[i].swide, shape[i].smid, i % 2 ? 1 : -1, r);
				check_case(&many, e <= tol, "%d-D case %zu tol %g: %.2e", dim, i,
					   tol, e);
			}
	for (double far = 100; far < 1e5; far *= 5)
		for (int i = 0; i < 12; i++) {
			const double tol = i % 2 ? 1e-13 : 1e-14, mid = i % 3 ? 0 : 123.4 * i;
			const double e = clouds_error(1, tol, 1 + i % 4, mid / 7, 2 * far, mid,
						      i % 2 ? 1 : -1, r);
			check_case(&many, e <= tol, "targets to %g, tol %g: %.2e", far, tol, e);
		}
	check_end(&many, "type 3 stays below its tolerance, wherever its boxes lie");
}

/*
 * The error of type 3 in one dimension, with `cells` = 4 X S, of equal values at both ends of a box, and of targets at both
 * ends of theirs. It is relative to what values of random phase give where the sums cancel.
 */
static double
ends_error(double tol, double cells, double *x, double *s, struct check_rng *r)
{
	enum { M = 180, L = 30 };
	const struct usfft_options o = {.dim = 1, .tol = tol, .threads = 1};
	const struct usfft_points pt = {.m = M, .stride = 1, .x = {x}};
	const struct usfft_points to = {.m = L, .stride = 1, .x = {s}};
	double c[2 * M];

	for (size_t i = 0; i < M; i++) {
		x[i] = rng_below(r, 2) ? 1 : -1;
		c[2 * i] = c[2 * i + 1] = 1;
	}
	for (size_t i = 0; i < L; i++)
		s[i] = cells / 4 * (i ? 1 - 1e-3 * rng_unit(r) : -1);
	const double e = type3_error(&o, &pt, c, &to, 1, sqrt(2.0 * M * L));
	check_free();
	return e;
}

static void
check_type3_ends(struct check_rng *r)
{
	struct check_many many = {0};
	double x[180], s[30];

	for (double tol = 1e-3; tol > 1e-12; tol /= 10)
		for (double cells = 20; cells < 500; cells *= 1.06) {
			const double e = ends_error(tol, cells, x, s, r);
			check_case(&many, e <= tol, "tol %g, %g cells: %.2e", tol, cells, e);
		}
	check_end(&many, "type 3 keeps its tolerance at the ends of both boxes");
}

/* Modes seen at enough points come back. */
static void
check_inverse(struct check_rng *r)
{
	struct check_many many = {0};

	for (int dim = 1; dim <= 3; dim++) {
		struct usfft_options o = {
		    .dim = dim, .tol = 1e-12, .n = {11, 8, 5}, .fft_order = dim > 1, .threads = 2};
		struct problem q;
		struct usfft_outcome got;
		const struct usfft_inverse v = {.sign = 1, .iter = 200, .rtol = 1e-11};
		size_t bad, m = dim == 1 ? 60 : dim == 2 ? 500 : 4000;
		problem_make(&q, &o, m, UNIFORM, r);
		double *b = check_alloc(2 * m, sizeof *b), *f = check_alloc(2 * q.modes, sizeof *f);
		problem_run(&q, 2, 1, b);
		if (usfft_inverse(&q.o, &q.pt, NULL, b, &v, f, &got, &bad))
			die("no inverse");
		const double e = problem_distance(f, q.fd, 2 * q.modes, 0);
		check_case(&many, got.residual <= 1e-11 && e <= 1e-9,
			   "%d-D: %d iterations, residual %.1e, error %.1e", dim, got.iterations,
			   got.residual, e);
		check_free();
	}
	check_end(&many, "the inverse gives back modes that enough points have seen");
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
	return problem_distance(f, want, 2 * q->modes, 0);
}

static void
check_dense(struct check_rng *r)
{
	enum { M = 120, COILS = 3 };
	struct check_many many = {0};

	for (int i = 0; i < 24; i++) {
		struct usfft_options o = {.dim = 1 + i % 3,
					  .tol = 1e-12,
					  .n = {i % 3 ? 6 : 30, i % 3 == 2 ? 3 : 7, 4},
					  .fft_order = i % 2,
					  .threads = 2};
		struct usfft_inverse v = {.sign = i % 4 < 2 ? 1 : -1,
					  .iter = 500,
					  .rtol = 1e-12,
					  .damp = i % 5 ? .02 * i : 0,
					  .coils = i % 3 ? COILS : (size_t)(i % 2)};
		struct problem q;
		double b[2 * M * COILS], w[M];
		problem_make(&q, &o, M, UNIFORM, r);
		double *maps = check_alloc(2 * q.modes * COILS, sizeof *maps);
		for (size_t k = 0; k < 2 * q.modes * COILS; k++)
			maps[k] = rng_normal(r);
		for (size_t k = 0; k < 2 * M * COILS; k++)
			b[k] = rng_normal(r);
		for (size_t k = 0; k < M; k++)
			w[k] = rng_unit(r);
		v.maps = maps;
		const double e = dense_error(&q, i % 7 ? w : NULL, b, v);
		check_case(&many, e <= 1e-8, "case %d: %.1e", i, e);
		check_free();
	}
	check_end(&many, "the inverse is that of the dense equations, damped, weighted, of coils");
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
check_usfft_more(void)
{
	struct check_rng r = {23};

	check_type3(&r);
	check_type3_ends(&r);
	check_inverse(&r);
	check_dense(&r);
	check_pipe();
	check_pipe_spokes();
}
