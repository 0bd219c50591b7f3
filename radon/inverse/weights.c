#include <math.h>

#include "radon/inverse/weights.h"

/* The amplitude of a sample is found over SMOOTH samples to each side. */
enum { SMOOTH = 3 };
static const float least = 1e-2f;

float
radon_amplitudes(const float *m, float *to, size_t n)
{
	float top = 0;

	for (size_t t = 0; t < n; t++) {
		float sum = 0;
		for (size_t v = t < SMOOTH ? 0 : t - SMOOTH; v <= t + SMOOTH && v < n; v++)
			sum += m[v] * m[v];
		to[t] = sqrtf(sum);
		top = fmaxf(top, to[t]);
	}
	return top;
}

void
radon_weights(const float *amplitude, float top, float *weight, size_t n)
{
	for (size_t t = 0; t < n; t++)
		weight[t] = top > 0 ? fmaxf(sqrtf(amplitude[t] / top), least) : 1;
}
