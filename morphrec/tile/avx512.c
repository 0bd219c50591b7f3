/* The kernels on AVX-512 (BW, VL): a row of bytes is one register. */
#include "morphrec/tile/isa.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define TARGET __attribute__((target("arch=x86-64-v4")))
#define INLINE static inline TARGET __attribute__((always_inline))
#define LANE   4

typedef __m512i V;

INLINE V
v_load(const void *p)
{
	return _mm512_load_si512(p);
}

INLINE void
v_store(void *p, V a)
{
	_mm512_store_si512(p, a);
}

INLINE V
v_zero(void)
{
	return _mm512_setzero_si512();
}

INLINE V
v_note(V z, V a, V b)
{
	return _mm512_ternarylogic_epi64(z, a, b, 0xf6);
}

/* Which 16-byte lanes are not 0. */
INLINE uint32_t
v_lanes(V a)
{
	uint32_t m = _mm512_test_epi64_mask(a, a);

	m = (m | m >> 1) & 0x55;
	m = (m | m >> 1) & 0x33;
	return (m | m >> 2) & 0x0f;
}

INLINE V
v_load_lanes(const void *p, size_t step)
{
	const char *a = p;
	V v = _mm512_broadcast_i32x4(_mm_load_si128((const __m128i *)a));

	v = _mm512_mask_broadcast_i32x4(v, 0x00f0, _mm_load_si128((const __m128i *)(a + step)));
	v = _mm512_mask_broadcast_i32x4(v, 0x0f00, _mm_load_si128((const __m128i *)(a + 2 * step)));
	return _mm512_mask_broadcast_i32x4(v, 0xf000,
					   _mm_load_si128((const __m128i *)(a + 3 * step)));
}

/* The vector 16 bytes earlier (before) and later (after) in a row, for alignr within lanes. */
#define before(a, b) _mm512_alignr_epi32(b, a, 12)
#define after(b, c)  _mm512_alignr_epi32(c, b, 4)

#define OPS(bits, MAX, MIN, LOW, HIGH)                                     \
	INLINE V max##bits(V a, V b)                                       \
	{                                                                  \
		return MAX(a, b);                                          \
	}                                                                  \
	INLINE V min##bits(V a, V b)                                       \
	{                                                                  \
		return MIN(a, b);                                          \
	}                                                                  \
	INLINE V lo##bits(V a, V b)                                        \
	{                                                                  \
		return LOW(a, b);                                          \
	}                                                                  \
	INLINE V hi##bits(V a, V b)                                        \
	{                                                                  \
		return HIGH(a, b);                                         \
	}                                                                  \
	INLINE V prev##bits(V a, V b)                                      \
	{                                                                  \
		return _mm512_alignr_epi8(b, before(a, b), 16 - bits / 8); \
	}                                                                  \
	INLINE V next##bits(V b, V c)                                      \
	{                                                                  \
		return _mm512_alignr_epi8(after(b, c), b, bits / 8);       \
	}

OPS(8, _mm512_max_epu8, _mm512_min_epu8, _mm512_unpacklo_epi8, _mm512_unpackhi_epi8)
OPS(16, _mm512_max_epu16, _mm512_min_epu16, _mm512_unpacklo_epi16, _mm512_unpackhi_epi16)
OPS(32, _mm512_max_epu32, _mm512_min_epu32, _mm512_unpacklo_epi32, _mm512_unpackhi_epi32)
OPS(64, _mm512_max_epu64, _mm512_min_epu64, _mm512_unpacklo_epi64, _mm512_unpackhi_epi64)

#include "morphrec/tile/kernels_body.h"

const struct tile_kernel tile_avx512[4] = TILE_KERNELS;

#else
const struct tile_kernel tile_avx512[4];
#endif
