/*
 * A smooth curve along a polyline, and places on it by their distance from its start. Under the cost, passes after the
 * first sample the picture along such a curve.
 */
#ifndef DPTRACE_TUBE_H
#define DPTRACE_TUBE_H

#include "dptrace/evidence/strip.h"

/* n points the same distance apart. */
struct curve {
	int n;
	double length;
	const double (*xy)[2];
};

/*
 * The curve of n points along a polyline of m vertices, smoothed by a Gaussian of smooth px. Its ends are those of the
 * polyline. xy and spare have room for n points each; xy holds the curve, spare is scratch.
 */
struct curve curve_along(const double (*vertex)[2], int m, int n, double smooth, double (*xy)[2],
			 double (*spare)[2]);

/*
 * The place on the curve at distance s from its start, and the unit vector to the right of a walker there. Beyond its ends
 * the curve goes straight on.
 */
struct place {
	double x, y, nx, ny;
};

struct place curve_place(const struct curve *c, double s);

/* The columns of a strip along the curve. */
void curve_columns(struct walk *column, const struct grid *g, const struct curve *c);

#endif
