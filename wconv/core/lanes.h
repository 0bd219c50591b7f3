/*
 * Vectors of LANES samples, as wide as the CPU's registers. Transforms here run on LANES rows or columns at a time, one
 * in each lane, so that no butterfly ever shuffles. REAL and BYTES come from the file that includes this: the core is
 * compiled once for each precision and level (f32_avx512.c and its like).
 */
#include <stdint.h>
#include <string.h>

#include "common/img.h"
#include "wconv/plan.h"

typedef REAL real;
enum { LANES = BYTES / sizeof(real) };
typedef real vec __attribute__((vector_size(BYTES)));
typedef real loose __attribute__((vector_size(BYTES), aligned(sizeof(real)))); /* at any address */

#define INLINE static inline __attribute__((always_inline))

#if BYTES / WCONV_SAMPLE == 16
#define EVENS 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define ODDS  8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#elif BYTES / WCONV_SAMPLE == 8
#define EVENS 0, 8, 1, 9, 2, 10, 3, 11
#define ODDS  4, 12, 5, 13, 6, 14, 7, 15
#elif BYTES / WCONV_SAMPLE == 4
#define EVENS 0, 4, 1, 5
#define ODDS  2, 6, 3, 7
#else
#define EVENS 0, 2
#define ODDS  1, 3
#endif

/* t[i] lane j <-> t[j] lane i: log2(LANES) perfect shuffles. */
INLINE void
transpose(vec *t)
{
	vec u[LANES];

	for (int s = 1; s < LANES; s *= 2) {
		for (int i = 0; i < LANES / 2; i++) {
			u[2 * i] = __builtin_shufflevector(t[i], t[i + LANES / 2], EVENS);
			u[2 * i + 1] = __builtin_shufflevector(t[i], t[i + LANES / 2], ODDS);
		}
		for (int i = 0; i < LANES; i++)
			t[i] = u[i];
	}
}
