/*
 * Inside of a plan: what the stages share. The grid is stored [z][y][x], rows padded so that columns do not all fall into
 * the same sets of the cache (1280^2: 30 -> 13 ms for the FFTs). In one dimension a long grid is cut into rows, which
 * its FFT takes in two passes (grid.c).
 */
#ifndef WEIR_USFFT_PLAN_H
#define WEIR_USFFT_PLAN_H

#include <stdint.h>

#include "usfft/batch.h"
#include "usfft/tile.h"
#include "usfft/usfft.h"
#include "usfft/window.h"

/* Oversampling beyond which a window gains nothing. */
#define USFFT_SIGMA	  2.6
#define USFFT_SIGMA_GAUSS 4.0

enum { ROOT_FINE = 1024 };
enum { TILE_HEAVY = 8192 }; /* points of a tile that one thread takes at a time */

struct grid {
	size_t n[3];   /* cells per axis, multiples of the tile's span; 1 beyond dim */
	size_t rowlen; /* cells in a row: n[0], or a divisor of it in 1-D */
	size_t ld;     /* stride of rows, complex samples */
	size_t plane;  /* rows from one z to the next */
	size_t rows;   /* all of them */
	void *data;    /* owned: rows * ld samples */
	bool clean;    /* all zero, as the system gave it */
	bool batched;  /* FFTs by batch.h, else by FFTW: measured ones, very long axes */

	/* Rows; columns along y, or down the rows of 1-D; columns along z. */
	struct batch batch[3]; /* owned: of one length they share their roots */
	void *fftw[3];	       /* owned */
	char *work;	       /* owned: work_bytes for each thread */
	size_t work_bytes;

	/* 1-D in rows. Owned: exp(-2 pi i q / n), q = 0..ROOT_FINE-1, and its multiples of ROOT_FINE. */
	double *root[2];
};

struct points {
	size_t m, room;	 /* points; those there is memory for */
	bool indexed;	 /* records hold indices, else values */
	bool wide;	 /* places of 64 bits */
	size_t bytes;	 /* of a record */
	void *record;	 /* owned: m records sorted by tile */
	uint32_t *start; /* owned: first record of each tile, ntiles + 1 */

	/* While they arrive: */
	size_t come;	 /* points so far */
	char *arrived;	 /* records in the caller's order: in the grid's memory, else in `spare` */
	void *spare;	 /* owned */
	uint32_t *key;	 /* owned: tile and part of each, in that order */
	uint32_t *count; /* owned: of keys, in each thread's share of the points */
};

struct band {
	uint32_t y, z; /* a row of tiles along x (in 1-D: the tile y) */
};

struct usfft_plan {
	struct usfft_options o;
	size_t nmodes;
	size_t real; /* bytes of a real */
	struct window win[3];
	struct grid grid;
	void *undo[3]; /* owned: reals, per axis, 1 / window_hat at modes 0..n/2 */
	const struct tile_ops *ops;
	const struct batch_ops *batch;
	struct tile_window taps;
	size_t tiles[3], ntiles;
	size_t nbands, ncolours;
	struct band *band; /* owned: ordered by colour: bands of one colour touch no common cell */
	size_t *colour;	   /* owned: first band of each colour, ncolours + 1 */
	char *acc;	   /* owned: one accumulator per thread */
	size_t acc_bytes;
	uint32_t *heavy; /* owned: tiles with more than TILE_HEAVY points */
	size_t nheavy;
	struct points points;
	struct usfft_seconds own, *took; /* took: the caller's, or own */
};

/* The grid's FFT has the sign -1: for the other one values are conjugated on the way in and on the way out. */
static inline int
conjugate(int sign)
{
	return sign < 0 ? 1 : -1;
}

/* Charges the time since *t to a stage. */
static inline void
lap(double *t, double *stage)
{
	const double now = usfft_now();

	*stage += now - *t;
	*t = now;
}

/* choose.c: taps and grid sizes of least estimated time. 0 or -EDOM. */
int usfft_choose(const struct usfft_options *o, int lanes, int *w, size_t n[3]);

/* grid.c: memory and FFT plans; transforms. forward: rows first and only the modes' columns after. 0 or -errno. */
int grid_make(struct grid *g, const struct usfft_options *o);
void grid_free(struct grid *g, bool single);
void grid_clear(struct usfft_plan *p); /* what modes_put does not write */
void grid_to_modes(const struct usfft_plan *p);
void modes_to_grid(const struct usfft_plan *p);

/* Points that have come: the first of them is point `first` of all. */
struct piece {
	const struct usfft_plan *p;
	const struct usfft_points *pt;
	const void *c;
	size_t cstride, first;
};

/*
 * records.c: points from..to-1 of a piece to records and keys in p->points, and their keys counted; false when a coordinate
 * or a value is not finite. The first such point of the piece.
 */
bool records_take(const struct piece *s, size_t from, size_t to, uint32_t *count);
size_t records_find_bad(const struct piece *s);

/* sort.c */
void sort_free(struct points *q);
void sort_drop(struct usfft_plan *p); /* no points are left */

/* spread.c */
int spread_make(struct usfft_plan *p);
void spread_points(struct usfft_plan *p, int sign, const void *c);
void interp_points(struct usfft_plan *p, int sign, void *c);

static inline size_t
grid_cell(const struct grid *g, size_t row, size_t x)
{
	return (row * (g->n[0] / g->rowlen) + x / g->rowlen) * g->ld + x % g->rowlen;
}

/* modes.c: modes from..to-1 of a row, from the transformed grid and to it. */
void
modes_get(const struct usfft_plan *p, int sign, size_t row, size_t from, size_t to, void *modes);
void modes_put(const struct usfft_plan *p, int sign, size_t row, size_t from, size_t to,
	       const void *modes);
void modes_twiddle(const struct usfft_plan *p, size_t row);

#endif
