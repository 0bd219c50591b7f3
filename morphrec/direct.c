/*
 * The definition: J <- min(I, dilate(J)) over the whole array until nothing changes, in double, which holds every sample
 * of every type exactly. Erosion, where min and max change places, is computed as dilation of negated samples.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "common/mem.h"
#include "morphrec/morphrec.h"
#include "morphrec/value.h"

/* Whether (dz, dy, dx), each -1..1, is the offset of a neighbour. This depends on the axes along which it is not 0. */
static bool
is_neighbour(int conn, int dz, int dy, int dx)
{
	const int axes = (dz != 0) + (dy != 0) + (dx != 0);

	switch (conn) {
	case 4:
		return !dz && axes == 1;
	case 8:
		return !dz && axes >= 1;
	case 6:
		return axes == 1;
	case 18:
		return axes == 1 || axes == 2;
	default:
		return axes >= 1;
	}
}

/* Returns the largest value of J at pixel z, y, x and its neighbours. A neighbour that is NaN, a wall, is left out. */
static double
dilate(const struct morphrec_problem *a, const double *J, size_t z, size_t y, size_t x)
{
	double top = J[(z * a->h + y) * a->w + x];

	for (int dz = -1; dz <= 1; dz++)
		for (int dy = -1; dy <= 1; dy++)
			for (int dx = -1; dx <= 1; dx++) {
				const size_t nz = z + (size_t)dz, ny = y + (size_t)dy,
					     nx = x + (size_t)dx;
				if (!is_neighbour(a->conn, dz, dy, dx) || nz >= a->d ||
				    ny >= a->h || nx >= a->w)
					continue;
				const double v = J[(nz * a->h + ny) * a->w + nx];
				top = v > top ? v : top;
			}
	return top;
}

/* Computes one step of the definition, from J to next. Returns whether anything changed. */
static bool
step(const struct morphrec_problem *a, const double *J, const double *I, double *next)
{
	bool changed = false;
	size_t i = 0;

	for (size_t z = 0; z < a->d; z++)
		for (size_t y = 0; y < a->h; y++)
			for (size_t x = 0; x < a->w; x++, i++) {
				const double top = dilate(a, J, z, y, x);
				next[i] = isnan(J[i]) ? J[i] : top < I[i] ? top : I[i];
				changed |= next[i] > J[i];
			}
	return changed;
}

int
morphrec_direct(const struct morphrec_problem *what, void *J, const void *I)
{
	const size_t n = what->w * what->h * what->d;
	const double sign = what->erode ? -1 : 1;
	double *a = weir_alloc(n, sizeof *a), *b = weir_alloc(n, sizeof *b),
	       *m = weir_alloc(n, sizeof *m), *t;

	for (size_t i = 0; a && b && m && i < n; i++) {
		const double v = sign * value_get(what->type, J, i);
		m[i] = sign * value_get(what->type, I, i);
		a[i] = isnan(m[i]) ? NAN : isnan(v) ? -INFINITY : v < m[i] ? v : m[i];
	}
	while (a && b && m && step(what, a, m, b)) {
		t = a;
		a = b;
		b = t;
	}
	for (size_t i = 0; a && b && m && i < n; i++)
		value_set(what->type, J, i, sign * a[i] + 0.0);
	const int err = a && b && m ? 0 : -ENOMEM;
	weir_free(a);
	weir_free(b);
	weir_free(m);
	return err;
}
