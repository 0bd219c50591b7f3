/* Plans (options become shapes, polarities are found, memory is sized) and runs the passes of every line. */
#include <math.h>
#include <string.h>

#include "common/mem.h"
#include "common/par.h"
#include "dptrace/pass.h"

/* --- run --------------------------------------------------------------------------------------------------------- */

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

/* --- plan -------------------------------------------------------------------------------------------------------- */

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

/* The number of vertices of a line of n segments after that many passes. */
static size_t
vertices_of(const struct segment_shape *s, size_t n, size_t passes)
{
	size_t sum = 1;

	for (size_t i = 0; i < n; i++)
		sum += (size_t)pass_guides(&s[i], passes - 1) - 1;
	return sum;
}

/* Shapes the measured line i, with that polarity; 0: the points vote. */
static int
shape_line(struct dptrace_plan *p, size_t i, int polarity, char err[DPTRACE_ERR])
{
	struct dptrace_options o = p->o;

	o.polarity = polarity;
	p->bad = i;
	if (dptrace_shape(p->shape + p->first[i], &p->line[i], &p->image, &o, err))
		return -1;
	p->bad = p->nline;
	return 0;
}

/* Measures and shapes all lines. */
static int
shape_lines(struct dptrace_plan *p, char err[DPTRACE_ERR])
{
	size_t segments = 0;

	for (size_t i = 0; i < p->nline; i++)
		segments += p->line[i].n;
	p->first = weir_alloc(p->nline + 1, sizeof *p->first);
	p->shape = weir_alloc(segments, sizeof *p->shape);
	p->trace = weir_calloc(p->nline, sizeof *p->trace);
	if (!p->first || !p->shape || !p->trace)
		return dptrace_fail(err, "no memory for %zu points", segments);
	p->first[0] = 0;
	for (size_t i = 0; i < p->nline; i++) {
		p->bad = i;
		if (dptrace_measure(p->shape + p->first[i], &p->line[i], &p->image, p->gray, &p->o,
				    err) ||
		    shape_line(p, i, p->o.polarity, err))
			return -1;
		p->first[i + 1] = p->first[i] + dptrace_segments(&p->line[i]);
	}
	return 0;
}

/* Makes room for the vertices of all traces. */
static int
take_vertices(struct dptrace_plan *p, char err[DPTRACE_ERR])
{
	size_t vertices = 0;

	for (size_t i = 0; i < p->nline; i++) {
		p->trace[i].n =
		    vertices_of(p->shape + p->first[i], p->first[i + 1] - p->first[i], p->o.passes);
		vertices += p->trace[i].n;
	}
	if (!(p->vertex = weir_calloc(vertices, sizeof *p->vertex)))
		return dptrace_fail(err, "no memory for %zu vertices", vertices);
	for (size_t i = 0, at = 0; i < p->nline; at += p->trace[i++].n)
		p->trace[i].v = p->vertex + at;
	return 0;
}

/* Shares the threads out over lines, or gives them all to each line, and takes the memory. */
static int
take_memory(struct dptrace_plan *p, char err[DPTRACE_ERR])
{
	p->outer = p->nline >= (size_t)p->o.threads ? p->o.threads : 1;
	p->inner = p->outer > 1 ? 1 : p->o.threads;
	if (!(p->work = weir_calloc((size_t)p->outer, sizeof *p->work)))
		return dptrace_fail(err, "no memory for %d threads", p->outer);
	return take_vertices(p, err) || fit_memory(p, err) ? -1 : 0;
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

/* --- polarity ----------------------------------------------------------------------------------------------------- */

#define IN_DOUBT .5 /* votes nearer to 0 than this are in doubt */
#define PER_COST 4. /* votes that a px is worth whose cost differs by 1 */

static bool
is_in_doubt(const struct dptrace_plan *p, size_t i)
{
	return fabs(p->shape[p->first[i]].vote) < IN_DOUBT;
}

/*
 * Adds to the plan q a try of line i with that polarity, if the line is clear enough for the cost. The level of a try does
 * not depend on its polarity, so that costs compare. Returns whether it was added.
 */
static bool
add_try(struct dptrace_plan *q, struct dptrace_line *line, const struct dptrace_plan *p, size_t i,
	int polarity)
{
	struct segment_shape *s = q->shape + q->first[q->nline];
	struct dptrace_options o = p->o;
	const size_t n = p->first[i + 1] - p->first[i];
	char err[DPTRACE_ERR];

	memcpy(s, p->shape + p->first[i], n * sizeof *s);
	for (size_t k = 0; k < n; k++) {
		s[k].fine.bright = s[k].fine.dark = fmax(s[k].fine.bright, s[k].fine.dark);
		s[k].own.bright = s[k].own.dark = fmax(s[k].own.bright, s[k].own.dark);
		s[k].own.near_bright = s[k].own.near_dark =
		    fmax(s[k].own.near_bright, s[k].own.near_dark);
	}
	o.polarity = polarity;
	if (dptrace_shape(s, &p->line[i], &p->image, &o, err) || !s->cost)
		return false;
	line[q->nline] = p->line[i];
	q->first[q->nline + 1] = q->first[q->nline] + n;
	q->nline++;
	return true;
}

/* Runs the tries of q, a bright and a dark one for each line of[] of p. The vote and the costs decide the polarity. */
static int
run_tries(struct dptrace_plan *q, struct dptrace_plan *p, const size_t *of, char err[DPTRACE_ERR])
{
	if (take_memory(q, err))
		return -1;
	dptrace_run(q);
	for (size_t t = 0; t < q->nline; t += 2) {
		double vote = q->shape[q->first[t]].vote, length = 0;
		for (size_t k = q->first[t]; k < q->first[t + 1]; k++)
			length += q->shape[k].length;
		vote += PER_COST * (q->trace[t].score - q->trace[t + 1].score) / length;
		if (shape_line(p, of[t / 2], vote < 0 ? -1 : 1, err))
			return -1;
	}
	return 0;
}

/*
 * Finds the polarity of the lines whose points hardly tell bright from dark: their first pass is tried with both. The
 * tries are the lines of a plan of their own.
 */
static int
settle_polarity(struct dptrace_plan *p, char err[DPTRACE_ERR])
{
	struct dptrace_plan q = {.image = p->image, .gray = p->gray, .o = p->o};
	size_t tries = 0, segments = 0;
	int r = 0;

	if (p->o.score != DPTRACE_RIDGE || p->o.polarity || p->o.objective == DPTRACE_SUM)
		return 0;
	for (size_t i = 0; i < p->nline; i++)
		if (is_in_doubt(p, i)) {
			tries += 2;
			segments += 2 * (p->first[i + 1] - p->first[i]);
		}
	if (tries == 0)
		return 0;
	q.o.passes = 1;
	q.o.margins = false;
	struct dptrace_line *line = weir_alloc(tries, sizeof *line);
	size_t *of = weir_alloc(tries / 2, sizeof *of);
	q.line = line;
	q.first = weir_calloc(tries + 1, sizeof *q.first);
	q.shape = weir_alloc(segments, sizeof *q.shape);
	q.trace = weir_calloc(tries, sizeof *q.trace);
	if (!line || !of || !q.first || !q.shape || !q.trace)
		r = dptrace_fail(err, "no memory for %zu lines", tries);
	for (size_t i = 0; !r && i < p->nline; i++)
		if (is_in_doubt(p, i)) {
			of[q.nline / 2] = i;
			if (add_try(&q, line, p, i, 1))
				add_try(&q, line, p, i, -1);
		}
	if (!r && q.nline)
		r = run_tries(&q, p, of, err);
	dptrace_free(&q);
	weir_free(line);
	weir_free(of);
	return r;
}

int
dptrace_plan(struct dptrace_plan *p, const struct dptrace_image *image,
	     const struct dptrace_line *line, size_t nline, const struct dptrace_options *o,
	     char err[DPTRACE_ERR])
{
	*p = (struct dptrace_plan){
	    .image = *image, .o = *o, .line = line, .nline = nline, .bad = nline};
	if (make_gray(p, err) || shape_lines(p, err) || settle_polarity(p, err) ||
	    take_memory(p, err)) {
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

	return (struct dptrace_resolved){(size_t)s->n, (size_t)s->d, s->length,	  s->halfwidth,
					 s->phi,       s->cost,	     s->polarity, s->sigma,
					 s->level,     s->noise};
}
