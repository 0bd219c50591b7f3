/*
 * Centre j is excluded for a whole cell if another centre m is nearer to all points of the cell's box:
 *
 *	|x - j|^2 - |x - m|^2 = |j|^2 - |m|^2 + 2 x (m - j) > 0 at the corner of the box where it is least
 *
 * m is the centre nearest to the middle of the box. On photographs, a few of 256 centres remain. The sums are whole numbers,
 * so they do not depend on the number of threads.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/cpu.h"
#include "common/mem.h"
#include "common/par.h"
#include "emst/palette/lloyd.h"

/* A bound on the rounding error of the difference above, in squared units. Centres within it stay. */
static const float SLACK = .05f;

typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));
typedef int32_t marks __attribute__((vector_size(LANES * sizeof(float)))); /* -1: yes, 0: no */

/* LANES numbers at any address, read as *(const loose *)x. */
typedef float loose __attribute__((vector_size(LANES * sizeof(float)), aligned(4), may_alias));

CPU_INLINE void
keep_smaller(lanes *to, const lanes *x)
{
	const marks less = *x < *to;

	*to = (lanes)((less & (marks)*x) | (~less & (marks)*to));
}

/* The centres by coordinate. Places after the last, up to a multiple of LANES, are too far away for every colour. */
struct table {
	size_t k;
	float x[3][PALETTE_MOST], square[PALETTE_MOST];
};

/* The centres that remain for a cell. */
struct rivals {
	size_t n;
	float x[3][PALETTE_MOST], square[PALETTE_MOST];
	int32_t id[PALETTE_MOST];
};

int
lloyd_init(struct lloyd *l, const struct cells *cells, int threads)
{
	*l = (struct lloyd){
	    .cells = cells,
	    .threads = threads,
	    .label = weir_alloc_large(cells->n + LANES, 1),
	    .share = weir_alloc_large((size_t)SHARES * PALETTE_MOST, sizeof *l->share),
	    .square = weir_alloc_large((size_t)SHARES * PALETTE_MOST, sizeof *l->square)};
	return l->label && l->share && l->square ? 0 : -ENOMEM;
}

void
lloyd_free(struct lloyd *l)
{
	weir_free(l->label);
	weir_free(l->share);
	weir_free(l->square);
	l->label = NULL;
	l->share = NULL;
	l->square = NULL;
}

static void
fill_table(struct table *t, const struct lloyd *l)
{
	t->k = (l->k + LANES - 1) / LANES * LANES;
	for (size_t j = 0; j < t->k; j++) {
		t->square[j] = 1e12f;
		for (int a = 0; a < 3; a++)
			t->x[a][j] = j < l->k ? l->c[j].x[a] : 0;
		if (j < l->k)
			t->square[j] = t->x[0][j] * t->x[0][j] + t->x[1][j] * t->x[1][j] +
				       t->x[2][j] * t->x[2][j];
	}
}

/* Returns the centre nearest to the middle of a cell's box. */
CPU_INLINE size_t
nearest_to_middle(const struct table *t, const struct cell *q)
{
	const float x = q->lo[0] + q->hi[0], y = q->lo[1] + q->hi[1], z = q->lo[2] + q->hi[2];
	float d[PALETTE_MOST], least[LANES];
	lanes low = (lanes){0} + 1e30f;
	size_t m = 0;

	for (size_t j = 0; j < t->k; j += LANES) {
		const lanes e =
		    *(const loose *)(t->square + j) - x * *(const loose *)(t->x[0] + j) -
		    y * *(const loose *)(t->x[1] + j) - z * *(const loose *)(t->x[2] + j);
		memcpy(d + j, &e, sizeof e);
		keep_smaller(&low, &e);
	}
	memcpy(least, &low, sizeof low);
	for (size_t i = 1; i < LANES; i++)
		least[0] = least[i] < least[0] ? least[i] : least[0];
	while (d[m] != least[0])
		m++;
	return m;
}

CPU_INLINE void
find_rivals(const struct table *t, const struct cell *q, struct rivals *r)
{
	const size_t m = nearest_to_middle(t, q);
	float f[PALETTE_MOST];

	for (size_t j = 0; j < t->k; j++) {
		float sum = t->square[j] - t->square[m];
		for (int a = 0; a < 3; a++) {
			const float v = 2 * (t->x[a][m] - t->x[a][j]), low = v * q->lo[a],
				    high = v * q->hi[a];
			sum += low < high ? low : high;
		}
		f[j] = sum;
	}
	r->n = 0;
	for (size_t j = 0; j < t->k; j++) {
		for (int a = 0; a < 3; a++)
			r->x[a][r->n] = 2 * t->x[a][j];
		r->square[r->n] = t->square[j];
		r->id[r->n] = (int32_t)j;
		r->n += f[j] <= SLACK;
	}
}

/* Finds the nearest rival for each of the LANES colours from p on. */
CPU_INLINE void
nearest_rivals(const struct cells *c, size_t p, const struct rivals *r, uint8_t at[LANES])
{
	const lanes x = *(const loose *)(c->x[0] + p), y = *(const loose *)(c->x[1] + p),
		    z = *(const loose *)(c->x[2] + p);
	lanes best = (lanes){0} + 1e30f;
	marks id = {0};

	for (size_t j = 0; j < r->n; j++) {
		const lanes d = r->square[j] - x * r->x[0][j] - y * r->x[1][j] - z * r->x[2][j];
		const marks less = d < best;
		id = (less & r->id[j]) | (~less & id);
		keep_smaller(&best, &d);
	}
	for (size_t i = 0; i < LANES; i++)
		at[i] = (uint8_t)id[i];
}

/* Assigns the colours of the cells from..to-1, and adds them to sum[k]. */
WEIR_CLONES(assign_cells,
	    (const struct cells *c, const struct table *t, size_t from, size_t to, uint8_t *label,
	     struct sum4 *sum),
	    (c, t, from, to, label, sum))
{
	struct rivals r;

	for (const struct cell *q = c->cell + from; q < c->cell + to; q++) {
		find_rivals(t, q, &r);
		if (r.n == 1) {
			sum4_add(&sum[r.id[0]], &q->sum);
			memset(label + q->start, (int)r.id[0], q[1].start - q->start);
			continue;
		}
		for (size_t p = q->start; p < q[1].start; p += LANES) {
			const size_t n = q[1].start - p < LANES ? q[1].start - p : LANES;
			uint8_t at[LANES];
			nearest_rivals(c, p, &r, at);
			for (size_t i = 0; i < n; i++) {
				label[p + i] = at[i];
				sum4_add(&sum[at[i]], &c->sum[p + i]);
			}
		}
	}
}

/* Returns the SSE: sum w |x - c|^2 = sum w |x|^2 - 2 c sum w x + |c|^2 sum w. */
static double
sse_of(const struct lloyd *l)
{
	double sse = l->cells->squares;

	for (size_t j = 0; j < l->k; j++)
		for (int a = 0; a < 3; a++) {
			const double x = (double)l->c[j].x[a];
			sse += x * (x * (double)l->sum[j].v[3] - 2 * (double)l->sum[j].v[a]);
		}
	return sse;
}

double
lloyd_assign(struct lloyd *l)
{
	const size_t n = l->cells->ncell;
	struct table t;

	fill_table(&t, l);
	memset(l->share, 0, SHARES * l->k * sizeof *l->share);
#pragma omp parallel for schedule(dynamic, 1) num_threads(l->threads)
	for (size_t s = 0; s < SHARES; s++)
		assign_cells(l->cells, &t, n * s / SHARES, n * (s + 1) / SHARES, l->label,
			     l->share + s * l->k);
	memset(l->sum, 0, sizeof l->sum);
	for (size_t s = 0; s < SHARES; s++)
		for (size_t j = 0; j < l->k; j++)
			sum4_add(&l->sum[j], &l->share[s * l->k + j]);
	return sse_of(l);
}

void
lloyd_update(struct lloyd *l)
{
	for (size_t j = 0; j < l->k; j++)
		if (l->sum[j].v[3])
			l->c[j] = centre_of(&l->sum[j]);
		else
			l->c[j].w = 0;
}

static void
overshoot(struct lloyd *l, const struct centre *old)
{
	for (size_t j = 0; j < l->k; j++)
		for (int a = 0; a < 3; a++)
			l->c[j].x[a] += .9f * (l->c[j].x[a] - old[j].x[a]);
}

double
lloyd_run(struct lloyd *l, int most, double gain)
{
	struct centre old[PALETTE_MOST];
	double before = INFINITY, sse = 0;

	for (int round = 0; round < most; round++) {
		sse = lloyd_assign(l);
		memcpy(old, l->c, sizeof old);
		lloyd_update(l);
		if (round == most - 1 || 10 * log10(before / sse) < gain)
			break;
		overshoot(l, old);
		before = sse;
	}
	return sse;
}
