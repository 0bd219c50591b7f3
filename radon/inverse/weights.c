#include <math.h>

#include "common/base/cpu.h"
#include "radon/inverse/weights.h"

/* The amplitude of a sample is found over SMOOTH samples to each side. */
enum { SMOOTH = 3, CHAINS = 16 };
static const float least = 1e-2f;

/* The root of the sum of squares of samples first .. end - 1. */
CPU_INLINE float
amplitude(const float *m, size_t first, size_t end)
{
	float sum = 0;

	for (size_t v = first; v < end; v++)
		sum += m[v] * m[v];
	return sqrtf(sum);
}

/* Fills the amplitudes of the samples that have SMOOTH samples to each side. */
WEIR_CLONES(fill_inside, (const float *restrict m, float *restrict to, size_t n), (m, to, n))
{
	for (size_t t = SMOOTH; t + SMOOTH < n; t++)
		to[t] = amplitude(m, t - SMOOTH, t + SMOOTH + 1);
}

/* The greatest of n numbers, 0 or more. */
WEIR_CLONES_OF(float, greatest, (const float *x, size_t n), (x, n))
{
	float top[CHAINS] = {0}, all = 0;

	for (size_t t = 0; t + CHAINS <= n; t += CHAINS)
		for (size_t c = 0; c < CHAINS; c++)
			top[c] = x[t + c] > top[c] ? x[t + c] : top[c];
	for (size_t t = n / CHAINS * CHAINS; t < n; t++)
		top[0] = x[t] > top[0] ? x[t] : top[0];
	for (size_t c = 0; c < CHAINS; c++)
		all = top[c] > all ? top[c] : all;
	return all;
}

float
radon_amplitudes(const float *m, float *to, size_t n)
{
	for (size_t t = 0; t < n; t++)
		if (t < SMOOTH || t + SMOOTH >= n)
			to[t] = amplitude(m, t < SMOOTH ? 0 : t - SMOOTH,
					  t + SMOOTH < n ? t + SMOOTH + 1 : n);
	fill_inside(m, to, n);
	return greatest(to, n);
}

WEIR_CLONES(weigh, (const float *restrict amplitude, float top, float *restrict weight, size_t n),
	    (amplitude, top, weight, n))
{
	for (size_t t = 0; t < n; t++) {
		const float w = sqrtf(amplitude[t] / top);
		weight[t] = w > least ? w : least;
	}
}

void
radon_weights(const float *amplitude, float top, float *weight, size_t n)
{
	for (size_t t = 0; t < n && !(top > 0); t++)
		weight[t] = 1;
	if (top > 0)
		weigh(amplitude, top, weight, n);
}
