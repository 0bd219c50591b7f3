/* Floods tiles pixel by pixel, as along corridors: tile_flood for the four element sizes. */
#include "morphrec/tile/engine.h"

enum {
	FLOOD_WAITING = 40, /* pixels in the queue, at most: a corridor needs a few */
	/* Rows ahead that are prefetched: the processor does not foresee the next rows of a corridor. */
	FLOOD_AHEAD = 8,
	/* Pixels that raise their neighbours, at most. Beyond that a visit, of some microseconds, is cheaper. */
	FLOOD_LENGTH = 512,
};

/* Returns the pixel of the array that is x, y, z of the tile. */
static inline size_t
place(const struct tile_job *o, int x, int y, int z)
{
	return ((size_t)(o->sz.at + z) * o->y.n + (size_t)(o->sy.at + y)) * o->x.n +
	       (size_t)(o->sx.at + x);
}

static inline bool
is_in(const struct tile_span *s, int p)
{
	return p >= s->begin && p < s->end;
}

/* Whether p and the places beside it are the tile's own. */
static inline bool
is_within(const struct tile_span *s, int p)
{
	return p > s->first && p + 1 < s->after;
}

#define TEMPLATE "morphrec/tile/flood_body.h"
#include "morphrec/four_body.h"

tile_flood *const tile_floods[4] = FOUR(flood);
