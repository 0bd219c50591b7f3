/* The four instances of row_body.h and visit_body.h, and the table of kernels of the file that includes this one. */
#define T	uint8_t
#define BITS	8
#define N(name) name##_8
#include "morphrec/tile/row_body.h"
#include "morphrec/tile/visit_body.h"

#define T	uint16_t
#define BITS	16
#define N(name) name##_16
#include "morphrec/tile/row_body.h"
#include "morphrec/tile/visit_body.h"

#define T	uint32_t
#define BITS	32
#define N(name) name##_32
#include "morphrec/tile/row_body.h"
#include "morphrec/tile/visit_body.h"

#define T	uint64_t
#define BITS	64
#define N(name) name##_64
#include "morphrec/tile/row_body.h"
#include "morphrec/tile/visit_body.h"

#define TILE_KERNELS                                                            \
	{                                                                       \
		{WIDTH_8, visit_8}, {WIDTH_16, visit_16}, {WIDTH_32, visit_32}, \
		{                                                               \
			WIDTH_64, visit_64                                      \
		}                                                               \
	}
