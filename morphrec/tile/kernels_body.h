/* The four instances of kernel.h and visit.h, and the table of a file that includes them. */
#define T	uint8_t
#define BITS	8
#define N(name) name##_8
#include "morphrec/tile/kernel_body.h"
#include "morphrec/tile/visit_body.h"

#define T	uint16_t
#define BITS	16
#define N(name) name##_16
#include "morphrec/tile/kernel_body.h"
#include "morphrec/tile/visit_body.h"

#define T	uint32_t
#define BITS	32
#define N(name) name##_32
#include "morphrec/tile/kernel_body.h"
#include "morphrec/tile/visit_body.h"

#define T	uint64_t
#define BITS	64
#define N(name) name##_64
#include "morphrec/tile/kernel_body.h"
#include "morphrec/tile/visit_body.h"

#define TILE_KERNELS                                                                              \
	{                                                                                         \
		{visit_8, pour_8}, {visit_16, pour_16}, {visit_32, pour_32}, {visit_64, pour_64}, \
	}
