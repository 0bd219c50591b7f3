/* Runs the recursion on given tables, for --scores and for the checks. */
#include <errno.h>
#include <string.h>

#include "common/mem.h"
#include "dptrace/search/chain.h"
#include "dptrace/dptrace.h"

/* The tables of all segments by diagonals. Entry [s][j] of a gap is as in S of struct gap. */
struct diagonals {
	const struct dptrace_table *seg;
	float **base; /* [segment * maxn + gap] */
	int maxn;
};

static void
table_score(const struct segment *s, int g, int slope, int j, int a, int b, float *out)
{
	const struct gap *gap = &s->gap[g];
	float *const *base = s->ctx;

	memcpy(out + a, row_of(gap, base[g], gap->lds, slope) + j + a,
	       (size_t)(b - a) * sizeof *out);
}

/* The number of rows that holds every step from one guide to the next. */
static int
rows_of(const struct dptrace_table *t)
{
	int rows = 1;

	for (size_t g = 0; g + 1 < t->n; g++) {
		int up = t->o[g + 1] + t->d[g + 1] - t->o[g],
		    down = t->o[g] + t->d[g] - t->o[g + 1];
		rows = up > rows ? up : rows;
		rows = down > rows ? down : rows;
	}
	return rows;
}

static void
load_table(struct chain *c, int k, struct segment *s)
{
	const struct diagonals *t = c->ctx;
	const struct dptrace_table *seg = &t->seg[k];

	s->c.n = (int)seg->n;
	s->c.rows = rows_of(seg);
	s->c.dv = seg->dv;
	s->c.ex = seg->ex;
	s->c.ey = seg->ey;
	s->c.fx = seg->ex;
	s->c.fy = seg->ey;
	memcpy(s->c.h, seg->h, (seg->n - 1) * sizeof *s->c.h);
	memcpy(s->c.d, seg->d, seg->n * sizeof *s->c.d);
	memcpy(s->c.o, seg->o, seg->n * sizeof *s->c.o);
	s->score = table_score;
	s->ctx = t->base + (size_t)k * (size_t)t->maxn;
}

/* Takes memory for the diagonals of table g, and fills them once the arena has memory. */
static void
take_diagonals(const struct dptrace_table *t, size_t g, struct arena *a, float **base)
{
	const int d = t->d[g], e = t->d[g + 1];
	const size_t ld = row_length(d);
	float *o = arena_take(a, (size_t)(d + e - 1) * ld + GROUP, sizeof *o);

	if (!a->base)
		return;
	*base = o;
	for (int s = 1 - d; s < e; s++, o += ld)
		for (int j = 0; j < (int)ld; j++)
			o[j] = j < d && j + s >= 0 && j + s < e
				   ? t->score[g][(size_t)j * (size_t)e + (size_t)(j + s)]
				   : NEVER;
}

static void
take_tables(struct chain *c, struct diagonals *t, struct arena *a, size_t nseg, int maxd, int rows,
	    int maxlinks)
{
	chain_take(c, a, (int)nseg, SLOTS, t->maxn, maxd, rows, maxlinks);
	t->base = arena_take(a, nseg * (size_t)t->maxn, sizeof *t->base);
	for (size_t k = 0; k < nseg; k++)
		for (size_t g = 0; g + 1 < t->seg[k].n; g++)
			take_diagonals(&t->seg[k], g, a,
				       a->base ? &t->base[k * (size_t)t->maxn + g] : NULL);
}

/* The larger of most and the numbers of first and of last links of t. */
static int
more_links(int most, const struct dptrace_table *t)
{
	const int first = t->d[0] * t->d[1], last = t->d[t->n - 2] * t->d[t->n - 1];

	most = first > most ? first : most;
	return last > most ? last : most;
}

int
dptrace_tables(const struct dptrace_table *seg, size_t nseg, bool closed, double phi,
	       enum dptrace_method method, int threads, int *at, double *best, double *margin)
{
	struct chain c = {.closed = closed,
			  .margins = margin,
			  .phi = bound_of(phi),
			  .method = method,
			  .threads = threads,
			  .apart = 1,
			  .load = load_table};
	struct diagonals t = {.seg = seg};
	struct arena a = {0};
	int maxd = 1, rows = 1, links = 1, released;

	for (size_t k = 0; k < nseg; k++) {
		t.maxn = (int)seg[k].n > t.maxn ? (int)seg[k].n : t.maxn;
		rows = rows_of(&seg[k]) > rows ? rows_of(&seg[k]) : rows;
		for (size_t g = 0; g < seg[k].n; g++)
			maxd = seg[k].d[g] > maxd ? seg[k].d[g] : maxd;
		links = more_links(links, &seg[k]);
	}
	c.ctx = &t;
	take_tables(&c, &t, &a, nseg, maxd, rows, links);
	if (!(a.base = weir_alloc(a.used, 1)))
		return -ENOMEM;
	a.used = 0;
	take_tables(&c, &t, &a, nseg, maxd, rows, links);
	released = !chain_solve(&c);
	*best = c.best;
	for (size_t k = 0; k < nseg; k++) {
		released |= c.released[k];
		for (size_t g = 0; g < seg[k].n; g++) {
			*at++ = chain_at(&c, (int)k)[g];
			if (margin)
				*margin++ = c.margin[k * (size_t)c.maxn + g];
		}
	}
	weir_free(a.base);
	return released;
}
