/* What direct sums and their adjoint share: the layout of a warp's sums, blended taps, and sums with compensation. */
#ifndef WEIR_GPU_WCONV_TAPS_H
#define WEIR_GPU_WCONV_TAPS_H

#include "gpu/wconv/job.h"

namespace
{

/* A warp makes SPAN results, LANE of them in a thread, TAPS taps at a time. STRIDE is odd, so that threads meet no bank twice. */
constexpr unsigned WARPS = 4, LANE = 8, SPAN = WC_SPAN, TAPS = 32, STAGED = SPAN + TAPS;
constexpr unsigned STRIDE = STAGED / LANE + (STAGED / LANE % 2 ? 0 : 1);

template <class T> struct taps {
	T a, b;
};

/* Returns tap t of kernel row b for functions f and f + 1 of x at row r of the results: the kernels above and below, blended. */
template <class T>
__device__ taps<T>
blended_taps(const wc_work<T> &w, unsigned r, unsigned f, unsigned b, unsigned t)
{
	taps<T> sum = {0, 0};

	for (unsigned j = 0; j < w.nwy && t < w.kw; j++) {
		const unsigned fy = w.fy[r] + j, at = fy * w.nfx + f;
		if (fy >= w.nfy)
			break;
		const T weight = w.wy[(size_t)j * w.rows + r];
		const unsigned k = f < w.nfx ? w.number[at] : WC_NONE;
		const unsigned next = f + 1 < w.nfx ? w.number[at + 1] : WC_NONE;
		if (k != WC_NONE)
			sum.a += weight * w.kernel[((size_t)k * w.kh + b) * w.kw + t];
		if (next != WC_NONE)
			sum.b += weight * w.kernel[((size_t)next * w.kh + b) * w.kw + t];
	}
	return sum;
}

/* What a warp has in shared memory: sample s of the row is at [s % LANE][s / LANE]. */
template <class T, class V> struct staged {
	V sample[LANE][STRIDE];
	taps<T> tap[TAPS];
};

/*
 * Adds the staged taps times the samples that they meet to a lane's 8 sums. v[(u + i) % 8] is the sample of tap u, sum i.
 * add_tap() says what a product is.
 */
template <class T, class V, class S>
__device__ void
sum_taps(const staged<T, V> &s, S sum[LANE])
{
	const unsigned lane = threadIdx.x % 32;
	V v[LANE];

#pragma unroll
	for (unsigned i = 0; i < LANE; i++) {
		sum[i] = {};
		v[i] = s.sample[i][lane];
	}
	for (unsigned m = 0; m < TAPS / LANE; m++)
#pragma unroll
		for (unsigned u = 0; u < LANE; u++) {
			const taps<T> k = s.tap[m * LANE + u];
#pragma unroll
			for (unsigned i = 0; i < LANE; i++)
				add_tap(sum[i], k, v[(u + i) % LANE]);
			v[u] = s.sample[u][lane + m + 1];
		}
}

/* Adds v to sum + lost. */
template <class T>
__device__ void
add_compensated(T &sum, T &lost, T v)
{
	const T y = v - lost, t = sum + y;

	lost = (t - sum) - y;
	sum = t;
}

} // namespace

#endif
