/*
 * Phases exp(2 pi i k (a_j + i c_j)) of curves i and traces j at frequency k, in double. A sine and cosine in double costs some
 * hundred operations, so a block works out LOW + CURVES / LOW of them a trace, not CURVES: curve i = LOW h + l has the product
 * of entry l and entry h, whose error is that of two sines.
 */
#ifndef WEIR_GPU_RADON_PHASES_H
#define WEIR_GPU_RADON_PHASES_H

#include "gpu/radon/work.h"

namespace
{

constexpr unsigned LOW = 16, CURVES = 512, HIGH = CURVES / LOW, TRACES = 8;

/* Those of TRACES traces and CURVES curves. In shared memory: 6 KB. */
struct phases {
	pair<double> low[TRACES][LOW], high[TRACES][HIGH];
};

__device__ pair<double>
times(const pair<double> &a, const pair<double> &b)
{
	return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* Fills p by all threads of the block, for traces from j on and curves from i on. moved: with a_j; otherwise it is taken as 0. */
__device__ void
fill_phases(const radon_job &w, unsigned k, unsigned j, unsigned i, bool moved, phases *p)
{
	const unsigned entries = LOW + HIGH;

	for (unsigned e = threadIdx.x; e < TRACES * entries; e += blockDim.x) {
		const unsigned t = e / entries, at = e % entries;
		const unsigned h = at - LOW;
		pair<double> z = {0, 0};
		if (j + t < w.nx && (at < LOW || i + LOW * h < w.nq)) {
			const double c = w.c[j + t], a = moved ? w.a[j + t] : 0;
			z = turn_exactly(k * (at < LOW ? at * c : a + (i + LOW * h) * c));
		}
		(at < LOW ? p->low[t][at] : p->high[t][h]) = z;
	}
}

/* Adds a b to sum. */
__device__ void
add_product(pair<double> &sum, const pair<double> &a, const pair<double> &b)
{
	sum.re += a.re * b.re;
	sum.re -= a.im * b.im;
	sum.im += a.re * b.im;
	sum.im += a.im * b.re;
}

/*
 * put(i, sum) for each curve i, by all threads of the block: the sum over traces of d_j exp(2 pi i k (a_j + i c_j)), in the
 * order of the traces. d NULL: the sum over live traces of exp(2 pi i k i c_j). EACH = CURVES / threads of the block. The curves
 * of a thread have the same entry l, so that is multiplied by d_j once.
 */
template <unsigned EACH, class PUT>
__device__ void
sum_phases(const radon_job &w, unsigned k, const pair<float> *d, phases *p, PUT put)
{
	constexpr unsigned BLOCK = CURVES / EACH, APART = BLOCK / LOW;
	const unsigned l = threadIdx.x % LOW, h = threadIdx.x / LOW;
	static_assert(BLOCK % LOW == 0, "a thread's curves have the same entry l");

	for (unsigned first = 0; first < w.nq; first += CURVES) {
		const unsigned i = first + threadIdx.x;
		pair<double> sum[EACH] = {};
		for (unsigned j = 0; j < w.nx; j += TRACES) {
			__syncthreads();
			fill_phases(w, k, j, first, d != NULL, p);
			__syncthreads();
			for (unsigned t = 0; t < min(TRACES, w.nx - j); t++) {
				if (!d && !w.live[j + t])
					continue;
				pair<double> z = p->low[t][l];
				if (d)
					z = times(z, {d[j + t].re, d[j + t].im});
#pragma unroll
				for (unsigned e = 0; e < EACH; e++)
					if (i + e * BLOCK < w.nq)
						add_product(sum[e], z, p->high[t][h + e * APART]);
			}
		}
#pragma unroll
		for (unsigned e = 0; e < EACH; e++)
			if (i + e * BLOCK < w.nq)
				put(i + e * BLOCK, sum[e]);
	}
}

} // namespace

#endif
