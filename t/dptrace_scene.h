/*
 * Generated pictures of one linear object whose course is known: SIDE x SIDE, contrast 1, noise of a given size, turned
 * by an angle of its own. For check_dptrace.c and for gen_dptrace.c, which writes them for the benches.
 */
#ifndef T_DPTRACE_SCENE_H
#define T_DPTRACE_SCENE_H

#include "t/check.h"

enum scene_kind { SCENE_LINE, SCENE_EDGE, SCENE_GAP, SCENE_CROSSINGS, SCENE_LOOP, SCENE_FOLD };

enum { SIDE = 512, TRUTH = 1500 };

struct scene {
	float v[SIDE * SIDE];
	double near[SIDE * SIDE]; /* squared distance to the nearest line */
	double truth[TRUTH][2];	  /* points of the object, in order, from click to click */
};

#define SCENE_LENGTH 357.

/* The course before it is turned: (u, v) at s in 0..1, from the first click to the last. */
static inline void
scene_course(enum scene_kind kind, double s, const double *phase, double uv[2])
{
	const double u = SCENE_LENGTH * s, fade = sin(M_PI * s);

	uv[0] = u;
	uv[1] = fade * (25 * sin(u / 60 + phase[0]) + 8 * sin(u / 25 + phase[1]));
	if (kind == SCENE_LOOP ||
	    kind == SCENE_FOLD) { /* an S; the fold leaves its first click backwards */
		uv[0] = u - (kind == SCENE_LOOP ? 35 : 50) * sin(4 * M_PI * s);
		uv[1] = 50 * sin(2 * M_PI * s);
	}
}

static inline void
scene_turn(double angle, const double uv[2], double xy[2])
{
	const double u = uv[0] - SCENE_LENGTH / 2;

	xy[0] = SIDE / 2 + u * cos(angle) - uv[1] * sin(angle);
	xy[1] = SIDE / 2 + u * sin(angle) + uv[1] * cos(angle);
}

/* Marks the pixels around a point of a line. */
static inline void
scene_touch(struct scene *p, const double xy[2])
{
	for (int y = (int)xy[1] - 9; y <= (int)xy[1] + 10; y++)
		for (int x = (int)xy[0] - 9; x <= (int)xy[0] + 10; x++) {
			double d = (x - xy[0]) * (x - xy[0]) + (y - xy[1]) * (y - xy[1]);
			if (x >= 0 && x < SIDE && y >= 0 && y < SIDE && d < p->near[y * SIDE + x])
				p->near[y * SIDE + x] = d;
		}
}

/* Bright on one side of the course, dark on the other. */
static inline void
scene_draw_edge(struct scene *p, double angle, const double *phase)
{
	for (int y = 0; y < SIDE; y++)
		for (int x = 0; x < SIDE; x++) {
			double dx = x - SIDE / 2, dy = y - SIDE / 2, on[2], by[2];
			double u = dx * cos(angle) + dy * sin(angle) + SCENE_LENGTH / 2;
			double v = dy * cos(angle) - dx * sin(angle),
			       s = fmin(fmax(u / SCENE_LENGTH, 0), 1);
			scene_course(SCENE_EDGE, s, phase, on);
			scene_course(SCENE_EDGE, s + 1e-3, phase, by);
			double slope = (by[1] - on[1]) / (by[0] - on[0]);
			p->v[y * SIDE + x] =
			    (float)(.5 * erf((v - on[1]) / sqrt(1 + slope * slope) / 1.4));
		}
}

static inline void
scene_draw_lines(struct scene *p, enum scene_kind kind, double angle)
{
	for (size_t i = 0; i < SIDE * SIDE; i++)
		p->near[i] = 1e9;
	for (size_t i = 0; i < TRUTH; i++) {
		double along = SCENE_LENGTH * (double)i / TRUTH;
		if (kind != SCENE_GAP || fabs(along - SCENE_LENGTH / 2) > 20)
			scene_touch(p, p->truth[i]);
	}
	for (int line = 0; kind == SCENE_CROSSINGS && line < 3; line++)
		for (int i = -800; i < 800; i++) {
			double xy[2],
			    uv[2] = {SCENE_LENGTH * (.25 + .25 * line) + i * .25 * (.5 - .4 * line),
				     i * .25};
			scene_turn(angle, uv, xy);
			scene_touch(p, xy);
		}
	for (size_t i = 0; i < SIDE * SIDE; i++)
		p->v[i] = (float)exp(-p->near[i] / (2 * 2. * 2.));
}

static inline void
scene_make(struct scene *p, enum scene_kind kind, double noise, uint64_t seed)
{
	struct check_rng r = {seed};
	const double angle = 2 * M_PI * rng_unit(&r);
	const double phase[2] = {2 * M_PI * rng_unit(&r), 2 * M_PI * rng_unit(&r)};

	for (size_t i = 0; i < TRUTH; i++) {
		double uv[2];
		scene_course(kind, (double)i / (TRUTH - 1), phase, uv);
		scene_turn(angle, uv, p->truth[i]);
	}
	if (kind == SCENE_EDGE)
		scene_draw_edge(p, angle, phase);
	else
		scene_draw_lines(p, kind, angle);
	for (size_t i = 0; i < SIDE * SIDE; i++)
		p->v[i] += (float)(noise * rng_normal(&r));
}

/* The distance of (x, y) to the course. */
static inline double
scene_distance(const struct scene *p, double x, double y)
{
	double best = INFINITY;

	for (size_t i = 0; i < TRUTH; i++)
		best = fmin(best, hypot(p->truth[i][0] - x, p->truth[i][1] - y));
	return best;
}

/* The mean distance between a polyline and the course, over points half a pixel apart; both ways, the larger. */
static inline double
scene_error(const struct scene *p, const double (*xy)[2], size_t n)
{
	double there = 0, back = 0;
	size_t count = 0;

	for (size_t i = 0; i + 1 < n; i++) {
		double dx = xy[i + 1][0] - xy[i][0], dy = xy[i + 1][1] - xy[i][1];
		size_t steps = (size_t)ceil(2 * hypot(dx, dy));
		for (size_t k = 0; k < steps; k++, count++) {
			double t = (double)k / (double)steps;
			there += scene_distance(p, xy[i][0] + t * dx, xy[i][1] + t * dy);
		}
	}
	for (size_t k = 0; k < TRUTH; k += 3) {
		double best = INFINITY;
		for (size_t i = 0; i + 1 < n; i++) {
			double dx = xy[i + 1][0] - xy[i][0], dy = xy[i + 1][1] - xy[i][1];
			double px = p->truth[k][0] - xy[i][0], py = p->truth[k][1] - xy[i][1];
			double t = fmin(fmax((px * dx + py * dy) / (dx * dx + dy * dy), 0), 1);
			best = fmin(best, hypot(px - t * dx, py - t * dy));
		}
		back += best / (TRUTH / 3);
	}
	return fmax(there / (double)count, back);
}

#endif
