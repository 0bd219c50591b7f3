/* The inner loops, compiled once for each precision and each kind of register, and the choice among them. */
#ifndef WEIR_USFFT_LOOPS_LOOPS_H
#define WEIR_USFFT_LOOPS_LOOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "usfft/line.h"
#include "usfft/window.h"

/*
 * The inner loops over the points of one tile, one set for each kind of register. A call runs on one thread.
 *
 * A tile is a box of cells of the oversampled grid. Its accumulator is the box plus the window's overhang, and fits a cache
 * of the core:
 *
 *	        first grid column: a multiple of the samples in a register
 *	        |
 *	   +----+-------------------+-----+	rows of `stride` complex samples, all of them aligned
 *	   |    |                   |     |
 *	   |    |  span x span cells|     |	W - 1 cells of overhang, shared between both sides
 *	   |    |                   |     |
 *	   +----+-------------------+-----+
 *
 * The taps of a point begin at any column, yet every load and store is aligned: the window's polynomials are stored once
 * for each offset inside a register, shifted and padded with zeros. Only interpolation in 1-D takes unaligned loads.
 *
 * A record is dim places and, at its end, a value. A place is a fixed-point number: the integer part counts cells inside
 * the tile, and tile_bits() bits are the fraction of a cell. The value is a complex sample, or the index of the point in
 * the caller's arrays. Places have 32 bits in single precision and for tolerances down to TILE_NARROW, where more bits
 * would change nothing (2^-28 of a cell is a phase of 1e-8); else they have 64 bits. A single tile as wide as a 1-D grid needs
 * 64 bits in single precision too.
 */

/*
 * Cells of a tile per axis, as a power of two. In three dimensions the overhang costs more than the first-level cache
 * gives: with 8 cells and 9 taps an accumulator has 8 times the cells of its tile, with 16 cells 3.4 times.
 */
static inline int
tile_span_log(int dim)
{
	return dim == 1 ? 9 : 4;
}

/*
 * An accumulator of three dimensions lies in the second-level cache. So the points of its tile are in the order of
 * TILE_PARTS parts, bars of 16 x 4 x 4 cells; cubes of 4 x 4 x 4 gain nothing. In one and two dimensions a tile is one part.
 */
enum { TILE_PARTS = 16 };

static inline uint32_t
tile_part(uint32_t y, uint32_t z)
{
	return (z >> 2 & 3) << 2 | (y >> 2 & 3);
}

static inline int
tile_span(int dim)
{
	return 1 << tile_span_log(dim);
}

/*
 * In double precision, places have 32 bits for tolerances from here on. In one dimension, where a tile has 512 cells, they
 * always have 64.
 */
#define TILE_NARROW 5e-7

/*
 * The bits of a place's fraction. The cells inside a tile take the other bits, and the sign takes one. A plan with one wide
 * tile (usfft/grid/spread.c) has fewer bits.
 */
static inline int
tile_bits(int dim, bool wide)
{
	return wide ? 53 : 31 - tile_span_log(dim);
}

/* Bytes of a record's end: a value or an index. */
static inline size_t
tile_value(size_t real, bool indexed)
{
	return indexed ? sizeof(uint64_t) : 2 * real;
}

/* Bytes of a record; values are aligned to their reals. */
static inline size_t
tile_record(int dim, size_t real, bool wide, bool indexed)
{
	const size_t places = (size_t)dim * (wide ? sizeof(int64_t) : sizeof(int32_t));
	const size_t align = indexed ? sizeof(int32_t) : real;

	return (places + align - 1) / align * align + tile_value(real, indexed);
}

/*
 * How many cells before its own a point has its first tap: i0 = cell - tile_lead(w). For odd w, the cell is that of the
 * point shifted by half a cell.
 */
static inline int
tile_lead(int w)
{
	return (w + 1) / 2 - 1;
}

/*
 * Columns from the first one of the accumulator to the first tap of a point in column 0 of the tile. A register holds
 * lanes / 2 complex samples.
 */
static inline int
tile_slack(int w, int lanes)
{
	int group = lanes / 2;

	return (group - tile_lead(w) % group) % group;
}

/* Registers that hold w complex taps at any offset inside the first register. */
static inline int
tile_vecs(int w, int lanes)
{
	return (w + lanes / 2 - 1 + lanes / 2 - 1) / (lanes / 2);
}

/*
 * Complex samples of an accumulator's row, where a tile has `span` cells along x. In 3-D they fill an odd number of registers:
 * rows that lie 512 bytes apart would leave half of the first-level cache unused.
 */
static inline int
tile_stride(int dim, int span, int w, int lanes)
{
	int group = lanes / 2;
	int vecs = (tile_slack(w, lanes) + span - 1) / group + tile_vecs(w, lanes);

	return (dim == 3 ? vecs | 1 : vecs) * group;
}

/* Rows of an accumulator. */
static inline int
tile_rows(int dim, int w)
{
	int h = tile_span(dim) + w - 1;

	return dim == 1 ? 1 : dim == 2 ? h : h * h;
}

/* How many records a loop looks ahead. As many unused records follow the last one. */
enum { TILE_AHEAD = 12 };

struct tile_window {
	int ncoef;
	/* Of x [offset][coef][vector][lane]: reals, one for each complex tap; of y and z [coef][vector][lane]. */
	void *coef[3];
};

/* Points in a tile's order. */
struct tile_points {
	const void *record;
	size_t n, bytes; /* of a record */
	bool wide;	 /* places of 64 bits */
	int bits;	 /* of a wide place's fraction */
	bool indexed;	 /* records hold an index; else the value itself */
	int sign;	 /* -1: values are conjugated */
};

/* Adds the points to the accumulator. values: the caller's array, where records hold indices. */
typedef void tile_spread_fn(const struct tile_window *win, void *acc, const struct tile_points *pt,
			    const void *values);

/* out[index] = the window's sum over the accumulator at each point. */
typedef void tile_interp_fn(const struct tile_window *win, const void *acc,
			    const struct tile_points *pt, void *out);

struct tile_ops {
	int lanes;
	tile_spread_fn *spread[3][WINDOW_MAXW + 1]; /* [dim - 1][w] */
	tile_interp_fn *interp[3][WINDOW_MAXW + 1];
	void (*add)(void *to, const void *from, size_t n); /* to += from, n reals */
};

/*
 * The inner loops over points on a grid of layers (usfft/usfft.c), one set for each kind of register. They spread and
 * interpolate the values of several vectors at once: the window of a point is evaluated once for all of them, and no lane
 * of a register is wasted, since a cell is whole registers. A call runs on one thread.
 */

/* The window, and the strides of the grid in reals. */
struct layer_window {
	int dim, w, ncoef;
	void *coef[3]; /* per axis [coef][vector][lane] */
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

/*
 * FFTs of many columns or rows of a grid. One batch is as many of them as fill BATCH_BYTES. Each lane of a register holds
 * a transform of its own, so nothing moves between lanes. FFTW's unmeasured plans take 1.5 to 2 times as long for the rows
 * of 1536^2 cells and 2 to 2.4 times for the columns; measured plans, found in a second, take 1.2 to 1.5 times as long.
 *
 * The transforms are in place, with sign -1: X_k = sum_j x_j exp(-2 pi i j k / n). A batch is read into work memory that
 * stays in the cache, goes through the passes of Stockham's algorithm there, and is written back. For columns, the first
 * pass reads from the grid and the last one writes to it.
 */

enum { BATCH_BYTES = 128, BATCH_STAGES = 32 };

/* The number of transforms in a batch: columns side by side, or rows one below the other. */
static inline size_t
batch_width(size_t real)
{
	return BATCH_BYTES / (2 * real);
}

struct batch {
	size_t n;
	int stages, radix[BATCH_STAGES]; /* their product is n; at least two */
	void *root; /* owned: complex, per stage of radix r and m blocks: [m][r - 1] */
};

/* Elements from..to-1. A gap of the input counts as zeros and is not read; a gap of the output is not written. */
struct batch_gap {
	size_t from, to;
};

/*
 * Transforms one batch. data: its first sample. ld: samples from row to row. half: samples from the first column to the middle
 * one: batch_width() / 2 where all columns lie side by side. work: batch_work(n) bytes, aligned to 64. Of rows, n and the ends
 * of the gaps are multiples of batch_width().
 */
typedef void batch_columns_fn(const struct batch *f, void *data, size_t ld, size_t half,
			      struct batch_gap in, struct batch_gap out, void *work);
typedef void batch_rows_fn(const struct batch *f, void *data, size_t ld, struct batch_gap in,
			   struct batch_gap out, void *work);

struct batch_ops {
	batch_columns_fn *columns;
	batch_rows_fn *rows;
};

/* Whether the only prime factors of n are 2, 3, 5 and 7, and n splits into at least two radices. */
bool batch_suits(size_t n);

/* Computes radices and roots for transforms of n. Returns 0 or -ENOMEM. */
int batch_make(struct batch *f, size_t n, bool single);
void batch_free(struct batch *f);

static inline size_t
batch_work(size_t n)
{
	return 2 * n * BATCH_BYTES;
}

struct loops {
	struct tile_ops tile;
	struct layer_ops layer;
	struct batch_ops batch;
	struct line_ops line; /* in single precision only */
};

/* registers: their bytes, 16, 32 or 64; 0: the widest that the CPU has. */
const struct loops *usfft_loops(int registers, bool single);

#endif
