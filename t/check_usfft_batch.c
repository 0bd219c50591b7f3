/* FFTs in batches, points in pieces, many vectors, crowds of points, and lines. */
#include "t/check_usfft.h"
#include "usfft/line.h"
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
	const size_t width = batch_width(single ? sizeof(float) : sizeof(double));

	*c = (struct batch_case){.single = single, .rows = rows, .width = width};
	if (batch_make(&c->f, n, single))
		die("no memory");
	c->ld = (rows ? n : width) + 3;
	c->cells = c->ld * (rows ? width : n);
	c->step = rows ? 1 : c->ld;
	c->across = rows ? c->ld : 1;
	c->in = (struct batch_gap){n / 3 / width * width, n / 2 / width * width};
	c->out = (struct batch_gap){n / 4 / width * width, n};
	c->data = problem_values(c->cells, single, &c->before, r);
	c->work = check_alloc(batch_work(n), 1);
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
check_batches(struct check_many *many, struct check_rng *r, size_t set)
{
	static const size_t sizes[] = {16, 32, 48, 64, 80, 112, 144, 240, 336, 560};
	int bytes[3];
	const int kinds = problem_registers(bytes);

	for (int q = 0; q < 4 * kinds; q++) {
		const bool single = q % 2, rows = q / 2 % 2;
		const int b = bytes[q / 4];
		const struct batch_ops *ops = &usfft_loops(b, single)->batch;
		struct batch_case c;
		make_case(&c, sizes[set], single, rows, r);
		if (rows)
			ops->rows(&c.f, c.data, c.ld, c.in, c.out, c.work);
		else
			ops->columns(&c.f, c.data, c.ld, c.width / 2, c.in, c.out, c.work);
		const double error = worst(&c);
		check_case(many, error < (single ? 4e-6 : 1e-14),
			   "n %zu, %s, %s, registers of %d: error %.2e", sizes[set],
			   single ? "float" : "double", rows ? "rows" : "columns", b, error);
		batch_free(&c.f);
	}
}

/* Pieces of all sizes, the last point's records wherever they fit: beside a small grid, and in a large one. */
static void
check_pieces(struct check_many *many, struct check_rng *r, size_t i)
{
	struct usfft_options o = {.dim = 1 + (int)(i % 3),
				  .tol = i % 2 ? 1e-5 : 1e-9,
				  .single = i >= 9,
				  .n = {i < 6 ? 40 : 3, 30, 20},
				  .threads = 2};
	const size_t real = o.single ? sizeof(float) : sizeof(double), m = 9000;
	struct problem q;
	struct usfft_plan *p;

	problem_make(&q, &o, m, UNIFORM, r);
	char *whole = check_alloc(q.modes, 2 * real), *parts = check_alloc(q.modes, 2 * real);
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
	check_case(many, !memcmp(whole, parts, q.modes * 2 * real), "%s",
		   problem_name(&q, UNIFORM));
	usfft_free(p);
}

enum { MANY = 21 }; /* more vectors than two threads take at once */

/* The vectors of both types, and the first two of them alone. */
static void
run_many(struct check_many *many, struct problem *q, int type, struct check_rng *r)
{
	const size_t real = q->o.single ? sizeof(float) : sizeof(double);
	const size_t nin = type == 1 ? q->pt.m : q->modes, nout = type == 1 ? q->modes : q->pt.m;
	const size_t bytes = 2 * nout * real;
	char *in = check_alloc(MANY * nin, 2 * real), *out = check_alloc(MANY + 2, bytes);
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
		real_set(in, i, rng_unit(r) - .5, q->o.single);
	memcpy(in + (MANY - 1) * nin * 2 * real, type == 1 ? q->c : q->f, nin * 2 * real);
	if (usfft_plan(&p, &q->o) || usfft_points(p, &q->pt, NULL, 0, &bad))
		die("no plan");
	usfft_many(p, type, -1, MANY, from, to);
	usfft_many(p, type, -1, 2, from + MANY - 2, alone);
	const double e = problem_error(q, type, -1, to[MANY - 1]);
	check_case(many, e <= q->o.tol, "type %d: error %.2e", type, e);
	check_case(many, !memcmp(to[MANY - 2], alone[0], 2 * bytes),
		   "type %d: other bytes than alone", type);
	usfft_free(p);
}

/* Vectors on the same points: small grids with layers, in all dimensions, and a grid too large for them. Tolerances take turns. */
static void
check_vectors(struct check_many *many, struct check_rng *r, size_t set)
{
	static const size_t n[4][3] = {{300}, {31, 40}, {9, 12, 11}, {200, 150}};
	const int i = (int)set;
	int bytes[3];
	problem_registers(bytes);
	struct usfft_options o = {.dim = i % 4 == 3 ? 2 : 1 + i % 4,
				  .single = i / 4 % 2,
				  .fft_order = i / 8 % 2,
				  .threads = 1 + i % 2,
				  .registers = bytes[i / 16]};
	struct problem q;

	memcpy(o.n, n[i % 4], sizeof o.n);
	problem_make(&q, &o, i % 4 == 3 ? 250 : 700, i % 2 ? UNIFORM : EDGE, r);
	q.o.tol = (i / 8 + i / 16) % 2 ? 1e-2 / 30 : 1e-2;
	for (; q.o.tol > (o.single ? 5e-6 : 5e-14); q.o.tol /= 900)
		for (int type = 1; type <= 2; type++)
			run_many(many, &q, type, r);
}

/* --- crowds: many equal float values in few places: rounding must not add up --------------------------------------- */

enum { MODES = 343, PLACES = 5 };

/* `each` points of one value in each of PLACES places, which share few cells or lie far apart. Returns their exact modes. */
static double *
make_crowd(struct problem *q, const struct usfft_options *o, size_t each, bool near,
	   struct check_rng *r)
{
	const size_t first = PLACES * (size_t)o->dim;

	problem_make(q, o, PLACES * each, UNIFORM, r);
	float *x = q->x, *c = q->c;
	double sum[2 * PLACES], *want = check_alloc(2 * q->modes, sizeof *want);
	for (size_t i = 0; near && i < first; i++)
		x[i] = .3F + .01F * x[i];
	for (size_t i = first; i < q->pt.m * (size_t)o->dim; i++)
		x[i] = x[i - first];
	for (size_t i = 2; i < 2 * q->pt.m; i++)
		c[i] = c[i % 2];
	for (size_t i = 0; i < 2 * PLACES; i++)
		sum[i] = (double)each * (double)c[i % 2];
	struct usfft_points places = q->pt;
	places.m = PLACES;
	for (size_t k = 0; k < q->modes; k++)
		usfft_direct_mode(&q->o, &places, sum, -1, k, want + 2 * k);
	return want;
}

/* Several vectors at once: layers have no sums in double precision. */
static void
check_crowded_vectors(struct check_many *many, struct problem *q, const double *want)
{
	float f[2][2 * MODES];
	struct usfft_plan *p;
	size_t bad;

	q->o.many = true;
	check_poison(f, sizeof f);
	if (usfft_plan(&p, &q->o) || usfft_points(p, &q->pt, NULL, 0, &bad))
		die("no plan");
	usfft_many(p, 1, -1, 2, (const void *[]){q->c, q->c}, (void *[]){f[0], f[1]});
	usfft_free(p);
	for (int i = 0; i < 2; i++) {
		const double error = check_apart(f[i], true, want, 2 * q->modes, 0);
		check_case(many, error <= 1e-6, "%s, vector %d: %.2e", problem_name(q, UNIFORM), i,
			   error);
	}
}

/* Values that records carry, and values that they point to. */
static void
check_crowd(struct check_many *many, struct check_rng *r, size_t i)
{
	static const size_t each[] = {200, 1000, 20000, 200000};
	const struct usfft_options o = {.dim = 1 + (int)(i % 3),
					.tol = 1e-6,
					.single = true,
					.n = {7, 7, 7},
					.threads = 1 + (int)(i % 2)};
	struct problem q;
	const double *want = make_crowd(&q, &o, each[i / 6], i / 3 % 2, r);

	for (int carried = 0; carried < 2; carried++) {
		float f[2 * MODES];
		engine_begin(many);
		const int err = problem_run_on(engine_on, &q, 1, -1, carried, f);
		const double error = err ? INFINITY : check_apart(f, true, want, 2 * q.modes, 0);
		check_case(many, error <= 1e-6, "%s, carried %d: returns %d, error %.2e",
			   problem_name(&q, UNIFORM), carried, err, error);
	}
	if (engine_on == &on_cpu)
		check_crowded_vectors(many, &q, want);
}

void
check_usfft_crowds(void)
{
	check_each("many equal float values at one place keep the least tolerance",
		   engine_on->every > 1 ? 12 : 24, 31, check_crowd);
}

/* --- lines: the 1-D core for points on lines, against the exact sums ---------------------------------------------- */

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
	double *copy;

	*t = (struct lines){.m = m, .n = n, .k = k};
	t->a = check_alloc(m, sizeof *t->a);
	t->c = check_alloc(m, sizeof *t->c);
	t->d = problem_values(m * L, true, &copy, r);
	t->f = problem_values(n * L, true, &copy, r);
	for (size_t j = 0; j < m; j++) {
		double x = (double)j / (double)m;
		t->a[j] = -0.3 * x * x;
		t->c[j] = 0.9 * x * x / (double)n;
	}
	if (usfft_line_plan(&t->plan, m, n) || usfft_line_work(&t->work, &t->plan))
		die("no memory");
	usfft_line_points(&t->plan, t->a, t->c);
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
check_lines(struct check_many *many, struct check_rng *r, size_t set)
{
	static const size_t sizes[] = {1, 2, 3, 17, 64, 181};
	const size_t i = set % 36, m = sizes[i / 6], n = sizes[i % 6],
		     k = 8 * (i / 6) * (i % 6 + 20);
	const int sign = i / 6 % 2 ? 1 : -1;
	float *out = check_alloc(2 * L * (m > n ? m : n), sizeof *out);
	struct lines t;
	int bytes[3];

	problem_registers(bytes);
	make_lines(&t, m, n, k, r);
	t.plan.ops = &usfft_loops(bytes[set / 36], true)->line;
	for (int type = 1; type <= 2; type++) {
		check_poison(out, 2 * L * (type == 1 ? n : m) * sizeof *out);
		(type == 1 ? usfft_line_type1 : usfft_line_type2)(&t.plan, &t.work, sign, k,
								  type == 1 ? t.d : t.f, L, out, L);
		for (size_t l = 0; l < L; l += 3) {
			double e = row_error(&t, type, sign, l, out);
			check_case(many, e <= 1e-6, "m %zu n %zu k %zu type %d: error %.2e", m, n,
				   k + l, type, e);
		}
	}
	usfft_line_free(&t.plan);
	usfft_line_work_free(&t.work);
}

void
check_usfft_batch(void)
{
	struct check_rng r = {29};
	int bytes[3];
	const size_t kinds = (size_t)problem_registers(bytes);

	check_each_from("batches of FFTs are the sums, and keep to their gaps", 10, &r,
			check_batches);
	check_each_from("points in pieces are sorted as points at once", 12, &r, check_pieces);
	check_each_from("many vectors keep the tolerance, and are the same bytes as two alone",
			16 * kinds, &r, check_vectors);
	check_each("line transforms stay within 1e-6 of the exact sums, in every kind of register",
		   36 * kinds, 7, check_lines);
}
