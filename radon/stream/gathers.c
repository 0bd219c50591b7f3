#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/die.h"
#include "common/base/mem.h"
#include "common/base/opt.h"
#include "radon/stream/heads.h"

/* A moveout longer than this many times the length of the traces comes from a wrong unit. */
static const double FAR = 16;

/* --- items --------------------------------------------------------------------------------------------------------- */

static double
spacing_of(const struct gathers *s, const struct img_axis *a)
{
	if (!(a->spacing > 0) || !isfinite(a->spacing))
		raw_die(s->in,
			"axis 0 has no spacing above 0: how many seconds lie between samples?");
	return a->spacing;
}

/* Finds the curves of a panel from an axis. */
static void
curves_of_axis(const struct gathers *s, int axis, size_t *n, double *first, double *apart)
{
	const struct img_axis *q = &s->item.axis[axis];

	*n = q->n;
	*first = q->min;
	*apart = q->n > 1 ? q->spacing : 0;
	if (!isfinite(q->min) || (q->n > 1 && !(q->spacing > 0 && isfinite(q->spacing))))
		raw_die(s->in,
			"axis %d is no axis of curves: it needs a first q and a spacing above 0",
			axis);
}

/* Finds the curves of a panel from its axes, and the rest from its keys. */
static void
shape_of_panel(struct gathers *s)
{
	curves_of_axis(s, 1, &s->shape.nq, &s->shape.q0, &s->shape.dq);
	s->shape.nr = 0;
	if (s->per == 2) {
		curves_of_axis(s, 2, &s->shape.nr, &s->shape.r0, &s->shape.dr);
		s->shape.nq *= s->shape.nr;
		s->rows = s->shape.nq;
	}
	keys_read(s);
}

static void
check_band(const struct gathers *s)
{
	const double nyquist = .5 / s->shape.dt;

	if (s->shape.fmax > nyquist * (1 + 1e-9))
		raw_die(s->in, "--fmax=%g is above Nyquist, %g Hz", s->shape.fmax, nyquist);
	if (s->shape.fmin > nyquist)
		raw_die(s->in, "--fmin=%g is above Nyquist, %g Hz", s->shape.fmin, nyquist);
}

/* Has an item two axes of curves, as a panel to model from or for its result? */
static bool
has_two_axes(const struct gathers_options *o, const struct img *x)
{
	return o->radon.mode == RADON_MODEL ? img_key(x, "radon_azimuth") != NULL : o->radon.nr > 0;
}

/* The axes of one gather or panel of the input. */
static int
axes_of_plane(const struct gathers_options *o, const struct img *x)
{
	return o->radon.mode == RADON_MODEL && has_two_axes(o, x) ? 3 : 2;
}

static void
check_filter(const struct gathers *s)
{
	const struct radon_adapt_options *a = &s->shape.adapt;

	if (a->filter > 0 && !(a->filter / s->shape.dt < RADON_MAXFILTER))
		raw_die(s->in, "--adapt: a filter of %g s has more than %d samples", a->filter,
			RADON_MAXFILTER);
}

static void
begin_item(struct gathers *s)
{
	const struct img *x = &s->item;
	const int axes = axes_of_plane(s->o, x);

	if (x->dim < axes || x->dim > axes + 1 || img_is_complex(x))
		raw_die(s->in, "not a gather: real, sizes `t trace` or `t trace gather`");
	s->stack = x->dim > axes;
	s->planes = gathers_count(s->o, x);
	s->per = has_two_axes(s->o, x) ? 2 : 1;
	s->plane = 0;
	s->rows = x->axis[1].n;
	s->n = x->axis[0].n;
	s->shape = s->o->radon;
	s->curve = s->o->curve;
	s->reference = s->o->reference;
	s->depth = s->o->depth;
	s->azimuth = s->o->azimuth;
	s->shape.dt = spacing_of(s, &x->axis[0]);
	s->shape.t0 = isfinite(x->axis[0].min) ? x->axis[0].min : 0;
	s->shape.nt = s->n;
	check_band(s);
	check_filter(s);
	if (s->shape.mode == RADON_MODEL)
		shape_of_panel(s);
	if (s->per == 2)
		keys_have_two_axes(s);
	if (s->curve == RADON_HYPERBOLIC)
		keys_be_hyperbolic(s);
	if (!(s->reference > 0))
		raw_die(s->in, "the reference offset is not known: give -X");
	offsets_of_item(s);
	s->shape.nx = offsets_count(s);
	offsets_range(s);
	weir_free(s->raw);
	weir_free(s->wide);
	s->raw = weir_xalloc(s->n, 8);
	s->wide = weir_xalloc(s->n, sizeof *s->wide);
}

/* --- gathers ------------------------------------------------------------------------------------------------------- */

static void
room(struct gather *g, const struct gathers *s)
{
	const size_t nx = s->shape.nx;

	if (g->room_x >= nx && g->g)
		return;
	weir_free(g->g);
	weir_free(g->h);
	weir_free(g->live);
	g->g = weir_xalloc(nx, sizeof *g->g);
	g->h = weir_xalloc(nx, sizeof *g->h);
	g->live = weir_xalloc(nx, sizeof *g->live);
	g->room_x = nx;
}

/* Makes the time axis of the transform long enough for the input panel, even when the offsets need less. */
static void
hold_panel(const struct gathers *s, struct gather *g)
{
	const double tau = isfinite(s->item.axis[0].min) ? s->item.axis[0].min : 0;
	const double before = (g->o.t0 - tau) / g->o.dt,
		     after = (double)s->n - (double)g->o.nt - before;

	if (!(fabs(before - rint(before)) < 1e-3 && fabs(before) < 1 << 28))
		raw_die(s->in,
			"a panel from %g s on lies between the samples of a gather from %g s on",
			tau, g->o.t0);
	g->o.lead = before > .5 ? (size_t)lrint(before) : 0;
	g->o.tail = after > .5 ? (size_t)lrint(after) : 0;
}

/* Returns the place of the panel's first sample on that axis. */
static size_t
place_panel(const struct gathers *s, const struct gather *g)
{
	const double tau = isfinite(s->item.axis[0].min) ? s->item.axis[0].min : 0;

	return (size_t)lrint((double)g->lead + (tau - g->o.t0) / g->o.dt);
}

/*
 * Finds the time axis of the panel. An axis far longer than the traces is an error: q is then in milliseconds, or X is in
 * another unit than the offsets. A panel may be as large as --max-bytes.
 */
static void
fit_panel(const struct gathers *s, struct gather *g)
{
	const double most = radon_moveout(&g->o), length = (double)g->o.nt * g->o.dt;
	const size_t limit = weir_limit(s->o->common->max_bytes);
	size_t bytes;

	if (most > FAR * length)
		raw_die(s->in,
			"moveouts of up to %.4g s on traces of %.4g s: q is %s "
			"reference offset X, which is %.4g; see -q and -X",
			most, length,
			g->o.hyperbolic ? "(X/v)^2 in s^2 with the" : "in seconds at the",
			s->reference);
	if (!radon_fits(&g->o, &g->ntau, &g->lead) ||
	    !weir_mul(g->o.nq * sizeof(float), g->ntau, &bytes) || bytes > limit)
		raw_die(
		    s->in,
		    "a panel of %zu curves of at least %zu samples is larger than %zu bytes; see "
		    "--max-bytes",
		    g->o.nq, g->o.nt, limit);
}

/* --- the stream ---------------------------------------------------------------------------------------------------- */

struct gathers *
gathers_open(struct raw_in *in, const struct gathers_options *o)
{
	struct gathers *s = weir_xalloc(1, sizeof *s);

	*s = (struct gathers){.in = in, .o = o};
	if (o->offsets)
		offsets_read(s, o->offsets);
	return s;
}

size_t
gathers_count(const void *o, const struct img *x)
{
	const int axes = axes_of_plane(o, x);

	return x->dim > axes ? x->axis[axes].n : 1;
}

/* Passes over the next n planes of the item, which are in other shares. */
static void
skip_planes(struct gathers *s, size_t n)
{
	raw_skip(s->in, n * s->rows * s->n);
	s->plane += n;
	if (s->file && s->nfile != s->shape.nx * s->per)
		s->at += n * s->shape.nx * s->per;
}

/* Passes over what is left of the item. */
static void
end_item(struct gathers *s)
{
	if (s->plane < s->planes)
		skip_planes(s, s->planes - s->plane);
	img_free(&s->item);
}

bool
gathers_next(struct gathers *s, struct gather *g)
{
	while (s->plane == s->to) {
		end_item(s);
		if (!raw_next(s->in, &s->item) || slices_over(s->o->share, s->in))
			return false;
		begin_item(s);
		if (!slices_of(s->o->share, s->in, s->planes, &s->from, &s->to))
			s->from = s->to = s->planes;
		skip_planes(s, s->from);
	}
	room(g, s);
	g->o = s->shape;
	g->item = raw_item(s->in);
	g->plane = s->plane;
	offsets_take(s, g);
	g->o.g = g->g;
	g->o.h = g->h;
	g->o.live = g->live;
	if (g->o.mode == RADON_MODEL)
		hold_panel(s, g);
	fit_panel(s, g);
	s->skip = g->o.mode == RADON_MODEL ? place_panel(s, g) : 0;
	rows_read(s, g);
	if (g->o.mode == RADON_MODEL || g->o.subtract)
		rows_room(&g->out, &g->room_out, g->o.nx, g->o.nt);
	else
		rows_room(&g->out, &g->room_out, g->o.nq, g->ntau);
	img_free(&g->head);
	if (s->plane == s->from) {
		head_of_result(s, g);
		slices_set(s->o->share, s->in, &g->head, s->stack ? g->head.dim - 1 : -1);
	}
	s->plane++;
	return true;
}

void
gathers_close(struct gathers *s)
{
	if (s->file && s->at && s->at < s->nfile && !s->o->common->part.n)
		die("%s: %zu numbers left over", s->o->offsets, s->nfile - s->at);
	img_free(&s->item);
	free(s->offset);
	free(s->file);
	weir_free(s->raw);
	weir_free(s->wide);
	weir_free(s);
}

bool
gather_like(const struct gather *a, const struct gather *b)
{
	const struct radon_options *x = &a->o, *y = &b->o;

	return x->nt == y->nt && x->nx == y->nx && x->nq == y->nq && x->nr == y->nr &&
	       x->dt == y->dt && x->t0 == y->t0 && x->q0 == y->q0 && x->dq == y->dq &&
	       x->r0 == y->r0 && x->dr == y->dr && a->ntau == b->ntau && a->lead == b->lead &&
	       x->nu == y->nu && !memcmp(a->g, b->g, x->nx * sizeof *a->g) &&
	       (!x->nr || !memcmp(a->h, b->h, x->nx * sizeof *a->h)) &&
	       !memcmp(a->live, b->live, x->nx * sizeof *a->live);
}

void
gather_put(const struct gathers_options *o, struct raw_out *out, struct gather *g)
{
	const bool gather = g->o.mode == RADON_MODEL || g->o.subtract;
	const size_t n = gather ? g->o.nx * g->o.nt : g->o.nq * g->ntau;

	if (g->exponent && !rows_multiply(g->out, n, ldexp(1, g->exponent)))
		die("item %zu: gather %zu: the results are too large for floats", g->item,
		    g->plane + 1);
	if (g->head.dim)
		raw_head(out, &g->head);
	if (gather)
		raw_write(out, g->out, n);
	else if (!o->cut)
		raw_write(out, g->out, g->o.nq * g->ntau);
	else
		for (size_t i = 0; i < g->o.nq; i++)
			raw_write(out, g->out + i * g->ntau + g->lead, g->o.nt);
}

void
gather_free(struct gather *g)
{
	img_free(&g->head);
	weir_free(g->g);
	weir_free(g->h);
	weir_free(g->live);
	img_free(&g->map);
	weir_free(g->rows);
	weir_free(g->out);
	*g = (struct gather){0};
}
