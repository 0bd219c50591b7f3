/* The kernels on AVX2: a row of bytes is two registers. */
#include "morphrec/tile/isa.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define TARGET __attribute__((target("arch=x86-64-v3")))
#define INLINE static inline TARGET __attribute__((always_inline))
#define LANE   2

typedef __m256i V;

INLINE V
v_load(const void *p)
{
	return _mm256_load_si256(p);
}

INLINE void
v_store(void *p, V a)
{
	_mm256_store_si256(p, a);
}

INLINE V
v_zero(void)
{
	return _mm256_setzero_si256();
}

INLINE V
v_note(V z, V a, V b)
{
	return _mm256_or_si256(z, _mm256_xor_si256(a, b));
}

/* Which 16-byte lanes are not 0. */
INLINE uint32_t
v_lanes(V a)
{
	const uint32_t zero =
	    (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, _mm256_setzero_si256()));

	return (uint32_t)((zero & 0xffff) != 0xffff) | (uint32_t)(zero >> 16 != 0xffff) << 1;
}

INLINE V
v_load_lanes(const void *p, size_t step)
{
	return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_load_si128(p)),
				       _mm_load_si128((const __m128i *)((const char *)p + step)),
				       1);
}

/* The vector 16 bytes earlier (before) and later (after) in a row, for alignr within lanes. */
#define before(a, b) _mm256_permute2x128_si256(a, b, 0x21)
#define after(b, c)  _mm256_permute2x128_si256(b, c, 0x21)

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
		return _mm256_alignr_epi8(b, before(a, b), 16 - bits / 8); \
	}                                                                  \
	INLINE V next##bits(V b, V c)                                      \
	{                                                                  \
		return _mm256_alignr_epi8(after(b, c), b, bits / 8);       \
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
