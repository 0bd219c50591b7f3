/*
 * Pictures on the grid of another one. Sample i, j of the result has a place on the map, in the sky or along the axes, and the
 * picture has x, y there, in samples from the centre of its first:
 *
 *	y[j][i] = sum over k, l of w(x - k) w(y - l) v[l][k], over the sum of the weights
 *
 *	lanczos3	w(t) = sinc(t) sinc(t / 3)			|t| < 3, where sinc(t) = sin(pi t) / (pi t)
 *	cubic		w(t) = 1 - 5/2 t^2 + 3/2 |t|^3			|t| <= 1 (Keys 1981, a = -1/2)
 *			       2 - 4 |t| + 5/2 t^2 - 1/2 |t|^3		1 < |t| < 2
 *	linear		w(t) = 1 - |t|					|t| < 1
 *	nearest		the sample v that is nearest
 *
 * It is missing where a sample v is whose weight is not 0; so are those outside of the picture. flux: it is multiplied by
 * |dx/di dy/dj - dx/dj dy/di|, the samples of the picture that lie in one of the result.
 */
#ifndef WEIR_PICTURE_WARP_H
#define WEIR_PICTURE_WARP_H

#include "common/picture/world.h"

enum warp_kernel { WARP_LANCZOS3, WARP_CUBIC, WARP_LINEAR, WARP_NEAREST };

struct warp;

/*
 * Plans the way of pictures of shape x from the world `from`, whose item has the samples, to the grid of the item of `to`. Without
 * flux, nearest keeps the type of the samples; else they become floats or doubles, as type says. All is borrowed. Dies without memory.
 */
struct warp *warp_plan(enum warp_kernel kernel, bool flux, enum img_type type,
		       const struct world *from, const struct world *to, int threads);

/* Computes n rows of c planes from row j on. Returns false where floats cannot hold a result. Missing samples are NaN, or as in nodata.h, or 0. */
bool warp_rows(struct warp *w, const void *picture, size_t j, size_t n, void *rows);

/* NULL is allowed. */
void warp_free(struct warp *w);

#endif
