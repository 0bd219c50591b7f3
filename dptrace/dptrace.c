/* Options to shapes, lines to chains, optima to vertices. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/mem.h"
#include "common/par.h"
#include "dptrace/work.h"

/* --- a pass over a line ------------------------------------------------------------------------------------------ */

struct grid
work_grid(const struct segment_shape *s, double sigma)
{
	return strip_grid(s->length, s->n - 1, s->d, s->dv, sigma);
}

double
work_step(const struct segment_shape *s, size_t pass)
{
	return pass ? s->dv / work_grid(s, 1).q : s->dv;
}

int
work_rows(const struct segment_shape *s, size_t pass)
{
	return pass ? (s->d - 1) * work_grid(s, 1).q + 2 * (int)pass * REFINED + 1 : s->d;
}

int
work_samples(const struct segment_shape *s, size_t pass)
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
extent_of(const struct segment_shape *s, size_t n, size_t pass, double sigma)
{
	struct extent e = {2, 1, 1, 0, 0, 0};

	for (size_t i = 0; i < n; i++) {
		const int d = work_samples(&s[i], pass), rows = work_rows(&s[i], pass);
		const struct grid g = work_grid(&s[i], sigma), fine = strip_finer(g, rows);
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
	const struct extent e = extent_of(s, n, pass, o->sigma);
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
work_course(const struct work *w, int k, struct course *c)
{
	const struct segment_shape *s = &w->shape[k];
	const double *v = w->v + (size_t)k * w->vstride;
	const int d = work_samples(s, w->pass);
	int far = 0;

	c->n = s->n;
	c->dv = work_step(s, w->pass);
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
	const struct grid g = work_grid(s, p->o.sigma);
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
	const struct grid g = work_grid(&w->shape[k], w->plan->o.sigma);
	struct strip *strip = &w->strip[k % c->nslot];
	struct arena room = {w->room[k % c->nslot], 0};

	work_course(w, k, &s->c);
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
work_keep(struct work *w)
{
	for (int k = 0; k < w->chain.n; k++) {
		const int *at = chain_at(&w->chain, k);
		struct course *c = &w->chain.slot[0].c;
		double *v = w->v + (size_t)k * w->vstride;

		work_course(w, k, c);
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

/* --- results ----------------------------------------------------------------------------------------------------- */

static size_t
vertices_of(const struct segment_shape *s, size_t n)
{
	size_t sum = 1;

	for (size_t i = 0; i < n; i++)
		sum += (size_t)s[i].n - 1;
	return sum;
}

static void
put_segment(const struct work *w, int k, struct dptrace_vertex *v, struct dptrace_trace *t)
{
	const struct segment_shape *s = &w->shape[k];
	const float *link = w->chain.link + (size_t)k * (size_t)w->chain.maxn;
	const size_t row = (size_t)k * w->vstride;
	const double h = s->length / (s->n - 1);

	for (int g = k > 0; g < s->n; g++) {
		const double u = g * h, y = w->v[row + (size_t)g];
		struct dptrace_vertex *x = &v[g];

		x->x = s->ax + u * s->ex - y * s->ey;
		x->y = s->ay + u * s->ey + y * s->ex;
		x->score = g > 0 ? (double)link[g - 1] / h : 0;
		x->margin = (double)w->margin[row + (size_t)g];
		x->point = g == 0 || g == s->n - 1;
		x->border = w->border[row + (size_t)g];
		t->border += x->border;
		if (!w->plan->o.margins || x->margin < t->margin)
			t->margin = x->margin;
	}
}

void
work_put(struct work *w, struct dptrace_trace *t)
{
	struct dptrace_vertex *v = t->v;

	*t = (struct dptrace_trace){
	    .n = t->n, .v = t->v, .score = w->chain.best, .margin = INFINITY, .blank = w->blank};
	for (int k = 0; k < w->chain.n; k++) {
		put_segment(w, k, v, t);
		v += w->shape[k].n - 1;
		if (w->chain.released[k] && !t->released++)
			t->released_at = (size_t)k;
	}
}

/* --- plan, run, free --------------------------------------------------------------------------------------------- */

static void
trace_line(struct work *w, size_t i)
{
	const struct dptrace_plan *p = w->plan;
	const struct segment_shape *s = w->shape = p->shape + p->first[i];
	const size_t n = p->first[i + 1] - p->first[i];

	w->chain = (struct chain){.closed = p->line[i].closed,
				  .phi = {cos(s->phi), sin(s->phi)},
				  .threads = p->inner,
				  .load = load_segment,
				  .ctx = w};
	for (int slot = 0; slot < SLOTS; slot++)
		w->based[slot] = -1;
	for (w->pass = 0;; w->pass++) {
		lay_out(w, w->memory, s, n, w->pass, p->nslot);
		w->chain.apart = (int)ceil(3 / work_step(s, w->pass));
		w->blank = false;
		chain_solve(&w->chain);
		work_keep(w);
		if (w->pass + 1 == p->o.passes)
			break;
	}
	work_put(w, &p->trace[i]);
}

void
dptrace_run(struct dptrace_plan *p)
{
#pragma omp parallel for num_threads(p->outer) schedule(dynamic, 1) if (p->outer > 1)
	for (size_t i = 0; i < p->nline; i++)
		trace_line(&p->work[omp_get_thread_num() % p->outer], i);
}

/* The memory that the largest line needs. */
static size_t
measure(struct dptrace_plan *p, int nslot)
{
	struct work w = {.plan = p};
	size_t most = 0;

	for (size_t i = 0; i < p->nline; i++)
		for (size_t pass = 0; pass < p->o.passes; pass++) {
			const size_t n = p->first[i + 1] - p->first[i];
			w.chain.threads = p->inner;
			size_t bytes = lay_out(&w, NULL, p->shape + p->first[i], n, pass, nslot);
			most = bytes > most ? bytes : most;
		}
	return most;
}

/* Asks for large pages: faults on small ones are most of the time of a single short trace. Nothing else depends on it. */
static void
prefer_large_pages(char *p, size_t n)
{
	const size_t page = 4096, skip = (page - (uintptr_t)p % page) % page;

	if (n > skip + page)
		madvise(p + skip, (n - skip) / page * page, MADV_HUGEPAGE);
}

/* Fewer slots where memory is short. */
static int
fit_memory(struct dptrace_plan *p, char err[DPTRACE_ERR])
{
	size_t each;

	for (p->nslot = SLOTS;; p->nslot /= 2) {
		each = measure(p, p->nslot);
		if (!weir_mul(each, (size_t)p->outer, &p->bytes))
			return dptrace_fail(err, "more memory than can be addressed");
		if (!p->o.max_bytes || p->bytes <= p->o.max_bytes)
			break;
		if (p->nslot == 1)
			return dptrace_fail(err,
					    "%zu bytes of link sums exceed the limit of %zu; see "
					    "--max-bytes, -d, -n",
					    p->bytes, p->o.max_bytes);
	}
	for (int i = 0; i < p->outer; i++) {
		p->work[i].plan = p;
		if (!(p->work[i].memory = weir_alloc(each, 1)))
			return dptrace_fail(err, "no memory for %zu bytes of link sums", p->bytes);
		prefer_large_pages(p->work[i].memory, each);
	}
	return 0;
}

/* The mean of the planes. */
static int
make_gray(struct dptrace_plan *p, char err[DPTRACE_ERR])
{
	const struct dptrace_image *im = &p->image;
	const size_t n = im->w * im->h;
	float *sum;

	p->gray = im->v;
	if (im->c == 1)
		return 0;
	if (!(p->gray = p->own_gray = sum = weir_calloc(n, sizeof *sum)))
		return dptrace_fail(err, "no memory for a plane of %zu x %zu", im->w, im->h);
	for (size_t c = 0; c < im->c; c++)
		for (size_t i = 0; i < n; i++)
			sum[i] += im->v[c * n + i] / (float)im->c;
	return 0;
}

static int
shape_lines(struct dptrace_plan *p, char err[DPTRACE_ERR])
{
	size_t segments = 0, vertices = 0;

	for (size_t i = 0; i < p->nline; i++)
		segments += p->line[i].n;
	p->first = weir_alloc(p->nline + 1, sizeof *p->first);
	p->shape = weir_alloc(segments, sizeof *p->shape);
	p->trace = weir_calloc(p->nline, sizeof *p->trace);
	if (!p->first || !p->shape || !p->trace)
		return dptrace_fail(err, "no memory for %zu points", segments);
	p->first[0] = 0;
	for (size_t i = 0; i < p->nline; i++) {
		struct segment_shape *s = p->shape + p->first[i];
		if (dptrace_shape(s, &p->line[i], &p->image, &p->o, err)) {
			p->bad = i;
			return -1;
		}
		p->first[i + 1] = p->first[i] + dptrace_segments(&p->line[i]);
		p->trace[i].n = vertices_of(s, dptrace_segments(&p->line[i]));
		vertices += p->trace[i].n;
	}
	if (!(p->vertex = weir_calloc(vertices, sizeof *p->vertex)))
		return dptrace_fail(err, "no memory for %zu vertices", vertices);
	for (size_t i = 0, at = 0; i < p->nline; at += p->trace[i++].n)
		p->trace[i].v = p->vertex + at;
	return 0;
}

int
dptrace_plan(struct dptrace_plan *p, const struct dptrace_image *image,
	     const struct dptrace_line *line, size_t nline, const struct dptrace_options *o,
	     char err[DPTRACE_ERR])
{
	*p = (struct dptrace_plan){
	    .image = *image, .o = *o, .line = line, .nline = nline, .bad = nline};
	p->outer = nline >= (size_t)o->threads ? o->threads : 1;
	p->inner = p->outer > 1 ? 1 : o->threads;
	if (!(p->work = weir_calloc((size_t)p->outer, sizeof *p->work)))
		return dptrace_fail(err, "no memory for %d threads", p->outer);
	if (make_gray(p, err) || shape_lines(p, err) || fit_memory(p, err)) {
		size_t bad = p->bad;
		dptrace_free(p);
		p->bad = bad;
		return -1;
	}
	return 0;
}

struct dptrace_resolved
dptrace_resolved(const struct dptrace_plan *p, size_t line, size_t segment)
{
	const struct segment_shape *s = &p->shape[p->first[line] + segment];

	return (struct dptrace_resolved){(size_t)s->n, (size_t)s->d, s->length, s->halfwidth,
					 s->phi};
}

void
dptrace_free(struct dptrace_plan *p)
{
	for (int i = 0; p->work && i < p->outer; i++)
		weir_free(p->work[i].memory);
	weir_free(p->work);
	weir_free(p->own_gray);
	weir_free(p->first);
	weir_free(p->shape);
	weir_free(p->trace);
	weir_free(p->vertex);
	*p = (struct dptrace_plan){0};
}
