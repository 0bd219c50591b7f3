/* What direct sums and their adjoint share: blended taps, a thread's sums in registers, and sums with compensation. */
#ifndef WEIR_GPU_WCONV_TAPS_H
#define WEIR_GPU_WCONV_TAPS_H

#include "gpu/wconv/job.h"

namespace
{

/* A thread makes LANE results side by side, TAPS taps at a time. Sample s of a row lies at [s % LANE][s / LANE]. */
constexpr unsigned LANE = 8, TAPS = 32;

/* A tap of the kernels of N functions side by side. */
template <class T, unsigned N> struct alignas(N * sizeof(T)) taps {
	T of[N];
};

/*
 * Sets sum[i] to tap t of kernel row b + i for functions f .. f + N - 1 of x at row r of the results: the kernels above and
 * below, blended. Taps beyond the kernel are 0.
 */
template <class T, unsigned N, unsigned ROWS>
__device__ void
blend_taps(const wc_work<T> &w, unsigned r, unsigned f, unsigned b, unsigned t,
	   taps<T, N> (&sum)[ROWS])
{
#pragma unroll
	for (unsigned i = 0; i < ROWS; i++)
		sum[i] = {};
	for (unsigned j = 0; j < w.nwy && t < w.kw && w.fy[r] + j < w.nfy; j++) {
		const T weight = w.wy[(size_t)j * w.rows + r];
#pragma unroll
		for (unsigned n = 0; n < N; n++) {
			const unsigned k =
			    f + n < w.nfx ? w.number[(w.fy[r] + j) * w.nfx + f + n] : WC_NONE;
			const T *const tap = w.kernel + ((size_t)k * w.kh + b) * w.kw + t;
#pragma unroll
			for (unsigned i = 0; i < ROWS; i++)
				if (k != WC_NONE && b + i < w.kh)
					sum[i].of[n] += weight * tap[(size_t)i * w.kw];
		}
	}
}

/*
 * Sets a thread's sums to the products of 8 * eights taps and the samples that they meet, from sample[0][0] on.
 * v[(u + i) % 8] is the sample of tap u, sum i. add_tap() says what a product is.
 */
template <class K, class V, class S, unsigned STRIDE>
__device__ void
sum_taps(const K *tap, const V (*sample)[STRIDE], unsigned eights, S sum[LANE])
{
	V v[LANE];

#pragma unroll
	for (unsigned i = 0; i < LANE; i++) {
		sum[i] = {};
		v[i] = sample[i][0];
	}
	for (unsigned m = 0; m < eights; m++)
#pragma unroll
		for (unsigned u = 0; u < LANE; u++) {
			const K k = tap[m * LANE + u];
#pragma unroll
			for (unsigned i = 0; i < LANE; i++)
				add_tap(sum[i], k, v[(u + i) % LANE]);
			v[u] = sample[u][m + 1];
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
