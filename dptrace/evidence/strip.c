/* Keeps the fields of evidence in phases, and computes where the columns of a link lie in them. */
#include <string.h>

#include "common/base/cpu.h"
#include "dptrace/evidence/strip.h"
#include "dptrace/numbers.h"

/* ---- tubes ---- */

double
curve_length(const double (*xy)[2], int n)
{
	double sum = 0;

	for (int i = 1; i < n; i++)
		sum += distance(xy[i - 1], xy[i]);
	return sum;
}

/* Puts n points along a polyline of m vertices, the same distance apart. Returns the length of the polyline. */
static double
resample(const double (*vertex)[2], int m, double (*out)[2], int n)
{
	const double length = curve_length(vertex, m), step = length / (n - 1);
	double start = 0, piece = distance(vertex[0], vertex[1]);
	int k = 0;

	for (int i = 0; i < n; i++) {
		const double s = i * step;
		while (k + 2 < m && s > start + piece) {
			start += piece;
			k++;
			piece = distance(vertex[k], vertex[k + 1]);
		}
		double t = piece > 0 ? (s - start) / piece : 0;
		t = t > 1 ? 1 : t;
		for (int a = 0; a < 2; a++)
			out[i][a] = vertex[k][a] + t * (vertex[k + 1][a] - vertex[k][a]);
	}
	for (int a = 0; a < 2; a++)
		out[n - 1][a] = vertex[m - 1][a];
	return length;
}

/* Coordinate a of point i. Beyond an end the curve goes on as its point reflection in that end. */
static double
mirrored(const double (*xy)[2], int n, int i, int a)
{
	if (i < 0)
		return 2 * xy[0][a] - xy[-i < n ? -i : n - 1][a];
	if (i >= n)
		return 2 * xy[n - 1][a] - xy[2 * n - 2 - i > 0 ? 2 * n - 2 - i : 0][a];
	return xy[i][a];
}

/* Smooths n points by a Gaussian of sigma points. The reflections beyond the ends keep the ends in place. */
static void
smooth_points(const double (*in)[2], int n, double sigma, double (*out)[2])
{
	enum { MOST = 64 };
	double w[MOST + 1], sum = 0;
	int r = (int)ceil(3 * sigma);

	r = r > MOST ? MOST : r < 1 ? 1 : r;
	for (int t = 0; t <= r; t++) {
		w[t] = libm_exp_minus(t * t / (2 * sigma * sigma));
		sum += t ? 2 * w[t] : w[t];
	}
	for (int i = 0; i < n; i++)
		for (int a = 0; a < 2; a++) {
			double x = w[0] * in[i][a];
			for (int t = 1; t <= r; t++)
				x += w[t] * (mirrored(in, n, i - t, a) + mirrored(in, n, i + t, a));
			out[i][a] = x / sum;
		}
	for (int a = 0; a < 2; a++) {
		out[0][a] = in[0][a];
		out[n - 1][a] = in[n - 1][a];
	}
}

struct curve
curve_along(const double (*vertex)[2], int m, int n, double smooth, double (*xy)[2],
	    double (*spare)[2])
{
	struct curve c = {.n = n, .xy = (const double(*)[2])xy};

	c.length = resample(vertex, m, xy, n);
	smooth_points((const double(*)[2])xy, n, smooth * (n - 1) / c.length, spare);
	resample((const double(*)[2])spare, n, xy, n);
	c.length = curve_length(c.xy, n);
	return c;
}

struct spot
curve_place(const struct curve *c, double s)
{
	const double at = s / c->length * (c->n - 1), last = c->n - 1;
	const int i = at < 0 ? 0 : at >= last ? c->n - 2 : (int)at;
	const double t = at - i;
	/* The direction is interpolated between the middles of neighbouring pieces. */
	const double side = t < .5 ? t + .5 : t - .5;
	const int j = t < .5 ? i - 1 : i;
	double step[2], place[2];

	for (int a = 0; a < 2; a++) {
		const double(*xy)[2] = c->xy;
		const int j0 = j < 0 ? 0 : j, j1 = j + 1 > c->n - 2 ? c->n - 2 : j + 1;
		const double before = xy[j0 + 1][a] - xy[j0][a], after = xy[j1 + 1][a] - xy[j1][a];
		const bool beyond = at < 0 || at > last;
		place[a] = xy[i][a] + t * (xy[i + 1][a] - xy[i][a]);
		step[a] = beyond ? xy[i + 1][a] - xy[i][a] : before + side * (after - before);
	}
	const double size = sqrt(step[0] * step[0] + step[1] * step[1]);
	const double ex = size > 0 ? step[0] / size : 1, ey = size > 0 ? step[1] / size : 0;
	return (struct spot){place[0], place[1], -ey, ex};
}

void
curve_columns(struct walk *column, const struct grid *g, const struct curve *c)
{
	for (int i = 0; i < g->nraw; i++) {
		const struct spot p = curve_place(c, (.5 + (double)(i - g->ru) / g->sub) * g->hu);
		column[i] = strip_walk(g, p.x, p.y, p.nx, p.ny);
	}
}

/* ---- strips ---- */

#define FINE .3 /* px between the rows of passes after the first, at most */

/* The smallest power of two that divides x into steps of that size or less. */
static int
parts(double x, double step)
{
	int n = 1;

	while (x / n > step)
		n *= 2;
	return n;
}

/* Fills in the base rows, and the reach of the derivatives across. */
static void
lay_rows(struct grid *g, double dv, enum dptrace_score score, double sigma)
{
	if (dv <= FINE) {
		while (2 * dv * g->t <= .75)
			g->t *= 2;
		g->q = 1;
		g->P = dv * g->t;
		g->half = ((g->rows - 1) / 2 + g->t - 1) / g->t;
	} else {
		g->m = (int)ceil(dv - .1);
		g->P = dv / g->m;
		g->t = parts(g->P, score == DPTRACE_RIDGE && sigma >= 2 ? 2 * FINE : FINE);
		g->q = g->m * g->t;
		g->half = (g->rows - 1) / 2 * g->m;
	}
	g->fine = parts(g->P, FINE);
	g->base = 2 * g->half + 1;
	g->rv = (int)ceil(3 * sigma / g->P);
}

struct grid
strip_grid(double length, int gaps, int rows, double dv, enum dptrace_score score, double sigma)
{
	const double smooth = score == DPTRACE_SIN ? 1 : sigma;
	struct grid g = {.rows = rows, .t = 1, .sigma = sigma};

	g.per_gap = (int)ceil(length / gaps / (smooth > 1 ? smooth : 1));
	g.ncol = g.per_gap * gaps;
	g.hu = length / g.ncol;
	g.sub = (int)ceil(g.hu);
	g.ru = (int)ceil(3 * sigma * g.sub / g.hu);
	g.nraw = (g.ncol - 1) * g.sub + 1 + 2 * g.ru;
	lay_rows(&g, dv, score, sigma);
	return g;
}

struct grid
strip_curved(double length, double chord, int gaps, int per_gap, int rows, double dv,
	     enum dptrace_score score, double sigma)
{
	struct grid g = {.rows = rows, .t = 1, .per_gap = per_gap, .sub = 2, .sigma = sigma};

	g.ncol = per_gap * gaps;
	g.hu = length / g.ncol;
	g.ru = (int)ceil(3 * sigma * g.sub * g.ncol / fmax(length, .999 * chord));
	g.nraw = (g.ncol - 1) * g.sub + 1 + 2 * g.ru;
	lay_rows(&g, dv, score, sigma);
	return g;
}

struct grid
strip_finer(struct grid g, int rows)
{
	g.rows = rows;
	g.m = 0;
	g.q = 1;
	g.t = g.fine;
	return g;
}

void
strip_take(struct strip *s, struct arena *a, const struct grid *g)
{
	size_t lane = lanes_up(g->rows) + 2 * PAD, n = (size_t)g->ncol * (size_t)g->q * lane;

	for (int i = 0; i < 3; i++)
		s->f[i] = arena_take(a, n, sizeof *s->f[i]);
	s->offset =
	    arena_take(a, (2 * (size_t)g->rows - 1) * (size_t)g->per_gap, sizeof *s->offset);
	s->slope = arena_take(a, 2 * (size_t)g->rows - 1, sizeof *s->slope);
}

/* out[i] = b[i step] */
WEIR_CLONES(pick, (float *restrict out, const float *restrict b, int step, int n),
	    (out, b, step, n))
{
	if (step == 1)
		memcpy(out, b, (size_t)n * sizeof *out);
	else if (step == 2)
		for (int i = 0; i < n; i++)
			out[i] = b[2 * i];
	else
		for (int i = 0; i < n; i++)
			out[i] = b[(ptrdiff_t)i * step];
}

/* Interpolates between base rows b[1] and b[2] by the cubic (Catmull-Rom) with those weights. */
WEIR_CLONES(interpolate, (float *restrict out, const float *const b[4], int n, const float w[4]),
	    (out, b, n, w))
{
	const float *restrict b0 = b[0], *restrict b1 = b[1], *restrict b2 = b[2],
			      *restrict b3 = b[3];

	for (int i = 0; i < n; i++)
		out[i] = (w[0] * b0[i] + w[3] * b3[i]) + (w[1] * b1[i] + w[2] * b2[i]);
}

void
strip_weights(double x, float w[4])
{
	w[0] = (float)(-.5 * x * (1 - x) * (1 - x));
	w[1] = (float)(1 + x * x * (1.5 * x - 2.5));
	w[2] = (float)(x * (.5 + x * (2 - 1.5 * x)));
	w[3] = (float)(-.5 * x * x * (1 - x));
}

/* Where the phase of base row k of row 0 begins in a column, k = -1 .. m + 1. */
static float *
of_row(const struct strip *s, float *column, int k)
{
	const int m = s->g.m, row = k < 0 ? -1 : k / m;

	return column + (size_t)((k - row * m) * s->g.t) * s->lane + PAD + row;
}

/*
 * Makes one column. The base rows are distributed to their phases, in which those of one phase are neighbours. Then each
 * phase between is interpolated from four of these.
 */
static void
make_column(const struct strip *s, float *column, const float *base, const float (*w)[4])
{
	const struct grid *g = &s->g;
	const int m = g->m, end = g->rows * m + 2; /* base rows -1 .. end-1 are read */

	for (int k = 0; k < m; k++) {
		const int first = k == m - 1 ? -1 : 0;
		pick(of_row(s, column, k) + first, base + first * m + k, m,
		     (end - k + m - 1) / m - first);
	}
	for (int k = 0; k < m; k++)
		for (int p = 1; p < g->t; p++) {
			const float *const b[4] = {of_row(s, column, k - 1), of_row(s, column, k),
						   of_row(s, column, k + 1),
						   of_row(s, column, k + 2)};
			interpolate(column + (size_t)(k * g->t + p) * s->lane + PAD, b, g->rows,
				    w[p]);
		}
}

/* Interpolates t fine steps for each of n base rows. The steps of one base row are neighbours in memory. */
WEIR_CLONES(interleave,
	    (float *restrict out, const float *restrict b, int n, int t, const float (*w)[4]),
	    (out, b, n, t, w))
{
	for (int i = 0; i < n; i++, b++)
		for (int p = 0; p < t; p++)
			*out++ = strip_cubic(b, w[p]);
}

/* Makes rows r0..r1-1 of one column where rows are fine steps. Rows beyond the base rows have no evidence. */
static void
make_rows(const struct strip *s, float *column, const float *base, int r0, int r1,
	  const float (*w)[4])
{
	const struct grid *g = &s->g;
	const int first = g->half * g->t - (g->rows - 1) / 2; /* fine step of row 0 */
	const int last = g->base + SKIRT - 3;
	float *out = column + PAD;
	int b0 = floor_div(first + r0, g->t), b1 = floor_div(first + r1 - 1, g->t);

	for (; b0 < 1 - SKIRT && b0 <= b1; b0++)
		for (int p = 0; p < g->t; p++)
			out[b0 * g->t + p - first] = 0;
	for (; b1 > last && b0 <= b1; b1--)
		for (int p = 0; p < g->t; p++)
			out[b1 * g->t + p - first] = 0;
	if (b0 <= b1)
		interleave(out + (b0 * g->t - first), base + b0, b1 - b0 + 1, g->t, w);
}

void
strip_fill(struct strip *s, const struct base *b, const struct course *c)
{
	const struct grid *g = &s->g;
	const int fields = s->o->score == DPTRACE_RIDGE ? 3 : 2, most = course_climb(c);
	float weight[MAXFINE][4];
	const float(*w)[4] = (const float(*)[4])weight;

	s->lane = lanes_up(g->rows) + 2 * PAD;
	for (int p = 0; p < g->t; p++)
		strip_weights((double)p / g->t, weight[p]);
	for (int i = 0; i < fields; i++)
		for (int col = 0; col < g->ncol; col++) {
			/* Where rows are fine steps, a column has only the rows that links of its gap can pass. */
			const int k = col / g->per_gap, o0 = c->o[k], o1 = c->o[k + 1],
				  e0 = o0 + c->d[k], e1 = o1 + c->d[k + 1];
			float *column = s->f[i] + (size_t)col * (size_t)g->q * s->lane;
			const float *base = b->f[i] + (size_t)col * base_rows(g) + SKIRT;
			if (g->m)
				make_column(s, column, base, w);
			else
				make_rows(s, column, base, at_most(o0, o1), at_least(e0, e1), w);
		}
	for (int t = -most; t <= most; t++) {
		const int i = t + g->rows - 1;
		for (int j = 0; j < g->per_gap; j++)
			s->offset[i * g->per_gap + j] = strip_offset(g, s->lane, t, j);
		s->slope[i] = strip_slope(s->o, &s->rule, c->h[0], t * c->dv, g->per_gap);
	}
}

/* ---- scores ---- */

/*
 * Link scores over a strip. All links of one slope cross a column at the same distance from their start row. So the scores
 * of neighbouring links are a sum of contiguous samples, one run per column, at offsets from a table:
 *
 *	score[j] = sum_c f[offset[t][c] + j]
 *
 * The sums of a block stay in registers: 64 samples take 8 vectors of 32 bytes. Where the CPU has AVX2, GCC 12 keeps vectors
 * of 64 bytes in memory.
 */

typedef float lanes __attribute__((vector_size(32), aligned(4), may_alias));
typedef int bits __attribute__((vector_size(32), aligned(4), may_alias));

enum { WIDTH = 8, PARTS = GROUP / WIDTH };
enum { SIZE = 0x7fffffff }; /* mask of all bits of a float except its sign */

/* The columns of links of one slope. f points to row j of the first column of their gap, in each field. */
struct rows {
	const float *f[3];
	const int *offset;
	int n;
	const struct slope *c;
};

static inline __attribute__((always_inline)) void
sum_ridge(float *restrict out, const struct rows *r, int k, int x, bool either)
{
	lanes a[4 * PARTS] = {{0}};

	for (int c = 0; c < r->n; c++) {
		const int at = r->offset[c] + x;
		for (int i = 0; i < k * PARTS; i++)
			a[i] += r->c->field[0] * *(const lanes *)(r->f[0] + at + i * WIDTH) +
				r->c->field[1] * *(const lanes *)(r->f[1] + at + i * WIDTH) +
				r->c->field[2] * *(const lanes *)(r->f[2] + at + i * WIDTH);
	}
	for (int i = 0; i < k * PARTS; i++)
		*(lanes *)(out + x + i * WIDTH) =
		    r->c->width * (either ? (lanes)((bits)a[i] & SIZE) : a[i]);
}

static inline __attribute__((always_inline)) void
sum_edge(float *restrict out, const struct rows *r, int k, int x, bool either)
{
	lanes a[4 * PARTS] = {{0}};

	for (int c = 0; c < r->n; c++) {
		const int at = r->offset[c] + x;
		for (int i = 0; i < k * PARTS; i++) {
			lanes e = r->c->field[1] * *(const lanes *)(r->f[1] + at + i * WIDTH) -
				  r->c->field[0] * *(const lanes *)(r->f[0] + at + i * WIDTH);
			a[i] += either ? (lanes)((bits)e & SIZE) : e;
		}
	}
	for (int i = 0; i < k * PARTS; i++)
		*(lanes *)(out + x + i * WIDTH) = r->c->width * a[i];
}

CPU_INLINE void
sum_links(float *restrict out, const struct rows *r, int k, int x, bool ridge, bool either)
{
	if (ridge)
		sum_ridge(out, r, k, x, either);
	else if (either)
		sum_edge(out, r, k, x, true);
	else
		sum_edge(out, r, k, x, false);
}

/* The scores [a, b) of a row, four groups at a time while there are four. */
WEIR_CLONES(sum_row,
	    (float *restrict out, const struct rows *r, int a, int b, bool ridge, bool either),
	    (out, r, a, b, ridge, either))
{
	for (; b - a >= 4 * GROUP; a += 4 * GROUP)
		sum_links(out, r, 4, a, ridge, either);
	for (; a < b; a += GROUP)
		sum_links(out, r, 1, a, ridge, either);
}

/* Turns the mean evidence out[x] of each link in [a, b) into its score under the cost. */
WEIR_CLONES(cost_row, (float *restrict out, int a, int b, float length, float floor, float cap),
	    (out, a, b, length, floor, cap))
{
	for (int x = a; x < b; x++) {
		float e = out[x] - floor;
		e = e > 0 ? e : 0;
		e = e < cap ? e : cap;
		out[x] = -(length / (e + COST_K));
	}
}

void
strip_score(const struct segment *s, int g, int slope, int j, int a, int b, float *out)
{
	const struct strip *p = s->ctx;
	const struct dptrace_options *o = p->o;
	const int t = slope + s->gap[g].climb;
	const size_t at = (size_t)g * (size_t)p->g.per_gap * (size_t)p->g.q * p->lane + PAD +
			  (size_t)(s->c.o[g] + j);
	const struct rows r = {.f = {p->f[0] + at, p->f[1] + at, p->f[2] + at},
			       .offset =
				   p->offset + (size_t)(t + p->g.rows - 1) * (size_t)p->g.per_gap,
			       .n = p->g.per_gap,
			       .c = &p->slope[t + p->g.rows - 1]};

	const bool ridge = o->score == DPTRACE_RIDGE;

	sum_row(out, &r, a, b, ridge, (ridge ? p->rule.polarity : o->polarity) == 0);
	if (p->rule.cost)
		cost_row(out, a, b, r.c->length, p->rule.floor, p->rule.cap);
}
