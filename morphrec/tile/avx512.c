/* The kernels on AVX-512 (BW, VL): a row of bytes is 256 pixels. */
#include "morphrec/tile/isa.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define TARGET __attribute__((target("arch=x86-64-v4")))
#define INLINE static inline TARGET __attribute__((always_inline))
#define LANE   4

typedef __m512i V;

INLINE V
v_zero(void)
{
	return _mm512_setzero_si512();
}

INLINE V
v_or(V a, V b)
{
	return _mm512_or_si512(a, b);
}

INLINE V
v_xor(V a, V b)
{
	return _mm512_xor_si512(a, b);
}

INLINE bool
v_any(V a)
{
	return _mm512_test_epi64_mask(a, a) != 0;
}

INLINE V
v_load_lanes(const char *p, size_t step)
{
	V v = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)p));

	v = _mm512_mask_broadcast_i32x4(v, 0x00f0, _mm_loadu_si128((const __m128i *)(p + step)));
	v = _mm512_mask_broadcast_i32x4(v, 0x0f00,
					_mm_loadu_si128((const __m128i *)(p + 2 * step)));
	return _mm512_mask_broadcast_i32x4(v, 0xf000,
					   _mm_loadu_si128((const __m128i *)(p + 3 * step)));
}

INLINE void
v_store_lanes(char *p, size_t step, V a)
{
	_mm_storeu_si128((__m128i *)p, _mm512_castsi512_si128(a));
	_mm_storeu_si128((__m128i *)(p + step), _mm512_extracti32x4_epi32(a, 1));
	_mm_storeu_si128((__m128i *)(p + 2 * step), _mm512_extracti32x4_epi32(a, 2));
	_mm_storeu_si128((__m128i *)(p + 3 * step), _mm512_extracti32x4_epi32(a, 3));
}

/* The vector 16 bytes earlier and later, for alignr within lanes. */
#define before(a) _mm512_maskz_shuffle_i32x4(0xfff0, a, a, 0x90)
#define after(a)  _mm512_maskz_shuffle_i32x4(0x0fff, a, a, 0x39)

#define MM(name) _mm512_##name
#include "morphrec/tile/x86_body.h"

OPS(64, MM(max_epu64), MM(min_epu64))

#include "morphrec/tile/kernels_body.h"

const struct tile_kernel tile_avx512[4] = TILE_KERNELS;

#else
const struct tile_kernel tile_avx512[4];
#endif
