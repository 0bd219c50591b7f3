/*
 * The tile engine. The picture is cut into tiles of 62 x 62 pixels; a visit takes a tile and the ring of pixels around
 * it, 64 x 64, into the first-level cache and reconstructs it by itself:
 *
 *	      ring: pixels of the neighbours, as they are now
 *	      +--+------------------+--+
 *	      |  |                  |  |	sweeps down and up, all 64 columns at once (a row is 1..32 vectors),
 *	      +--+------------------+--+	transpose, the same sweeps now run along the rows, transpose back,
 *	      |  |   62 x 62 own    |  |	until nothing changes: 2 to 4 rounds on pictures
 *	      |  |                  |  |
 *	      +--+------------------+--+	Pixels of the ring may rise too; what they rose to is what this tile
 *	      |  |                  |  |	OWES its neighbours: they are visited later, and only those owed anything.
 *	      +--+------------------+--+
 *
 * First each tile is visited once. Where markers are all over the picture, the black tiles of a chessboard come before the
 * white ones between them, which so find all four neighbours risen, and again after them if they are owed: 8442 -> 6992
 * visits of an h-dome of 4096 x 4096, where raster order gives each tile what comes from above and from the left only. A
 * tile where the marker is flat has nothing to give as yet and is left to raster order, which carries what few markers
 * spread far in one pass. Then tiles are visited by the highest level owed (256 lists), so that low values are not spread
 * where a higher one will come: the idea of He et al. for a tile at a time. A tile owed a few pixels only, as in a maze, is
 * flooded from these, pixel by pixel, and visited when the flood turns out wide.
 *
 * The tiles of an image are shared out in bands, those of a volume in slices. Even bands run at the same time, each to its
 * own fixpoint, then odd ones, and again those that are owed: no two that touch run together, so a band reads the rows of
 * its neighbours where they are. Any order ends in the same fixpoint.
 */
#ifndef MORPHREC_TILE_H
#define MORPHREC_TILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "morphrec/keys.h"

enum {
	TILE = 64,     /* side with the ring */
	TILE_OWN = 62, /* without */
	TILE_FEW = 8,  /* owed pixels that are kept one by one */
	TILE_LEVELS = 256,
	TILE_FULL = 255 /* tile_debt.n: too many pixels to list, visit all */
};

/* What a neighbour is owed: the highest level, 0: nothing, and where, when that is in few places. */
struct tile_debt {
	uint8_t level;
	uint8_t n;	       /* pixels listed, or TILE_FULL */
	uint16_t px[TILE_FEW]; /* row * 64 + column, in the tile of the one who is owed */
};

/* A slice, as a kernel sees it, and what its visit found. */
struct tile_job {
	void *J;
	const void *I;
	size_t w, h;
	bool diagonal; /* 8 neighbours */
	struct key_map map;
	uint64_t lo; /* level = 1 + (key - lo >> shift), at most 255 */
	unsigned shift;
	bool changed; /* out: own pixels rose */
	struct tile_debt
	    owed[9]; /* out: to the neighbour (k / 3 - 1, k % 3 - 1) in y, x; [4] is unused */
};

/* Which neighbours in the next slice: itself (6), itself and 4 (18), itself and 8 (26). */
enum tile_pour { POUR_6, POUR_18, POUR_26 };

/* One element size on one kind of CPU. */
struct tile_kernel {
	/* Reconstructs tile tx, ty within its ring. */
	void (*visit)(struct tile_job *job, size_t tx, size_t ty);
	/*
	 * J rises to min(I, dilation of from) over the tile, from a slice beside it; the level of the highest pixel that
	 * rose, 0: none.
	 */
	uint8_t (*pour)(struct tile_job *job, const void *from, enum tile_pour how, size_t tx,
			size_t ty);
};

/* By log2 of the size of an element: 1, 2, 4, 8 bytes. NULL in a row: this machine has no such kernels. */
extern const struct tile_kernel tile_generic[4], tile_avx2[4], tile_avx512[4];
/* The best rows for this CPU. */
const struct tile_kernel *tile_kernels(void);

/*
 * Floods tile tx, ty from n pixels of it, highest first: px as in struct tile_debt. False when it grew too wide: what
 * has risen is right, but a visit must finish the tile. By log2 of the size of an element.
 */
typedef bool tile_flood(struct tile_job *job, size_t tx, size_t ty, const uint16_t *px, size_t n);
extern tile_flood *const tile_floods[4];

static inline uint8_t
tile_level(const struct tile_job *job, uint64_t key)
{
	uint64_t l = key > job->lo ? (key - job->lo) >> job->shift : 0;

	return (uint8_t)(l < TILE_LEVELS - 2 ? l + 1 : TILE_LEVELS - 1);
}

#endif
