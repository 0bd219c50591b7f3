/*
 * Convolution of a volume with one kernel of three axes.
 *
 *	F(x,y,z) = sum_abc K(a,b,c) I(x-a+cx, y-b+cy, z-c+cz)
 *
 * q->d slices of q->w x q->h pixels in one plane, a kernel of kw x kh x kd samples with its centre at (cx,cy,cz).
 * correlate, normalise, edge, output and in_double mean what they mean for pictures. The edge is not WCONV_RENORMALISE, all
 * samples are finite, and samples and results are of the plan's precision.
 *
 * The sums go by three-dimensional transforms of the volume with its edges, which is held whole in memory, as is the
 * transform of the kernel. |error| <= 1e-7 log2(Px Py Pz) W max|I| in float, with W = sum |K|, and 1e-15 of that in double.
 * The result has the same bytes for any number of threads.
 */
#ifndef WCONV_VOLUME_H
#define WCONV_VOLUME_H

#include "wconv/wconv.h"

struct wconv_volume;

/* q->kernels is borrowed for the call. Returns 0, or -1 with a sentence in err and *v NULL. */
int wconv_volume_plan(struct wconv_volume **v, const struct wconv_problem *q, char err[WCONV_ERR]);

/* Along axis 0 (x) to 2 (z): the results, the position of the first one in the volume, and the length of the transform. */
struct wconv_volume_axis {
	size_t n;
	ptrdiff_t first;
	size_t transform;
};
struct wconv_volume_axis wconv_volume_axis(const struct wconv_volume *v, int axis);

/*
 * Computes out = F of in = I. With transpose, computes the adjoint: in holds results, out the volume.
 * in and out are arrays [z][y][x] that do not overlap.
 */
void wconv_volume_run(struct wconv_volume *v, bool transpose, const void *in, void *out);

/* v may be NULL. */
void wconv_volume_free(struct wconv_volume *v);

/* The definition, in double: in has doubles too. */
void wconv_volume_direct(const struct wconv_problem *q, const double *in, double *out);

#endif
