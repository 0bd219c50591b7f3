/*
 * Transforms of several vectors at once, on a small grid each of whose cells holds one sample of each vector: a layer.
 * Points are spread straight to the grid, which fits the cache of a core, and has margins for windows that reach over its
 * edges:
 *
 *	+--+--------------+--+
 *	|  .              .  |	`lead` cells, the cells of the grid, and w - 1 - lead cells along each axis. The FFT sees
 *	|  .              .  |	those in the middle. Type 1 adds each margin to the cells that it stands for, which are at
 *	|  ................  |	the other end; type 2 copies these cells to the margin.
 *	+--+--------------+--+
 *
 * A thread takes as many vectors as there are layers, on a grid of its own. What a vector becomes does not depend on the
 * other vectors, so the results are the same bytes for any number of vectors at once and of threads.
 */
#ifndef WEIR_USFFT_LAYERS_H
#define WEIR_USFFT_LAYERS_H

#include "usfft/grid/grid.h"
#include "usfft/loops/loops.h"

struct layers {
	struct grid grid;
	struct layer_window win;
	const struct layer_ops *ops;
	void (*add)(void *to, const void *from, size_t n); /* of the loops */
	void *table[3];					   /* owned: win.coef */
};

struct usfft_plan;

/* Bytes of the layers of a plan for o on a grid of n cells. 0: the grid is too large for layers, or o asks for none. */
size_t layers_bytes(const struct usfft_options *o, const size_t n[3]);

/* Makes p->layers for the windows and the grid of p. Returns 0 or -errno. */
int layers_make(struct usfft_plan *p);

/* Frees l and what it owns. It accepts NULL. */
void layers_free(struct layers *l);

#endif
