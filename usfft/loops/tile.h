/*
 * The inner loops over the points of one tile, one set for each kind of register. Everything here is per tile and knows
 * no threads.
 *
 * A tile is a box of cells of the oversampled grid; its accumulator is the box plus the window's overhang, small enough
 * for a cache of its core:
 *
 *	        first grid column: a multiple of the samples in a register
 *	        |
 *	   +----+-------------------+-----+	rows of `stride` complex samples, all of them aligned
 *	   |    |                   |     |
 *	   |    |  span x span cells|     |	W - 1 cells of overhang, shared between both sides
 *	   |    |                   |     |
 *	   +----+-------------------+-----+
 *
 * The taps of a point begin at any column, but every load and store is aligned: the window's polynomials are stored once
 * for each offset inside a register, shifted and padded with zeros.
 *
 * A record is dim places and, at its end, a value: a place is a fixed-point number, cells inside the tile
 * before the point and the fraction of a cell behind (tile_bits); the value is a complex sample, or the index of the point
 * in the caller's arrays. Places are 32 bits wide, which is as much as single precision and tolerances down to
 * TILE_NARROW can tell apart (2^-28 of a cell is a phase of 1e-8), else 64.
 */
#ifndef WEIR_USFFT_TILE_H
#define WEIR_USFFT_TILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "usfft/window.h"

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
 * Such an accumulator lies in the second-level cache, so its points come in the order of TILE_PARTS parts, bars of
 * 16 x 4 x 4 cells. In one and two dimensions a tile is one part.
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

/* Tolerances from here on do with narrow places (in one dimension, where a tile has 512 cells, no double does). */
#define TILE_NARROW 5e-7

/* Bits of a place behind the point: what the cells inside a tile leave of 31 bits, or of 63. */
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

/* Cells from the one that holds a point (shifted by half a cell for odd w) to its first tap: i0 = cell - tile_lead(w). */
static inline int
tile_lead(int w)
{
	return (w + 1) / 2 - 1;
}

/* Columns from the accumulator's first to the first tap of a point in column 0 of the tile; lanes / 2 complex a register. */
static inline int
tile_slack(int w, int lanes)
{
	int group = lanes / 2;

	return (group - tile_lead(w) % group) % group;
}

/* Registers that hold w complex taps at any offset; registers of w reals at any offset of a complex register. */
static inline int
tile_vecs(int w, int lanes)
{
	return (w + lanes / 2 - 1 + lanes / 2 - 1) / (lanes / 2);
}

/* Complex samples of an accumulator's row. */
static inline int
tile_stride(int dim, int w, int lanes)
{
	int group = lanes / 2;

	return (tile_slack(w, lanes) + tile_span(dim) - 1) / group * group +
	       tile_vecs(w, lanes) * group;
}

/* Rows of an accumulator. */
static inline int
tile_rows(int dim, int w)
{
	int h = tile_span(dim) + w - 1;

	return dim == 1 ? 1 : dim == 2 ? h : h * h;
}

/* Records that a loop looks ahead; as many unused ones follow the last. */
enum { TILE_AHEAD = 12 };

struct tile_window {
	int ncoef;
	void *x;     /* [offset][coef][vector][lane]: reals, one per complex tap */
	void *y, *z; /* [coef][vector][lane] */
};

/* Points in a tile's order. */
struct tile_points {
	const void *record;
	size_t n, bytes; /* of a record */
	bool wide;	 /* places of 64 bits */
	bool indexed;	 /* records hold an index; else the value itself */
	int sign;	 /* -1: values are conjugated */
};

/* Adds n points to the accumulator; values: what an index refers to. */
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

#endif
