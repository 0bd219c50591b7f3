/* Corridors, a pixel at a time: tile_flood for the four element sizes. */
#include "morphrec/tile/isa.h"

enum {
	FLOOD_WIDTH = 32, /* pixels waiting at a time: a corridor needs a few */
	FLOOD_AHEAD =
	    8, /* rows: a corridor across the rows meets lines that the processor does not foresee */
	FLOOD_LENGTH = 512 /* pixels spread from: beyond that a visit, of about 2 us, is cheaper */
};

#define TEMPLATE "morphrec/tile/flood_body.h"
#include "morphrec/four_body.h"

tile_flood *const tile_floods[4] = {flood8, flood16, flood32, flood64};
