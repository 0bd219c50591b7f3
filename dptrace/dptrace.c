/* Plans: options become shapes, and polarities and ways are settled. */
#include <string.h>

#include "common/base/mem.h"
#include "dptrace/evidence/gain.h"
#include "dptrace/pass.h"
#include "dptrace/room.h"
#include "dptrace/settle/settle.h"

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

/* Makes the gains of edges, which the cost needs. */
static int
make_gain(struct dptrace_plan *p, char err[DPTRACE_ERR])
{
	p->image.gain = (struct dptrace_gain){0};
	if (p->o.score != DPTRACE_EDGE || p->o.objective == DPTRACE_SUM || p->nline == 0)
		return 0;
	if (gain_make(&p->image.gain, &p->image, p->gray, &p->o, p->line, p->nline))
		return dptrace_fail(err, "no memory for the gains of %zu x %zu pixels", p->image.w,
				    p->image.h);
	p->own_gain = (float *)p->image.gain.v;
	return 0;
}

/* Measures and shapes line i. Returns 0, or -1 with a sentence in err. */
static int
shape_line(const struct dptrace_plan *p, size_t i, char err[DPTRACE_ERR])
{
	struct segment_shape *s = p->shape + p->first[i];

	if (dptrace_measure(s, &p->line[i], &p->image, p->gray, &p->o, err))
		return -1;
	return dptrace_shape(s, &p->line[i], &p->image, &p->o, err);
}

/* Measures and shapes all lines. The error is that of the first bad one: no line before a bad one is left out. */
static int
shape_lines(struct dptrace_plan *p, char err[DPTRACE_ERR])
{
	size_t bad = p->nline;

#pragma omp parallel for num_threads(p->o.threads) schedule(dynamic, 1) if (p->nline > 1)
	for (size_t i = 0; i < p->nline; i++) {
		char why[DPTRACE_ERR];
		size_t least;
#pragma omp atomic read
		least = bad;
		if (i > least || !shape_line(p, i, why))
			continue;
#pragma omp critical(bad)
		if (i < bad) {
#pragma omp atomic write
			bad = i;
			memcpy(err, why, sizeof why);
		}
	}
	p->bad = bad;
	return bad < p->nline ? -1 : 0;
}

/* Makes room for the segments of all lines, and shapes them. */
static int
take_lines(struct dptrace_plan *p, char err[DPTRACE_ERR])
{
	p->first = weir_alloc(p->nline + 1, sizeof *p->first);
	p->trace = weir_calloc(p->nline, sizeof *p->trace);
	if (!p->first || !p->trace)
		return dptrace_fail(err, "no memory for %zu lines", p->nline);
	p->first[0] = 0;
	for (size_t i = 0; i < p->nline; i++)
		p->first[i + 1] = p->first[i] + dptrace_segments(&p->line[i]);
	if (!(p->shape = weir_alloc(p->first[p->nline], sizeof *p->shape)))
		return dptrace_fail(err, "no memory for %zu segments", p->first[p->nline]);
	return shape_lines(p, err);
}

void
dptrace_free(struct dptrace_plan *p)
{
	for (int i = 0; p->work && i < p->outer; i++)
		weir_free(p->work[i].memory);
	weir_free(p->work);
	weir_free(p->own_gray);
	weir_free(p->own_gain);
	weir_free(p->shape);
	weir_free(p->trace);
	weir_free(p->vertex);
	for (size_t i = 0; p->way && i < p->first[p->nline]; i++)
		weir_free(p->way[i]);
	weir_free(p->way);
	weir_free(p->bent);
	weir_free(p->first);
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
		   char err[DPTRACE_ERR])
{
	*p = (struct dptrace_plan){
	    .image = *image, .o = *o, .line = line, .nline = nline, .bad = nline};
	if (make_gray(p, err) || make_gain(p, err) || take_lines(p, err) ||
	    settle_seek(p, false, err))
		return give_up(p);
	return 0;
}

int
dptrace_plan_settle(struct dptrace_plan *p, char err[DPTRACE_ERR])
{
	if (settle_polarity(p, err) || settle_seek(p, true, err) || settle_ways(p, err) ||
	    room_take(p, err))
		return give_up(p);
	return 0;
}

int
dptrace_plan(struct dptrace_plan *p, const struct dptrace_image *image,
	     const struct dptrace_line *line, size_t nline, const struct dptrace_options *o,
	     char err[DPTRACE_ERR])
{
	if (dptrace_plan_lines(p, image, line, nline, o, err))
		return -1;
	return dptrace_plan_settle(p, err);
}

struct dptrace_resolved
dptrace_resolved(const struct dptrace_plan *p, size_t line, size_t segment)
{
	const struct segment_shape *s = &p->shape[p->first[line] + segment];
	const bool way = s->cost && s->spine.n;

	return (struct dptrace_resolved){.n = (size_t)pass_guides(s, 0),
					 .d = (size_t)pass_samples(s, 0),
					 .length = way ? s->way.length : s->length,
					 .halfwidth =
					     way ? (s->spine.d - 1) / 2 * s->dv : s->halfwidth,
					 .phi = s->phi,
					 .cost = s->cost,
					 .way = way,
					 .polarity = s->polarity,
					 .sigma = s->sigma,
					 .level = s->level,
					 .noise = s->noise};
}
