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

/* A lane reads what its neighbour wrote; only __syncwarp() lets it. */
template <bool together>
__global__ void
hand_on(unsigned *a)
{
	__shared__ unsigned s[32];
	const unsigned t = threadIdx.x;

	s[t] = t;
	if (together)
		__syncwarp();
	a[t] = __shfl_sync(~0u, t, 0) + s[t ^ 1];
}

/* A block leaves a word, and then a flag, for the other one, whichever comes first. */
template <bool fenced>
__global__ void
leave(unsigned *a)
{
	const unsigned me = blockIdx.x;

	a[me] = 1 + me;
	if (fenced)
		__threadfence();
	if (atomicAdd(&a[2], 1u) == 1) {
		__threadfence();
		a[3] = __ldcg(&a[!me]);
	}
}

/* All blocks change one word. */
template <bool atomic>
__global__ void
count(unsigned *a)
{
	if (atomic)
		atomicAdd(a, 1u);
	else
		a[0]++;
}

__global__ void
nothing(unsigned *)
{
}

unsigned result[32];

/* Whether a kernel has races. */
bool
is_racy(void (*kernel)(unsigned *), unsigned grid, unsigned block)
{
	result[2] = 0;
	WEIR_LAUNCH(kernel, grid, block, 0, (cudaStream_t)0, result);
	return cudacpu_races() > 0;
}

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

int
wrong_races(int with)
{
	return with ? is_racy(hand_on<false>, 1, 32) + is_racy(leave<false>, 2, 1) +
			  is_racy(count<false>, 2, 1)
		    : is_racy(hand_on<true>, 1, 32) + is_racy(leave<true>, 2, 1) +
			  is_racy(count<true>, 2, 1);
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

/* What a launch into the stream of device 0 is answered while device 1 is in use. */
static cudaError_t
launch_on_another(void)
{
	cudaStream_t s;
	cudaError_t e;

	cudaSetDevice(0);
	cudaStreamCreate(&s);
	cudaSetDevice(1);
	WEIR_LAUNCH(nothing, 1, 1, 0, s, result);
	e = cudaGetLastError();
	cudaStreamDestroy(s);
	cudaSetDevice(0);
	return e;
}

int
wrong_stream(void)
{
	cudaError_t e;

	cudacpu_devices(2);
	e = launch_on_another();
	cudacpu_devices(1);
	return e == cudaErrorInvalidResourceHandle;
}

int
wrong_copy(void)
{
	unsigned *a = nullptr, b[4] = {};
	cudaError_t end, kind;

	cudaMalloc(&a, sizeof b);
	end = cudaMemcpy(a + 1, b, sizeof b, cudaMemcpyHostToDevice);
	kind = cudaMemcpy(b, a, sizeof b, cudaMemcpyHostToDevice);
	cudaFree(a);
	return end == cudaErrorInvalidValue && kind == cudaErrorInvalidValue;
}

int
wrong_shared(void)
{
	cudaError_t e;

	WEIR_LAUNCH(nothing, 1, 1, 49 << 10, (cudaStream_t)0, result);
	e = cudaGetLastError();
	cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 49 << 10);
	WEIR_LAUNCH(nothing, 1, 1, 49 << 10, (cudaStream_t)0, result);
	return e == cudaErrorInvalidValue && cudaGetLastError() == cudaSuccess;
}

int
wrong_capture(void)
{
	void *more = nullptr, *a = nullptr;
	cudaGraph_t graph = nullptr;
	unsigned b = 0;
	cudaStream_t s;
	int refused = 0;

	cudaStreamCreate(&s);
	cudaMalloc(&a, sizeof b);
	cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal);
	for (const cudaError_t e :
	     {cudaMalloc(&more, sizeof b), cudaFree(a), cudaStreamSynchronize(s),
	      cudaDeviceSynchronize(), cudaMemcpy(a, &b, sizeof b, cudaMemcpyHostToDevice)})
		refused += e == cudaErrorStreamCaptureUnsupported;
	cudaStreamEndCapture(s, &graph);
	cudaGetLastError();
	cudaGraphDestroy(graph);
	cudaFree(a);
	cudaStreamDestroy(s);
	return refused == 5;
}
