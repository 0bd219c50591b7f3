/*
 * The tile engine. The array is cut into boxes, the tiles; a visit takes a tile with a rim of one pixel around it into
 * the cache and brings it to its own fixpoint.
 *
 * A row of a tile is four vectors in STRIPED order: with n = 4 pixels x, x + 1, x + 2, x + 3 stand in the same lane of the
 * vectors 0, 1, 2, 3,
 *
 *	vector 0:  pixel 0 | 4 | 8  | ..
 *	vector 1:  pixel 1 | 5 | 9  | ..	so the pixel beside is the vector beside, and only the row's two ends
 *	vector 2:  pixel 2 | 6 | 10 | ..	shift by a lane: a row spreads along itself without shuffles
 *	vector 3:  pixel 3 | 7 | 11 | ..
 *
 * (Farrar, Striped Smith-Waterman, Bioinformatics 23(2), 2007). A row takes from the rows before it in raster order, or
 * from those after it, then spreads along itself to its own fixpoint. A DUE bit of a row says that rows before it (after
 * it) have risen: a sweep down and a sweep up do the due rows alone, until no bit is left. A row is loaded when it is
 * first read.
 *
 * The rim rises like all else and is written back. What rose there is what the tile OWES the neighbour whose pixels they
 * are: a bit for each row, and the pixels themselves as long as they are few. A later visit begins with those rows.
 *
 * First each tile is visited once. Where the markers of an image are all over it, the black tiles of a chessboard come before
 * the white ones between them, which so find all four neighbours risen, and again after them if they are owed; a tile where
 * the marker is flat has nothing to give yet and is left to raster order. Then tiles are visited by the highest level owed
 * (256 lists), so that low values are not spread where a higher one will come: the idea of He et al. for a tile at a time. A
 * tile that is owed a few pixels only, as in a maze, is flooded from these, pixel by pixel, and visited when the flood turns
 * out wide.
 *
 * The tiles are shared out in units: bands of an image, slabs of a volume along y or z, two tiles thick at least. Even units
 * run at the same time, each to its own fixpoint, then odd ones, and again those that are owed: no two that touch run
 * together, so a unit reads and raises the rim of its neighbours where they are. Any order ends in the same fixpoint.
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
	TILE_FEW = 8,	  /* owed pixels that are kept one by one */
	TILE_NEAR = 26,	  /* neighbours, at most */
	TILE_LEVELS = 256
};

/* One axis of the tiles. */
struct tile_axis {
	size_t n;     /* pixels */
	size_t own;   /* pixels of a tile that are its own */
	size_t tiles; /* across */
	size_t rim;   /* 1; 0 where one tile holds all */
};

/* The part of one axis of a tile, in its coordinates: 0 is the rim. */
struct tile_span {
	ptrdiff_t at;	  /* pixel 0 of the tile in the array; -1 where the rim lies outside */
	int begin, end;	  /* pixels in the array */
	int first, after; /* pixels of its own */
};

/* A neighbour of a pixel: its offset, and how far on in the array it lies. */
struct tile_near {
	int x, y, z;
	ptrdiff_t at;
};

/* A tile, what it works with, and who is told of debts. */
struct tile_job {
	void *J;
	const void *I;
	struct tile_axis x, y,
	    z; /* z of one slice only, without a rim, where slices are pictures by themselves */
	int conn;
	struct key_map map;
	uint64_t lo; /* level = 1 + (key - lo >> shift), at most 255 */
	unsigned shift;
	struct tile_near near[TILE_NEAR]; /* tile_list_near() */
	int nears;
	void *rows; /* work space: tile_room() bytes */
	struct tile_span sx, sy, sz;
	/*
	 * Pixel x (-1: many) of row y, slice z of the tile at (dx, dy, dz) = (k % 3, k / 3 % 3, k / 9) - 1 from this one, in
	 * that one's coordinates, rose to that level.
	 */
	void (*owe)(void *with, int k, int z, int y, int x, uint8_t level);
	void *with;
};

/* What a visit does, for one element size on one kind of CPU. */
struct tile_kernel {
	int width; /* pixels of a row with its rim */
	/* The first visit, rose NULL; or one of a tile whose rows y of slice z, bit y of rose[z], rose since the last. */
	void (*visit)(struct tile_job *job, const uint64_t *rose);
};

/* By log2 of the size of an element: 1, 2, 4, 8 bytes. Zeroed: this machine has no such kernels. */
extern const struct tile_kernel tile_generic[4], tile_avx2[4], tile_avx512[4];

/*
 * Floods the tile from n pixels of it, (z * TILE_ROWS + y) * width + x each, highest first. False when it grew too wide:
 * then rows that have risen and not spread are added to rose, and a visit must finish the tile.
 */
typedef bool tile_flood(struct tile_job *job, int width, const uint32_t *px, int n, uint64_t *rose);
extern tile_flood *const tile_floods[4];

/* Lists the neighbours of a pixel in job, by its axes and conn. */
void tile_list_near(struct tile_job *job);

/* Rows of vectors lie with a row of zeros before and after each slice, and a slice of them before and after the tile. */
static inline size_t
tile_rows(int rows, int slices)
{
	return (size_t)(rows + 2) * (size_t)(slices + 2);
}

static inline uint8_t
tile_level(const struct tile_job *job, uint64_t key)
{
	const uint64_t l = key > job->lo ? (key - job->lo) >> job->shift : 0;

	return (uint8_t)(l < TILE_LEVELS - 2 ? l + 1 : TILE_LEVELS - 1);
}

#endif
