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
read_unset(unsigned *a)
{
	__shared__ volatile unsigned s[32];

	a[threadIdx.x] = s[threadIdx.x];
}

__global__ void
nothing(unsigned *)
{
}

/* Half of a warp shuffles, half votes: neither has what the other brings. */
__global__ void
two_operations(unsigned *a)
{
	a[threadIdx.x] =
	    threadIdx.x < 16 ? __shfl_sync(~0u, threadIdx.x, 20) : __ballot_sync(~0u, 1);
}

__global__ void
two_barriers(unsigned *a)
{
	if (threadIdx.x < 32)
		__syncthreads();
	else
		a[threadIdx.x % 32] = (unsigned)__syncthreads_count(1);
}

/* As far beyond 32 words as a block may be from where memory ends. */
__global__ void
beyond(unsigned *a)
{
	a[64] = 1;
}

/* Pointers within a structure are not looked at when a kernel is launched. */
struct hidden {
	unsigned *at;
};

__global__ void
follow(hidden h)
{
	*h.at = 1;
}

/* 32 words of the device in use. They stay where a function aborts. */
unsigned *
take_words(void)
{
	unsigned *a = nullptr;

	if (cudaMalloc(&a, 32 * sizeof *a) == cudaSuccess)
		cudaMemset(a, 0, 32 * sizeof *a);
	return a;
}

/* Launches a kernel on such words, and returns the first of them. */
unsigned
run(void (*kernel)(unsigned *), unsigned grid, unsigned block)
{
	unsigned *const a = take_words();
	unsigned first = 0;

	WEIR_LAUNCH(kernel, grid, block, 0, (cudaStream_t)0, a);
	cudaMemcpy(&first, a, sizeof first, cudaMemcpyDeviceToHost);
	cudaFree(a);
	return first;
}

/* Whether a kernel has races. */
bool
is_racy(void (*kernel)(unsigned *), unsigned grid, unsigned block)
{
	run(kernel, grid, block);
	return cudacpu_races() > 0;
}

} // namespace

int
wrong_without_barrier(void)
{
	return (int)run(no_barrier, 1, N);
}

void
wrong_barrier_of_some(void)
{
	run(barrier_of_some, 1, N);
}

void
wrong_lane_outside_mask(void)
{
	run(lane_outside_mask, 1, N);
}

void
wrong_lane_that_ended(void)
{
	run(lane_that_ended, 1, N);
}

void
wrong_stack(void)
{
	run(deep, 1, 64);
}

int
wrong_races(int with)
{
	return with ? is_racy(hand_on<false>, 1, 32) + is_racy(leave<false>, 2, 1) +
			  is_racy(count<false>, 2, 1) + is_racy(read_unset, 1, 32)
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
	WEIR_LAUNCH(nothing, 1, 1, 0, s, static_cast<unsigned *>(nullptr));
	e = cudaGetLastError();
	cudaStreamDestroy(s);
	cudaSetDevice(0);
	return e;
}

int
wrong_stream(void)
{
	cudacpu_devices(2);
	const cudaError_t e = launch_on_another();
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

/* What a launch with that much shared memory is answered. */
static cudaError_t
launch_with(size_t shared)
{
	WEIR_LAUNCH(nothing, 1, 1, shared, (cudaStream_t)0, static_cast<unsigned *>(nullptr));
	return cudaGetLastError();
}

int
wrong_shared(void)
{
	cudaError_t asked[3];

	cudacpu_devices(2);
	asked[0] = launch_with(49 << 10);
	cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 49 << 10);
	asked[1] = launch_with(49 << 10);
	cudaSetDevice(1);
	asked[2] = launch_with(49 << 10);
	cudaSetDevice(0);
	cudacpu_devices(1);
	return asked[0] == cudaErrorInvalidValue && asked[1] == cudaSuccess &&
	       asked[2] == cudaErrorInvalidValue;
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

void
wrong_two_operations(void)
{
	run(two_operations, 1, 32);
}

void
wrong_two_barriers(void)
{
	run(two_barriers, 1, 64);
}

void
wrong_no_blocks(void)
{
	run(nothing, 0, 32);
}

void
wrong_many_threads(void)
{
	run(nothing, 1, 288);
}

void
wrong_beyond(void)
{
	run(beyond, 1, 1);
}

void
wrong_freed(void)
{
	unsigned *const a = take_words();

	cudaFree(a);
	WEIR_LAUNCH(follow, 1, 1, 0, (cudaStream_t)0, hidden{a});
}

void
wrong_host_pointer(void)
{
	unsigned here = 0;

	WEIR_LAUNCH(nothing, 1, 1, 0, (cudaStream_t)0, &here);
}

void
wrong_host_touch(void)
{
	volatile unsigned *const a = take_words();

	a[0] = 1;
}

/* These are seen where all accesses are watched. */
void
wrong_hidden_pointer(void)
{
	unsigned here = 0;

	WEIR_LAUNCH(follow, 1, 1, 0, (cudaStream_t)0, hidden{&here});
}

void
wrong_alignment(void)
{
	char *const a = reinterpret_cast<char *>(take_words());

	WEIR_LAUNCH(follow, 1, 1, 0, (cudaStream_t)0, hidden{reinterpret_cast<unsigned *>(a + 2)});
}
