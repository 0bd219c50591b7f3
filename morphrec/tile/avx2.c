/* The kernels on AVX2: a row of bytes is 128 pixels. */
#include "morphrec/tile/isa.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define TARGET __attribute__((target("arch=x86-64-v3")))
#define INLINE static inline TARGET __attribute__((always_inline))
#define LANE   2

typedef __m256i V;

INLINE V
v_zero(void)
{
	return _mm256_setzero_si256();
}

INLINE V
v_or(V a, V b)
{
	return _mm256_or_si256(a, b);
}

INLINE V
v_xor(V a, V b)
{
	return _mm256_xor_si256(a, b);
}

INLINE bool
v_any(V a)
{
	return !_mm256_testz_si256(a, a);
}

INLINE V
v_load_lanes(const char *p, size_t step)
{
	return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)p)),
				       _mm_loadu_si128((const __m128i *)(p + step)), 1);
}

INLINE void
v_store_lanes(char *p, size_t step, V a)
{
	_mm_storeu_si128((__m128i *)p, _mm256_castsi256_si128(a));
	_mm_storeu_si128((__m128i *)(p + step), _mm256_extracti128_si256(a, 1));
}

/* The vector 16 bytes earlier and later, for alignr within lanes. */
#define before(a) _mm256_permute2x128_si256(a, a, 0x08)
#define after(a)  _mm256_permute2x128_si256(a, a, 0x81)

#define OPS(bits, MAX, MIN, LOW, HIGH)                                  \
	INLINE V max##bits(V a, V b)                                    \
	{                                                               \
		return MAX(a, b);                                       \
	}                                                               \
	INLINE V min##bits(V a, V b)                                    \
	{                                                               \
		return MIN(a, b);                                       \
	}                                                               \
	INLINE V lo##bits(V a, V b)                                     \
	{                                                               \
		return LOW(a, b);                                       \
	}                                                               \
	INLINE V hi##bits(V a, V b)                                     \
	{                                                               \
		return HIGH(a, b);                                      \
	}                                                               \
	INLINE V up##bits(V a)                                          \
	{                                                               \
		return _mm256_alignr_epi8(a, before(a), 16 - bits / 8); \
	}                                                               \
	INLINE V down##bits(V a)                                        \
	{                                                               \
		return _mm256_alignr_epi8(after(a), a, bits / 8);       \
	}

/* Unsigned comparison of 64 bits: signed, with the sign bits flipped. */
INLINE V
greater64(V a, V b)
{
	const V top = _mm256_set1_epi64x(INT64_MIN);

	return _mm256_cmpgt_epi64(_mm256_xor_si256(a, top), _mm256_xor_si256(b, top));
}

INLINE V
larger64(V a, V b)
{
	return _mm256_blendv_epi8(b, a, greater64(a, b));
}

INLINE V
smaller64(V a, V b)
{
	return _mm256_blendv_epi8(a, b, greater64(a, b));
}

OPS(8, _mm256_max_epu8, _mm256_min_epu8, _mm256_unpacklo_epi8, _mm256_unpackhi_epi8)
OPS(16, _mm256_max_epu16, _mm256_min_epu16, _mm256_unpacklo_epi16, _mm256_unpackhi_epi16)
OPS(32, _mm256_max_epu32, _mm256_min_epu32, _mm256_unpacklo_epi32, _mm256_unpackhi_epi32)
OPS(64, larger64, smaller64, _mm256_unpacklo_epi64, _mm256_unpackhi_epi64)

#include "morphrec/tile/kernels_body.h"

const struct tile_kernel tile_avx2[4] = TILE_KERNELS;

#else
const struct tile_kernel tile_avx2[4];
#endif
