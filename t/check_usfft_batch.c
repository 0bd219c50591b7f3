/* FFTs in batches against the sum itself, and points that arrive in pieces. */
#include <math.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/real.h"
#include "t/check_usfft.h"
#include "usfft/loops/loops.h"

/* One batch: sample i of transform v lies at data[i * step + v * across], in complex samples. */
struct batch_case {
	struct batch f;
	bool single, rows;
	size_t width, ld, step, across, cells;
	struct batch_gap in, out;
	void *data, *work;
	double *before; /* data, as doubles */
};

static void
make_case(struct batch_case *c, size_t n, bool single, bool rows, struct check_rng *r)
{
	const size_t real = single ? sizeof(float) : sizeof(double), width = batch_width(real);

	*c = (struct batch_case){.single = single, .rows = rows, .width = width};
	if (batch_make(&c->f, n, single))
		die("no memory");
	c->ld = (rows ? n : width) + 3;
	c->cells = c->ld * (rows ? width : n);
	c->step = rows ? 1 : c->ld;
	c->across = rows ? c->ld : 1;
	c->in = (struct batch_gap){n / 3 / width * width, n / 2 / width * width};
	c->out = (struct batch_gap){n / 4 / width * width, n};
	c->data = check_alloc(2 * c->cells, real);
	c->work = check_alloc(batch_work(n), 1);
	c->before = check_alloc(2 * c->cells, sizeof *c->before);
	for (size_t i = 0; i < 2 * c->cells; i++) {
		c->before[i] = rng_normal(r);
		real_set(c->data, i, c->before[i], single);
		c->before[i] = real_at(c->data, i, single);
	}
}

static void
sum(const struct batch_case *c, const double *root, size_t v, size_t k, double want[2])
{
	const size_t n = c->f.n;

	want[0] = want[1] = 0;
	for (size_t i = 0; i < n; i++) {
		const double *x = c->before + 2 * (i * c->step + v * c->across);
		const double *w = root + 2 * (i * k % n);
		if (i >= c->in.from && i < c->in.to)
			continue;
		want[0] += x[0] * w[0] - x[1] * w[1];
		want[1] += x[0] * w[1] + x[1] * w[0];
	}
}

/* The largest error of a result, relative to what random samples give; samples of the outward gap must be as before. */
static double
worst(const struct batch_case *c)
{
	const size_t n = c->f.n;
	double *root = check_alloc(n, 2 * sizeof *root), worst = 0;

	for (size_t q = 0; q < n; q++) {
		root[2 * q] = cos(2 * M_PI * (double)q / (double)n);
		root[2 * q + 1] = -sin(2 * M_PI * (double)q / (double)n);
	}
	for (size_t v = 0; v < c->width; v += 3)
		for (size_t k = 0; k < n; k++) {
			const size_t at = 2 * (k * c->step + v * c->across);
			const bool kept = k < c->out.from || k >= c->out.to;
			double want[2] = {c->before[at], c->before[at + 1]};
			if (kept)
				sum(c, root, v, k, want);
			for (size_t i = 0; i < 2; i++)
				worst = fmax(worst,
					     fabs(real_at(c->data, at + i, c->single) - want[i]) /
						 (kept ? sqrt((double)n) : 0x1p-60));
		}
	return worst;
}

static void
check_batches(struct check_rng *r)
{
	static const size_t sizes[] = {16, 32, 48, 64, 80, 112, 144, 240, 336, 560};
	struct check_many many = {0};
	int bytes[3];
	const int kinds = problem_registers(bytes);

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		for (int q = 0; q < 4 * kinds; q++) {
			const bool single = q % 2, rows = q / 2 % 2;
			const int b = bytes[q / 4];
			const struct batch_ops *ops = &usfft_loops((int)b, single)->batch;
			struct batch_case c;
			make_case(&c, sizes[i], single, rows, r);
			if (rows)
				ops->rows(&c.f, c.data, c.ld, c.in, c.out, c.work);
			else
				ops->columns(&c.f, c.data, c.ld, c.width / 2, c.in, c.out, c.work);
			const double error = worst(&c);
			check_case(&many, error < (single ? 4e-6 : 1e-14),
				   "n %zu, %s, %s, registers of %d: error %.2e", sizes[i],
				   single ? "float" : "double", rows ? "rows" : "columns", b,
				   error);
			batch_free(&c.f);
			check_free();
		}
	check_end(&many, "batches of FFTs are the sums, and keep to their gaps");
}

/* Pieces of all sizes, the last point's records wherever they fit: beside a small grid, and in a large one. */
static void
check_pieces(struct check_rng *r)
{
	struct check_many many = {0};

	for (int i = 0; i < 12; i++) {
		struct usfft_options o = {.dim = 1 + i % 3,
					  .tol = i % 2 ? 1e-5 : 1e-9,
					  .single = i >= 9,
					  .n = {i < 6 ? 40 : 3, 30, 20},
					  .threads = 2};
		const size_t real = o.single ? sizeof(float) : sizeof(double), m = 9000;
		struct problem q;
		struct usfft_plan *p;
		problem_make(&q, &o, m, UNIFORM, r);
		char *whole = check_alloc(q.modes, 2 * real),
		     *parts = check_alloc(q.modes, 2 * real);
		size_t bad, n;
		problem_run(&q, 1, -1, whole);
		if (usfft_plan(&p, &q.o) || usfft_expect(p, m, true))
			die("no plan");
		for (size_t at = 0; at < m; at += n) {
			struct usfft_points pt = q.pt;
			n = 1 + rng_below(r, 6000) < m - at ? 1 + rng_below(r, m - at) : m - at;
			pt.m = n;
			for (int a = 0; a < o.dim; a++)
				pt.x[a] = (const char *)pt.x[a] + at * pt.stride * real;
			if (usfft_add(p, &pt, (char *)q.c + 2 * at * real, 2, &bad))
				die("point %zu refused", bad);
		}
		usfft_sort(p);
		usfft_type1(p, -1, NULL, parts);
		check_case(&many, !memcmp(whole, parts, q.modes * 2 * real), "%s",
			   problem_name(&q, UNIFORM));
		usfft_free(p);
		check_free();
	}
	check_end(&many, "points in pieces are sorted as points at once");
}

enum { MANY = 21 }; /* more vectors than two threads take at once */

/* The vectors of both types, and the first two of them alone. */
static void
run_many(struct check_many *many, struct problem *q, int type, struct check_rng *r)
{
	const size_t real = q->o.single ? sizeof(float) : sizeof(double);
	const size_t nin = type == 1 ? q->pt.m : q->modes, nout = type == 1 ? q->modes : q->pt.m;
	const size_t bytes = 2 * nout * real;
	char *in = weir_xalloc(MANY * nin, 2 * real), *out = weir_xalloc(MANY + 2, bytes);
	const void *from[MANY];
	void *to[MANY], *alone[2] = {out + MANY * bytes, out + (MANY + 1) * bytes};
	struct usfft_plan *p;
	size_t bad;

	q->o.many = true;
	q->o.type = type;
	memset(out, 0xff, (MANY + 2) * bytes);
	for (size_t i = 0; i < MANY; i++) {
		from[i] = in + i * nin * 2 * real;
		to[i] = out + i * bytes;
	}
	for (size_t i = 0; i < 2 * MANY * nin; i++)
		real_set(in, i, rng_normal(r), q->o.single);
	memcpy(in + (MANY - 1) * nin * 2 * real, type == 1 ? q->c : q->f, nin * 2 * real);
	if (usfft_plan(&p, &q->o) || usfft_points(p, &q->pt, NULL, 0, &bad))
		die("no plan");
	if (type == 1) {
		usfft_type1_many(p, -1, MANY, from, to);
		usfft_type1_many(p, -1, 2, from + MANY - 2, alone);
	} else {
		usfft_type2_many(p, -1, MANY, from, to);
		usfft_type2_many(p, -1, 2, from + MANY - 2, alone);
	}
	const double e = problem_error(q, type, -1, to[MANY - 1]);
	check_case(many, e <= q->o.tol, "type %d: error %.2e", type, e);
	check_case(many, !memcmp(to[MANY - 2], alone[0], 2 * bytes),
		   "type %d: other bytes than alone", type);
	usfft_free(p);
	weir_free(in);
	weir_free(out);
}

/* Vectors on the same points: small grids with layers, in all dimensions, and a grid that is too large for them. */
static void
check_vectors(struct check_rng *r)
{
	static const size_t n[4][3] = {{300}, {31, 40}, {9, 12, 11}, {200, 150}};
	struct check_many many = {0};
	int bytes[3];
	const int kinds = problem_registers(bytes);

	for (int i = 0; i < 16 * kinds; i++) {
		struct usfft_options o = {.dim = i % 4 == 3 ? 2 : 1 + i % 4,
					  .single = i / 4 % 2,
					  .fft_order = i / 8 % 2,
					  .threads = 1 + i % 2,
					  .registers = bytes[i / 16]};
		const enum kind kind = i % 2 ? UNIFORM : EDGE;
		struct problem q;
		memcpy(o.n, n[i % 4], sizeof o.n);
		problem_make(&q, &o, 700, kind, r);
		for (q.o.tol = 1e-2; q.o.tol > (o.single ? 5e-6 : 5e-14); q.o.tol /= 30)
			for (int type = 1; type <= 2; type++)
				run_many(&many, &q, type, r);
		check_free();
	}
	check_end(&many, "many vectors keep the tolerance, and are the same bytes as two alone");
}

void
check_usfft_batch(void)
{
	struct check_rng r = {29};

	check_batches(&r);
	check_pieces(&r);
	check_vectors(&r);
}
