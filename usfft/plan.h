/* The members of a plan, which all stages share. Each stage has a header of its own. */
#ifndef WEIR_USFFT_PLAN_H
#define WEIR_USFFT_PLAN_H

#include "common/base/clock.h"
#include "usfft/grid/grid.h"
#include "usfft/grid/spread.h"
#include "usfft/loops/loops.h"
#include "usfft/points/points.h"
#include "usfft/window.h"

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

struct layers {
	struct grid grid;
	struct layer_window win;
	const struct layer_ops *ops;
	void (*add)(void *to, const void *from, size_t n); /* of the loops */
	void *table[3];					   /* owned: win.coef */
};

struct usfft_plan;

/* The largest oversampling for which a window is shaped: more does not reduce its error. */
#define USFFT_SIGMA	  2.6
#define USFFT_SIGMA_GAUSS 4.0

struct usfft_plan {
	/* For a small problem o.threads is 1, which saves the barriers; `threads` is what the caller asked for. */
	struct usfft_options o;
	int threads;
	size_t real;  /* bytes of a real */
	double reach; /* what usfft_reach() returns */
	struct window win[3];
	struct grid grid;
	const struct tile_ops *ops;
	struct tile_window taps;
	size_t tiles[3], ntiles;
	/* The cells of a tile along x, and their number's logarithm, rounded up; the bits of a wide place's fraction. */
	size_t span;
	int span_log, bits;
	size_t nbands, ncolours;
	/* Owned: bands in the order of their colours. Bands of one colour touch no common cell. */
	struct band *band;
	size_t *colour; /* owned: first band of each colour, ncolours + 1 */
	/* Owned: accumulators. There is one for each thread, or a single one if the tiles are larger than tile_span(). */
	char *acc;
	size_t accs, acc_bytes;
	uint32_t *heavy; /* owned: tiles with more than TILE_HEAVY points */
	size_t nheavy;
	struct crowds crowds;
	struct points points;
	struct layers *layers;		 /* owned; NULL: vectors are transformed one at a time */
	struct usfft_seconds own, *took; /* took: the caller's, or own */
};

/*
 * The grid's FFT has the sign -1. For the sign +1, values are conjugated before and after it, and this returns -1; else 1.
 */
static inline int
conjugate(int sign)
{
	return sign < 0 ? 1 : -1;
}

/*
 * choose.c: finds the taps w and the cells n of the grid that take the least estimated time, and the error *reach that they
 * keep. Returns 0 or -EDOM.
 */
int usfft_choose(const struct usfft_options *o, int *w, size_t n[3], double *reach);

/* choose.c: returns the loops that a plan for o runs. */
const struct loops *usfft_loops_for(const struct usfft_options *o);

/*
 * choose.c: returns the least oversampling at which w taps keep an error of eps along an axis, and the error that they
 * keep. If none does, that is the largest oversampling. If o->sigma is not 0, it is that.
 */
double usfft_least_sigma(const struct usfft_options *o, int w, double eps, double *error);

#endif
