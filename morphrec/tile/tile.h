/*
 * The tile engine. The array is cut into boxes, the tiles; a visit takes a tile with a rim of one pixel around it into
 * the cache and brings it to its own fixpoint: the fixpoint while everything outside stays as it is.
 *
 * A row of a tile is four vectors in STRIPED order: pixels 4 i, 4 i + 1, 4 i + 2, 4 i + 3 stand in the same element of
 * vectors 0, 1, 2, 3:
 *
 *	vector 0:  pixel 0 | 4 | 8  | ..
 *	vector 1:  pixel 1 | 5 | 9  | ..
 *	vector 2:  pixel 2 | 6 | 10 | ..
 *	vector 3:  pixel 3 | 7 | 11 | ..
 *
 * (Farrar, Striped Smith-Waterman, Bioinformatics 23(2), 2007). The next pixel of a row is then in the next vector; only
 * from vector 3 back to vector 0 is there a shift by one element. So a row spreads along itself without shuffles.
 *
 * A row takes from the rows before it in raster order, or from those after it, then spreads along itself to its own
 * fixpoint. Each row has two DUE bits: rows before it have risen; rows after it have risen. A sweep down and a sweep up
 * process only the due rows, until no bit is set. A row is loaded when it is first read.
 *
 * Pixels of the rim rise like all others and are written back. They belong to neighbouring tiles: the tile OWES those that
 * rose to their owner. A debt is a bit for each row, and the pixels themselves as long as they are few. The next visit of
 * the owner begins with those rows.
 *
 * First each tile is visited once. In an image, the black tiles of a chessboard are visited early, before the white ones
 * between them, so that a white tile finds all four neighbours risen. A black tile that is then owed something is visited
 * again after them. A tile where the marker is flat can give nothing yet; it is not visited early, but in raster order.
 *
 * Then tiles are visited by the highest level that they are owed, in 256 lists. So low values are not spread where a higher
 * one will arrive: this is the idea of He et al., applied to tiles. A tile that is owed only a few pixels, as in a maze, is
 * flooded from these, pixel by pixel. If the flood grows too wide, the tile is visited.
 *
 * The tiles are shared out in units: bands of an image, slabs of a volume along y or z, at least two tiles thick. A thread
 * takes any unit that has something to do and touches no running unit, and brings it to its own fixpoint; until no unit
 * has anything to do. Units that touch never run at the same time, so a unit may read and raise pixels of its neighbours in
 * place. Any order ends in the same fixpoint.
 */
#ifndef MORPHREC_TILE_H
#define MORPHREC_TILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "morphrec/keys.h"

enum {
	TILE_VECTORS = 4, /* of a row */
	TILE_ROWS = 64,	  /* of a tile with its rim along y, at most: a bit each */
	TILE_DEPTH = 18,  /* slices of a tile with its rim, at most */
	TILE_FEW = 8,	  /* owed pixels that are kept one by one, at most */
	TILE_NEAR = 26,	  /* neighbours, at most */
	TILE_LEVELS = 256
};

/* One axis of the tiles. */
struct tile_axis {
	size_t n;     /* pixels */
	size_t own;   /* pixels of a tile that are its own */
	size_t tiles; /* along the axis */
	size_t rim;   /* 1; 0 where one tile holds all */
};

/* A tile along one axis, in the tile's coordinates: 0 is the rim. */
struct tile_span {
	ptrdiff_t at;	  /* pixel 0 of the tile in the array; -1 where the rim lies outside */
	int begin, end;	  /* its pixels that lie in the array: [begin, end) */
	int first, after; /* its own pixels: [first, after) */
};

/* A neighbour of a pixel: its offset along the axes, and in the array. */
struct tile_near {
	int x, y, z;
	ptrdiff_t at;
};

/* A tile, what a visit needs, and the callback that is told what the tile owes. */
struct tile_job {
	void *J;
	const void *I;
	/* In an image z has one slice and no rim: slices are visited one by one. */
	struct tile_axis x, y, z;
	int conn;
	struct key_map map;
	uint64_t lo; /* level = 1 + ((key - lo) >> shift), at most 255 */
	unsigned shift;
	struct tile_near near[TILE_NEAR]; /* tile_list_near() */
	int nears;
	void *rows; /* work space: tile_room() bytes */
	struct tile_span sx, sy, sz;
	/*
	 * Called when pixel x of row y, slice z of a neighbouring tile rose to that level; x is -1 for several pixels of the
	 * row. That tile is (dx, dy, dz) = (k % 3, k / 3 % 3, k / 9) - 1 tiles from this one; x, y, z are its coordinates.
	 */
	void (*owe)(void *with, int k, int z, int y, int x, uint8_t level);
	void *with;
};

/* What a visit does, for one element size on one kind of CPU. */
struct tile_kernel {
	int width; /* pixels of a row with its rim */
	/* rose NULL: the first visit. Else bit y of rose[z] says that row y of slice z rose since the last visit. */
	void (*visit)(struct tile_job *job, const uint64_t *rose);
};

/* Kernels by log2 of the size of an element: 1, 2, 4, 8 bytes. They are zeroed where this machine has no such kernels. */
extern const struct tile_kernel tile_generic[4], tile_avx2[4], tile_avx512[4];

/*
 * Floods the tile from n of its pixels, (z * TILE_ROWS + y) * width + x each, highest first. Returns false when the flood
 * grew too wide. Then rows that rose and did not spread are added to rose, and a visit must finish the tile.
 */
typedef bool tile_flood(struct tile_job *job, int width, const uint32_t *px, int n, uint64_t *rose);
extern tile_flood *const tile_floods[4];

/* Lists the neighbours of a pixel in job, by its axes and conn. */
void tile_list_near(struct tile_job *job);

/* Counts the rows of vectors of a tile: a row more before and after each slice, a slice more before and after the tile. */
static inline size_t
tile_rows(int rows, int slices)
{
	return (size_t)(rows + 2) * (size_t)(slices + 2);
}

/* Returns -1, 0 or 1: place p belongs to the tile before, to this tile, or to the tile after. */
static inline int
tile_side(const struct tile_span *s, int p)
{
	return p < s->first ? -1 : p >= s->after;
}

/* Returns the level of a key. */
static inline uint8_t
tile_level(const struct tile_job *job, uint64_t key)
{
	const uint64_t l = key > job->lo ? (key - job->lo) >> job->shift : 0;

	return (uint8_t)(l < TILE_LEVELS - 2 ? l + 1 : TILE_LEVELS - 1);
}

#endif
