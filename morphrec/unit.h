/* What the tile engine keeps, and one unit of its work. See tile.h. */
#ifndef MORPHREC_UNIT_H
#define MORPHREC_UNIT_H

#include "morphrec/morphrec.h"
#include "morphrec/tile.h"

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

/* What a thread has in hand. */
struct hand {
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
	bool raw; /* J is not clipped yet: units clip what is theirs as they begin */
	enum tile_pour pour;
	const struct tile_kernel *kernel;
	tile_flood *flood;
	void (*visit)(struct tile_job *, size_t, size_t);
	struct record *tile; /* [d][th][tw] */
	struct unit *unit;   /* [d][bands] */
	struct unit **due;   /* work space: those that run next */
	struct hand *hand;   /* [threads] */
	struct tile_job job; /* what all hands begin with */
	struct morphrec_problem what;
	void *J;
	const void *I;
};

/* Clips samples [at, at + n) of all, and adds to sum what it met; sum does not learn of two values. */
void clip_some(const struct morphrec_problem *what, void *J, const void *I, size_t at, size_t n,
	       struct morphrec_clip *sum);

/* Adds to a what was seen in another part. */
void clip_join(struct morphrec_clip *a, const struct morphrec_clip *b);

/* Brings u to its fixpoint, given what its neighbours owe it, and notes what it owes them. */
void unit_run(const struct engine *e, struct hand *h, struct unit *u);

#endif
