/* Corridors, a pixel at a time: tile_flood for the four element sizes. */
#include "morphrec/isa.h"

enum {
	FLOOD_WIDTH = 32,  /* pixels waiting at a time: a corridor needs a few */
	FLOOD_LENGTH = 512 /* pixels spread from: beyond that a visit, of about 2 us, is cheaper */
};

#define T	uint8_t
#define BITS	8
#define N(name) name##_8
#include "morphrec/flood.h"

#define T	uint16_t
#define BITS	16
#define N(name) name##_16
#include "morphrec/flood.h"

#define T	uint32_t
#define BITS	32
#define N(name) name##_32
#include "morphrec/flood.h"

#define T	uint64_t
#define BITS	64
#define N(name) name##_64
#include "morphrec/flood.h"

tile_flood *const tile_floods[4] = {flood_8, flood_16, flood_32, flood_64};
