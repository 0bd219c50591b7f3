/* The 1-D core for points on lines, against the exact sums. */
#include <math.h>

#include "common/base/die.h"
#include "t/check.h"
#include "t/check_usfft.h"
#include "usfft/direct.h"
#include "usfft/line.h"
#include "usfft/loops/loops.h"

enum { L = USFFT_LINE };

struct lines {
	size_t m, n, k;
	double *a, *c;
	float *d, *f; /* [m][L], [n][L] */
	struct usfft_line plan;
	struct usfft_line_work work;
};

static void
make_lines(struct lines *t, size_t m, size_t n, size_t k, struct check_rng *r)
{
	*t = (struct lines){.m = m, .n = n, .k = k};
	t->a = check_alloc(m, sizeof *t->a);
	t->c = check_alloc(m, sizeof *t->c);
	t->d = check_alloc(2 * m * L, sizeof *t->d);
	t->f = check_alloc(2 * n * L, sizeof *t->f);
	for (size_t j = 0; j < m; j++) {
		double x = (double)j / (double)m;
		t->a[j] = -0.3 * x * x;
		t->c[j] = 0.9 * x * x / (double)n;
	}
	for (size_t i = 0; i < 2 * m * L; i++)
		t->d[i] = (float)rng_normal(r);
	for (size_t i = 0; i < 2 * n * L; i++)
		t->f[i] = (float)rng_normal(r);
	if (usfft_line_plan(&t->plan, m, n) || usfft_line_work(&t->work, &t->plan))
		die("no memory");
	usfft_line_points(&t->plan, t->a, t->c);
}

static void
free_lines(struct lines *t)
{
	usfft_line_free(&t->plan);
	usfft_line_work_free(&t->work);
	check_free();
}

/*
 * Error of row k + l, relative to the larger of its norm and of what random phases make of the input (a lone sum may
 * cancel): type 1 is a sum over points c_j k (its value d_j exp(2 pi i k a_j)), type 2 is one over
 * points i. Both are one sum of exponentials of phases k (a_j + i c_j).
 */
static double
row_error(const struct lines *t, int type, int sign, size_t l, const float *got)
{
	const size_t outs = type == 1 ? t->n : t->m, ins = type == 1 ? t->m : t->n;
	const float *in = type == 1 ? t->d : t->f;
	double *phase = check_alloc(ins, sizeof *phase), *c = check_alloc(2 * ins, sizeof *c);
	struct usfft_points pt = {.m = ins, .stride = 1, .x = {phase}};
	double diff = 0, norm = 0, input = 0, k = (double)(t->k + l), want[2];

	for (size_t q = 0; q < 2 * ins; q++) {
		c[q] = in[2 * (q / 2 * L + l) + q % 2];
		input += c[q] * c[q];
	}
	for (size_t o = 0; o < outs; o++) {
		for (size_t q = 0; q < ins; q++) {
			size_t j = type == 1 ? q : o, i = type == 1 ? o : q;
			phase[q] = k * t->a[j] + k * (double)i * t->c[j];
		}
		usfft_direct_sum(1, &pt, c, sign, (double[3]){1}, want);
		for (int q = 0; q < 2; q++) {
			double e = got[2 * (o * L + l) + (size_t)q] - want[q];
			diff += e * e;
			norm += want[q] * want[q];
		}
	}
	return sqrt(diff / fmax(norm, input * (double)outs));
}

static void
check_shape(struct check_many *many, size_t m, size_t n, size_t k, int sign,
	    const struct line_ops *ops, struct check_rng *r)
{
	struct lines t;
	float *out = check_alloc(2 * L * (m > n ? m : n), sizeof *out);

	make_lines(&t, m, n, k, r);
	t.plan.ops = ops;
	for (int type = 1; type <= 2; type++) {
		check_poison(out, 2 * L * (type == 1 ? n : m) * sizeof *out);
		if (type == 1)
			usfft_line_type1(&t.plan, &t.work, sign, k, t.d, L, out, L);
		else
			usfft_line_type2(&t.plan, &t.work, sign, k, t.f, L, out, L);
		for (size_t l = 0; l < L; l += 3) {
			double e = row_error(&t, type, sign, l, out);
			check_case(many, e <= 1e-6, "m %zu n %zu k %zu type %d: error %.2e", m, n,
				   k + l, type, e);
		}
	}
	free_lines(&t);
}

/* <A d, f> = <d, A* f>, A* being type 2 with the other sign. */
static void
check_line_adjoint(struct check_rng *r)
{
	struct lines t;
	double lhs = 0, rhs = 0, size = 0;

	make_lines(&t, 37, 50, 200, r);
	float *f = check_alloc(2 * t.n * L, sizeof *f), *d = check_alloc(2 * t.m * L, sizeof *d);
	usfft_line_type1(&t.plan, &t.work, 1, t.k, t.d, L, f, L);
	usfft_line_type2(&t.plan, &t.work, -1, t.k, t.f, L, d, L);
	for (size_t i = 0; i < 2 * t.n * L; i++) {
		lhs += (double)f[i] * t.f[i];
		size += (double)f[i] * f[i];
	}
	for (size_t i = 0; i < 2 * t.m * L; i++)
		rhs += (double)d[i] * t.d[i];
	check(fabs(lhs - rhs) <= 1e-6 * size, "line type 2 is the adjoint of line type 1",
	      "%.9g against %.9g", lhs, rhs);
	free_lines(&t);
}

/* The column is type 1 of the weights with a = 0. */
void
check_usfft_line(void)
{
	struct check_rng r = {7};
	struct check_many many = {0};
	static const size_t sizes[] = {1, 2, 3, 17, 64, 181};
	int bytes[3];
	const int kinds = problem_registers(bytes);

	for (int b = 0; b < kinds; b++)
		for (size_t i = 0; i < 36; i++)
			check_shape(&many, sizes[i / 6], sizes[i % 6], 8 * (i / 6) * (i % 6 + 20),
				    i / 6 % 2 ? 1 : -1, &usfft_loops(bytes[b], true)->line, &r);
	check_end(&many,
		  "line transforms stay within 1e-6 of the exact sums, in every kind of register");
	check_line_adjoint(&r);
}
