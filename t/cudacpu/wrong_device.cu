/* What a device refuses, and memory used as it must not be, for t/cudacpu to find. */
#include "t/cudacpu/wrong.h"

#include <stdio.h>

#include "gpu/fft.h"
#include "t/cudacpu/dlfcn.h"

namespace
{

__global__ void
nothing(unsigned *)
{
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

} // namespace

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

/* The copy waits until somebody does. */
void
wrong_free(void)
{
	unsigned *const a = take_words(), *b = nullptr;
	cudaStream_t s;

	cudacpu_order(CUDACPU_BACKWARD, 1);
	cudaStreamCreate(&s);
	cudaMallocHost(&b, sizeof *b);
	cudaMemcpyAsync(b, a, sizeof *b, cudaMemcpyDeviceToHost, s);
	cudaFreeHost(b);
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
