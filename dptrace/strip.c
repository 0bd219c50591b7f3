/* The fields of evidence in phases, and where the columns of a link lie in them. */
#include <stdlib.h>

#include "common/simd.h"
#include "dptrace/strip.h"

struct grid
strip_grid(double length, int gaps, int rows, double dv, double sigma)
{
	struct grid g = {.rows = rows, .t = 1};
	const int half = (rows - 1) / 2;

	g.per_gap = (int)ceil(length / gaps);
	g.ncol = g.per_gap * gaps;
	g.hu = length / g.ncol;
	if (dv <= .3) {
		while (dv * g.t <= .5)
			g.t *= 2;
		g.q = 1;
		g.P = dv * g.t;
		g.half = (half + g.t - 1) / g.t;
	} else {
		g.m = (int)ceil(dv);
		g.P = dv / g.m;
		while (g.P / g.t > .3)
			g.t *= 2;
		g.q = g.m * g.t;
		g.half = half * g.m;
	}
	g.base = 2 * g.half + 1;
	g.ru = (int)ceil(3 * sigma / g.hu);
	g.rv = (int)ceil(3 * sigma / g.P);
	return g;
}

struct grid
strip_finer(struct grid g, int rows)
{
	g.rows = rows;
	g.m = 0;
	g.q = 1;
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
}

/* out[i] between base rows i step and the next, by a cubic (Catmull-Rom) with those weights. */
WEIR_CLONES static void
interpolate(float *restrict out, const float *restrict b, int step, int n, const float w[4])
{
	if (step == 1)
		for (int i = 0; i < n; i++)
			out[i] =
			    (w[0] * b[i - 1] + w[3] * b[i + 2]) + (w[1] * b[i] + w[2] * b[i + 1]);
	else
		for (int i = 0; i < n; i++, b += step)
			out[i] = (w[0] * b[-1] + w[3] * b[2]) + (w[1] * b[0] + w[2] * b[1]);
}

void
strip_weights(double x, float w[4])
{
	w[0] = (float)(-.5 * x * (1 - x) * (1 - x));
	w[1] = (float)(1 + x * x * (1.5 * x - 2.5));
	w[2] = (float)(x * (.5 + x * (2 - 1.5 * x)));
	w[3] = (float)(-.5 * x * x * (1 - x));
}

/* Field i: whole rows, in q phases. */
static void
make_phases(const struct strip *s, const struct base *b, int i)
{
	const struct grid *g = &s->g;

	for (int p = 0; p < g->q; p++) {
		float w[4];

		strip_weights((double)(p % g->t) / g->t, w);
		for (int c = 0; c < g->ncol; c++)
			interpolate(s->f[i] + ((size_t)c * (size_t)g->q + (size_t)p) * s->lane +
					PAD,
				    b->f[i] + (size_t)c * base_rows(g) + SKIRT + p / g->t, g->m,
				    g->rows, w);
	}
}

/* t fine steps to a base row, n base rows: all phases of one base row are neighbours. */
WEIR_CLONES static void
interleave(float *restrict out, const float *restrict b, int n, int t, const float (*w)[4])
{
	for (int i = 0; i < n; i++, b++)
		for (int p = 0; p < t; p++)
			*out++ =
			    (w[p][0] * b[-1] + w[p][3] * b[2]) + (w[p][1] * b[0] + w[p][2] * b[1]);
}

static int
floor_div(int a, int b)
{
	return a >= 0 ? a / b : -((b - 1 - a) / b);
}

/* Field i where rows are fine steps: rows r0..r1-1 of column c, those beyond the base rows without evidence. */
static void
make_rows(const struct strip *s, const struct base *b, int i, int c, int r0, int r1,
	  const float (*w)[4])
{
	const struct grid *g = &s->g;
	const int first = g->half * g->t - (g->rows - 1) / 2; /* fine step of row 0 */
	const int last = g->base + SKIRT - 3;
	const float *in = b->f[i] + (size_t)c * base_rows(g) + SKIRT;
	float *out = s->f[i] + (size_t)c * s->lane + PAD;
	int b0 = floor_div(first + r0, g->t), b1 = floor_div(first + r1 - 1, g->t);

	for (; b0 < 1 - SKIRT && b0 <= b1; b0++)
		for (int p = 0; p < g->t; p++)
			out[b0 * g->t + p - first] = 0;
	for (; b1 > last && b0 <= b1; b1--)
		for (int p = 0; p < g->t; p++)
			out[b1 * g->t + p - first] = 0;
	if (b0 <= b1)
		interleave(out + (b0 * g->t - first), in + b0, b1 - b0 + 1, g->t, w);
}

/* Of each column no more rows than links of its gap can pass. */
static void
make_fine(const struct strip *s, const struct base *b, const struct course *c, int i)
{
	const struct grid *g = &s->g;
	float w[MAXFINE][4];

	for (int p = 0; p < g->t; p++)
		strip_weights((double)p / g->t, w[p]);
	for (int col = 0; col < g->ncol; col++) {
		const int k = col / g->per_gap, o0 = c->o[k], o1 = c->o[k + 1];
		const int e0 = o0 + c->d[k], e1 = o1 + c->d[k + 1];
		make_rows(s, b, i, col, o0 < o1 ? o0 : o1, e0 > e1 ? e0 : e1, (const float(*)[4])w);
	}
}

/* offset[t][c]: from row r of the first column of a gap to where the link that climbs t rows from r lies in column c. */
static void
make_offsets(struct strip *s)
{
	const struct grid *g = &s->g;
	int *o = s->offset;

	for (int t = 1 - g->rows; t < g->rows; t++)
		for (int c = 0; c < g->per_gap; c++) {
			long long num = (long long)abs(t) * g->q * (2 * c + 1),
				  den = 2 * g->per_gap;
			int fine = (int)((2 * num + den) /
					 (2 * den)); /* nearest; halves away from 0, for mirrors */
			fine = t < 0 ? -fine : fine;
			int row = floor_div(fine, g->q);
			*o++ = (int)(((size_t)c * (size_t)g->q + (size_t)(fine - row * g->q)) *
				     s->lane) +
			       row;
		}
}

void
strip_fill(struct strip *s, const struct base *b, const struct course *c)
{
	const int fields = s->o->score == DPTRACE_RIDGE ? 3 : 2;

	s->lane = lanes_up(s->g.rows) + 2 * PAD;
	for (int i = 0; i < fields; i++)
		if (s->g.m)
			make_phases(s, b, i);
		else
			make_fine(s, b, c, i);
	make_offsets(s);
}
