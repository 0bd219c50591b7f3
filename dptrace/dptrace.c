/* Plans (options become shapes, and memory is sized), runs the passes of every line, and turns optima into vertices. */
#include <stdio.h>

#include "common/mem.h"
#include "common/par.h"
#include "dptrace/pass.h"

/* --- results ----------------------------------------------------------------------------------------------------- */

/* The number of vertices of a line of n segments after that many passes. */
static size_t
vertices_of(const struct segment_shape *s, size_t n, size_t passes)
{
	size_t sum = 1;

	for (size_t i = 0; i < n; i++)
		sum += (size_t)pass_guides(&s[i], passes - 1) - 1;
	return sum;
}

/* The unit of margins: by how much the score of a pixel of full evidence exceeds that of a pixel without evidence. */
static double
worth(const struct segment_shape *s)
{
	const double k = (double)COST_K;

	return s->cost ? 1 / k - 1 / (1 + k) : 1;
}

static double
square_distance(const struct verdict *v, const double xy[2])
{
	return (v->x - xy[0]) * (v->x - xy[0]) + (v->y - xy[1]) * (v->y - xy[1]);
}

/*
 * The verdict of the first pass, of n guides, on a vertex at xy: that of the nearest vertex of the first pass. The search
 * goes forward from *at and moves *at on, as callers go along the polyline.
 */
static const struct verdict *
verdict_on(const struct verdict *v, int n, const double xy[2], int *at)
{
	while (*at + 1 < n && square_distance(&v[*at + 1], xy) <= square_distance(&v[*at], xy))
		++*at;
	return &v[*at];
}

static void
put_segment(const struct work *w, int k, struct dptrace_vertex *v, struct dptrace_trace *t)
{
	const struct segment_shape *s = &w->shape[k];
	const float *link = w->chain.link + (size_t)k * (size_t)w->chain.maxn;
	const size_t row = (size_t)k * w->stride;
	const int n = pass_guides(s, w->pass);
	const double h = pass_length(w, k) / (n - 1);
	int at = 0;

	for (int g = k > 0; g < n; g++) {
		const double *xy = w->xy[row + (size_t)g];
		const bool point = g == 0 || g == n - 1;
		const struct verdict *said = verdict_on(w->verdict + row, s->n, xy, &at);

		v[g] = (struct dptrace_vertex){.x = xy[0],
					       .y = xy[1],
					       .score = g > 0 ? (double)link[g - 1] / h : 0,
					       .margin = !point || isnan(said->margin)
							     ? (double)said->margin / worth(s)
							     : INFINITY,
					       .point = point,
					       .border = !point && said->border};
	}
	for (int g = k > 0; g < s->n; g++) {
		const struct verdict *said = w->verdict + row + (size_t)g;
		t->border += said->border;
		if (!w->plan->o.margins || (double)said->margin / worth(s) < t->margin)
			t->margin = (double)said->margin / worth(s);
	}
}

/* The longest stretch of links that cost 1.5 a px or more: their evidence is below .37 of the level. */
static double
bare_stretch(const struct dptrace_trace *t)
{
	double run = 0, most = 0;

	for (size_t i = 1; i < t->n; i++) {
		const struct dptrace_vertex *a = &t->v[i - 1], *b = &t->v[i];
		const double dx = b->x - a->x, dy = b->y - a->y;
		run = b->score <= -1.5 ? run + sqrt(dx * dx + dy * dy) : 0;
		most = run > most ? run : most;
	}
	return most;
}

static void
count_sharp(struct dptrace_trace *t, struct bound most)
{
	for (size_t i = 1; i + 1 < t->n; i++) {
		const struct dptrace_vertex *v = &t->v[i];
		t->sharp += !turn_ok(most, v[0].x - v[-1].x, v[0].y - v[-1].y, v[1].x - v[0].x,
				     v[1].y - v[0].y);
	}
}

void
pass_put(struct work *w, struct dptrace_trace *t)
{
	struct dptrace_vertex *v = t->v;

	*t = (struct dptrace_trace){.n = t->n,
				    .v = t->v,
				    .score = w->chain.best,
				    .margin = INFINITY,
				    .low = w->shape->cost ? .2 : .3,
				    .blank = w->blank};
	for (int k = 0; k < w->chain.n; k++) {
		put_segment(w, k, v, t);
		v += pass_guides(&w->shape[k], w->pass) - 1;
		if (w->chain.released[k] && !t->released++)
			t->released_at = (size_t)k;
	}
	if (w->shape->cost) {
		t->sharp = w->sharp;
		t->bare = t->blank ? 0 : bare_stretch(t);
	} else {
		count_sharp(t, bound_of(.9 * w->shape->phi));
	}
}

/* --- plan, run, free --------------------------------------------------------------------------------------------- */

static void
trace_line(struct work *w, size_t i)
{
	pass_begin(w, i);
	for (size_t pass = 0; pass < w->plan->o.passes; pass++)
		pass_run(w, pass);
	pass_put(w, &w->plan->trace[i]);
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
			size_t bytes = pass_bytes(&w, p->shape + p->first[i], n, pass, nslot);
			most = bytes > most ? bytes : most;
		}
	return most;
}

/* Chooses the number of slots: fewer where memory is short. */
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
		if (!(p->work[i].memory = weir_alloc_large(each, 1)))
			return dptrace_fail(err, "no memory for %zu bytes of link sums", p->bytes);
	}
	return 0;
}

/* Makes p->gray, the mean of the planes. */
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
		if (dptrace_shape(s, &p->line[i], &p->image, p->gray, &p->o, err)) {
			p->bad = i;
			return -1;
		}
		p->first[i + 1] = p->first[i] + dptrace_segments(&p->line[i]);
		p->trace[i].n = vertices_of(s, dptrace_segments(&p->line[i]), p->o.passes);
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

	return (struct dptrace_resolved){(size_t)s->n, (size_t)s->d, s->length,
					 s->halfwidth, s->phi,	     s->cost,
					 s->polarity,  s->level,     s->noise};
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
