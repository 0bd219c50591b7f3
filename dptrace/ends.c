/* How far a polyline may move its given points. */
#include <math.h>

#include "dptrace/bounds.h"
#include "dptrace/resolve.h"

/* px that the polyline may move the points of a segment. */
static double
snap_of(const struct segment_shape *s, const struct dptrace_options *o)
{
	if (o->snap >= 0)
		return o->snap;
	return s->cost ? larger(2, s->sigma) : 0;
}

/* The samples, to either side of the middle, within that many px. */
static int
samples_within(const struct segment_shape *s, double px)
{
	const double samples = floor(px / s->dv + 1e-9);
	const int most = (s->d - 1) / 2;

	return samples < most ? (int)samples : most;
}

/* The unit vector along a segment at its start (side 0) or end (side 1). */
static void
direction_at(const struct segment_shape *s, int side, double e[2])
{
	e[0] = s->ex;
	e[1] = s->ey;
	if (s->spine.n) {
		const struct place p = curve_place(&s->way, side ? s->way.length : 0);
		e[0] = p.ny;
		e[1] = -p.nx;
	}
}

/*
 * The samples that the polyline may move the point where segment s meets segment t. Both frames measure the same distance
 * across when their samples are equally far apart. The point moves along the bisector of their normals, and farther than
 * it moves across each of them. Where the line turns by more than 120 degrees the point stays.
 */
static int
samples_at_turn(const struct segment_shape *s, const struct segment_shape *t, double px)
{
	double e[2], f[2];

	direction_at(s, 1, e);
	direction_at(t, 0, f);
	const double half = sqrt((1 + e[0] * f[0] + e[1] * f[1]) / 2); /* cosine of half the turn */
	const int a = samples_within(s, px * half), b = samples_within(t, px * half);

	if (!(half >= .5) || s->dv != t->dv)
		return 0;
	return a < b ? a : b;
}

/* px that a point may move: at most px, and not out of the picture. */
static double
room_of(const double p[2], const struct dptrace_image *im, double px)
{
	const double x = smaller(p[0], (double)im->w - 1 - p[0]),
		     y = smaller(p[1], (double)im->h - 1 - p[1]);

	return clamp(smaller(x, y) + .5, 0, px);
}

void
dptrace_shape_ends(struct segment_shape *s, const struct dptrace_line *l,
		   const struct dptrace_image *im, const struct dptrace_options *o)
{
	const size_t n = dptrace_segments(l);
	const double px = snap_of(s, o);

	for (size_t i = 0; i < n; i++) {
		struct segment_shape *next = &s[(i + 1) % n];
		const double room = room_of(l->xy[(i + 1) % l->n], im, px);
		if (i == 0 && !l->closed)
			s->snap[0] = samples_within(s, room_of(l->xy[0], im, px));
		if (i + 1 == n && !l->closed)
			s[i].snap[1] = samples_within(&s[i], room);
		else
			s[i].snap[1] = next->snap[0] = samples_at_turn(&s[i], next, room);
	}
}
