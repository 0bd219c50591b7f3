/* Flat shapes for openings and closings, as runs of pixels. */
#ifndef WEIR_MORPHREC_OPS_SHAPE_H
#define WEIR_MORPHREC_OPS_SHAPE_H

#include "common/stream/img.h"
#include "morphrec/problem.h"

/* Pixels first..last of row dy of slice dz, all counted from the shape's centre. */
struct shape_run {
	ptrdiff_t dz, dy, first, last;
};

struct shape {
	struct shape_run *run; /* owned */
	size_t n;
};

/*
 * All return 0, -ENOMEM, or -EINVAL when the shape would have no pixel. r: radii along x, y, z in pixels, each >= 0.
 *
 *	disk	(x / rx)^2 + (y / ry)^2 <= 1, in each slice
 *	ball	(x / rx)^2 + (y / ry)^2 + (z / rz)^2 <= 1
 *	box	|x| <= rx, |y| <= ry, |z| <= rz
 *	line	the pixels nearest to a line through the centre. The line makes an angle of `degrees` with the x axis,
 *		towards the first row. It has one pixel for each t, |t| <= r cos, along the axis that it is closer to.
 *	picture	the samples of x, a picture or a volume, that are not 0; its centre is at half its sizes, rounded down
 */
int shape_box(struct shape *s, const double r[3]);
int shape_disk(struct shape *s, const double r[3]);
int shape_ball(struct shape *s, const double r[3]);
int shape_line(struct shape *s, size_t r, double degrees);
int shape_picture(struct shape *s, const struct img *x);

/* Frees the runs of s. It accepts a zeroed shape. */
void shape_free(struct shape *s);

/* Erosion by a flat shape. It works on keys, so where the problem erodes the values are dilated. */

/*
 * Erodes f `times` times into J. One erosion gives pixel p the lowest key of f at p + s for all s of the shape. Pixels
 * outside the picture do not count. In images only the slice of the shape that holds its centre is used. Returns 0 or -ENOMEM.
 */
int erode_by(const struct morphrec_problem *a, const struct shape *s, size_t times, void *J,
	     const void *f);

/* Erodes by a square of side 2 r + 1, in a volume by a cube, along one axis after the other. Returns 0 or -ENOMEM. */
int erode_square(const struct morphrec_problem *a, size_t r, void *J, const void *f);

#endif
