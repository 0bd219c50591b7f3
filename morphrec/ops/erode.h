/* Erosion by a flat shape. It works on keys, so where the problem erodes the values are dilated. */
#ifndef MORPHREC_ERODE_H
#define MORPHREC_ERODE_H

#include "morphrec/problem.h"
#include "morphrec/ops/shape.h"

/*
 * Erodes f `times` times into J. One erosion gives pixel p the lowest key of f at p + s for all s of the shape. Pixels
 * outside the picture do not count. In images only the slice of the shape that holds its centre is used. Returns 0 or -ENOMEM.
 */
int erode_by(const struct morphrec_problem *a, const struct shape *s, size_t times, void *J,
	     const void *f);

/* Erodes by a square of side 2 r + 1, in a volume by a cube, along one axis after the other. Returns 0 or -ENOMEM. */
int erode_square(const struct morphrec_problem *a, size_t r, void *J, const void *f);

#endif
