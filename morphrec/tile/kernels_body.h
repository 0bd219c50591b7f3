/*
 * keys8(v, map) .. keys64(v, map): the keys of the samples in a vector, as key8_in() .. key64_in() make them one by one.
 * Loops over memory would store the keys before they are striped, and runs on floats would take 5 to 14 % longer.
 */
#define INTEGERS(U, bits)                                             \
	typedef U some##bits __attribute__((vector_size(sizeof(V)))); \
	INLINE V keys##bits(V v, struct key_map map)                  \
	{                                                             \
		return (V)((some##bits)v ^ (U)map.flip);              \
	}

INTEGERS(uint8_t, 8)
INTEGERS(uint16_t, 16)

#define INTEGERS_OR_REALS(U, I, F, bits)                                                        \
	typedef U some##bits __attribute__((vector_size(sizeof(V))));                           \
	typedef I signed##bits __attribute__((vector_size(sizeof(V))));                         \
	typedef F reals##bits __attribute__((vector_size(sizeof(V))));                          \
	INLINE V keys##bits(V v, struct key_map map)                                            \
	{                                                                                       \
		const U top = (U)1 << (bits - 1);                                               \
		const reals##bits f = (reals##bits)v + (F)0;                                    \
		const some##bits number = (some##bits)(f == f),                                 \
				 sign = (some##bits)((signed##bits)f >> (bits - 1)),            \
				 key = ((some##bits)f ^ ((sign | top) ^ (U)map.flip)) & number; \
		return map.real ? (V)key : (V)((some##bits)v ^ (U)map.flip);                    \
	}

INTEGERS_OR_REALS(uint32_t, int32_t, float, 32)
INTEGERS_OR_REALS(uint64_t, int64_t, double, 64)
#undef INTEGERS
#undef INTEGERS_OR_REALS

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
