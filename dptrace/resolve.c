/* Options and points to the shapes of segments. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "dptrace/resolve.h"
#include "dptrace/evidence/strip.h"

static double
clamp(double x, double lo, double hi)
{
	return x < lo ? lo : x > hi ? hi : x;
}

int
dptrace_fail(char err[DPTRACE_ERR], const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err, DPTRACE_ERR, fmt, ap);
	va_end(ap);
	return -1;
}

/*
 * Samples of a guide: sigma apart, and 1 to 2 px, since a later pass looks closer; sin, which is not smooth, a pixel. So
 * many that they fill registers. On seeds 1 to 48 of t/dptrace_scene.h steps of 1, 1.6 and 2 px end at the same polylines.
 */
static double
default_samples(double halfwidth, const struct dptrace_options *o)
{
	const double step = 1.07 * (o->score == DPTRACE_SIN ? 1 : clamp(o->sigma, 1, 2));

	return ceil((2 * halfwidth / step + 2) / GROUP) * GROUP - 1;
}

/* The segment from a to b. */
static int
shape_segment(struct segment_shape *s, const double a[2], const double b[2],
	      const struct dptrace_options *o, char err[DPTRACE_ERR])
{
	const double dx = b[0] - a[0], dy = b[1] - a[1];

	*s = (struct segment_shape){.ax = a[0], .ay = a[1], .length = sqrt(dx * dx + dy * dy)};
	if (s->length == 0)
		return dptrace_fail(err, "two neighbouring points are the same, %g,%g", a[0], a[1]);
	s->ex = dx / s->length;
	s->ey = dy / s->length;

	double spacing = o->spacing > 0 ? o->spacing : clamp(s->length / 15, 15, 30);
	double n = o->n ? (double)o->n : floor(s->length / spacing + .5) + 1;
	if (n > DPTRACE_MAXN)
		return dptrace_fail(err, "%.0f guides between %g,%g and %g,%g are more than %d", n,
				    a[0], a[1], b[0], b[1], DPTRACE_MAXN);
	s->n = n < 2 ? 2 : (int)n;
	if (s->length < s->n - 1)
		return dptrace_fail(
		    err, "%d guides do not fit between %g,%g and %g,%g: %g px are too short", s->n,
		    a[0], a[1], b[0], b[1], s->length);
	s->halfwidth = o->halfwidth > 0 ? o->halfwidth : clamp(.2 * s->length, 32, 64);
	double d = o->d ? (double)o->d : default_samples(s->halfwidth, o);
	if (d > DPTRACE_MAXD)
		return dptrace_fail(err, "%.0f samples across %g px are more than %d", d,
				    2 * s->halfwidth, DPTRACE_MAXD);
	s->d = (int)d;
	s->dv = 2 * s->halfwidth / (s->d - 1);
	if (s->dv < 1. / MAXFINE)
		return dptrace_fail(err, "%d samples across %g px are closer than 1/%d px", s->d,
				    2 * s->halfwidth, MAXFINE);
	return 0;
}

/* The angle at which a curve of 25 px radius turns from guide to guide. */
static double
default_phi(const struct segment_shape *s, size_t n, const struct dptrace_options *o)
{
	double length = 0, gaps = 0;

	if (o->phi > 0 || o->score == DPTRACE_SIN)
		return o->phi > 0 ? o->phi : M_PI / 12;
	for (size_t i = 0; i < n; i++) {
		length += s[i].length;
		gaps += s[i].n - 1;
	}
	return clamp(length / gaps / 25, M_PI / 4, M_PI / 3);
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
dptrace_shape(struct segment_shape *s, const struct dptrace_line *l, const struct dptrace_image *im,
	      const struct dptrace_options *o, char err[DPTRACE_ERR])
{
	const size_t n = dptrace_segments(l);

	if (check_points(l, im, err))
		return -1;
	for (size_t i = 0; i < n; i++) {
		const size_t side = im->w > im->h ? im->w : im->h;
		if (shape_segment(&s[i], l->xy[i], l->xy[(i + 1) % l->n], o, err))
			return -1;
		if (o->halfwidth > (double)side)
			return dptrace_fail(
			    err, "a half-width of %g px is beyond the image of %zu x %zu",
			    o->halfwidth, im->w, im->h);
	}
	for (size_t i = 0; i < n; i++)
		s[i].phi = default_phi(s, n, o);
	return 0;
}
