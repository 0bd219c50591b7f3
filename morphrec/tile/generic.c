/*
 * The kernels for any CPU, with the vector types of GCC and clang: a row of bytes is 64 pixels. Comparisons are masks, because
 * gcc 12 takes the elements apart for a loop of conditional expressions: an h-dome of 2048 x 2048 bytes then takes 130 ms
 * instead of 12.
 */
#include "morphrec/tile/isa.h"

#define TARGET
#define INLINE static inline __attribute__((always_inline))
#define LANE   1

typedef uint64_t V __attribute__((vector_size(16), may_alias));
typedef uint8_t V8 __attribute__((vector_size(16)));
typedef uint16_t V16 __attribute__((vector_size(16)));
typedef uint32_t V32 __attribute__((vector_size(16)));
typedef uint64_t V64 __attribute__((vector_size(16)));

INLINE V
v_zero(void)
{
	return (V){0, 0};
}

INLINE V
v_or(V a, V b)
{
	return a | b;
}

INLINE V
v_xor(V a, V b)
{
	return a ^ b;
}

INLINE bool
v_any(V a)
{
	return (a[0] | a[1]) != 0;
}

INLINE V
v_load_lanes(const char *p, size_t step)
{
	V v;

	(void)step;
	memcpy(&v, p, sizeof v);
	return v;
}

INLINE void
v_store_lanes(char *p, size_t step, V a)
{
	(void)step;
	memcpy(p, &a, sizeof a);
}

#define OPS(bits, U)                                                              \
	INLINE V max##bits(V a, V b)                                              \
	{                                                                         \
		const V more = (V)((U)a > (U)b);                                  \
		return (a & more) | (b & ~more);                                  \
	}                                                                         \
	INLINE V min##bits(V a, V b)                                              \
	{                                                                         \
		const V more = (V)((U)a > (U)b);                                  \
		return (b & more) | (a & ~more);                                  \
	}                                                                         \
	INLINE V lo##bits(V a, V b)                                               \
	{                                                                         \
		return (V)__builtin_shufflevector((U)a, (U)b, LO##bits);          \
	}                                                                         \
	INLINE V hi##bits(V a, V b)                                               \
	{                                                                         \
		return (V)__builtin_shufflevector((U)a, (U)b, HI##bits);          \
	}                                                                         \
	INLINE V up##bits(V a)                                                    \
	{                                                                         \
		return (V)__builtin_shufflevector((U)v_zero(), (U)a, UP##bits);   \
	}                                                                         \
	INLINE V down##bits(V a)                                                  \
	{                                                                         \
		return (V)__builtin_shufflevector((U)a, (U)v_zero(), DOWN##bits); \
	}

#define LO8    0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HI8    8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define UP8    15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
#define DOWN8  1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
#define LO16   0, 8, 1, 9, 2, 10, 3, 11
#define HI16   4, 12, 5, 13, 6, 14, 7, 15
#define UP16   7, 8, 9, 10, 11, 12, 13, 14
#define DOWN16 1, 2, 3, 4, 5, 6, 7, 8
#define LO32   0, 4, 1, 5
#define HI32   2, 6, 3, 7
#define UP32   3, 4, 5, 6
#define DOWN32 1, 2, 3, 4
#define LO64   0, 2
#define HI64   1, 3
#define UP64   1, 2
#define DOWN64 1, 2

OPS(8, V8)
OPS(16, V16)
OPS(32, V32)
OPS(64, V64)

#include "morphrec/tile/kernels_body.h"

const struct tile_kernel tile_generic[4] = TILE_KERNELS;
