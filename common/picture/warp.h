/*
 * Pictures on the grid of another one. Sample i, j of the result is at x, y of the picture, in samples from the centre of its first:
 *
 *	sum over k, l of w(x - k) w(y - l) v[l][k], over the sum of the weights
 *
 * w is that of METHOD in rawwarp(1). The result is missing where a sample v is whose weight is not 0, in the picture or outside.
 * flux: it is multiplied by |dx/di dy/dj - dx/dj dy/di|. x, y are within 1e-3 of the true places.
 */
#ifndef WEIR_PICTURE_WARP_H
#define WEIR_PICTURE_WARP_H

#include "common/picture/world.h"

enum warp_kernel { WARP_LANCZOS3, WARP_CUBIC, WARP_LINEAR, WARP_NEAREST };

/*
 * Plans the way from pictures of the item of `from` to the columns and rows of the item of `to`. Without flux, nearest keeps the type
 * of the samples; else the result has floats or doubles, as type says. The worlds are borrowed. Dies without memory. To be freed.
 */
struct warp *warp_plan(enum warp_kernel kernel, bool flux, enum img_type type,
		       const struct world *from, const struct world *to, int threads);

/*
 * Computes n rows of all planes from row j on. What is missing is NaN, or the value of nodata:= where the type is kept, or 0. Returns
 * false where floats cannot hold a result.
 */
bool warp_rows(struct warp *w, const void *picture, size_t j, size_t n, void *rows);

#endif
