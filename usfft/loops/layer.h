/*
 * The inner loops over points on a grid of layers (usfft/layers.c), one set for each kind of register. They spread and
 * interpolate the values of several vectors at once: the window of a point is evaluated once for all of them, and no lane
 * of a register is wasted, since a cell is whole registers. A call runs on one thread.
 */
#ifndef WEIR_USFFT_LAYER_H
#define WEIR_USFFT_LAYER_H

#include <stddef.h>

#include "usfft/loops/tile.h"

/* The window, and the strides of the grid in reals. */
struct layer_window {
	int dim, w, ncoef;
	const void *coef[3]; /* per axis [coef][vector][lane], as in struct tile_window */
	size_t row, plane;
};

/*
 * Adds points of one tile to the grid. cell: the tile's first cell, to which the places of the points are relative; the
 * window of a point covers w cells of each axis from the point's cell on. values[l]: the values of layer l in the caller's
 * order. Records hold indices.
 */
typedef void layer_spread_fn(const struct layer_window *win, void *cell,
			     const struct tile_points *pt, const void *const *values);

/* out[l][index] = the window's sum over layer l at each point, for the first `count` layers. */
typedef void layer_interp_fn(const struct layer_window *win, const void *cell,
			     const struct tile_points *pt, size_t count, void *const *out);

struct layer_ops {
	layer_spread_fn *spread;
	layer_interp_fn *interp;
};

#endif
