/* Runs the recursion on given tables, for --scores and for the checks. */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "common/base/mem.h"
#include "dptrace/search/chain.h"

static int
clamp(int v, int lo, int hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

/* A table is read along its diagonals, where it lies. Its lines stay in the cache from one slope to the next. */
static void
table_score(const struct segment *s, int g, int slope, int j, int a, int b, float *out)
{
	const struct dptrace_table *t = s->ctx;
	const int d = t->d[g], e = t->d[g + 1];
	const int from = clamp(-slope - j, a, b),
		  to = clamp((e - slope < d ? e - slope : d) - j, from, b);
	const float *score = t->score[g];

	for (int x = a; x < from; x++)
		out[x] = NEVER;
	for (int x = from; x < to; x++)
		out[x] = score[(ptrdiff_t)(j + x) * e + (j + x + slope)];
	for (int x = to; x < b; x++)
		out[x] = NEVER;
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
	const struct dptrace_table *seg = (const struct dptrace_table *)c->ctx + k;

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
	s->ctx = seg;
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
			  .load = load_table,
			  .ctx = (void *)(uintptr_t)seg};
	struct arena a = {0};
	int maxn = 2, maxd = 1, rows = 1, links = 1;

	for (size_t k = 0; k < nseg; k++) {
		maxn = (int)seg[k].n > maxn ? (int)seg[k].n : maxn;
		rows = rows_of(&seg[k]) > rows ? rows_of(&seg[k]) : rows;
		for (size_t g = 0; g < seg[k].n; g++)
			maxd = seg[k].d[g] > maxd ? seg[k].d[g] : maxd;
		links = more_links(links, &seg[k]);
	}
	chain_take(&c, &a, (int)nseg, SLOTS, maxn, maxd, rows, links);
	if (!(a.base = weir_alloc_large(a.used, 1)))
		return -ENOMEM;
	a.used = 0;
	chain_take(&c, &a, (int)nseg, SLOTS, maxn, maxd, rows, links);
	const bool solved = chain_solve(&c);
	bool released = !solved;
	*best = c.best;
	for (size_t k = 0; k < nseg; k++) {
		released |= c.released[k];
		for (size_t g = 0; g < seg[k].n; g++) {
			*at++ = solved ? chain_at(&c, (int)k)[g] : 0;
			if (margin)
				*margin++ = solved ? c.margin[k * (size_t)c.maxn + g] : 0;
		}
	}
	weir_free(a.base);
	return released;
}
