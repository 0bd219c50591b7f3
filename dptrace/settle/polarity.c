/* Settles whether a line is bright or dark. */
#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "dptrace/settle/settle.h"
#include "dptrace/settle/tries.h"

#define IN_DOUBT .5 /* votes nearer to 0 than this are in doubt */
#define PER_COST 4. /* votes that a px is worth whose cost differs by 1 */

bool
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

/* Shapes the measured line i again, with that polarity. */
static int
settle_line(struct dptrace_plan *p, size_t i, int polarity, char err[DPTRACE_ERR])
{
	struct dptrace_options o = p->o;

	o.polarity = polarity;
	p->bad = i;
	if (dptrace_shape(p->shape + p->first[i], &p->line[i], &p->image, &o, err))
		return -1;
	p->bad = p->nline;
	return 0;
}

/* Runs the tries of q, a bright and a dark one for each line of[] of p. The vote and the costs decide the polarity. */
static int
try_both(struct dptrace_plan *q, struct dptrace_plan *p, const size_t *of, char err[DPTRACE_ERR])
{
	if (tries_run(q, err))
		return -1;
	for (size_t t = 0; t < q->nline; t += 2) {
		double vote = q->shape[q->first[t]].vote, length = 0;
		for (size_t k = q->first[t]; k < q->first[t + 1]; k++)
			length += q->shape[k].length;
		vote += PER_COST * (q->trace[t].score - q->trace[t + 1].score) / length;
		if (settle_line(p, of[t / 2], vote < 0 ? -1 : 1, err))
			return -1;
	}
	return 0;
}

int
settle_polarity(struct dptrace_plan *p, char err[DPTRACE_ERR])
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
		r = dptrace_fail(err, "no memory for %zu lines", tries);
	for (size_t i = 0; !r && i < p->nline; i++)
		if (is_in_doubt(p, i)) {
			of[q.nline / 2] = i;
			if (add_try(&q, line, p, i, 1))
				add_try(&q, line, p, i, -1);
		}
	if (!r && q.nline)
		r = try_both(&q, p, of, err);
	tries_free(&q, line);
	weir_free(of);
	return r;
}
