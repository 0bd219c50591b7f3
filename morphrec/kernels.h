/* The four instances of kernel.h and visit.h, and the table of a file that includes them. */
#define T	uint8_t
#define BITS	8
#define N(name) name##_8
#include "morphrec/kernel.h"
#include "morphrec/visit.h"
#include "morphrec/two.h"

#define T	uint16_t
#define BITS	16
#define N(name) name##_16
#include "morphrec/kernel.h"
#include "morphrec/visit.h"

#define T	uint32_t
#define BITS	32
#define N(name) name##_32
#include "morphrec/kernel.h"
#include "morphrec/visit.h"

#define T	uint64_t
#define BITS	64
#define N(name) name##_64
#include "morphrec/kernel.h"
#include "morphrec/visit.h"

/* Two-valued pictures of wider elements are rare: the ordinary kernels do them. */
#define TILE_KERNELS                                                              \
	{                                                                         \
		{visit_8, visit_two, pour_8}, {visit_16, visit_16, pour_16},      \
		    {visit_32, visit_32, pour_32}, {visit_64, visit_64, pour_64}, \
	}
