/* One search over the strip, or along the polyline of the search before. */
#include <stdlib.h>

#include "dptrace/pass.h"

struct grid
pass_grid(const struct segment_shape *s, const struct dptrace_options *o)
{
	return strip_grid(s->length, s->n - 1, s->d, s->dv, o);
}

double
pass_step(const struct segment_shape *s, const struct dptrace_options *o, size_t pass)
{
	const struct grid g = pass_grid(s, o);

	return pass ? g.P / g.fine : s->dv;
}

int
pass_rows(const struct segment_shape *s, const struct grid *g, size_t pass)
{
	return pass ? 2 * g->half * g->fine + 2 * (int)pass * REFINED + 1 : s->d;
}

int
pass_samples(const struct segment_shape *s, size_t pass)
{
	return pass ? 2 * REFINED + 1 : s->d;
}

/* The most that a pass over some segments meets. */
struct extent {
	int guides, samples, rows;
	size_t strip, base, bench; /* bytes */
};

static size_t
larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

static struct extent
extent_of(const struct segment_shape *s, size_t n, size_t pass, const struct dptrace_options *o)
{
	struct extent e = {2, 1, 1, 0, 0, 0};

	for (size_t i = 0; i < n; i++) {
		const struct grid g = pass_grid(&s[i], o);
		const int d = pass_samples(&s[i], pass), rows = pass_rows(&s[i], &g, pass);
		const struct grid fine = strip_finer(g, rows);
		struct arena strip = {0}, base = {0}, bench = {0};
		struct strip none;
		struct base nothing;
		struct bench idle;

		strip_take(&none, &strip, pass ? &fine : &g);
		base_take(&nothing, &base, &g);
		bench_take(&idle, &bench, &g);
		e.guides = s[i].n > e.guides ? s[i].n : e.guides;
		e.samples = d > e.samples ? d : e.samples;
		e.rows = rows > e.rows ? rows : e.rows;
		e.strip = larger(strip.used, e.strip);
		e.base = larger(base.used, e.base);
		e.bench = larger(bench.used, e.bench);
	}
	return e;
}

/*
 * Lays out a pass over the n segments of a line in memory at base; NULL: only counts. Returns the bytes. What passes hand
 * on comes first and stays where it is.
 */
static size_t
lay_out(struct work *w, char *base, const struct segment_shape *s, size_t n, size_t pass, int nslot)
{
	const struct dptrace_options *o = &w->plan->o;
	const struct extent e = extent_of(s, n, pass, o);
	const int held = n < (size_t)nslot ? (int)n : nslot;
	struct arena a = {base, 0};

	w->vstride = (size_t)e.guides;
	w->v = arena_take(&a, n * w->vstride, sizeof *w->v);
	w->margin = arena_take(&a, n * w->vstride, sizeof *w->margin);
	w->border = arena_take(&a, n * w->vstride, sizeof *w->border);
	for (int i = 0; i < held; i++)
		w->base_room[i] = arena_take(&a, e.base, 1);
	w->chain.margins = o->margins && pass == 0;
	chain_take(&w->chain, &a, (int)n, nslot, e.guides, e.samples, e.rows);
	for (int i = 0; i < held; i++)
		w->room[i] = arena_take(&a, e.strip, 1);
	w->bench_room = arena_take(&a, e.bench, 1);
	return a.used;
}

void
pass_course(const struct work *w, int k, struct course *c)
{
	const struct segment_shape *s = &w->shape[k];
	const double *v = w->v + (size_t)k * w->vstride;
	const int d = pass_samples(s, w->pass);
	int far = 0;

	c->n = s->n;
	c->dv = pass_step(s, &w->plan->o, w->pass);
	c->ex = s->ex;
	c->ey = s->ey;
	for (int g = 0; g < c->n; g++) {
		int z = w->pass ? (int)lround(v[g] / c->dv) : 0;
		c->o[g] = z;
		c->d[g] = g == 0 || g == c->n - 1 ? 1 : d;
		c->h[g] = s->length / (c->n - 1);
		far = abs(z) > far ? abs(z) : far;
	}
	c->rows = 2 * (far + (d - 1) / 2) + 1;
	for (int g = 0; g < c->n; g++)
		c->o[g] += (c->rows - c->d[g]) / 2;
}

/* The evidence at the base rows of segment k: that of the pass before, unless its slot was taken. */
static const struct base *
hold_base(struct work *w, int k)
{
	const struct dptrace_plan *p = w->plan;
	const struct segment_shape *s = &w->shape[k];
	const struct origin at = {s->ax, s->ay, s->ex, s->ey};
	const int i = k % w->chain.nslot;
	const struct grid g = pass_grid(s, &p->o);
	struct arena room = {w->base_room[i], 0}, scratch = {w->bench_room, 0};
	struct base *b = &w->base[i];
	struct bench bench;

	if (w->based[i] == k)
		return b;
	w->based[i] = k;
	base_take(b, &room, &g);
	bench_take(&bench, &scratch, &g);
	base_fill(b, &bench, &g, &at, &p->image, p->gray, &p->o);
	return b;
}

static void
load_segment(struct chain *c, int k, struct segment *s)
{
	struct work *w = c->ctx;
	const struct base *base = hold_base(w, k);
	const struct grid g = pass_grid(&w->shape[k], &w->plan->o);
	struct strip *strip = &w->strip[k % c->nslot];
	struct arena room = {w->room[k % c->nslot], 0};

	pass_course(w, k, &s->c);
	*strip = (struct strip){.g = w->pass ? strip_finer(g, s->c.rows) : g, .o = &w->plan->o};
	strip_take(strip, &room, &strip->g);
	strip_fill(strip, base, &s->c);
	w->blank |= base->blank;
	s->score = strip_score;
	s->ctx = strip;
}

/* v of sample j of guide g. */
static double
across(const struct course *c, int g, int j)
{
	return (c->o[g] + j - (c->rows - 1) / 2) * c->dv;
}

void
pass_keep(struct work *w)
{
	for (int k = 0; k < w->chain.n; k++) {
		const int *at = chain_at(&w->chain, k);
		struct course *c = &w->chain.slot[0].c;
		double *v = w->v + (size_t)k * w->vstride;

		pass_course(w, k, c);
		for (int g = 0; g < c->n; g++) {
			v[g] = across(c, g, at[g]);
			if (w->pass)
				continue;
			w->border[(size_t)k * w->vstride + (size_t)g] =
			    c->d[g] > 1 && (at[g] == 0 || at[g] == c->d[g] - 1);
			w->margin[(size_t)k * w->vstride + (size_t)g] =
			    w->chain.margins
				? w->chain.margin[(size_t)k * (size_t)w->chain.maxn + (size_t)g]
				: NAN;
		}
	}
}

size_t
pass_bytes(struct work *w, const struct segment_shape *s, size_t n, size_t pass, int nslot)
{
	return lay_out(w, NULL, s, n, pass, nslot);
}

void
pass_begin(struct work *w, size_t i)
{
	const struct dptrace_plan *p = w->plan;

	w->shape = p->shape + p->first[i];
	w->n = p->first[i + 1] - p->first[i];
	w->chain = (struct chain){.closed = p->line[i].closed,
				  .phi = bound_of(w->shape->phi),
				  .threads = p->inner,
				  .load = load_segment,
				  .ctx = w};
	for (int slot = 0; slot < SLOTS; slot++)
		w->based[slot] = -1;
}

void
pass_run(struct work *w, size_t pass)
{
	w->pass = pass;
	lay_out(w, w->memory, w->shape, w->n, pass, w->plan->nslot);
	w->chain.apart = (int)ceil(3 / pass_step(w->shape, &w->plan->o, pass));
	w->blank = false;
	chain_solve(&w->chain);
	pass_keep(w);
}
