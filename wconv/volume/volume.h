/*
 * Convolution of a volume with one kernel of three axes.
 *
 *	F(x,y,z) = sum_abc K(a,b,c) I(x-a+cx, y-b+cy, z-c+cz)
 *
 * q->d slices of q->w x q->h pixels in one plane, a kernel of kw x kh x kd samples with its centre at (cx,cy,cz).
 * correlate, normalise, variance, edge, output and in_double mean what they mean for pictures. The edge is not WCONV_RENORMALISE, all
 * samples are finite, and samples and results are of the plan's precision.
 *
 * The sums go by three-dimensional transforms of the volume with its edges, which is held whole in memory, as is the
 * transform of the kernel. |error| <= 1e-7 log2(Px Py Pz) W max|I| in float, with W = sum |K|, and 1e-15 of that in double.
 * The result has the same bytes for any number of threads.
 */
#ifndef WEIR_WCONV_VOLUME_VOLUME_H
#define WEIR_WCONV_VOLUME_VOLUME_H

#include "wconv/wconv.h"

struct wconv_volume;

/* q->kernels is borrowed for the call. Returns 0, or -1 with a sentence in why and *v NULL. */
int wconv_volume_plan(struct wconv_volume **v, const struct wconv_problem *q, struct why *why);

/*
 * Computes out = F of in = I. With transpose, computes the adjoint: in holds results, out the volume.
 * in and out are arrays [z][y][x] that do not overlap.
 */
void wconv_volume_run(struct wconv_volume *v, bool transpose, const void *in, void *out);

/* v may be NULL. */
void wconv_volume_free(struct wconv_volume *v);

/* The definition, in double: in has doubles too. */
void wconv_volume_direct(const struct wconv_problem *q, const double *in, double *out);

/*
 * The inside of a volume's plan. The work array holds the volume with its edges, [z][y][x], at the start of a larger array
 * of zeros whose lengths transform fast:
 *
 *	rows	each slice is transformed in place along x and y; slices of zeros are skipped
 *	columns	for each y, columns of z are gathered, transformed, multiplied by the kernel's, and transformed back
 *	rows	each slice that is needed is transformed back
 *
 * Result r stands at place r + k - 1 along each axis, k being the kernel's size, so that what wraps around is never read.
 */

/* One axis. */
struct volume_axis {
	size_t n, k, len; /* samples of the volume, of the kernel, of the transform */
	size_t results;
	size_t places; /* samples of the volume with its edges: results + k - 1 */
	size_t *from;  /* [places]: the volume's sample that stands there; SIZE_MAX: none does */
};

struct wconv_volume {
	struct volume_axis axis[3];
	const struct volume_core *core;
	int threads;
	/* samples in a row of the work array; and in a slice, a multiple of SLICE_UNIT */
	size_t row, slice;
	void *work, *kernel; /* [len z][slice], a slice being [len y][row] and what is left over */
	void *columns;	     /* [threads][len z][BATCH] complex */
	void *plan[4];	     /* of FFTW: slices forward and back, columns forward and back */
};

enum { BATCH = 8 }; /* columns at a time: one line of the cache in float */
/* All slices start on a line of the cache, since one plan of FFTW asks for one alignment. */
enum { SLICE_UNIT = 16 };

/* The work in one precision. */
struct volume_core {
	size_t sample;
	/* Plans the transforms. Returns 0 or -ENOMEM. unplan() takes half-made plans too. */
	int (*plan)(struct wconv_volume *v);
	void (*unplan)(struct wconv_volume *v);
	/* Transforms the kernel that stands in the work array, times `scale`, into v->kernel. */
	void (*take_kernel)(struct wconv_volume *v, double scale);
	void (*run)(struct wconv_volume *v, bool transpose, const void *in, void *out);
};
extern const struct volume_core wconv_volume_f32, wconv_volume_f64;

#endif
