/* Plans: options become shapes, and polarities and ways are settled. */
#include <math.h>

#include "common/mem.h"
#include "dptrace/pass.h"
#include "dptrace/room.h"
#include "dptrace/settle.h"

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
		    settle_line(p, i, p->o.polarity, err))
			return -1;
		p->first[i + 1] = p->first[i] + dptrace_segments(&p->line[i]);
	}
	return 0;
}

void
dptrace_free(struct dptrace_plan *p)
{
	for (int i = 0; p->work && i < p->outer; i++)
		weir_free(p->work[i].memory);
	weir_free(p->work);
	weir_free(p->own_gray);
	weir_free(p->shape);
	weir_free(p->trace);
	weir_free(p->vertex);
	for (size_t i = 0; p->way && i < p->first[p->nline]; i++)
		weir_free(p->way[i]);
	weir_free(p->way);
	weir_free(p->first);
	*p = (struct dptrace_plan){0};
}

int
dptrace_plan(struct dptrace_plan *p, const struct dptrace_image *image,
	     const struct dptrace_line *line, size_t nline, const struct dptrace_options *o,
	     char err[DPTRACE_ERR])
{
	*p = (struct dptrace_plan){
	    .image = *image, .o = *o, .line = line, .nline = nline, .bad = nline};
	if (make_gray(p, err) || shape_lines(p, err) || settle_polarity(p, err) ||
	    settle_ways(p, err) || room_take(p, err)) {
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
