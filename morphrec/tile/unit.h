/* What the tile engine keeps, and one unit of its work. See tile.h. */
#ifndef MORPHREC_UNIT_H
#define MORPHREC_UNIT_H

#include "morphrec/clip.h"
#include "morphrec/tile/tile.h"

#define NOBODY UINT32_MAX /* no tile */

/* A tile: what it is owed, and its place in the list of its level. */
struct record {
	uint32_t next, prev;
	struct tile_debt debt;
	uint8_t listed;	 /* the level of its list, 0: in none */
	bool begun;	 /* visited once */
	bool early;	 /* that was before its neighbours */
	uint8_t rose[2]; /* volumes: since the slice before, the slice after last took from here */
};

/* A band of tile rows [first, end) of a slice, or a slice: what one thread brings to its fixpoint. */
struct unit {
	size_t slice, first, end;
	bool begun;
	uint8_t owed[2]; /* by the unit before, after: the highest level, 0: nothing */
};

/* What a thread works with. */
struct worker {
	struct tile_job job;
	struct record *tile; /* of the slice */
	struct unit *unit;
	int top; /* no list above it holds a tile */
	uint32_t head[TILE_LEVELS], tail[TILE_LEVELS];
	struct morphrec_figures figures;
	struct morphrec_clip clip; /* of what this thread clipped */
	size_t *begun; /* tiles that were visited once, of all threads: by atomic operations */
};

struct engine {
	size_t size;   /* bytes of an element */
	size_t tw, th; /* tiles across and down a slice */
	size_t bands;  /* units of a slice */
	size_t units;
	bool volume;
	size_t begun;
	bool unclipped; /* J is not clipped yet: units clip their own pixels as they begin */
	enum tile_pour pour;
	const struct tile_kernel *kernel;
	tile_flood *flood;
	struct record *tile;   /* [d][th][tw] */
	struct unit *unit;     /* [d][bands] */
	struct unit **due;     /* work space: those that run next */
	struct worker *worker; /* [threads] */
	struct tile_job job;   /* what all workers begin with */
	struct morphrec_problem what;
	void *J;
	const void *I;
};

/* Brings u to its fixpoint, given what its neighbours owe it, and notes what it owes them. */
void unit_run(const struct engine *e, struct worker *h, struct unit *u);

#endif
