/* The shape of a pass over a segment: its guides, samples, steps and angles, and how its evidence counts. */
#include "dptrace/pass.h"

int
pass_guides(const struct segment_shape *s, size_t pass)
{
	return pass_is_tube(s, pass) ? pass_tube(s, pass)->n : s->n;
}

struct grid
pass_grid(const struct segment_shape *s, const struct dptrace_options *o, size_t pass,
	  double length)
{
	const struct tube_shape *t = pass_tube(s, pass);

	if (pass_is_tube(s, pass))
		return strip_curved(length, s->length, t->n - 1, t->per_gap, t->d, t->dv, o->score,
				    s->sigma);
	return strip_grid(s->length, s->n - 1, s->d, s->dv, o->score, s->sigma);
}

/* No curve has more columns than the shortest one. */
struct grid
pass_most(const struct segment_shape *s, const struct dptrace_options *o, size_t pass)
{
	return pass_grid(s, o, pass, .999 * s->length);
}

double
pass_step(const struct segment_shape *s, const struct dptrace_options *o, size_t pass)
{
	if (pass_is_tube(s, pass))
		return pass_tube(s, pass)->dv;
	const struct grid g = pass_grid(s, o, pass, s->length);

	return pass ? g.P / g.fine : s->dv;
}

int
pass_rows(const struct segment_shape *s, const struct grid *g, size_t pass)
{
	if (s->cost)
		return g->rows;
	return pass ? 2 * g->half * g->fine + 2 * (int)pass * REFINED + 1 : s->d | 1;
}

int
pass_samples(const struct segment_shape *s, size_t pass)
{
	if (pass_is_tube(s, pass))
		return pass_tube(s, pass)->d;
	return pass ? 2 * REFINED + 1 : s->d;
}

/*
 * Passes along curves move points by .48 of what the first pass may. Both moves together stay within its distance, as links
 * climb at most 4 px for each px along ab.
 */
int
pass_snap(const struct segment_shape *s, const struct dptrace_options *o, size_t pass, int snap)
{
	const double px = snap * s->dv, step = pass_step(s, o, pass);
	const int samples = (int)floor((pass && s->cost ? .48 * px : px) / step + 1e-9);
	const int most = (pass_samples(s, pass) - 1) / 2;

	return pass_is_tube(s, pass) && samples > most ? most : samples;
}

int
pass_links(const struct segment_shape *s, const struct dptrace_options *o, size_t pass)
{
	const int most = s->snap[0] > s->snap[1] ? s->snap[0] : s->snap[1],
		  snap = pass_snap(s, o, pass, most), d = pass_samples(s, pass),
		  ends = 2 * snap + 1 < d ? 2 * snap + 1 : d;

	return ends * (pass_guides(s, pass) == 2 ? ends : d);
}

double
pass_phi(const struct segment_shape *s, size_t pass)
{
	return pass && s->cost ? s->tube.phi : s->phi;
}

int
pass_apart(const struct segment_shape *s, const struct dptrace_options *o, size_t pass)
{
	return (int)ceil((s->cost ? 8 : 3) / pass_step(s, o, pass));
}

struct rule
pass_rule(const struct segment_shape *s, const struct dptrace_options *o, size_t pass)
{
	const double size = o->score == DPTRACE_RIDGE ? s->sigma * s->sigma : s->sigma;
	const struct rule sum = {.polarity = s->polarity};

	if (!s->cost)
		return sum;
	const double above = s->level - s->floor;
	return (struct rule){
	    .cost = true,
	    .polarity = s->polarity,
	    .scale = above > 0 ? (float)(size / above) : 0,
	    .cap = pass ? 1e9f : 1,
	    .floor = above > 0 ? (float)(s->floor / above) : 0,
	    .flank = pass && o->score == DPTRACE_RIDGE ? (float)(COST_FLANK / s->sigma) : 0};
}
