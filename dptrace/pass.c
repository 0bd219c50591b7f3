/* A pass is one search: over the strip, or along the polyline of the pass before. What it takes, runs and keeps. */
#include <math.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "common/base/par.h"
#include "dptrace/numbers.h"
#include "dptrace/pass.h"
#include "dptrace/resolve.h"

/* sum: samples to either side of the polyline of the pass before */
enum { REFINED = 15 };

/* --- what the GPU's twin shares ----------------------------------------------------------------------------------- */

/* Says whether a pass samples along a curve: under the cost, all passes after the first do, and the first along a way. */
static inline bool
pass_is_tube(const struct segment_shape *s, size_t pass)
{
	return s->cost && (pass || s->spine.n);
}

static inline const struct tube_shape *
pass_tube(const struct segment_shape *s, size_t pass)
{
	return pass ? &s->tube : &s->spine;
}

/* The shape of a pass over a segment: its guides, samples, steps and angles, and how its evidence counts. */

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

/* The px between rows. */
static double
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
 * The samples to either side that a pass may move a point for which the first pass has snap samples.
 * Passes along curves move points by .48 of what the first pass may. Both moves together stay within its distance, as links
 * climb at most 4 px for each px along ab.
 */
static int
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

/* --- memory --------------------------------------------------------------------------------------------------------- */

/* The largest sizes among the segments of a pass, and the sums of their guides and of their links. */
struct extent {
	int guides, samples, rows;
	size_t nodes, links;
	size_t strip, base, scratch; /* bytes */
};

static struct extent
extent_of(const struct segment_shape *s, size_t n, size_t pass, const struct dptrace_options *o)
{
	struct extent e = {.guides = 2, .samples = 1, .rows = 1};

	for (size_t i = 0; i < n; i++) {
		const struct grid g = pass_most(&s[i], o, pass);
		const int rows = pass_rows(&s[i], &g, pass);
		const struct grid fine = strip_finer(g, rows);
		struct arena strip = {0}, base = {0}, scratch = {0};
		struct strip none;
		struct base nothing;
		struct scratch idle;
		strip_take(&none, &strip, pass && !s[i].cost ? &fine : &g);
		base_take(&nothing, &base, &g);
		scratch_take(&idle, &scratch, &g);
		e.guides = at_least(pass_guides(&s[i], pass), e.guides);
		e.samples = at_least(pass_samples(&s[i], pass), e.samples);
		e.nodes += pass_vertices(&s[i]);
		e.links += (size_t)pass_links(&s[i], o, pass);
		e.rows = at_least(rows, e.rows);
		e.strip = larger_size(strip.used, e.strip);
		e.base = larger_size(base.used, e.base);
		e.scratch = larger_size(scratch.used, e.scratch);
	}
	return e;
}

void
pass_take(struct work *w, struct arena *a, const struct segment_shape *s, size_t n)
{
	size_t nodes = 0, points = 0, most = 0;

	w->node = arena_take(a, n, sizeof *w->node);
	for (size_t i = 0; i < n; i++) {
		const size_t here = s[i].cost ? (size_t)s[i].tube.points : 0;
		if (w->node)
			w->node[i] = nodes;
		nodes += pass_vertices(&s[i]);
		points += here;
		most = larger_size(here, most);
	}
	w->xy = arena_take(a, nodes, sizeof *w->xy);
	w->v = arena_take(a, nodes, sizeof *w->v);
	w->verdict = arena_take(a, nodes, sizeof *w->verdict);
	w->moved = arena_take(a, n, sizeof *w->moved);
	w->curve = arena_take(a, n, sizeof *w->curve);
	w->points = arena_take(a, points, sizeof *w->points);
	w->spare = arena_take(a, most, sizeof *w->spare);
}

/* The arrays that one pass hands to the next come first and keep their places. */
size_t
pass_lay_out(struct work *w, char *base, const struct segment_shape *s, size_t n, size_t pass,
	     int nslot)
{
	const struct dptrace_options *o = &w->plan->o;
	const struct extent e = extent_of(s, n, pass, o);
	const int held = n < (size_t)nslot ? (int)n : nslot;
	struct arena a = {base, 0};

	pass_take(w, &a, s, n);
	for (int i = 0; i < held; i++)
		w->base_room[i] = arena_take(&a, e.base, 1);
	w->chain.margins = o->margins && pass == 0;
	chain_take(&w->chain, &a, (int)n, nslot, e.guides, e.samples, e.rows, e.nodes, e.links);
	w->chain.node = w->node;
	for (size_t i = 0, at = 0; base && i < n; i++) {
		w->chain.door[i] = at;
		at += (size_t)pass_links(&s[i], o, pass);
	}
	for (int i = 0; i < held; i++)
		w->room[i] = arena_take(&a, e.strip, 1);
	w->scratch_room = arena_take(&a, e.scratch, 1);
	return a.used;
}

/* --- guides --------------------------------------------------------------------------------------------------------- */

/* The samples that the start (side 0) or the end (side 1) of segment k may move to. at is the row of the pass before. */
static void
put_end(const struct work *w, int k, int side, int at, struct course *c)
{
	const struct segment_shape *s = &w->shape[k];
	const int g = side ? c->n - 1 : 0, snap = pass_snap(s, &w->plan->o, w->pass, s->snap[side]);
	int lo = -snap, hi = snap; /* from the middle row of the strip */

	if (w->pass && snap && pass_is_tube(s, w->pass)) {
		const double all = s->snap[side] * s->dv, moved = w->moved[k][side];
		lo = at_least(lo, -(int)floor((all + moved) / s->tube.dv));
		hi = at_most(hi, (int)floor((all - moved) / s->tube.dv));
	} else if (w->pass && snap) {
		lo = at_least(lo, at - REFINED);
		hi = at_most(hi, at + REFINED);
	}
	c->d[g] = hi - lo + 1;
	c->o[g] = (c->rows - 1) / 2 + lo;
}

static void
straight_course(const struct work *w, int k, struct course *c)
{
	const struct segment_shape *s = &w->shape[k];
	const double *v = w->v + w->node[k];
	const int d = pass_samples(s, w->pass);
	int far = 0;

	c->ex = c->fx = s->ex;
	c->ey = c->fy = s->ey;
	c->steepest = w->pass ? 0 : s->steepest;
	for (int g = 0; g < c->n; g++) {
		int z = w->pass ? (int)lround(v[g] / c->dv) : 0;
		c->o[g] = z;
		c->d[g] = d;
		c->h[g] = s->length / (c->n - 1);
		far = abs(z) > far ? abs(z) : far;
	}
	const int start = c->o[0], end = c->o[c->n - 1];
	c->rows = 2 * (far + d / 2) + 1;
	for (int g = 0; g < c->n; g++)
		c->o[g] += (c->rows - c->d[g]) / 2;
	put_end(w, k, 0, start, c);
	put_end(w, k, 1, end, c);
}

static void
curved_course(const struct work *w, int k, struct course *c)
{
	const struct curve *curve = &w->curve[k];
	const struct spot first = curve_place(curve, 0), last = curve_place(curve, curve->length);
	const int d = pass_tube(&w->shape[k], w->pass)->d;

	c->ex = first.ny;
	c->ey = -first.nx;
	c->fx = last.ny;
	c->fy = -last.nx;
	c->rows = d;
	c->steepest = w->pass ? at_least(1, (int)floor(curve->length / (c->n - 1) / c->dv))
			      : w->shape[k].steepest;
	for (int g = 0; g < c->n; g++) {
		c->d[g] = d;
		c->o[g] = 0;
		c->h[g] = curve->length / (c->n - 1);
	}
	put_end(w, k, 0, 0, c);
	put_end(w, k, 1, 0, c);
}

/* Where guide g of the course c of segment k crosses the middle row, and its direction. */
static struct spot
pass_place(const struct work *w, int k, const struct course *c, int g)
{
	const struct segment_shape *s = &w->shape[k];
	const double u = g * (s->length / (c->n - 1));

	if (pass_is_tube(s, w->pass))
		return curve_place(&w->curve[k], g * c->h[g]);
	return (struct spot){s->ax + u * s->ex, s->ay + u * s->ey, -s->ey, s->ex};
}

static bool
is_inside(const struct dptrace_image *im, const struct spot *p, double v)
{
	return dptrace_has(im, p->x + v * p->nx, p->y + v * p->ny);
}

/*
 * Leaves out the samples of the inner guides that lie outside the picture, where a polyline could hide from what it sees
 * inside. The middle sample stays, so that there is always a polyline.
 */
static void
keep_inside(const struct work *w, int k, struct course *c)
{
	const int mid = (c->rows - 1) / 2;

	for (int g = 1; g + 1 < c->n; g++) {
		const struct spot p = pass_place(w, k, c, g);
		int first = c->o[g], last = c->o[g] + c->d[g] - 1;
		const int stays = mid < first ? first : mid > last ? last : mid;
		while (first < stays && !is_inside(&w->plan->image, &p, (first - mid) * c->dv))
			first++;
		while (last > stays && !is_inside(&w->plan->image, &p, (last - mid) * c->dv))
			last--;
		c->o[g] = first;
		c->d[g] = last - first + 1;
	}
}

void
pass_course(const struct work *w, int k, struct course *c)
{
	const struct segment_shape *s = &w->shape[k];

	c->n = pass_guides(s, w->pass);
	c->dv = pass_step(s, &w->plan->o, w->pass);
	if (pass_is_tube(s, w->pass))
		curved_course(w, k, c);
	else
		straight_course(w, k, c);
	keep_inside(w, k, c);
}

void
pass_columns(const struct work *w, int k, const struct grid *g, struct walk *column)
{
	const struct segment_shape *s = &w->shape[k];
	const struct origin at = {s->ax, s->ay, s->ex, s->ey};

	if (pass_is_tube(s, w->pass))
		curve_columns(column, g, &w->curve[k]);
	else
		strip_columns(column, g, &at);
}

double
pass_length(const struct work *w, int k)
{
	return pass_is_tube(&w->shape[k], w->pass) ? w->curve[k].length : w->shape[k].length;
}

void
pass_curves(struct work *w)
{
	double(*points)[2] = w->points;

	for (size_t k = 0; k < w->n; k++) {
		const struct segment_shape *s = &w->shape[k];
		if (pass_is_tube(s, w->pass) && w->pass == 0)
			w->curve[k] = s->way;
		else if (pass_is_tube(s, w->pass))
			w->curve[k] = curve_along((const double(*)[2])(w->xy + w->node[k]),
						  pass_guides(s, w->pass - 1), s->tube.points,
						  s->tube.smooth, points, w->spare);
		points += s->cost ? s->tube.points : 0;
	}
}

/* --- evidence ------------------------------------------------------------------------------------------------------- */

static void
load_segment(struct chain *c, int k, struct segment *s)
{
	struct work *w = c->ctx;
	const struct segment_shape *shape = &w->shape[k];
	const struct dptrace_plan *p = w->plan;
	const struct grid g = pass_grid(shape, &p->o, w->pass, pass_length(w, k));
	const struct rule rule = pass_rule(shape, &p->o, w->pass);
	const int i = k % c->nslot;
	struct base *base = &w->base[i];
	struct strip *strip = &w->strip[i];
	struct arena room = {w->room[i], 0};

	/* The slot may hold the evidence at the base rows already, from this pass or, under the sum, from the pass before. */
	if (w->based[i] != k) {
		struct arena kept = {w->base_room[i], 0}, scratch = {w->scratch_room, 0};
		struct scratch bench;
		w->based[i] = k;
		base_take(base, &kept, &g);
		scratch_take(&bench, &scratch, &g);
		pass_columns(w, k, &g, bench.column);
		base_fill(base, &bench, &g, &p->image, p->gray, &p->o, &rule);
	}
	pass_course(w, k, &s->c);
	*strip = (struct strip){
	    .g = w->pass && !shape->cost ? strip_finer(g, s->c.rows) : g, .rule = rule, .o = &p->o};
	strip_take(strip, &room, &strip->g);
	strip_fill(strip, base, &s->c);
	w->blank |= base->blank;
	s->score = strip_score;
	s->ctx = strip;
}

/* ---- what is kept: the places of the polyline of a pass, and of the first pass the verdicts ---- */

/* The v of sample j of guide g. */
static double
across(const struct course *c, int g, int j)
{
	return (c->o[g] + j - (c->rows - 1) / 2) * c->dv;
}

/* The unit vector across segment k at its start (side 0) or end (side 1), in this pass. */
static void
normal_of(const struct work *w, int k, int side, double n[2])
{
	const struct segment_shape *s = &w->shape[k];

	n[0] = -s->ey;
	n[1] = s->ex;
	if (pass_is_tube(s, w->pass)) {
		const struct spot p = curve_place(&w->curve[k], side ? w->curve[k].length : 0);
		n[0] = p.nx;
		n[1] = p.ny;
	}
}

/*
 * The place xy in the picture of v on guide g of the course c of segment k. A point where two segments meet moves v across both,
 * along the bisector of their normals.
 */
static void
put_place(const struct work *w, int k, const struct course *c, int g, double v, double xy[2])
{
	const struct spot p = pass_place(w, k, c, g);
	const bool end = v != 0 && (g == 0 || g == c->n - 1);
	const int next = g ? k + 1 : k - 1;
	double way[2] = {p.nx, p.ny}, other[2];

	if (end)
		normal_of(w, k, g > 0, way);
	if (end && next >= 0 && next < w->chain.n) {
		normal_of(w, next, g == 0, other);
		const double dot = way[0] * other[0] + way[1] * other[1];
		for (int a = 0; a < 2; a++)
			way[a] = (way[a] + other[a]) / (1 + dot);
	}
	xy[0] = p.x + v * way[0];
	xy[1] = p.y + v * way[1];
}

/* The number of places where a polyline's link is about as steep as it may be, or where it turns by more than most. */
static size_t
count_sharp(const struct course *c, const int *at, struct bound most)
{
	size_t sharp = 0;

	for (int g = 0; g + 1 < c->n; g++) {
		const double rise = across(c, g + 1, at[g + 1]) - across(c, g, at[g]),
			     before = g ? across(c, g, at[g]) - across(c, g - 1, at[g - 1]) : 0;
		const bool steep = c->steepest && fabs(rise) > (c->steepest - .5) * c->dv;
		sharp += steep || (g && !turn_ok(most, c->h[g - 1], before, c->h[g], rise));
	}
	return sharp;
}

static void
keep_verdicts(struct work *w, int k, const struct course *c)
{
	const int *at = chain_at(&w->chain, k);
	const size_t row = w->node[k];
	const int last = pass_samples(&w->shape[k], w->pass) - 1;

	for (int g = 0; g < c->n; g++) {
		const int j = c->o[g] + at[g]; /* guides cut off by the picture have no border */
		w->verdict[row + (size_t)g] = (struct verdict){
		    .x = w->xy[row + (size_t)g][0],
		    .y = w->xy[row + (size_t)g][1],
		    .border = g > 0 && g < c->n - 1 && (j == 0 || j == last),
		    .margin = w->chain.margins ? w->chain.margin[row + (size_t)g] : NAN};
	}
	if (w->shape[k].cost)
		w->sharp += count_sharp(c, at, bound_of(.97 * w->shape[k].phi));
}

void
pass_keep(struct work *w)
{
	w->sharp = w->pass ? w->sharp : 0;
	for (int k = 0; k < w->chain.n; k++) {
		const int *at = chain_at(&w->chain, k);
		const size_t row = w->node[k];
		struct course *c = &w->chain.slot[0].c;
		pass_course(w, k, c);
		for (int g = 0; g < c->n; g++) {
			const double v = across(c, g, at[g]);
			w->v[row + (size_t)g] = v;
			put_place(w, k, c, g, v, w->xy[row + (size_t)g]);
		}
		/* Across a straight course, v counts from the given point. */
		const bool on = w->pass && w->shape[k].cost;
		for (int side = 0; side < 2; side++)
			w->moved[k][side] = (on ? w->moved[k][side] : 0) +
					    w->v[row + (side ? (size_t)c->n - 1 : 0)];
		if (w->pass == 0)
			keep_verdicts(w, k, c);
	}
}

/* --- begin, run ------------------------------------------------------------------------------------------------------ */

void
pass_begin(struct work *w, size_t i)
{
	const struct dptrace_plan *p = w->plan;

	w->shape = p->shape + p->first[i];
	w->n = p->first[i + 1] - p->first[i];
	w->chain = (struct chain){
	    .method = p->o.method, .threads = p->inner, .load = load_segment, .ctx = w};
	for (int slot = 0; slot < SLOTS; slot++)
		w->based[slot] = -1;
}

void
pass_run(struct work *w, size_t pass)
{
	w->pass = pass;
	pass_lay_out(w, w->memory, w->shape, w->n, pass, w->plan->nslot);
	pass_curves(w);
	for (int slot = 0; w->shape->cost && slot < SLOTS; slot++)
		w->based[slot] = -1;
	w->chain.phi = bound_of(pass_phi(w->shape, pass));
	w->chain.apart = pass_apart(w->shape, &w->plan->o, pass);
	w->blank = false;
	chain_solve(&w->chain);
	pass_keep(w);
}

void
pass_each(size_t n, int threads, void (*each)(void *with, size_t i), void *with)
{
#pragma omp parallel for num_threads(threads) if (threads > 1)
	for (size_t i = 0; i < n; i++)
		each(with, i);
}

/* ---- vertices: turns the optimum of the last pass into the vertices of a trace, with the verdicts of the first pass ---- */

#define LEAST_MARGIN .05 /* px: what a smaller margin counts in a doubt */

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

static void
put_segment(const struct work *w, int k, struct dptrace_vertex *v, struct dptrace_trace *t)
{
	const struct segment_shape *s = &w->shape[k];
	const float *link = w->chain.link + w->node[k];
	const size_t row = w->node[k];
	const int n = pass_guides(s, w->pass), first = pass_guides(s, 0);
	const double h = pass_length(w, k) / (n - 1);
	const struct verdict *said = w->verdict + row, *const last = said + first - 1;

	for (int g = k > 0; g < n; g++) {
		const double *xy = w->xy[row + (size_t)g];
		const bool point = g == 0 || g == n - 1;
		/* The verdict on the nearest vertex of the first pass. The search goes on along the polyline. */
		while (said < last && square_distance(said + 1, xy) <= square_distance(said, xy))
			said++;
		v[g] = (struct dptrace_vertex){.x = xy[0],
					       .y = xy[1],
					       .score = g > 0 ? (double)link[g - 1] / h : 0,
					       .margin = !point || isnan(said->margin)
							     ? (double)said->margin / worth(s)
							     : INFINITY,
					       .point = point,
					       .border = !point && said->border};
	}
	for (int g = k > 0; g < first; g++) {
		said = w->verdict + row + (size_t)g;
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

/* Says whether the links of segment k, of n guides, find hardly any evidence. */
static bool
is_unsupported(const struct work *w, int k, int n)
{
	const float *link = w->chain.link + w->node[k];
	const double length = pass_length(w, k);
	double sum = 0;

	for (int g = 0; g + 1 < n; g++)
		sum += (double)link[g];
	if (w->shape[k].cost)
		return sum <= -2 * length;
	const double ends = link[0] < link[n - 2] ? link[0] : link[n - 2];
	return sum <= .14 * length || ends * (n - 1) <= .3 * sum;
}

/*
 * The doubt about segment k (struct dptrace_trace). Of polylines along bent lines of retinas, cracks and boundaries, a doubt
 * over 200 named 57 % of the wrong ones and 8 % of the others; a margin below .6 named 35 and 9 %. Along straighter lines
 * they named 43 and 7 %, and 37 and 8 %.
 */
static double
doubt_of(const struct work *w, int k)
{
	const struct segment_shape *s = &w->shape[k];
	const struct verdict *said = w->verdict + w->node[k];
	const float *link = w->chain.link + w->node[k];
	const int n = pass_guides(s, w->pass) - 1, first = pass_guides(s, 0);
	const int four = n < 4 ? n : 4;
	double inverse = 0, cost = 0, run = 0, most = 0; /* run: the cost of four links in a row */
	int count = 0;

	for (int g = 1; g + 1 < first; g++) {
		const double margin = (double)said[g].margin / worth(s);
		if (!isfinite(margin))
			continue;
		inverse += 1 / (margin > LEAST_MARGIN ? margin : LEAST_MARGIN);
		count++;
	}
	for (int g = 0; g < n; g++) {
		cost -= (double)link[g];
		run -= (double)link[g] - (g < four ? 0 : (double)link[g - four]);
		if (g + 1 >= four && run > most)
			most = run;
	}
	const double worst = most / (four * (pass_length(w, k) / n));
	return count ? cost * worst * worst * inverse / count : 0;
}

void
pass_put(struct work *w, struct dptrace_trace *t)
{
	struct dptrace_vertex *v = t->v;

	*t = (struct dptrace_trace){.n = t->n,
				    .v = t->v,
				    .score = w->chain.best,
				    .margin = INFINITY,
				    .low = w->shape->cost ? 0 : .3,
				    .blank = w->blank};
	for (int k = 0; k < w->chain.n; k++) {
		const int n = pass_guides(&w->shape[k], w->pass);
		put_segment(w, k, v, t);
		v += n - 1;
		if (is_unsupported(w, k, n) && !t->unsupported++)
			t->unsupported_at = (size_t)k;
		const double doubt = w->shape[k].cost && !w->blank ? doubt_of(w, k) : 0;
		if (doubt > t->doubt) {
			t->doubt = doubt;
			t->doubt_at = (size_t)k;
		}
		if (w->chain.released[k] && !t->released++)
			t->released_at = (size_t)k;
	}
	if (w->plan->o.score == DPTRACE_EDGE && w->plan->o.polarity == 0 && !t->blank)
		t->turned = level_turned(t, &w->plan->image, w->plan->gray, w->shape->sigma);
	if (w->plan->o.score == DPTRACE_RIDGE && !t->blank)
		level_flanks(t, &w->plan->image, w->plan->gray, w->shape->sigma);
	if (w->shape->cost) {
		t->sharp = w->sharp;
		t->bare = t->blank ? 0 : bare_stretch(t);
		return;
	}
	const struct bound most = bound_of(.9 * w->shape->phi);
	for (v = t->v + 1; v < t->v + t->n - 1; v++)
		t->sharp += !turn_ok(most, v[0].x - v[-1].x, v[0].y - v[-1].y, v[1].x - v[0].x,
				     v[1].y - v[0].y);
}
