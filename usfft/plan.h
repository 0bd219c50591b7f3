/* The members of a plan, which all stages share, and what each stage does for the others. */
#ifndef WEIR_USFFT_PLAN_H
#define WEIR_USFFT_PLAN_H

#include "common/base/clock.h"
#include "usfft/grid/grid.h"
#include "usfft/loops/loops.h"
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
	struct layer_window win; /* owns its coef */
	const struct layer_ops *ops;
	void (*add)(void *to, const void *from, size_t n); /* of the loops */
};

/* Points as records: grid/points.c makes them, and grid/spread.c sorts them by tile. */
struct points {
	size_t m, room;	 /* points; points that the memory holds */
	bool indexed;	 /* records hold indices, else values */
	bool wide;	 /* places of 64 bits */
	size_t bytes;	 /* of a record */
	void *record;	 /* owned: m records sorted by tile */
	uint32_t *start; /* owned: first record of each tile, ntiles + 1 */

	/* The members below serve while points arrive. */
	size_t arrivals; /* points so far */
	/* Records in the caller's order. They lie in `record` if there is one key, in the grid's memory, or in `spare`. */
	char *arrived;
	void *spare;   /* owned */
	uint32_t *key; /* owned: tile and part of each point, in the caller's order */
	/* Owned: how many points have each key, counted separately for each thread's share. */
	uint32_t *count;
};

/*
 * Crowded tiles, in type 1 with float values. Sums of equal values at one place round in one direction: 1e-5 of the sum for
 * 1000 values, and 5e-5 for 10000. So a tile of more than twice CROWD points, one cell of which holds about CROWD or more,
 * is summed in double precision and rounded when it is added to the grid. Up to 128 values the error stays below 1.2e-6.
 */
enum { CROWD = 64 };

struct crowds {
	/* The loops in double precision, their window, and one accumulator for each thread. */
	const struct tile_ops *ops;
	struct tile_window taps; /* owned */
	char *acc;		 /* owned; NULL: no tile can be crowded */
	size_t accs, acc_bytes;
};

/* A row of tiles along x, at (y, z) in tiles. In 1-D a band is tile number y. */
struct band {
	uint32_t y, z;
};

/* The largest oversampling for which a window is shaped: more does not reduce its error. */
#define USFFT_SIGMA	  2.6
#define USFFT_SIGMA_GAUSS 4.0

struct usfft_plan {
	/* For a small problem o.threads is 1, which saves the barriers; `threads` is what the caller asked for. */
	struct usfft_options o;
	int threads;
	size_t real; /* bytes of a real */
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

/* --- choose.c ----------------------------------------------------------------------------------------------------- */

/* Finds the taps w and the cells n of the grid that take the least estimated time. Returns 0 or -EDOM. */
int usfft_choose(const struct usfft_options *o, int *w, size_t n[3]);

/* Returns the loops that a plan for o runs. */
const struct loops *usfft_loops_for(const struct usfft_options *o);

/*
 * Returns the least oversampling at which w taps keep an error of eps along an axis, and the error that they
 * keep. If none does, that is the largest oversampling. If o->sigma is not 0, it is that.
 */
double usfft_least_sigma(const struct usfft_options *o, int w, double eps, double *error);

/* --- grid/points.c ------------------------------------------------------------------------------------------------ */

/* Points of one usfft_add() call; the first of them is point `first` of all. */
struct piece {
	const struct usfft_plan *p;
	const struct usfft_points *pt;
	const void *c;
	size_t cstride, first;
};

/*
 * Writes points from..to-1 of a piece to the records and keys of p->points, and counts their keys. It returns false when a
 * coordinate or a value is not finite; records_find_bad() returns the first such point of the piece.
 */
bool records_take(const struct piece *s, size_t from, size_t to, uint32_t *count);
size_t records_find_bad(const struct piece *s);

/* --- grid/spread.c ------------------------------------------------------------------------------------------------ */

void sort_free(struct points *q);
void crowd_free(struct crowds *q);

/* Records from..to-1, which lie in one tile. */
struct tile_points tile_points_of(const struct usfft_plan *p, int sign, size_t from, size_t to);

/* Is any tile crowded? */
bool crowd_anywhere(const struct usfft_plan *p);

/* Makes the bands, their colours and the accumulators for the plan's tiles. Returns 0 or -ENOMEM. */
int spread_make(struct usfft_plan *p);

/*
 * Clears the grid and adds the window of each point to it, times its value. c NULL: the records carry the values, and the
 * points are freed afterwards. sign -1: values are conjugated.
 */
void spread_points(struct usfft_plan *p, int sign, const void *c);

/* c = the window's sum over the grid at each point. sign -1: values are conjugated. */
void interp_points(struct usfft_plan *p, int sign, void *c);

/* --- type3.c: the two plans of type 3, and the boxes of its points and targets ------------------------------------ */

struct box {
	double mid[3], half[3];
};

struct usfft_3 {
	struct usfft_options o;
	size_t m, targets; /* how many points and targets there are */
	struct box box, target_box;
	double period[3], scale[3];	  /* scale: 1 / period, a number of 30 bits */
	struct usfft_plan *outer, *inner; /* owned */
};

/*
 * Finds the boxes and makes the plans, for t->o. Returns 0 or an error of usfft_type3(). The caller frees t also after an
 * error.
 */
int type3_plan(struct usfft_3 *t, const struct usfft_points *pt, const struct usfft_points *targets,
	       size_t *bad);
void type3_free(struct usfft_3 *t);

#endif
