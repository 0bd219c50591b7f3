/*
 * The kernels on any CPU, in the vectors of GCC and clang: a row of bytes is four 16-byte registers. The comparison is
 * written out, since gcc 12 makes pmaxub and pminub of it only where it is told so.
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
v_load(const void *p)
{
	return *(const V *)p;
}

INLINE void
v_store(void *p, V a)
{
	*(V *)p = a;
}

INLINE V
v_zero(void)
{
	return (V){0, 0};
}

INLINE V
v_note(V z, V a, V b)
{
	return z | (a ^ b);
}

/* Which 16-byte lanes are not 0. */
INLINE uint32_t
v_lanes(V a)
{
	return (a[0] | a[1]) != 0;
}

INLINE V
v_load_lanes(const void *p, size_t step)
{
	(void)step;
	return v_load(p);
}

/* {a[1], b[0]}: the vector half a register before b; the shifts within words below add the rest. */
INLINE V
straddle(V a, V b)
{
	return __builtin_shufflevector(a, b, 1, 2);
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "elements are shifted as parts of words");

/* One operation on all elements of two registers seen as U. */
#define EACH(name, U, n, expression)          \
	INLINE V name(V va, V vb)             \
	{                                     \
		const U a = (U)va, b = (U)vb; \
		U r = a;                      \
		for (int i = 0; i < n; i++)   \
			r[i] = expression;    \
		return (V)r;                  \
	}
#define OPS(bits, U)                                                     \
	EACH(max##bits, U, 128 / bits, a[i] > b[i] ? a[i] : b[i])        \
	EACH(min##bits, U, 128 / bits, a[i] < b[i] ? a[i] : b[i])        \
	INLINE V lo##bits(V a, V b)                                      \
	{                                                                \
		return (V)__builtin_shufflevector((U)a, (U)b, LO##bits); \
	}                                                                \
	INLINE V hi##bits(V a, V b)                                      \
	{                                                                \
		return (V)__builtin_shufflevector((U)a, (U)b, HI##bits); \
	}

#define LO8  0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HI8  8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define LO16 0, 8, 1, 9, 2, 10, 3, 11
#define HI16 4, 12, 5, 13, 6, 14, 7, 15
#define LO32 0, 4, 1, 5
#define HI32 2, 6, 3, 7
#define LO64 0, 2
#define HI64 1, 3

OPS(8, V8)
OPS(16, V16)
OPS(32, V32)
OPS(64, V64)

#define SHIFTS(bits)                                              \
	INLINE V prev##bits(V a, V b)                             \
	{                                                         \
		return b << bits | straddle(a, b) >> (64 - bits); \
	}                                                         \
	INLINE V next##bits(V b, V c)                             \
	{                                                         \
		return b >> bits | straddle(b, c) << (64 - bits); \
	}

SHIFTS(8)
SHIFTS(16)
SHIFTS(32)

INLINE V
prev64(V a, V b)
{
	return straddle(a, b);
}

INLINE V
next64(V b, V c)
{
	return straddle(b, c);
}

#include "morphrec/tile/kernels_body.h"

const struct tile_kernel tile_generic[4] = TILE_KERNELS;
