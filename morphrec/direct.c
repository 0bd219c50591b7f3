/*
 * The definitions. The reconstruction: J <- min(I, dilate(J)) over the whole array until nothing changes, in double, which
 * holds every sample of every type exactly. Erosion, where min and max change places, is computed as dilation of negated
 * samples. The shapes: whether a pixel belongs to them; and the extremum over all pixels that do.
 */
#include <errno.h>
#include <math.h>

#include "common/base/mem.h"
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
	weir_free_all(a, b, m);
	return err;
}

/* --- shapes ----------------------------------------------------------------------------------------------------- */

/* Whether the distance from the centre is at most the radius; a pixel that rounding puts just outside counts. */
static bool
in_ball(const struct morphrec_footprint *s, double x, double y, double z)
{
	x *= s->spacing[0];
	y *= s->spacing[1];
	z *= s->spacing[2];
	return x * x + y * y + z * z <= s->r * s->r * (1 + 1e-11);
}

static bool
in_box(const struct morphrec_footprint *s, double x, double y, double z)
{
	const double most = s->r * (1 + 1e-11);

	return fabs(x) * s->spacing[0] <= most && fabs(y) * s->spacing[1] <= most &&
	       fabs(z) * s->spacing[2] <= most;
}

/*
 * Whether the pixel is, in its row or column, the nearest to the line through the centre; its row where the line is closer
 * to the columns. Of two that are as near, it is the one further from the centre.
 */
static bool
on_line(const struct morphrec_footprint *s, double x, double y)
{
	const double a = s->degrees * M_PI / 180, dx = cos(a), dy = -sin(a);
	const bool flat = fabs(dx) >= fabs(dy);
	const double along = flat ? x : y, across = flat ? y : x,
		     line = along * (flat ? dy / dx : dx / dy), end = s->r * fabs(flat ? dx : dy);

	return fabs(along) - .5 <= end && across * line >= 0 && fabs(across) - .5 <= fabs(line) &&
	       fabs(line) < fabs(across) + .5;
}

/* Whether the sample is not 0; the centre is at half the sizes, rounded down. */
static bool
in_picture(const struct img *p, ptrdiff_t x, ptrdiff_t y, ptrdiff_t z)
{
	const size_t w = p->axis[0].n, h = p->dim > 1 ? p->axis[1].n : 1,
		     d = p->dim > 2 ? p->axis[2].n : 1;
	const size_t i = w / 2 + (size_t)x, j = h / 2 + (size_t)y, k = d / 2 + (size_t)z;

	return i < w && j < h && k < d && value_get(p->type, p->data, (k * h + j) * w + i) != 0;
}

bool
morphrec_direct_holds(const struct morphrec_footprint *s, ptrdiff_t x, ptrdiff_t y, ptrdiff_t z)
{
	const double i = (double)x, j = (double)y, k = (double)z;

	switch (s->kind) {
	case FOOT_BOX:
		return in_box(s, i, j, k);
	case FOOT_DISK:
		return !z && in_ball(s, i, j, 0);
	case FOOT_BALL:
		return in_ball(s, i, j, k);
	case FOOT_LINE:
		return !z && on_line(s, i, j);
	default:
		return in_picture(s->picture, x, y, z);
	}
}

/* The greatest value of sign times a sample of that type. */
static double
greatest(enum img_type type, double sign)
{
	const bool has_sign = type == IMG_I8 || type == IMG_I16 || type == IMG_I32;
	const double values = exp2(8 * (double)img_type_size(type));

	if (img_is_float(type))
		return INFINITY;
	if (has_sign)
		return sign > 0 ? values / 2 - 1 : values / 2;
	return sign > 0 ? values - 1 : 0;
}

/* Returns the lowest of sign f over the shape around pixel x, y, z; where no pixel of it is inside, the highest of the type. */
static double
lowest(const struct morphrec_problem *a, const struct morphrec_footprint *s, ptrdiff_t reach,
       const void *f, size_t x, size_t y, size_t z, double sign)
{
	const ptrdiff_t deep = morphrec_is_volume(a->conn) ? reach : 0;
	double low = greatest(a->type, sign);

	for (ptrdiff_t k = -deep; k <= deep; k++)
		for (ptrdiff_t j = -reach; j <= reach; j++)
			for (ptrdiff_t i = -reach; i <= reach; i++) {
				const size_t u = x + (size_t)i, v = y + (size_t)j,
					     w = z + (size_t)k;
				if (u < a->w && v < a->h && w < a->d &&
				    morphrec_direct_holds(s, i, j, k))
					low =
					    fmin(low, sign * value_get(a->type, f,
								       (w * a->h + v) * a->w + u));
			}
	return low;
}

void
morphrec_direct_erode(const struct morphrec_problem *what, const struct morphrec_footprint *s,
		      ptrdiff_t reach, void *J, const void *f)
{
	const double sign = what->erode ? -1 : 1;
	size_t at = 0;

	for (size_t z = 0; z < what->d; z++)
		for (size_t y = 0; y < what->h; y++)
			for (size_t x = 0; x < what->w; x++)
				value_set(what->type, J, at++,
					  sign * lowest(what, s, reach, f, x, y, z, sign));
}
