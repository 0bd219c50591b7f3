/* The data of the tile engine, and one unit of its work. See tile.h. */
#ifndef MORPHREC_UNIT_H
#define MORPHREC_UNIT_H

#include <pthread.h>

#include "morphrec/clip.h"
#include "morphrec/tile/tile.h"

#define NOBODY UINT32_MAX /* no tile */

/* A tile: what it is owed, and its place in the list of its level. */
struct record {
	uint32_t next, prev;
	uint32_t px[TILE_FEW]; /* owed pixels, numbered as for tile_flood */
	uint8_t n;	       /* their number; TILE_FEW + 1: there are more */
	uint8_t level;	       /* the highest level owed; 0: nothing is owed */
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
	uint8_t
	    owed[2]; /* the highest level that the unit before, and after, owes it; 0: nothing */
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
	uint64_t *rose;	     /* [z][y][x][depth]: rows that are owed, a bit each */
	struct unit *unit;
	pthread_mutex_t lock;  /* of the units */
	pthread_cond_t ended;  /* a unit has ended */
	struct unit *first;    /* units before it have begun */
	size_t running;	       /* units */
	struct worker *worker; /* [threads] */
	void *rows;	       /* [threads]: work space of the kernels */
	size_t room;	       /* bytes of one of these */
};

/* Sets up a worker, whose lists are empty. */
void worker_start(struct worker *w, const struct engine *e, const struct tile_job *job);

/* Notes that pixel `at` of J was raised from outside: its tile is owed that. No unit may run. */
void engine_owe(struct engine *e, size_t at);

/* Brings u to its fixpoint, given what its neighbours owe it, and notes what it owes them. */
void unit_run(struct worker *w, struct unit *u);

#endif
