/*
 * Link scores over a strip. All links of one slope cross a column at the same distance from their start row. So the scores
 * of neighbouring links are a sum of contiguous samples, one run per column, at offsets from a table:
 *
 *	score[j] = sum_c f[offset[t][c] + j]
 *
 * The sums of a block stay in registers: 64 samples take 8 vectors of 32 bytes. Where the CPU has AVX2, GCC 12 keeps vectors
 * of 64 bytes in memory.
 */
#include "common/base/cpu.h"
#include "dptrace/evidence/strip.h"

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

/* The scores [a, b) of a row, four groups at a time while there are four. */
WEIR_CLONES(ridge_row, (float *restrict out, const struct rows *r, int a, int b, bool either),
	    (out, r, a, b, either))
{
	for (; b - a >= 4 * GROUP; a += 4 * GROUP)
		sum_ridge(out, r, 4, a, either);
	for (; a < b; a += GROUP)
		sum_ridge(out, r, 1, a, either);
}

WEIR_CLONES(edge_row, (float *restrict out, const struct rows *r, int a, int b), (out, r, a, b))
{
	for (; b - a >= 4 * GROUP; a += 4 * GROUP)
		sum_edge(out, r, 4, a, true);
	for (; a < b; a += GROUP)
		sum_edge(out, r, 1, a, true);
}

WEIR_CLONES(signed_edge_row, (float *restrict out, const struct rows *r, int a, int b),
	    (out, r, a, b))
{
	for (; b - a >= 4 * GROUP; a += 4 * GROUP)
		sum_edge(out, r, 4, a, false);
	for (; a < b; a += GROUP)
		sum_edge(out, r, 1, a, false);
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

	if (o->score == DPTRACE_RIDGE)
		ridge_row(out, &r, a, b, p->rule.polarity == 0);
	else if (o->polarity)
		signed_edge_row(out, &r, a, b);
	else
		edge_row(out, &r, a, b);
	if (p->rule.cost)
		cost_row(out, a, b, r.c->length, p->rule.floor, p->rule.cap);
}
