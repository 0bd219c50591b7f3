/* Corridors, a pixel at a time: striped_flood for the four element sizes. */
#include "morphrec/striped/isa.h"

enum {
	FLOOD_WAITING = 32, /* pixels that wait at a time: a corridor needs a few */
	FLOOD_AHEAD =
	    8, /* rows: a corridor across the rows meets lines that the processor does not foresee */
	FLOOD_LENGTH =
	    512, /* pixels spread from: beyond that a visit, of some microseconds, is cheaper */
	FLOOD_NEAR = 26
};

/* A neighbour: its offset, and how far on in the array it lies. */
struct near {
	int x, y, z;
	ptrdiff_t at;
};

/* The neighbours of a pixel; returns their number. */
static int
list_near(const struct striped_job *o, struct near to[FLOOD_NEAR])
{
	const bool volume = o->conn != 4 && o->conn != 8;
	const int axes = o->conn == 4 || o->conn == 6 ? 1 : o->conn == 18 ? 2 : 3;
	int n = 0;

	for (int z = -volume; z <= volume; z++)
		for (int y = -1; y <= 1; y++)
			for (int x = -1; x <= 1; x++) {
				const int apart = (x != 0) + (y != 0) + (z != 0);
				if (apart && apart <= axes)
					to[n++] = (struct near){
					    x, y, z,
					    (z * (ptrdiff_t)o->y.n + y) * (ptrdiff_t)o->x.n + x};
			}
	return n;
}

static inline bool
is_in(const struct striped_span *s, int p)
{
	return p >= s->begin && p < s->end;
}

/* -1, 0 or 1: the neighbour of the tile that place p belongs to. */
static inline int
side(const struct striped_span *s, int p)
{
	return p < s->first ? -1 : p >= s->after;
}

#define TEMPLATE "morphrec/striped/flood_body.h"
#include "morphrec/four_body.h"

striped_flood *const striped_floods[4] = {flood8, flood16, flood32, flood64};
