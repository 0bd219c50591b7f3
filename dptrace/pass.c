/* A pass is one search: over the strip, or along the polyline of the pass before. */
#include <stdlib.h>

#include "dptrace/pass.h"

/* --- memory --------------------------------------------------------------------------------------------------------- */

/* The largest sizes among the segments of a pass. */
struct extent {
	int guides, samples, rows, points, links;
	size_t stride;		     /* guides of a segment, the largest number of all passes */
	size_t strip, base, scratch; /* bytes */
};

static size_t
larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

static int
more(int a, int b)
{
	return a > b ? a : b;
}

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
		e.guides = more(pass_guides(&s[i], pass), e.guides);
		e.samples = more(pass_samples(&s[i], pass), e.samples);
		e.links = more(pass_links(&s[i], o, pass), e.links);
		e.rows = more(rows, e.rows);
		e.points = more(s[i].cost ? s[i].tube.points : 0, e.points);
		e.stride = larger((size_t)more(pass_guides(&s[i], 0), s[i].cost ? s[i].tube.n : 0),
				  e.stride);
		e.strip = larger(strip.used, e.strip);
		e.base = larger(base.used, e.base);
		e.scratch = larger(scratch.used, e.scratch);
	}
	return e;
}

/*
 * Lays out a pass over the n segments of a line in memory at base. With base NULL it only counts. Returns the bytes. The
 * arrays that one pass hands to the next come first and keep their places.
 */
static size_t
lay_out(struct work *w, char *base, const struct segment_shape *s, size_t n, size_t pass, int nslot)
{
	const struct dptrace_options *o = &w->plan->o;
	const struct extent e = extent_of(s, n, pass, o);
	const int held = n < (size_t)nslot ? (int)n : nslot;
	struct arena a = {base, 0};

	w->stride = e.stride;
	w->npoints = (size_t)e.points;
	w->xy = arena_take(&a, n * w->stride, sizeof *w->xy);
	w->v = arena_take(&a, n * w->stride, sizeof *w->v);
	w->verdict = arena_take(&a, n * w->stride, sizeof *w->verdict);
	w->moved = arena_take(&a, n, sizeof *w->moved);
	w->curve = arena_take(&a, n, sizeof *w->curve);
	w->points = arena_take(&a, n * w->npoints, sizeof *w->points);
	w->spare = arena_take(&a, w->npoints, sizeof *w->spare);
	for (int i = 0; i < held; i++)
		w->base_room[i] = arena_take(&a, e.base, 1);
	w->chain.margins = o->margins && pass == 0;
	chain_take(&w->chain, &a, (int)n, nslot, e.guides, e.samples, e.rows, e.links);
	for (int i = 0; i < held; i++)
		w->room[i] = arena_take(&a, e.strip, 1);
	w->scratch_room = arena_take(&a, e.scratch, 1);
	return a.used;
}

/* --- guides --------------------------------------------------------------------------------------------------------- */

/*
 * The samples lo..hi, counted from the middle row of the strip, that the start (side 0) or the end (side 1) of segment k
 * may move to. at is the row of the pass before.
 */
static void
reach_of_end(const struct work *w, int k, int side, int at, int *lo, int *hi)
{
	const struct segment_shape *s = &w->shape[k];
	const struct dptrace_options *o = &w->plan->o;
	const int snap = pass_snap(s, o, w->pass, s->snap[side]);

	*lo = -snap;
	*hi = snap;
	if (w->pass == 0 || snap == 0)
		return;
	if (pass_is_tube(s, w->pass)) {
		const double all = s->snap[side] * s->dv, moved = w->moved[k][side];
		*lo = more(*lo, -(int)floor((all + moved) / s->tube.dv));
		*hi = -more(-*hi, -(int)floor((all - moved) / s->tube.dv));
	} else {
		*lo = more(*lo, at - REFINED);
		*hi = -more(-*hi, -(at + REFINED));
	}
}

static void
put_end(const struct work *w, int k, int side, int at, struct course *c)
{
	const int g = side ? c->n - 1 : 0;
	int lo, hi;

	reach_of_end(w, k, side, at, &lo, &hi);
	c->d[g] = hi - lo + 1;
	c->o[g] = (c->rows - 1) / 2 + lo;
}

static void
straight_course(const struct work *w, int k, struct course *c)
{
	const struct segment_shape *s = &w->shape[k];
	const double *v = w->v + (size_t)k * w->stride;
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
	const struct place first = curve_place(curve, 0), last = curve_place(curve, curve->length);
	const int d = pass_tube(&w->shape[k], w->pass)->d;

	c->ex = first.ny;
	c->ey = -first.nx;
	c->fx = last.ny;
	c->fy = -last.nx;
	c->rows = d;
	c->steepest = w->pass ? more(1, (int)floor(curve->length / (c->n - 1) / c->dv))
			      : w->shape[k].steepest;
	for (int g = 0; g < c->n; g++) {
		c->d[g] = d;
		c->o[g] = 0;
		c->h[g] = curve->length / (c->n - 1);
	}
	put_end(w, k, 0, 0, c);
	put_end(w, k, 1, 0, c);
}

struct place
pass_place(const struct work *w, int k, const struct course *c, int g)
{
	const struct segment_shape *s = &w->shape[k];
	const double u = g * (s->length / (c->n - 1));

	if (pass_is_tube(s, w->pass))
		return curve_place(&w->curve[k], g * c->h[g]);
	return (struct place){s->ax + u * s->ex, s->ay + u * s->ey, -s->ey, s->ex};
}

static bool
is_inside(const struct dptrace_image *im, const struct place *p, double v)
{
	const double x = p->x + v * p->nx, y = p->y + v * p->ny;

	return x >= -.5 && y >= -.5 && x <= (double)im->w - .5 && y <= (double)im->h - .5;
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
		const struct place p = pass_place(w, k, c, g);
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
	for (size_t k = 0; k < w->n; k++)
		if (pass_is_tube(&w->shape[k], w->pass) && w->pass == 0)
			w->curve[k] = w->shape[k].way;
		else if (pass_is_tube(&w->shape[k], w->pass))
			w->curve[k] = curve_along((const double(*)[2])(w->xy + k * w->stride),
						  pass_guides(&w->shape[k], w->pass - 1),
						  w->shape[k].tube.points, w->shape[k].tube.smooth,
						  w->points + k * w->npoints, w->spare);
}

/* --- evidence ------------------------------------------------------------------------------------------------------- */

/*
 * The evidence at the base rows of segment k. It is made unless the slot holds it already, from this pass or, under the
 * sum, from the pass before.
 */
static const struct base *
hold_base(struct work *w, int k, const struct grid *g)
{
	const struct dptrace_plan *p = w->plan;
	const struct rule rule = pass_rule(&w->shape[k], &p->o, w->pass);
	const int i = k % w->chain.nslot;
	struct arena room = {w->base_room[i], 0}, scratch = {w->scratch_room, 0};
	struct base *b = &w->base[i];
	struct scratch bench;

	if (w->based[i] == k)
		return b;
	w->based[i] = k;
	base_take(b, &room, g);
	scratch_take(&bench, &scratch, g);
	pass_columns(w, k, g, bench.column);
	base_fill(b, &bench, g, &p->image, p->gray, &p->o, &rule);
	return b;
}

static void
load_segment(struct chain *c, int k, struct segment *s)
{
	struct work *w = c->ctx;
	const struct segment_shape *shape = &w->shape[k];
	const struct grid g = pass_grid(shape, &w->plan->o, w->pass, pass_length(w, k));
	const struct base *base = hold_base(w, k, &g);
	struct strip *strip = &w->strip[k % c->nslot];
	struct arena room = {w->room[k % c->nslot], 0};

	pass_course(w, k, &s->c);
	*strip = (struct strip){.g = w->pass && !shape->cost ? strip_finer(g, s->c.rows) : g,
				.rule = pass_rule(shape, &w->plan->o, w->pass),
				.o = &w->plan->o};
	strip_take(strip, &room, &strip->g);
	strip_fill(strip, base, &s->c);
	w->blank |= base->blank;
	s->score = strip_score;
	s->ctx = strip;
}

/* --- begin, run ------------------------------------------------------------------------------------------------------ */

size_t
pass_bytes(struct work *w, const struct segment_shape *s, size_t n, size_t pass, int nslot)
{
	return lay_out(w, NULL, s, n, pass, nslot);
}

void
pass_begin(struct work *w, size_t i)
{
	const struct dptrace_plan *p = w->plan;

	w->shape = p->shape + p->first[i];
	w->n = p->first[i + 1] - p->first[i];
	w->chain = (struct chain){.closed = p->line[i].closed,
				  .method = p->o.method,
				  .threads = p->inner,
				  .load = load_segment,
				  .ctx = w};
	for (int slot = 0; slot < SLOTS; slot++)
		w->based[slot] = -1;
}

void
pass_run(struct work *w, size_t pass)
{
	w->pass = pass;
	lay_out(w, w->memory, w->shape, w->n, pass, w->plan->nslot);
	pass_curves(w);
	for (int slot = 0; w->shape->cost && slot < SLOTS; slot++)
		w->based[slot] = -1;
	w->chain.phi = bound_of(pass_phi(w->shape, pass));
	w->chain.apart = pass_apart(w->shape, &w->plan->o, pass);
	w->blank = false;
	chain_solve(&w->chain);
	pass_keep(w);
}
