/* The order of visits: which tile is next, and which units run at the same time. */
#ifndef WEIR_MORPHREC_TILE_ENGINE_H
#define WEIR_MORPHREC_TILE_ENGINE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "morphrec/keys.h"
#include "morphrec/ops/ops.h"

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
 * fixpoint. Each row has two bits: rows before it have risen; rows after it have risen. A sweep down and a sweep up
 * process only the rows whose bit is set, until none is. A row is loaded when it is first read.
 *
 * Pixels of the rim rise like all others and are written back. They belong to neighbouring tiles, which
 * keep what was raised in them from outside: a bit for each row, and the pixels themselves as long as they are few. The next
 * visit begins with those rows.
 *
 * First each tile is visited once. In an image, the black tiles of a chessboard are visited early, before the white ones
 * between them, so that a white tile finds all four neighbours risen. A black tile in which something was then raised is visited
 * again after them. A tile where the marker is flat can give nothing yet; it is not visited early, but in raster order.
 *
 * Then tiles are visited by the highest level to which others raised them, in 256 lists. So low values are not spread where a higher
 * one will arrive: this is the idea of He et al., applied to tiles. A tile in which only a few pixels were raised, as in a maze, is
 * flooded from these, pixel by pixel. If the flood grows too wide, the tile is visited.
 *
 * The tiles are shared out in units: bands of an image, slabs of a volume along y or z, at least two tiles thick. A thread
 * takes any unit that has something to do and touches no running unit, and brings it to its own fixpoint; until no unit
 * has anything to do. Units that touch never run at the same time, so a unit may read and raise pixels of its neighbours in
 * place. Any order ends in the same fixpoint.
 */

enum {
	TILE_VECTORS = 4, /* of a row */
	TILE_ROWS = 64,	  /* of a tile with its rim along y, at most: a bit each */
	TILE_DEPTH = 18,  /* slices of a tile with its rim, at most */
	TILE_FEW = 8,	  /* pixels raised from outside that are kept one by one, at most */
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

/* A tile, what a visit needs, and the callback that is told what it raises in others. */
struct tile_job {
	void *J;
	const void *I;
	/* In an image z has one slice and no rim: slices are visited one by one. */
	struct tile_axis x, y, z;
	int conn;
	struct key_map map;
	uint64_t lo; /* level = 1 + ((key - lo) >> shift), at most 255 */
	unsigned shift;
	struct neighbour near[NEIGHBOURS];
	int nears;
	void *rows; /* work space: tile_room() bytes */
	struct tile_span sx, sy, sz;
	/*
	 * Called when pixel x of row y, slice z of a neighbouring tile rose to that level; x is -1 for several pixels of the
	 * row. That tile is (dx, dy, dz) = (k % 3, k / 3 % 3, k / 9) - 1 tiles from this one; x, y, z are its coordinates.
	 */
	void (*tell)(void *with, int k, int z, int y, int x, uint8_t level);
	void *with;
};

/* What a visit does, for one element size on one kind of CPU. */
struct tile_kernel {
	int width; /* pixels of a row with its rim */
	/* rose NULL: the first visit. Else bit y of rose[z] says that row y of slice z rose since the last visit. */
	void (*visit)(struct tile_job *job, const uint64_t *rose);
};

/* The kernels by the level of the CPU (enum cpu_level), and by log2 of the size of an element: 1, 2, 4, 8 bytes. */
extern const struct tile_kernel *const tile_kernels[3][4];

/*
 * Floods the tile from n of its pixels, (z * TILE_ROWS + y) * width + x each, highest first. Returns false when the flood
 * grew too wide. Then rows that rose and did not spread are added to rose, and a visit must finish the tile.
 */
typedef bool tile_flood(struct tile_job *job, int width, const uint32_t *px, int n, uint64_t *rose);

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

/* A tile: what was raised in it from outside, and its place in the list of its level. */
struct record {
	uint32_t next, prev;
	uint32_t px[TILE_FEW]; /* the pixels, numbered as for tile_flood */
	uint8_t n;	       /* their number; TILE_FEW + 1: there are more */
	uint8_t level;	       /* the highest level of what was raised; 0: nothing was */
	uint8_t listed;	       /* the level of its list; 0: it is in none */
	bool begun;	       /* visited at least once */
	bool early;	       /* its first visit was before those of its neighbours */
};

/*
 * A box of tiles that one thread brings to its fixpoint: a band of tile rows of a slice, some small slices, or a slab of a
 * volume along y or z. Units that follow each other touch, unless they belong to different slices of an image.
 */
struct unit {
	size_t y, y_end, z, z_end; /* tiles */
	bool begun, running;
	uint8_t raised
	    [2]; /* the highest level to which the unit before, and after, raised pixels of it; 0: none */
};

/* A thread of the engine. */
struct worker {
	struct tile_job job;
	const struct engine *e;
	struct unit *unit;
	size_t tx, ty, tz; /* the current tile */
	bool beginning;	   /* first visits are under way: lists are not used yet */
	int top;	   /* lists above this level are empty */
	uint32_t head[TILE_LEVELS], tail[TILE_LEVELS];
	struct morphrec_figures figures;
	struct morphrec_clip clip; /* what this thread met as it clipped */
	size_t *begun; /* tiles that all threads have visited; changed by atomic operations */
};

struct engine {
	struct morphrec_problem what;
	size_t size; /* bytes of an element */
	struct tile_axis x, y, z;
	const struct tile_kernel *kernel;
	tile_flood *flood;
	size_t depth;  /* slices of a tile with its rim */
	size_t per;    /* units in a row that touch: those of a slice, or all */
	size_t slices; /* of an image, that a unit holds; above 1 only where per is 1 */
	size_t units, begun;
	bool unclipped; /* J is not clipped yet: units clip their own pixels as they begin */
	void *J;
	const void *I;
	struct record *tile; /* [z][y][x] */
	uint64_t *rose;	     /* [z][y][x][depth]: rows raised from outside, a bit each */
	struct unit *unit;
	pthread_mutex_t lock;  /* of the units */
	pthread_cond_t ended;  /* a unit has ended */
	struct unit *first;    /* units before it have begun */
	size_t running;	       /* units */
	struct worker *worker; /* [threads] */
	void *rows;	       /* [threads]: work space of the kernels */
	size_t room;	       /* bytes of one of these */
};

#endif
