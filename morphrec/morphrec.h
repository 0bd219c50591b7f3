/*
 * Grayscale morphological reconstruction. Of a marker J under a mask I, by dilation, it is the fixpoint of
 *
 *	J <- min(I, dilate(J)),		J0 = min(marker, mask)
 *
 * where dilate takes the largest value of a pixel and its neighbours. In words: a pixel takes the highest level at which
 * it can be reached from the marker over pixels of the mask that are at least as high. By erosion: the dual, min and max
 * exchanged, J0 = max(marker, mask).
 *
 * Arrays are [d][h][w], w fastest. An image (d slices of connectivity 4 or 8) is reconstructed slice by slice; with
 * connectivity 6, 18 or 26 the d slices are one volume. Types: 8, 16 and 32-bit integers, float and double. Every method
 * and every number of threads gives the same bytes: the fixpoint is unique, and all computing is comparing. A result of
 * a floating type never holds -0.
 *
 * Vincent, Morphological grayscale reconstruction in image analysis, IEEE Trans. Image Processing 2(2), 1993, 176-201.
 * He, Wu, Di, Chen, A parallel heap cluster for morphological reconstruction on the GPU.
 */
#ifndef MORPHREC_H
#define MORPHREC_H

#include <stddef.h>

#include "morphrec/clip.h"
#include "morphrec/ops.h"
#include "morphrec/problem.h"

struct morphrec_plan {
	struct morphrec_problem what;
	struct morphrec_clip clip;
	struct morphrec_figures figures;
	struct engine *engine; /* owned: method tile */
	struct serial *serial; /* owned: the others */
};

/*
 * Makes *p for that problem: NULL, or a sentence that says why not (then p is zeroed). Allocates all that the run needs:
 * tile, about .5 % of the mask; queue, scan and heap, a copy of the mask and their queues.
 */
const char *morphrec_plan(struct morphrec_plan *p, const struct morphrec_problem *what);

/* A line on how the plan goes about it, for -v: tiles, units that run side by side, bytes of its own, kernels. */
void morphrec_explain(const struct morphrec_plan *p, char *text, size_t size);

/*
 * Writes J0 into J, and says in p->clip what it met. A NaN of the mask is a wall: it raises nothing, and is NaN in the
 * result. A NaN of the marker marks nothing.
 */
void morphrec_clip(struct morphrec_plan *p, void *J, const void *I);

/*
 * J, as morphrec_clip() left it, becomes the reconstruction under I. J and I do not overlap. 0, or -ENOMEM from the
 * methods queue and heap, whose queues grow with the data.
 */
int morphrec_run(struct morphrec_plan *p, void *J, const void *I);

/*
 * Both at once: p->clip says what was met only when all is done, but the tile engine clips an image as it first comes by,
 * a pass over memory less.
 */
int morphrec_clip_and_run(struct morphrec_plan *p, void *J, const void *I);

/* Frees what the plan owns; a zeroed one is fine. */
void morphrec_free(struct morphrec_plan *p);

/* The definition, iterated: what all else is held to. J and I as for morphrec_run, J unclipped, NaN as in morphrec_clip. 0 or -ENOMEM. */
int morphrec_direct(const struct morphrec_problem *what, void *J, const void *I);

#endif
