/* Settles which segments follow a way. */
#include <errno.h>
#include <math.h>

#include "common/base/mem.h"
#include "common/base/par.h"
#include "dptrace/settle/settle.h"
#include "dptrace/settle/tries.h"
#include "dptrace/settle/way.h"

#define SMOOTH	1.5 /* cells: the Gaussian that makes a curve of a way */
#define CHEAPER .97 /* a way is followed that costs less than this part of the strip's polyline */

/* The steepest link of segment s, px across for each px along ab. */
static double
steepest(const struct segment_shape *s)
{
	return s->steepest ? s->steepest * s->dv * (s->n - 1) / s->length : INFINITY;
}

/* Says whether no polyline in the strip of s can follow the curve: some 8 px of it are too steep, go back or leave the strip. */
static bool
is_bent(const struct segment_shape *s, const struct curve *c)
{
	const int piece = (int)fmax(1, floor(8 * (c->n - 1) / c->length));
	const double most = steepest(s);

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

static double
distance(const double a[2], const double b[2])
{
	const double dx = b[0] - a[0], dy = b[1] - a[1];

	return sqrt(dx * dx + dy * dy);
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
	double length = 0;

	if (!xy)
		return NULL;
	for (size_t i = 1; i < n; i++)
		length += distance(xy[i - 1], xy[i]);
	const size_t most = (size_t)ceil(length) + 2;
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

/* The threads that may seek ways at once: fewer where memory is short. 0 with a sentence in err: not even one. */
static int
threads_for_ways(const struct dptrace_plan *p, bool open, char err[DPTRACE_ERR])
{
	size_t most = 1, n = p->o.max_bytes;

	for (size_t k = 0; k < p->first[p->nline]; k++) {
		const size_t bytes = is_sought(p, k, open) ? way_bytes(&p->image, &p->shape[k]) : 0;
		most = bytes > most ? bytes : most;
	}
	if (n && n < most)
		dptrace_fail(
		    err, "%zu bytes of a way's cells exceed the limit of %zu; see --max-bytes, -w",
		    most, n);
	return !n || n / most > (size_t)p->o.threads ? p->o.threads : (int)(n / most);
}

/* Fills p->bent[k] and p->way[k] for the segments that are sought and whose ways are bent. */
static int
find_ways(struct dptrace_plan *p, bool open, char err[DPTRACE_ERR])
{
	const size_t n = p->first[p->nline];
	const int threads = threads_for_ways(p, open, err);
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
	return failed ? dptrace_fail(err, "no memory for the ways of %zu segments", n) : 0;
}

/* Adds two tries of segment k: a line of one segment along ab, and the same along its way. */
static void
add_tries(struct dptrace_plan *q, struct dptrace_line *line, const struct segment_shape *s,
	  const struct curve *way)
{
	for (int along = 0; along < 2; along++) {
		q->shape[q->nline] = *s;
		if (along)
			dptrace_shape_way(&q->shape[q->nline], way, &q->o);
		line[q->nline++] = (struct dptrace_line){.n = 2};
		q->first[q->nline] = q->nline;
	}
}

/* Tries the ways of p. Segments follow those that cost less than what their strip holds. */
static int
try_ways(struct dptrace_plan *p, size_t tries, char err[DPTRACE_ERR])
{
	struct dptrace_line *line;
	struct dptrace_plan q;
	size_t t = 0;
	int r = 0;

	if (!tries_take(&q, p, tries, tries, &line))
		r = dptrace_fail(err, "no memory for %zu ways", tries);
	for (size_t k = 0; !r && k < p->first[p->nline]; k++)
		if (p->way[k])
			add_tries(&q, line, &p->shape[k], &p->bent[k]);
	if (!r)
		r = tries_run(&q, err);
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

int
settle_seek(struct dptrace_plan *p, bool open, char err[DPTRACE_ERR])
{
	const size_t n = p->first[p->nline];

	if (p->o.objective == DPTRACE_SUM || p->o.score == DPTRACE_SIN)
		return 0;
	if (!p->way)
		p->way = weir_calloc(n, sizeof *p->way);
	if (!p->bent)
		p->bent = weir_alloc(n, sizeof *p->bent);
	if (!p->way || !p->bent)
		return dptrace_fail(err, "no memory for the ways of %zu segments", n);
	return find_ways(p, open, err);
}

int
settle_ways(struct dptrace_plan *p, char err[DPTRACE_ERR])
{
	size_t tries = 0;

	for (size_t k = 0; p->way && k < p->first[p->nline]; k++)
		tries += p->way[k] ? 2 : 0;
	if (tries && try_ways(p, tries, err))
		return -1;
	weir_free(p->bent);
	p->bent = NULL;
	for (size_t i = 0; tries && i < p->nline; i++)
		dptrace_shape_ends(p->shape + p->first[i], &p->line[i], &p->image, &p->o);
	return 0;
}
