/*
 * A curve along a polyline, smoothed, and places on it by distance from its start: what passes after the first sample along.
 */
#ifndef DPTRACE_TUBE_H
#define DPTRACE_TUBE_H

#include "dptrace/evidence/strip.h"

/* n points the same distance apart. */
struct curve {
	int n;
	double length;
	double (*xy)[2];
};

/*
 * The curve of n points along a polyline of m vertices, under a Gaussian of smooth px; its ends are those of the polyline.
 * xy and spare have room for n points each.
 */
struct curve curve_along(const double (*vertex)[2], int m, int n, double smooth, double (*xy)[2],
			 double (*spare)[2]);

/* A place at distance s from the start, beyond the ends straight on, and the unit vector to the right of a walker. */
struct place {
	double x, y, nx, ny;
};

struct place curve_place(const struct curve *c, double s);

/* The columns of a strip along it. */
void curve_columns(struct walk *column, const struct grid *g, const struct curve *c);

#endif
