/* Erosion by a flat shape, by dilation of the keys where the problem erodes. */
#ifndef MORPHREC_ERODE_H
#define MORPHREC_ERODE_H

#include "morphrec/problem.h"
#include "morphrec/shape.h"

/*
 * J at p becomes the lowest key of f at p + s, s in the shape, over `times` such erosions; pixels outside do not count.
 * What a slice of the shape beside its centre covers counts in volumes only. 0 or -ENOMEM.
 */
int erode_by(const struct morphrec_problem *a, const struct shape *s, size_t times, void *J,
	     const void *f);

/* The same of a square of side 2 r + 1, in a volume a cube: along one axis after the other. */
int erode_square(const struct morphrec_problem *a, size_t r, void *J, const void *f);

#endif
