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

#define MM(name) _mm256_##name
#include "morphrec/tile/x86_body.h"

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

OPS(64, larger64, smaller64)

#include "morphrec/tile/kernels_body.h"

const struct tile_kernel tile_avx2[4] = TILE_KERNELS;

#else
const struct tile_kernel tile_avx2[4];
#endif
