/* Kernels with the faults that t/cudacpu is there to find. */
#include "gpu/device.h"

#include <stdio.h>

#include "gpu/fft.h"
#include "t/cudacpu/dlfcn.h"
#include "t/cudacpu/selftest.h"

namespace
{

constexpr unsigned N = 96;

/* Each thread reads its neighbour's word: the one before it, which is stale when the fibers go backward. */
__global__ void
no_barrier(unsigned *stale)
{
	__shared__ unsigned s[N];
	const unsigned t = threadIdx.x;

	s[t] = 0;
	__syncthreads();
	s[t] = 1;
	if (s[(t + N - 1) % N] != 1)
		atomicAdd(stale, 1u);
}

__global__ void
barrier_of_some(unsigned *a)
{
	if (threadIdx.x % 32 < 16)
		__syncthreads();
	else
		__syncwarp();
	a[0] = 1;
}

__global__ void
lane_outside_mask(unsigned *a)
{
	a[0] = __shfl_sync(0xffu, threadIdx.x, 0);
}

__global__ void
lane_that_ended(unsigned *a)
{
	if (threadIdx.x == 3)
		return;
	a[0] = __ballot_sync(~0u, 1);
}

__global__ void
deep(unsigned *a)
{
	volatile char much[256 << 10];

	for (size_t i = 0; i < sizeof much; i += 64)
		much[i] = 1;
	__syncthreads();
	a[0] = (unsigned)much[threadIdx.x];
}

unsigned result[1];

} // namespace

int
wrong_without_barrier(void)
{
	result[0] = 0;
	WEIR_LAUNCH(no_barrier, 1, N, 0, (cudaStream_t)0, result);
	return (int)result[0];
}

void
wrong_barrier_of_some(void)
{
	WEIR_LAUNCH(barrier_of_some, 1, N, 0, (cudaStream_t)0, result);
}

void
wrong_lane_outside_mask(void)
{
	WEIR_LAUNCH(lane_outside_mask, 1, N, 0, (cudaStream_t)0, result);
}

void
wrong_lane_that_ended(void)
{
	WEIR_LAUNCH(lane_that_ended, 1, N, 0, (cudaStream_t)0, result);
}

void
wrong_stack(void)
{
	WEIR_LAUNCH(deep, 1, 64, 0, (cudaStream_t)0, result);
}

const char *
wrong_without_cufft(void)
{
	static char why[GPU_WHY];
	struct gpu *g = gpu_open("", why);
	const struct gpu_fft f = gpu_fft_lines(GPU_FFT_C2C, false, 4, 1, 1, 4, 1, 4);

	cudacpu_libraries(0);
	if (g)
		snprintf(why, sizeof why, "%s", gpu_fft(g, &f, 1, NULL, NULL) ? gpu_why(g) : "");
	cudacpu_libraries(1);
	gpu_close(g);
	return why;
}
