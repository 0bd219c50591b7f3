/*
 * Vectors as wide as the registers of one level. A file is compiled for one precision and one level; it defines
 *	REAL	float or double
 *	SAMPLE	the bytes of a REAL: 4 or 8
 *	BYTES	the bytes of a register: 16, 32 or 64
 * This header then defines real, vec, loose, LANES and the moves of samples between lanes. The file includes it between
 * TARGET_BEGIN and TARGET_END; see common/base/simd.h.
 */
#ifndef WEIR_BASE_VEC_H
#define WEIR_BASE_VEC_H

#define LANES  (BYTES / SAMPLE)
#define INLINE static inline __attribute__((always_inline, unused))

typedef REAL real;
typedef real vec __attribute__((vector_size(BYTES)));
/* A vector at any address. */
typedef real loose __attribute__((vector_size(BYTES), aligned(SAMPLE)));

/* Shuffles of two vectors a and b: a0 b0 a1 b1 .. of their lower or upper halves; the even or the odd lanes of both. */
#if BYTES / SAMPLE == 2
#define VEC_ZIP_LOW  0, 2
#define VEC_ZIP_HIGH 1, 3
#define VEC_EVEN     0, 2
#define VEC_ODD	     1, 3
#elif BYTES / SAMPLE == 4
#define VEC_ZIP_LOW  0, 4, 1, 5
#define VEC_ZIP_HIGH 2, 6, 3, 7
#define VEC_EVEN     0, 2, 4, 6
#define VEC_ODD	     1, 3, 5, 7
#elif BYTES / SAMPLE == 8
#define VEC_ZIP_LOW  0, 8, 1, 9, 2, 10, 3, 11
#define VEC_ZIP_HIGH 4, 12, 5, 13, 6, 14, 7, 15
#define VEC_EVEN     0, 2, 4, 6, 8, 10, 12, 14
#define VEC_ODD	     1, 3, 5, 7, 9, 11, 13, 15
#else
#define VEC_ZIP_LOW  0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define VEC_ZIP_HIGH 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define VEC_EVEN     0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define VEC_ODD	     1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
#endif

#define VEC_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)

/* Exchanges lane j of t[i] with lane i of t[j], by log2(LANES) perfect shuffles. */
INLINE void
transpose(vec *t)
{
	vec u[LANES];

	for (int s = 1; s < LANES; s *= 2) {
		for (int i = 0; i < LANES / 2; i++) {
			u[2 * i] = VEC_SHUFFLE(t[i], t[i + LANES / 2], VEC_ZIP_LOW);
			u[2 * i + 1] = VEC_SHUFFLE(t[i], t[i + LANES / 2], VEC_ZIP_HIGH);
		}
		for (int i = 0; i < LANES; i++)
			t[i] = u[i];
	}
}

#endif
