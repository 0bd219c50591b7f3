#include <math.h>

#include "common/base/die.h"
#include "dptrace/doubts.h"

/*
 * A blank line has no margin that tells of another course: its polyline is a chord. Under the cost, where the doubt tells of one,
 * low is 0; rounding may leave a margin just below that.
 */
static bool
has_low_margin(const struct dptrace_trace *t)
{
	return t->low > 0 && t->margin < t->low && !t->blank;
}

static bool
is_doubtful(const struct dptrace_trace *t)
{
	return t->doubt > DPTRACE_DOUBT;
}

/*
 * Edges of people change sides, too: of boundaries that BSDS500's people drew, those that do are as often traced right as others
 * of the same doubt. So under the cost, which has doubts, this says what is wrong about a doubtful edge.
 */
static bool
has_turned(const struct dptrace_trace *t)
{
	return t->turned > DPTRACE_TURNED && (t->low > 0 || is_doubtful(t));
}

static void
warn_about(const char *name, size_t line, const struct dptrace_trace *t, const struct args *a)
{
	if (t->blank)
		warn("%s: line %zu: no evidence in the strip of some segment: its chord is the "
		     "polyline",
		     name, line);
	if (t->released)
		warn("%s: line %zu: no polyline keeps the angle at point %zu%s: it was given up "
		     "there",
		     name, line, t->released_at, t->released > 1 ? " and others" : "");
	if (t->border)
		warn("%s: line %zu: %zu %s the border of the strip: widen it (-w) or add points",
		     name, line, t->border, t->border == 1 ? "vertex touches" : "vertices touch");
	if (t->sharp && a->angle == 0 && a->score != SCORE_SIN)
		warn("%s: line %zu: %zu %s may: if the object doubles back there, add points", name,
		     line, t->sharp,
		     t->sharp == 1 ? "vertex turns about as far as it"
				   : "vertices turn about as far as they");
	if (t->bare > DPTRACE_BARE)
		warn("%s: line %zu: %.0f px without a line: add points", name, line, t->bare);
	if (has_turned(t))
		warn("%s: line %zu: %.0f px with the other side brighter: if one side always is, "
		     "use edge+ or edge-",
		     name, line, t->turned);
	if (t->unsupported && !t->blank)
		warn("%s: line %zu: hardly any evidence in segment %zu%s: do its points lie on a "
		     "line?",
		     name, line, t->unsupported_at, t->unsupported > 1 ? " and others" : "");
	if (is_doubtful(t))
		warn("%s: line %zu: another course may be the right one in segment %zu (doubt "
		     "%.0f): add points",
		     name, line, t->doubt_at, t->doubt);
	if (has_low_margin(t))
		warn("%s: line %zu: another course is about as good (margin %.2g): add points",
		     name, line, t->margin);
}

/* Prints every vertex, for -v. */
static void
explain(const char *name, size_t line, const struct dptrace_trace *t)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct dptrace_vertex *v = &t->v[i];
		warn("%s: line %zu: vertex %zu at %.3f,%.3f: link score %.4f, margin %.4g%s%s",
		     name, line, i, v->x, v->y, v->score, v->margin, v->point ? ", given" : "",
		     v->border ? ", border" : "");
	}
}

void
doubts_of(struct doubts *d, const char *name, const struct args *a, size_t line,
	  const struct dptrace_trace *t)
{
	warn_about(name, line, t, a);
	if (a->common.verbose)
		explain(name, line, t);
	d->lines++;
	d->vertices += t->n;
	d->border += t->border > 0;
	d->sharp += t->sharp > 0;
	d->released += t->released > 0;
	d->low += has_low_margin(t);
	d->doubtful += is_doubtful(t);
	d->bare += t->bare > DPTRACE_BARE;
	d->turned += has_turned(t);
	d->unsupported += t->unsupported > 0;
}

void
doubts_explain(const char *name, size_t first, const struct dptrace_plan *p)
{
	for (size_t i = 0; i < p->nline; i++)
		for (size_t k = 0; k < p->first[i + 1] - p->first[i]; k++) {
			const struct dptrace_resolved r = dptrace_resolved(p, i, k);
			warn(
			    "%s: line %zu: segment %zu of %.4g px%s: -n %zu -d %zu -w %.4g -a %.4g "
			    "-s %.4g "
			    "--objective=%s level %.4g noise %.4g",
			    name, first + i, k, r.length, r.way ? " along a way" : "", r.n, r.d,
			    r.halfwidth, r.phi * 180 / M_PI, r.sigma, r.cost ? "cost" : "sum",
			    r.level, r.noise);
		}
}

void
doubts_stats(const struct doubts *d, struct stats *st)
{
	stats_add(st, "lines", "%zu", d->lines);
	stats_add(st, "vertices", "%zu", d->vertices);
	stats_add(st, "border", "%zu", d->border);
	stats_add(st, "sharp", "%zu", d->sharp);
	stats_add(st, "released", "%zu", d->released);
	stats_add(st, "low_margin", "%zu", d->low);
	stats_add(st, "doubtful", "%zu", d->doubtful);
	stats_add(st, "bare", "%zu", d->bare);
	stats_add(st, "turned", "%zu", d->turned);
	stats_add(st, "unsupported", "%zu", d->unsupported);
}
