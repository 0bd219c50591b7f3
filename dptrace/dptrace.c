/* Plan and run: options become shapes, polarities and ways are settled by tries, and the passes are run. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/par.h"
#include "dptrace/dptrace.h"
#include "dptrace/evidence/strip.h"
#include "dptrace/numbers.h"
#include "dptrace/pass.h"
#include "dptrace/resolve.h"

/* ---- memory and run ---- */

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
			most = larger_size(
			    most, pass_lay_out(&w, NULL, p->shape + p->first[i], n, pass, nslot));
		}
	return most;
}

/* The lines that are traced at once. Where they are few and their gaps are wide, all threads share one line after the other. */
static int
lines_at_once(const struct dptrace_plan *p)
{
	if (p->nline >= (size_t)p->o.threads)
		return p->o.threads;
	for (size_t k = 0; k < p->first[p->nline]; k++) {
		const size_t d = (size_t)pass_samples(&p->shape[k], 0),
			     climb = (size_t)p->shape[k].steepest;
		if (d * (2 * (climb && climb < d ? climb : d - 1) + 1) >= WORTH_SHARING)
			return 1;
	}
	return p->nline ? (int)p->nline : 1;
}

/*
 * Chooses how many lines are traced at once, and the number of slots: fewer where memory is short. *each receives the bytes
 * for one of these lines. Returns 0, or -1 with a sentence in err.
 */
static int
fit_memory(struct dptrace_plan *p, size_t *each, struct why *why)
{
	bool counted = false;

	for (p->outer = lines_at_once(p); p->outer; p->outer /= 2) {
		p->inner = p->outer > 1 ? 1 : p->o.threads;
		for (p->nslot = SLOTS; p->nslot; p->nslot /= 2) {
			*each = measure(p, p->nslot);
			counted = weir_mul(*each, (size_t)p->outer, &p->bytes);
			if (counted && (!p->o.max_bytes || p->bytes <= p->o.max_bytes))
				return 0;
		}
	}
	if (!counted)
		return why_set(why, "more memory than can be addressed");
	return why_set(why,
		       "%zu bytes of link sums exceed the limit of %zu; see --max-bytes, -d, -n",
		       p->bytes, p->o.max_bytes);
}

/* Takes the memory of the lines that are traced at once. */
static int
take_work(struct dptrace_plan *p, struct why *why)
{
	size_t each = 0;

	if (fit_memory(p, &each, why))
		return -1;
	if (!(p->work = weir_calloc((size_t)p->outer, sizeof *p->work)))
		return why_set(why, "no memory for %d threads", p->outer);
	for (int i = 0; i < p->outer; i++) {
		p->work[i].plan = p;
		if (!(p->work[i].memory = weir_alloc_large(each, 1)))
			return why_set(why, "no memory for %zu bytes of link sums", p->bytes);
	}
	return 0;
}

/* Makes room for the vertices of all traces. */
static int
take_vertices(struct dptrace_plan *p, struct why *why)
{
	size_t vertices = 0;

	for (size_t i = 0; i < p->nline; i++) {
		p->trace[i].n = 1;
		for (size_t k = p->first[i]; k < p->first[i + 1]; k++)
			p->trace[i].n += (size_t)pass_guides(&p->shape[k], p->o.passes - 1) - 1;
		vertices += p->trace[i].n;
	}
	if (!(p->vertex = weir_calloc(vertices, sizeof *p->vertex)))
		return why_set(why, "no memory for %zu vertices", vertices);
	for (size_t i = 0, at = 0; i < p->nline; at += p->trace[i++].n)
		p->trace[i].v = p->vertex + at;
	return 0;
}

/*
 * Takes vertices, shares the threads out and takes the working memory of dptrace_run(), unless the plan has a runner that
 * traces the lines.
 */
static int
take_room(struct dptrace_plan *p, struct why *why)
{
	return take_vertices(p, why) || (!p->o.runner && take_work(p, why)) ? -1 : 0;
}

void
dptrace_run(struct dptrace_plan *p)
{
#pragma omp parallel for num_threads(p->outer) schedule(dynamic, 1) if (p->outer > 1)
	for (size_t i = 0; i < p->nline; i++) {
		struct work *w = &p->work[omp_get_thread_num() % p->outer];
		pass_begin(w, i);
		for (size_t pass = 0; pass < p->o.passes; pass++)
			pass_run(w, pass);
		pass_put(w, &p->trace[i]);
	}
}

/* ---- tries: lines of a plan of their own, of which only the first pass is run ---- */

/*
 * Makes q a plan of that many tries on the picture of p, without lines so far: their first pass alone. line is [tries]. Returns
 * whether there was memory for it; tries_free() frees it, also if not.
 */
static bool
tries_take(struct dptrace_plan *q, const struct dptrace_plan *p, size_t tries, size_t segments,
	   struct dptrace_line **line)
{
	*q = (struct dptrace_plan){.image = p->image, .gray = p->gray, .o = p->o};
	q->o.passes = 1;
	q->o.margins = false;
	q->line = *line = weir_alloc(tries, sizeof **line);
	q->first = weir_calloc(tries + 1, sizeof *q->first);
	q->shape = weir_alloc(segments, sizeof *q->shape);
	q->trace = weir_calloc(tries, sizeof *q->trace);
	return *line && q->first && q->shape && q->trace;
}

/* Takes room for the lines of q and runs them, all at once, by the plan's runner if there is one. Returns 0, or -1 with a sentence in why. */
static int
tries_run(struct dptrace_plan *q, struct why *why)
{
	const struct dptrace_runner *const by = q->o.runner;
	int failed;

	if (take_room(q, why))
		return -1;
	if (!by) {
		dptrace_run(q);
		return 0;
	}
	if (!(failed = by->run(by->ctx, q)))
		return 0;
	why->text[0] = '\0';
	return failed == -ENOMEM ? why_set(why, "no memory for %zu tries", q->nline) : -1;
}

static void
tries_free(struct dptrace_plan *q, struct dptrace_line *line)
{
	dptrace_free(q);
	weir_free(line);
}

/* ---- polarities: settles whether a line is bright or dark ---- */

#define IN_DOUBT .5 /* votes nearer to 0 than this are in doubt */
#define PER_COST 4. /* votes that a px is worth whose cost differs by 1 */

/* Says whether the polarity of the line of s is to be found by tries. The line has been measured. */
static bool
settle_is_open(const struct dptrace_options *o, const struct segment_shape *s)
{
	return o->score == DPTRACE_RIDGE && !o->polarity && o->objective != DPTRACE_SUM &&
	       fabs(s->vote) < IN_DOUBT;
}

static bool
is_in_doubt(const struct dptrace_plan *p, size_t i)
{
	return settle_is_open(&p->o, &p->shape[p->first[i]]);
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
	struct why why;

	memcpy(s, p->shape + p->first[i], n * sizeof *s);
	for (size_t k = 0; k < n; k++) {
		struct levels *fine = &s[k].fine, *own = &s[k].own;
		fine->bright = fine->dark = fmax(fine->bright, fine->dark);
		own->bright = own->dark = fmax(own->bright, own->dark);
		own->near_bright = own->near_dark = fmax(own->near_bright, own->near_dark);
	}
	o.polarity = polarity;
	if (dptrace_shape(s, &p->line[i], &p->image, &o, &why) || !s->cost)
		return false;
	line[q->nline] = p->line[i];
	q->first[q->nline + 1] = q->first[q->nline] + n;
	q->nline++;
	return true;
}

/* Runs the tries of q, a bright and a dark one for each line of[] of p. The vote and the costs decide the polarity. */
static int
try_both(struct dptrace_plan *q, struct dptrace_plan *p, const size_t *of, struct why *why)
{
	struct dptrace_options o = p->o;

	if (tries_run(q, why))
		return -1;
	for (size_t t = 0; t < q->nline; t += 2) {
		double vote = q->shape[q->first[t]].vote, length = 0;
		for (size_t k = q->first[t]; k < q->first[t + 1]; k++)
			length += q->shape[k].length;
		vote += PER_COST * (q->trace[t].score - q->trace[t + 1].score) / length;
		o.polarity = vote < 0 ? -1 : 1;
		p->bad = of[t / 2];
		if (dptrace_shape(p->shape + p->first[p->bad], &p->line[p->bad], &p->image, &o,
				  why))
			return -1;
	}
	p->bad = p->nline;
	return 0;
}

/*
 * Finds the polarity of the lines whose points hardly tell bright from dark: their first pass is tried with both. The
 * tries are the lines of a plan of their own. This and the others return 0, or -1 with a sentence in why.
 */
static int
settle_polarity(struct dptrace_plan *p, struct why *why)
{
	size_t tries = 0, segments = 0;
	struct dptrace_line *line;
	struct dptrace_plan q;
	int r = 0;

	for (size_t i = 0; i < p->nline; i++)
		if (is_in_doubt(p, i)) {
			tries += 2;
			segments += 2 * (p->first[i + 1] - p->first[i]);
		}
	if (tries == 0)
		return 0;
	size_t *of = weir_alloc(tries / 2, sizeof *of);
	if (!tries_take(&q, p, tries, segments, &line) || !of)
		r = why_set(why, "no memory for %zu lines", tries);
	for (size_t i = 0; !r && i < p->nline; i++)
		if (is_in_doubt(p, i)) {
			of[q.nline / 2] = i;
			if (add_try(&q, line, p, i, 1))
				add_try(&q, line, p, i, -1);
		}
	if (!r && q.nline)
		r = try_both(&q, p, of, why);
	tries_free(&q, line);
	weir_free(of);
	return r;
}

/* ---- guides from ways: settles which segments follow a way ---- */

#define SMOOTH	1.5 /* cells: the Gaussian that makes a curve of a way */
#define CHEAPER .97 /* a way is followed that costs less than this part of the strip's polyline */

/* Says whether no polyline in the strip of s can follow the curve: some 8 px of it are too steep, go back or leave the strip. */
static bool
is_bent(const struct segment_shape *s, const struct curve *c)
{
	const int piece = (int)fmax(1, floor(8 * (c->n - 1) / c->length));
	/* The steepest link, px across for each px along ab. */
	const double most = s->steepest ? s->steepest * s->dv * (s->n - 1) / s->length : INFINITY;

	for (int i = 0; i < c->n; i++) {
		const int j = i > piece ? i - piece : 0;
		const double x = c->xy[i][0] - s->ax, y = c->xy[i][1] - s->ay,
			     dx = c->xy[i][0] - c->xy[j][0], dy = c->xy[i][1] - c->xy[j][1];
		const double v = y * s->ex - x * s->ey, du = dx * s->ex + dy * s->ey,
			     dv = dy * s->ex - dx * s->ey;
		if (fabs(v) > s->halfwidth)
			return true;
		if (i >= piece && (du <= 0 || fabs(dv) > most * du))
			return true;
	}
	return false;
}

/*
 * Finds the way of segment s, which has a shape, and smooths it. Where the way is bent, *way becomes its curve, and its points
 * are returned; the caller frees them. Elsewhere NULL is returned. *err becomes -ENOMEM where memory was short.
 */
static double (*bent_way(const struct dptrace_plan *p, const struct segment_shape *s,
			 struct curve *way, int *err))[2]
{
	size_t n;
	double(*xy)[2] = way_of(&p->image, p->gray, &p->o, s, &n, err), (*points)[2] = NULL;

	if (!xy)
		return NULL;
	const size_t most = (size_t)ceil(curve_length((const double(*)[2])xy, (int)n)) + 2;
	if (!(points = weir_alloc(2 * most, sizeof *points))) {
		*err = -ENOMEM;
	} else {
		*way = curve_along((const double(*)[2])xy, (int)n, (int)most,
				   SMOOTH * fmax(1, floor(s->sigma)), points, points + most);
		if (!is_bent(s, way)) {
			weir_free(points);
			points = NULL;
		}
	}
	weir_free(xy);
	return points;
}

/* Says whether segment k may have a way, and its line's polarity is open or not, as asked. */
static bool
is_sought(const struct dptrace_plan *p, size_t k, bool open)
{
	const struct segment_shape *s = &p->shape[k];

	return s->cost && s->n > 2 && settle_is_open(&p->o, s) == open;
}

/* The threads that may seek ways at once: fewer where memory is short. 0 with a sentence in why: not even one. */
static int
threads_for_ways(const struct dptrace_plan *p, bool open, struct why *why)
{
	size_t most = 1, n = p->o.max_bytes;

	for (size_t k = 0; k < p->first[p->nline]; k++) {
		const size_t bytes = is_sought(p, k, open) ? way_bytes(&p->image, &p->shape[k]) : 0;
		most = larger_size(bytes, most);
	}
	if (n && n < most)
		why_set(why,
			"%zu bytes of a way's cells exceed the limit of %zu; see --max-bytes, -w",
			most, n);
	return !n || n / most > (size_t)p->o.threads ? p->o.threads : (int)(n / most);
}

/* Tries the ways of p. Segments follow those that cost less than what their strip holds. */
static int
try_ways(struct dptrace_plan *p, size_t tries, struct why *why)
{
	struct dptrace_line *line;
	struct dptrace_plan q;
	size_t t = 0;
	int r = 0;

	if (!tries_take(&q, p, tries, tries, &line))
		r = why_set(why, "no memory for %zu ways", tries);
	for (size_t k = 0; !r && k < p->first[p->nline]; k++)
		for (int along = 0; along < 2 && p->way[k]; along++) { /* ab, or the way */
			q.shape[q.nline] = p->shape[k];
			if (along)
				dptrace_shape_way(&q.shape[q.nline], &p->bent[k], &q.o);
			line[q.nline++] = (struct dptrace_line){.n = 2};
			q.first[q.nline] = q.nline;
		}
	if (!r)
		r = tries_run(&q, why);
	for (size_t k = 0; !r && k < p->first[p->nline]; k++) {
		if (!p->way[k])
			continue;
		if (q.trace[t + 1].score > CHEAPER * q.trace[t].score) {
			dptrace_shape_way(&p->shape[k], &p->bent[k], &p->o);
		} else {
			weir_free(p->way[k]);
			p->way[k] = NULL;
		}
		t += 2;
	}
	tries_free(&q, line);
	return r;
}

/*
 * Seeks the ways of the lines whose polarity is open, or those of the others: the search needs the polarity. Ways that no
 * polyline in the strip can follow become p->bent.
 */
static int
settle_seek(struct dptrace_plan *p, bool open, struct why *why)
{
	const size_t n = p->first[p->nline];

	if (p->o.objective == DPTRACE_SUM || p->o.score == DPTRACE_SIN)
		return 0;
	if (!p->way)
		p->way = weir_calloc(n, sizeof *p->way);
	if (!p->bent)
		p->bent = weir_alloc(n, sizeof *p->bent);
	if (!p->way || !p->bent)
		return why_set(why, "no memory for the ways of %zu segments", n);
	const int threads = threads_for_ways(p, open, why);
	int failed = 0;
	if (threads == 0)
		return -1;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) reduction(|| : failed)
	for (size_t k = 0; k < n; k++) {
		int e = 0;
		if (is_sought(p, k, open))
			p->way[k] = bent_way(p, &p->shape[k], &p->bent[k], &e);
		failed = failed || e;
	}
	return failed ? why_set(why, "no memory for the ways of %zu segments", n) : 0;
}

/*
 * Tries the ways that were found. The first pass follows a way instead of ab where it costs less than .97 of what the first pass
 * along ab costs.
 */
static int
settle_ways(struct dptrace_plan *p, struct why *why)
{
	size_t tries = 0;

	for (size_t k = 0; p->way && k < p->first[p->nline]; k++)
		tries += p->way[k] ? 2 : 0;
	if (tries && try_ways(p, tries, why))
		return -1;
	weir_free(p->bent);
	p->bent = NULL;
	for (size_t i = 0; tries && i < p->nline; i++)
		dptrace_shape_ends(p->shape + p->first[i], &p->line[i], &p->image, &p->o);
	return 0;
}

/* ---- dptrace ---- */

/* Makes p->gray, the mean of the planes. */
static int
make_gray(struct dptrace_plan *p, struct why *why)
{
	const struct dptrace_image *im = &p->image;
	const size_t n = im->w * im->h;
	float *sum;

	p->gray = im->v;
	if (im->c == 1)
		return 0;
	if (!(p->gray = p->own_gray = sum = weir_calloc(n, sizeof *sum)))
		return why_set(why, "no memory for a plane of %zu x %zu", im->w, im->h);
	for (size_t c = 0; c < im->c; c++)
		for (size_t i = 0; i < n; i++)
			sum[i] += im->v[c * n + i] / (float)im->c;
	return 0;
}

/* Makes the gains of edges, which the cost needs. */
static int
make_gain(struct dptrace_plan *p, struct why *why)
{
	p->image.gain = (struct dptrace_gain){0};
	if (p->o.score != DPTRACE_EDGE || p->o.objective == DPTRACE_SUM || p->nline == 0)
		return 0;
	if (gain_make(&p->image.gain, &p->image, p->gray, &p->o, p->line, p->nline))
		return why_set(why, "no memory for the gains of %zu x %zu pixels", p->image.w,
			       p->image.h);
	p->own_gain = (float *)p->image.gain.v;
	return 0;
}

/* Measures and shapes all lines. The error is that of the first bad one: no line before a bad one is left out. */
static int
shape_lines(struct dptrace_plan *p, struct why *why)
{
	size_t bad = p->nline;

#pragma omp parallel for num_threads(p->o.threads) schedule(dynamic, 1) if (p->nline > 1)
	for (size_t i = 0; i < p->nline; i++) {
		struct segment_shape *s = p->shape + p->first[i];
		const struct dptrace_line *l = &p->line[i];
		struct why mine;
		size_t least;
#pragma omp atomic read
		least = bad;
		if (i > least || (!dptrace_measure(s, l, &p->image, p->gray, &p->o, &mine) &&
				  !dptrace_shape(s, l, &p->image, &p->o, &mine)))
			continue;
#pragma omp critical(bad)
		if (i < bad) {
#pragma omp atomic write
			bad = i;
			*why = mine;
		}
	}
	p->bad = bad;
	return bad < p->nline ? -1 : 0;
}

/* Makes room for the segments of all lines, and shapes them. */
static int
take_lines(struct dptrace_plan *p, struct why *why)
{
	p->first = weir_alloc(p->nline + 1, sizeof *p->first);
	p->trace = weir_calloc(p->nline, sizeof *p->trace);
	if (!p->first || !p->trace)
		return why_set(why, "no memory for %zu lines", p->nline);
	p->first[0] = 0;
	for (size_t i = 0; i < p->nline; i++)
		p->first[i + 1] = p->first[i] + dptrace_segments(&p->line[i]);
	if (!(p->shape = weir_alloc(p->first[p->nline], sizeof *p->shape)))
		return why_set(why, "no memory for %zu segments", p->first[p->nline]);
	return shape_lines(p, why);
}

void
dptrace_free(struct dptrace_plan *p)
{
	for (int i = 0; p->work && i < p->outer; i++)
		weir_free(p->work[i].memory);
	weir_free_all(p->work, p->own_gray, p->own_gain, p->shape, p->trace, p->vertex);
	for (size_t i = 0; p->way && i < p->first[p->nline]; i++)
		weir_free(p->way[i]);
	weir_free_all(p->way, p->bent, p->first);
	*p = (struct dptrace_plan){0};
}

/* Frees a plan that failed, except for what p->bad says. Returns -1. */
static int
give_up(struct dptrace_plan *p)
{
	const size_t bad = p->bad;

	dptrace_free(p);
	p->bad = bad;
	return -1;
}

int
dptrace_plan_lines(struct dptrace_plan *p, const struct dptrace_image *image,
		   const struct dptrace_line *line, size_t nline, const struct dptrace_options *o,
		   struct why *why)
{
	*p = (struct dptrace_plan){
	    .image = *image, .o = *o, .line = line, .nline = nline, .bad = nline};
	if (make_gray(p, why) || make_gain(p, why) || take_lines(p, why) ||
	    settle_seek(p, false, why))
		return give_up(p);
	return 0;
}

int
dptrace_plan_settle(struct dptrace_plan *p, struct why *why)
{
	if (settle_polarity(p, why) || settle_seek(p, true, why) || settle_ways(p, why) ||
	    take_room(p, why))
		return give_up(p);
	return 0;
}

int
dptrace_plan(struct dptrace_plan *p, const struct dptrace_image *image,
	     const struct dptrace_line *line, size_t nline, const struct dptrace_options *o,
	     struct why *why)
{
	if (dptrace_plan_lines(p, image, line, nline, o, why))
		return -1;
	return dptrace_plan_settle(p, why);
}
