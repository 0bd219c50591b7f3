/* Many equal values in few places, in type 1 with float values: rounding must not add up. */
#include <math.h>
#include <stdio.h>

#include "common/base/die.h"
#include "t/check_usfft.h"
#include "usfft/direct.h"

enum { MODES = 343, PLACES = 5 };

/* `each` points of value (a, b) in each of PLACES places, which share few cells or lie far apart. */
struct crowd {
	struct usfft_options o;
	struct usfft_points pt;
	float *x, *c; /* owned */
	double want[2 * MODES];
	size_t modes;
};

static void
make_crowd(struct crowd *q, int dim, size_t each, bool near, int threads, struct check_rng *r)
{
	const size_t d = (size_t)dim, m = PLACES * each;
	double one[2 * PLACES];

	*q = (struct crowd){
	    .o = {.dim = dim, .tol = 1e-6, .single = true, .n = {7, 7, 7}, .threads = threads},
	    .pt = {.m = m, .stride = d, .single = true}};
	q->modes = dim == 1 ? 7 : dim == 2 ? 49 : MODES;
	q->x = check_alloc(m * d, sizeof *q->x);
	q->c = check_alloc(2 * m, sizeof *q->c);
	for (size_t i = 0; i < PLACES * d; i++)
		q->x[i] = (float)(near ? .3 + .01 * rng_unit(r) : rng_unit(r) - .5);
	for (size_t i = PLACES * d; i < m * d; i++)
		q->x[i] = q->x[i - PLACES * d];
	const float a = (float)(.5 + rng_unit(r)), b = (float)(.5 + rng_unit(r));
	for (size_t j = 0; j < m; j++) {
		q->c[2 * j] = a;
		q->c[2 * j + 1] = b;
	}
	for (size_t j = 0; j < PLACES; j++) {
		one[2 * j] = (double)each * (double)a;
		one[2 * j + 1] = (double)each * (double)b;
	}
	for (int i = 0; i < dim; i++)
		q->pt.x[i] = q->x + i;
	q->pt.m = PLACES;
	for (size_t k = 0; k < q->modes; k++)
		usfft_direct_mode(&q->o, &q->pt, one, -1, k, q->want + 2 * k);
	q->pt.m = m;
}

static double
crowd_error(const struct crowd *q, const float *got)
{
	double diff = 0, norm = 0;

	for (size_t k = 0; k < 2 * q->modes; k++) {
		const double e = (double)got[k] - q->want[k];
		diff += e * e;
		norm += q->want[k] * q->want[k];
	}
	return sqrt(diff / norm);
}

/* Values that records carry, values that they point to, and several vectors at once. */
static void
run_crowd(struct check_many *many, struct crowd *q, const char *name)
{
	float f[3][2 * MODES];
	const void *c[2] = {q->c, q->c};
	void *both[2] = {f[1], f[2]};
	struct usfft_plan *p;
	size_t bad;

	q->o.many = true;
	check_poison(f, sizeof f);
	if (usfft_plan(&p, &q->o) || usfft_points(p, &q->pt, q->c, 2, &bad))
		die("no plan");
	usfft_type1(p, -1, NULL, f[0]);
	if (usfft_points(p, &q->pt, NULL, 0, &bad))
		die("no plan");
	usfft_type1_many(p, -1, 2, c, both);
	usfft_free(p);
	for (int i = 0; i < 3; i++)
		check_case(many, crowd_error(q, f[i]) <= 1e-6, "%s, run %d: %.2e", name, i,
			   crowd_error(q, f[i]));
}

void
check_usfft_crowd(void)
{
	static const size_t each[] = {200, 1000, 20000, 200000};
	struct check_rng r = {31};
	struct check_many many = {0};
	struct crowd q;

	for (int i = 0; i < 24; i++) {
		const int dim = 1 + i % 3;
		const size_t n = each[i / 6];
		char name[80];
		make_crowd(&q, dim, n, i / 3 % 2, 1 + i % 2, &r);
		snprintf(name, sizeof name, "%d-D, %zu points at each of %d places", dim, n,
			 PLACES);
		run_crowd(&many, &q, name);
		check_free();
	}
	check_end(&many, "many equal float values at one place keep the least tolerance");
}
