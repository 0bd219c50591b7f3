/* Resolves options and points into the shapes of segments. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "dptrace/bounds.h"
#include "dptrace/evidence/strip.h"
#include "dptrace/resolve.h"

#define CLEAR	   4.3	 /* DPTRACE_AUTO: a clear line's level, in responses of noise alone */
#define FLOOR	   2.	 /* cost: the floor, in responses of noise alone */
#define TUBE_NOISE 45.	 /* px times level / noise: the spacing of a tube's guides in noise */
enum { TUBE_HALF = 15 }; /* samples of a tube to either side */
#define SPINE_HALF 12.	 /* px to either side of a way, at scales up to 2; else 6 sigma */

int
dptrace_fail(char err[DPTRACE_ERR], const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err, DPTRACE_ERR, fmt, ap);
	va_end(ap);
	return -1;
}

/* The default px between samples under the cost. */
static double
cost_step(double sigma)
{
	return larger(1, sigma / 2);
}

/*
 * The default number of samples of a guide. Under the sum they are about sigma apart, within 1 to 2 px; later passes look
 * closer. For sin, which is not smooth, they are about a pixel apart. Their number is rounded up so that they fill
 * registers. On seeds 1 to 48 of t/dptrace_scene.h steps of 1, 1.6 and 2 px end at the same polylines. Under the cost they
 * are a pixel apart, or half of sigma if that is more.
 */
static double
default_samples(const struct segment_shape *s, enum dptrace_score score)
{
	const double step = 1.07 * (score == DPTRACE_SIN ? 1 : clamp(s->sigma, 1, 2));

	if (s->cost)
		return 2 * floor(s->halfwidth / cost_step(s->sigma) + 1e-9) + 1;
	return ceil((2 * s->halfwidth / step + 2) / GROUP) * GROUP - 1;
}

static double
default_spacing(const struct segment_shape *s, const struct dptrace_options *o)
{
	if (o->spacing > 0)
		return o->spacing;
	return s->cost ? larger(8, 4 * s->sigma) : clamp(s->length / 15, 15, 30);
}

static double
default_halfwidth(double length, const struct dptrace_options *o, bool cost, double sigma)
{
	if (o->halfwidth > 0)
		return o->halfwidth;
	if (!cost)
		return clamp(.2 * length, 32, 64);
	/* Whole steps, so that the samples of all segments are equally far apart. */
	const double w = clamp(.4 * length, 8, 128), step = cost_step(sigma);
	return o->d || w < step ? w : floor(w / step) * step;
}

/* Fills in the ends of the segment from a to b. */
static int
shape_chord(struct segment_shape *s, const double a[2], const double b[2], char err[DPTRACE_ERR])
{
	const double dx = b[0] - a[0], dy = b[1] - a[1];

	*s = (struct segment_shape){.ax = a[0], .ay = a[1], .length = sqrt(dx * dx + dy * dy)};
	if (s->length == 0)
		return dptrace_fail(err, "two neighbouring points are the same, %g,%g", a[0], a[1]);
	s->ex = dx / s->length;
	s->ey = dy / s->length;
	return 0;
}

/* Fills in the guides of a segment. */
static int
shape_guides(struct segment_shape *s, const struct dptrace_options *o, char err[DPTRACE_ERR])
{
	const double bx = s->ax + s->length * s->ex, by = s->ay + s->length * s->ey;
	const double n = o->n ? (double)o->n : floor(s->length / default_spacing(s, o) + .5) + 1;

	if (n > DPTRACE_MAXN)
		return dptrace_fail(err, "%.0f guides between %g,%g and %g,%g are more than %d", n,
				    s->ax, s->ay, bx, by, DPTRACE_MAXN);
	s->n = n < 2 ? 2 : (int)n;
	if (s->length < s->n - 1)
		return dptrace_fail(
		    err, "%d guides do not fit between %g,%g and %g,%g: %g px are too short", s->n,
		    s->ax, s->ay, bx, by, s->length);
	s->halfwidth = default_halfwidth(s->length, o, s->cost, s->sigma);
	double d = o->d ? (double)o->d : default_samples(s, o->score);
	if (d > DPTRACE_MAXD)
		return dptrace_fail(err, "%.0f samples across %g px are more than %d", d,
				    2 * s->halfwidth, DPTRACE_MAXD);
	s->d = (int)d;
	s->dv = s->d > 1 ? 2 * s->halfwidth / (s->d - s->d % 2) : 1;
	if (s->dv < 1. / MAXFINE)
		return dptrace_fail(err, "%d samples across %g px are closer than 1/%d px", s->d,
				    2 * s->halfwidth, MAXFINE);
	return 0;
}

/* The default px between the guides of a tube: 5 to 15, more in noise, and at least 2.5 sigma. */
static double
tube_spacing(const struct segment_shape *s)
{
	const double contrast = s->noise > 0 ? s->level / s->noise : INFINITY;

	return larger(2.5 * s->sigma, clamp(TUBE_NOISE / contrast, 5, 15));
}

static struct tube_shape
shape_tube(const struct segment_shape *s, const struct dptrace_options *o)
{
	const double fine = tube_spacing(s);
	const double spacing = o->n		? s->length / (double)(o->n - 1)
			       : o->spacing > 0 ? o->spacing
						: fine;
	/* A curve is typically 1.1 times as long as its chord, and as long as its way. */
	const double length = s->spine.n ? s->way.length : 1.1 * s->length;
	const double n = o->n ? (double)o->n : floor(length / spacing + .5) + 1;

	return (struct tube_shape){.n = (int)clamp(n, 2, DPTRACE_MAXN),
				   .d = 2 * TUBE_HALF + 1,
				   .dv = larger(3, 1.5 * s->sigma) / TUBE_HALF,
				   .per_gap = (int)ceil(1.5 * spacing / larger(1, s->sigma)),
				   .points =
				       (int)ceil(larger(1.25 * s->length, 1.1 * s->way.length)) + 2,
				   .smooth = .4 * fine,
				   .phi = clamp(spacing / 5 * M_PI / 6, 0, M_PI)};
}

/* Fills in angles, slopes and tubes. All segments must have their guides. */
static void
shape_bounds(struct segment_shape *s, size_t n, const struct dptrace_options *o)
{
	double length = 0, gaps = 0, phi;

	for (size_t i = 0; i < n; i++) {
		length += s[i].length;
		gaps += s[i].n - 1;
	}
	if (o->phi > 0)
		phi = o->phi;
	else if (o->score == DPTRACE_SIN)
		phi = M_PI / 12;
	else if (s->cost)
		phi = clamp(length / gaps / 8 * .4 * M_PI, 0, M_PI);
	else /* the turn of a curve of 25 px radius from guide to guide */
		phi = clamp(length / gaps / 25, M_PI / 4, M_PI / 3);
	for (size_t i = 0; i < n; i++) {
		const double slope = o->slope > 0 ? o->slope : 4;
		s[i].phi = phi;
		if (!s->cost)
			continue;
		const double rows = floor(slope * s[i].length / (s[i].n - 1) / s[i].dv);
		s[i].steepest = rows < 1 ? 1 : rows < 4 * DPTRACE_MAXD ? (int)rows : 0;
		s[i].tube = shape_tube(&s[i], o);
	}
}

/* --- the objective ------------------------------------------------------------------------------------------------ */

static bool
has_cost(const struct dptrace_options *o)
{
	return o->objective != DPTRACE_SUM && o->score != DPTRACE_SIN;
}

static double
level_of_polarity(const struct levels *l, int polarity)
{
	return polarity < 0 ? l->dark : l->bright;
}

/* Says whether the points of a segment lie on a line of that scale: beside an edge the response grows towards the edge. */
static bool
is_on_line(const struct levels *l, int polarity)
{
	const double near = polarity < 0 ? l->near_dark : l->near_bright;

	return near >= level_of_polarity(l, polarity) / 2;
}

/* Says whether a line is clear against the noise at the fine scale or at its own. A wide line has no level at the fine one. */
static bool
is_clear(const struct segment_shape *s, size_t n, int polarity)
{
	bool fine = true, own = true;

	for (size_t i = 0; i < n; i++) {
		fine &= level_of_polarity(&s[i].fine, polarity) >= CLEAR * s[i].fine.noise;
		own &= level_of_polarity(&s[i].own, polarity) >= CLEAR * s[i].own.noise &&
		       is_on_line(&s[i].own, polarity);
	}
	return fine || own;
}

/* Chooses the objective of a line by its levels, and fills in the scale, polarity, level and floor that it needs. */
static void
choose_objective(struct segment_shape *s, size_t n, const struct dptrace_options *o)
{
	const bool either = o->score == DPTRACE_RIDGE && !o->polarity;
	const int polarity = !either ? o->polarity : s->vote < 0 ? -1 : 1;
	const bool cost = has_cost(o) && (o->objective == DPTRACE_COST || is_clear(s, n, polarity));

	for (size_t i = 0; i < n; i++) {
		s[i].cost = cost;
		const struct levels *m = s[i].cost ? &s[i].own : &s[i].fine;
		s[i].sigma = m->sigma;
		s[i].noise = m->noise;
		s[i].level = larger(level_of_polarity(m, polarity), m->noise);
		s[i].floor = smaller(FLOOR * s[i].noise, s[i].level / 2);
		s[i].polarity = s[i].cost ? polarity : o->polarity;
	}
}

static int
check_points(const struct dptrace_line *l, const struct dptrace_image *im, char err[DPTRACE_ERR])
{
	if (l->n < (l->closed ? 3 : 2))
		return dptrace_fail(err, "%zu point%s: %s needs %d", l->n, l->n == 1 ? "" : "s",
				    l->closed ? "a closed line" : "a line", l->closed ? 3 : 2);
	for (size_t i = 0; i < l->n; i++) {
		const double x = l->xy[i][0], y = l->xy[i][1];
		if (!(x >= -.5 && y >= -.5 && x <= (double)im->w - .5 && y <= (double)im->h - .5))
			return dptrace_fail(err, "point %g,%g lies outside the image of %zu x %zu",
					    x, y, im->w, im->h);
	}
	return 0;
}

int
dptrace_measure(struct segment_shape *s, const struct dptrace_line *l,
		const struct dptrace_image *im, const float *gray, const struct dptrace_options *o,
		char err[DPTRACE_ERR])
{
	const size_t n = dptrace_segments(l), side = im->w > im->h ? im->w : im->h;

	if (check_points(l, im, err))
		return -1;
	if (o->halfwidth > (double)side)
		return dptrace_fail(err, "a half-width of %g px is beyond the image of %zu x %zu",
				    o->halfwidth, im->w, im->h);
	for (size_t i = 0; i < n; i++) {
		const double sigma = o->sigma > 0 ? o->sigma : 2;
		if (shape_chord(&s[i], l->xy[i], l->xy[(i + 1) % l->n], err))
			return -1;
		s[i].fine.sigma = sigma;
		s[i].halfwidth = default_halfwidth(s[i].length, o, true, sigma);
	}
	if (has_cost(o))
		measure_levels(s, n, l, im, gray, o);
	return 0;
}

int
dptrace_shape(struct segment_shape *s, const struct dptrace_line *l, const struct dptrace_image *im,
	      const struct dptrace_options *o, char err[DPTRACE_ERR])
{
	const size_t n = dptrace_segments(l);

	choose_objective(s, n, o);
	for (size_t i = 0; i < n; i++)
		if (shape_guides(&s[i], o, err))
			return -1;
	shape_bounds(s, n, o);
	dptrace_shape_ends(s, l, im, o);
	return 0;
}

/* The guides along the way of a segment. They are as far apart as those along ab, and so are their samples. */
static struct tube_shape
shape_spine(const struct segment_shape *s, const struct dptrace_options *o)
{
	const double spacing = o->n ? s->way.length / (double)(o->n - 1) : s->length / (s->n - 1),
		     n = floor(s->way.length / spacing + .5) + 1,
		     half = floor(SPINE_HALF * larger(1, s->sigma / 2) / s->dv + .5);

	return (struct tube_shape){.n = (int)clamp(n, 2, DPTRACE_MAXN),
				   .d = 2 * (int)clamp(half, 1, DPTRACE_MAXD / 2) + 1,
				   .dv = s->dv,
				   .per_gap = (int)ceil(spacing / larger(1, s->sigma))};
}

void
dptrace_shape_way(struct segment_shape *s, const struct curve *way, const struct dptrace_options *o)
{
	s->way = *way;
	s->spine = shape_spine(s, o);
	s->tube = shape_tube(s, o);
}
