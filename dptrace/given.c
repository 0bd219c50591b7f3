/* Traces a line over given tables of link scores (--scores). */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "common/base/mem.h"
#include "dptrace/numbers.h"
#include "dptrace/search/chain.h"

/* ---- tables: runs the recursion on given tables, for --scores and for the checks ---- */

/* A table is read along its diagonals, where it lies. Its lines stay in the cache from one slope to the next. */
static void
table_score(const struct segment *s, int g, int slope, int j, int a, int b, float *out)
{
	const struct dptrace_table *t = s->ctx;
	const int d = t->d[g], e = t->d[g + 1];
	const int from = (int)clamp(-slope - j, a, b),
		  to = (int)clamp((e - slope < d ? e - slope : d) - j, from, b);
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
		const int up = t->o[g + 1] + t->d[g + 1] - t->o[g],
			  down = t->o[g] + t->d[g] - t->o[g + 1];
		rows = at_least(rows, at_least(up, down));
	}
	return rows;
}

void
chain_course(struct course *c, const struct dptrace_table *t)
{
	c->n = (int)t->n;
	c->rows = rows_of(t);
	c->dv = t->dv;
	c->ex = c->fx = t->ex;
	c->ey = c->fy = t->ey;
}

static void
load_table(struct chain *c, int k, struct segment *s)
{
	const struct dptrace_table *t = (const struct dptrace_table *)c->ctx + k;

	chain_course(&s->c, t);
	memcpy(s->c.h, t->h, (t->n - 1) * sizeof *s->c.h);
	memcpy(s->c.d, t->d, t->n * sizeof *s->c.d);
	memcpy(s->c.o, t->o, t->n * sizeof *s->c.o);
	s->score = table_score;
	s->ctx = t;
}

/* The first or the last links of t, whichever are more. */
static size_t
links_of_table(const struct dptrace_table *t)
{
	return (size_t)at_least(t->d[0] * t->d[1], t->d[t->n - 2] * t->d[t->n - 1]);
}

/* Lays out the chain of these tables, or only counts where a has no memory. */
static void
take_chain(struct chain *c, struct arena *a, const struct dptrace_table *seg, size_t nseg)
{
	size_t *node = arena_take(a, nseg, sizeof *node), nodes = 0, links = 0;
	int maxn = 2, maxd = 1, rows = 1;

	for (size_t k = 0; k < nseg; k++) {
		if (node)
			node[k] = nodes;
		nodes += seg[k].n;
		links += links_of_table(&seg[k]);
		maxn = at_least(maxn, (int)seg[k].n);
		rows = at_least(rows, rows_of(&seg[k]));
		for (size_t g = 0; g < seg[k].n; g++)
			maxd = at_least(maxd, seg[k].d[g]);
	}
	chain_take(c, a, (int)nseg, SLOTS, maxn, maxd, rows, nodes, links);
	c->node = node;
	for (size_t k = 0, at = 0; c->door && k < nseg; k++) {
		c->door[k] = at;
		at += links_of_table(&seg[k]);
	}
}

int
dptrace_tables(const struct dptrace_table *seg, size_t nseg, double phi, enum dptrace_method method,
	       int threads, int *at, double *best, double *margin)
{
	struct chain c = {.margins = margin,
			  .phi = bound_of(phi),
			  .method = method,
			  .threads = threads,
			  .apart = 1,
			  .load = load_table,
			  .ctx = (void *)(uintptr_t)seg};
	struct arena a = {0};

	take_chain(&c, &a, seg, nseg);
	if (!(a.base = weir_alloc_large(a.used, 1)))
		return -ENOMEM;
	a.used = 0;
	take_chain(&c, &a, seg, nseg);
	const bool solved = chain_solve(&c);
	bool released = !solved;
	*best = c.best;
	for (size_t k = 0; k < nseg; k++) {
		released |= c.released[k];
		for (size_t g = 0; g < seg[k].n; g++) {
			*at++ = solved ? chain_at(&c, (int)k)[g] : 0;
			if (margin)
				*margin++ = solved ? c.margin[c.node[k] + g] : 0;
		}
	}
	weir_free(a.base);
	return released;
}

/* ---- given ---- */

/* Room for the tables of a line, in one piece. */
struct given {
	struct dptrace_table *seg; /* [nseg] */
	double *h;		   /* [nseg][n], of which n-1 are used */
	int *d, *o;		   /* [n], the same for all segments */
	const float **score;	   /* [nseg][n], of which n-1 are used */
	float *last;		   /* [nseg][d]: the middle column of each segment's last table */
	int *at;		   /* [nseg][n] */
	double *margin;		   /* [nseg][n]; NULL: not asked for */
};

/* Lays out the room in a. */
static void
given_take(struct given *g, struct arena *a, size_t nseg, size_t n, size_t d, bool margins)
{
	g->seg = arena_take(a, nseg, sizeof *g->seg);
	g->h = arena_take(a, nseg * n, sizeof *g->h);
	g->d = arena_take(a, n, sizeof *g->d);
	g->o = arena_take(a, n, sizeof *g->o);
	g->score = arena_take(a, nseg * n, sizeof *g->score);
	g->last = arena_take(a, nseg * d, sizeof *g->last);
	g->at = arena_take(a, nseg * n, sizeof *g->at);
	g->margin = margins ? arena_take(a, nseg * n, sizeof *g->margin) : NULL;
}

/* Fills segment k, from a to b, over S [n-1][d][d]. */
static void
fill_segment(struct given *g, size_t k, const float *S, size_t n, size_t d, const double a[2],
	     const double b[2], double halfwidth)
{
	const double dx = b[0] - a[0], dy = b[1] - a[1], length = sqrt(dx * dx + dy * dy);
	const double w = halfwidth > 0 ? halfwidth : length / 5;
	float *last = g->last + k * d;

	for (size_t i = 0; i + 1 < n; i++) {
		g->h[k * n + i] = length / (double)(n - 1);
		g->score[k * n + i] = S + i * d * d + (i == 0 ? d / 2 * d : 0);
	}
	for (size_t j = 0; j < d; j++)
		last[j] = S[(n - 2) * d * d + j * d + d / 2];
	g->score[k * n + n - 2] = n == 2 ? last + d / 2 : last;
	g->seg[k] = (struct dptrace_table){.n = n,
					   .dv = d > 1 ? 2 * w / (double)(d - d % 2) : 1,
					   .ex = dx / length,
					   .ey = dy / length,
					   .h = g->h + k * n,
					   .d = g->d,
					   .o = g->o,
					   .score = g->score + k * n};
}

static void
put_vertices(const struct given *g, const struct dptrace_line *l, struct dptrace_trace *t)
{
	for (size_t k = 0; k < dptrace_segments(l); k++) {
		const struct dptrace_table *s = &g->seg[k];
		struct dptrace_vertex *v = t->v + k * (s->n - 1);
		for (size_t i = k > 0; i < s->n; i++) {
			const int j = g->at[k * s->n + i], before = i ? g->at[k * s->n + i - 1] : 0;
			const double u = (double)i * s->h[0], y = (s->o[i] + j) * s->dv;
			v[i] = (struct dptrace_vertex){
			    .x = l->xy[k][0] + u * s->ex - y * s->ey,
			    .y = l->xy[k][1] + u * s->ey + y * s->ex,
			    .score =
				i ? (double)s->score[i - 1][before * s->d[i] + j] / s->h[0] : 0,
			    .margin = g->margin ? g->margin[k * s->n + i] : NAN,
			    .point = i == 0 || i + 1 == s->n,
			    .border = s->d[i] > 1 && (j == 0 || j == s->d[i] - 1)};
			t->border += v[i].border;
			t->margin = v[i].margin < t->margin ? v[i].margin : t->margin;
		}
	}
}

int
dptrace_given(const float *S, size_t n, size_t d, const struct dptrace_line *l,
	      const struct dptrace_options *o, const struct dptrace_solver *by,
	      struct dptrace_trace *t, struct why *why)
{
	const double phi = o->phi > 0 ? o->phi : M_PI / 4;
	const size_t nseg = dptrace_segments(l);
	struct arena a = {0};
	struct given g;
	int r;

	*t = (struct dptrace_trace){.n = nseg * (n - 1) + 1, .margin = INFINITY, .low = .3};
	t->v = weir_calloc(t->n, sizeof *t->v);
	given_take(&g, &a, nseg, n, d, o->margins);
	a = (struct arena){weir_alloc(a.used, 1), 0};
	if (!t->v || !a.base) {
		weir_free_all(a.base, t->v);
		return why_set(why, "no memory for %zu vertices", t->n);
	}
	given_take(&g, &a, nseg, n, d, o->margins);
	for (size_t i = 0; i < n; i++) {
		g.d[i] = i == 0 || i + 1 == n ? 1 : (int)d;
		g.o[i] = -(g.d[i] / 2);
	}
	for (size_t k = 0; k < nseg; k++)
		fill_segment(&g, k, S + k * (n - 1) * d * d, n, d, l->xy[k], l->xy[k + 1],
			     o->halfwidth);
	r = by ? by->tables(by->ctx, g.seg, nseg, phi, g.at, &t->score, g.margin)
	       : dptrace_tables(g.seg, nseg, phi, o->method, o->threads, g.at, &t->score, g.margin);
	why->text[0] = '\0';
	if (r == -ENOMEM)
		why_set(why, "no memory for tables of %zu x %zu", d, d);
	t->released = r > 0;
	if (r >= 0)
		put_vertices(&g, l, t);
	else
		weir_free(t->v);
	weir_free(a.base);
	return r < 0 ? -1 : 0;
}
