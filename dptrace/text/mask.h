/* Masks of pictures: which pixels may hold a line, and what stands in the others. Pure. */
#ifndef DPTRACE_MASK_H
#define DPTRACE_MASK_H

#include "common/stream/img.h"
#include "dptrace/dptrace.h"

/*
 * Makes mask[i] 0 where the samples of x, an item of one plane with h rows of w, are 0 or NaN, and 1 elsewhere. Returns 0,
 * or -1 with a sentence in err when x has another shape.
 */
int mask_take(unsigned char *mask, const struct img *x, size_t w, size_t h, char err[DPTRACE_ERR]);

/*
 * Makes mask[i] 0 where a plane of the picture p of x has no data: where a sample is NaN, or equal to nodata. Returns
 * whether there are such pixels.
 */
bool
mask_nodata(unsigned char *mask, const struct img *x, const struct img_picture *p, double nodata);

/*
 * Gives pixels of mask 0 the samples of a near pixel of mask 1, in all c planes, so that the rim of the mask is no edge.
 * Returns 0, 1 when mask is 0 everywhere, or -ENOMEM.
 */
int mask_fill(float *v, size_t c, size_t h, size_t w, const unsigned char *mask);

#endif
