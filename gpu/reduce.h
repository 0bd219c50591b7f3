/* Sums and maxima over the threads of a block of THREADS, or of a warp, always in the same order. All of its threads call them. */
#ifndef WEIR_GPU_REDUCE_H
#define WEIR_GPU_REDUCE_H

#include "gpu/device.h"

namespace
{

constexpr unsigned WARP = 32;

/* Returns the sum of the warp's v to all of its lanes. */
template <class T>
__device__ T
warp_sum(T v)
{
	for (int step = WARP / 2; step; step /= 2)
		v += __shfl_xor_sync(~0u, v, step);
	return v;
}

/* Returns the sum of the block's v to all of its threads. */
template <unsigned THREADS, class T>
__device__ T
block_sum(T v)
{
	__shared__ T part[THREADS / WARP];
	T sum = 0;

	v = warp_sum(v);
	__syncthreads(); /* an earlier sum has been read */
	if (threadIdx.x % WARP == 0)
		part[threadIdx.x / WARP] = v;
	__syncthreads();
	for (unsigned i = 0; i < THREADS / WARP; i++)
		sum += part[i];
	return sum;
}

/* Returns the largest of the warp's v to all of its lanes. */
template <class T>
__device__ T
warp_largest(T v)
{
	for (int step = WARP / 2; step; step /= 2) {
		const T other = __shfl_xor_sync(~0u, v, step);
		v = other > v ? other : v;
	}
	return v;
}

/* Returns the largest of the block's v to all of its threads. */
template <unsigned THREADS, class T>
__device__ T
block_largest(T v)
{
	__shared__ T part[THREADS / WARP];

	v = warp_largest(v);
	__syncthreads();
	if (threadIdx.x % WARP == 0)
		part[threadIdx.x / WARP] = v;
	__syncthreads();
	for (unsigned i = 0; i < THREADS / WARP; i++)
		v = part[i] > v ? part[i] : v;
	return v;
}

} // namespace

#endif
