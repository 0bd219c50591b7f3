/*
 * Grayscale morphological reconstruction. Of a marker J under a mask I, by dilation, it is the fixpoint of
 *
 *	J <- min(I, dilate(J)),		J0 = min(marker, mask)
 *
 * where dilate takes the largest value of a pixel and its neighbours. In words: a pixel takes the highest level at which
 * it can be reached from the marker over pixels of the mask that are at least as high. Reconstruction by erosion is the
 * dual: min and max change places, and J0 = max(marker, mask).
 *
 * Arrays are [d][h][w], w fastest. An image (d slices of connectivity 4 or 8) is reconstructed slice by slice; with
 * connectivity 6, 18 or 26 the d slices are one volume. Types: 8, 16 and 32-bit integers, float and double. Every method
 * and every number of threads gives the same bytes, because the fixpoint is unique and samples are only compared. A result of
 * a floating type never holds -0.
 *
 * Vincent, Morphological grayscale reconstruction in image analysis, IEEE Trans. Image Processing 2(2), 1993, 176-201.
 * He, Wu, Di, Chen, GPU-based morphological reconstruction system, Journal of Computer Applications 39(7), 2019, 2008-2013.
 */
#ifndef WEIR_MORPHREC_MORPHREC_H
#define WEIR_MORPHREC_MORPHREC_H

#include <stddef.h>

#include "morphrec/ops/ops.h"
#include "morphrec/problem.h"

struct morphrec_plan {
	struct morphrec_problem what;
	struct morphrec_clip clip;
	struct morphrec_figures figures;
	struct engine *engine;	    /* owned; for the method tile */
	struct heap_cluster *heaps; /* owned; for the method heap */
};

/*
 * Makes *p for that problem. Returns 0 or -ENOMEM. The method tile
 * allocates all that a run needs: .4 % of the mask with AVX-512, .7 % with AVX2, 1.5 % on other CPUs. The method heap
 * allocates 16 bytes for each pixel of a picture or volume, for copies of marker and mask.
 */
int morphrec_plan(struct morphrec_plan *p, const struct morphrec_problem *what);

/* Writes a line on the plan into text, for -v: tiles, units that run at the same time, bytes of its own, kernels. */
void morphrec_explain(const struct morphrec_plan *p, char *text, size_t size);

/*
 * Replaces J, the marker, by J0, and fills p->clip with what it met. A NaN of the mask is a wall: it raises nothing, and
 * stays NaN in the result. A NaN of the marker marks nothing.
 */
void morphrec_clip(struct morphrec_plan *p, void *J, const void *I);

/*
 * J, as morphrec_clip() left it, becomes the reconstruction under I. J and I must not overlap. Returns 0, or -ENOMEM from
 * the method heap, whose heaps grow with the data.
 */
int morphrec_run(struct morphrec_plan *p, void *J, const void *I);

/*
 * Clips and reconstructs. p->clip is filled only when all is done. The tile engine clips each pixel of an image when it
 * first visits it, which saves a pass over memory. Returns as morphrec_run().
 */
int morphrec_clip_and_run(struct morphrec_plan *p, void *J, const void *I);

/*
 * For the method tile. J was the reconstruction under I before the n pixels risen[] of it were raised, none above the mask;
 * it becomes that of this marker. The time grows with what rises. p->clip holds the range of keys of J0; it need not be exact.
 */
void
morphrec_resume(struct morphrec_plan *p, void *J, const void *I, const size_t *risen, size_t n);

/* Frees what the plan owns. It accepts a zeroed plan. */
void morphrec_free(struct morphrec_plan *p);

/* The method heap: heap.c. heaps_new() returns NULL when there is no memory; heaps_run() does what morphrec_run() says. */
struct heap_cluster *heaps_new(const struct morphrec_problem *what);
int heaps_run(struct heap_cluster *s, const struct morphrec_problem *what,
	      struct morphrec_figures *figures, void *J, const void *I);
void heaps_free(struct heap_cluster *s);

/*
 * The definition, iterated: every method is checked against it. J is the marker, not clipped, and becomes the
 * reconstruction under I; NaN is treated as by morphrec_clip(). Returns 0 or -ENOMEM.
 */
int morphrec_direct(const struct morphrec_problem *what, void *J, const void *I);

/* A shape as its definition takes it: not by runs. */
struct morphrec_footprint {
	enum { FOOT_BOX, FOOT_DISK, FOOT_BALL, FOOT_LINE, FOOT_PICTURE } kind;
	double r;		   /* the radius, in the unit of the spacings */
	double spacing[3];	   /* of pixels along x, y, z: > 0; line: 1 */
	double degrees;		   /* FOOT_LINE */
	const struct img *picture; /* FOOT_PICTURE: borrowed */
};

/* Whether the pixel that lies (x, y, z) pixels from the centre belongs to the shape. */
bool
morphrec_direct_holds(const struct morphrec_footprint *s, ptrdiff_t x, ptrdiff_t y, ptrdiff_t z);

/*
 * The erosion of f by s into J; where the problem erodes, the dilation. A pixel gets the lowest value of f over the shape
 * around it. Pixels outside do not count. No pixel of the shape lies more than `reach` pixels from the centre along an axis.
 * No sample is NaN.
 */
void morphrec_direct_erode(const struct morphrec_problem *what, const struct morphrec_footprint *s,
			   ptrdiff_t reach, void *J, const void *f);

#endif
