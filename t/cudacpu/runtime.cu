/* The CUDA runtime of cuda_runtime.h: one device, whose memory is malloc's. */
#include <cuda_runtime.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct cudacpu_event {
	double seconds;
};

namespace
{

size_t memory = (size_t)1 << 40, used;

} // namespace

extern "C" void
cudacpu_memory(size_t bytes)
{
	memory = bytes;
}

cudaError_t
cudaGetDeviceCount(int *n)
{
	*n = 1;
	return cudaSuccess;
}

cudaError_t
cudaSetDevice(int device)
{
	return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}

cudaError_t
cudaGetDeviceProperties(cudaDeviceProp *p, int device)
{
	*p = {};
	snprintf(p->name, sizeof p->name, "cudacpu");
	p->major = 7;
	p->minor = 5;
	p->multiProcessorCount = 2;
	p->sharedMemPerBlock = 48 << 10;
	p->sharedMemPerBlockOptin = 64 << 10;
	p->totalGlobalMem = memory;
	return cudaSetDevice(device);
}

cudaError_t
cudaDriverGetVersion(int *version)
{
	*version = 0;
	return cudaSuccess;
}

cudaError_t
cudaRuntimeGetVersion(int *version)
{
	*version = 0;
	return cudaSuccess;
}

cudaError_t
cudaMemGetInfo(size_t *available, size_t *total)
{
	*total = memory;
	*available = memory > used ? memory - used : 0;
	return cudaSuccess;
}

cudaError_t
cudaDeviceSynchronize(void)
{
	return cudaSuccess;
}

cudaError_t
cudaGetLastError(void)
{
	return cudaSuccess;
}

const char *
cudaGetErrorString(cudaError_t e)
{
	switch (e) {
	case cudaSuccess:
		return "no error";
	case cudaErrorMemoryAllocation:
		return "out of memory";
	case cudaErrorInvalidDevice:
		return "invalid device ordinal";
	default:
		return "invalid argument";
	}
}

cudaError_t
cudacpu_malloc(void **p, size_t bytes)
{
	*p = nullptr;
	if (bytes > memory || used > memory - bytes)
		return cudaErrorMemoryAllocation;
	if (!(*p = malloc(bytes)))
		return cudaErrorMemoryAllocation;
	memset(*p, 0xff, bytes);
	used += malloc_usable_size(*p);
	return cudaSuccess;
}

cudaError_t
cudaFree(void *p)
{
	if (p)
		used -= malloc_usable_size(p);
	free(p);
	return cudaSuccess;
}

cudaError_t
cudaFreeHost(void *p)
{
	free(p);
	return cudaSuccess;
}

cudaError_t
cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind)
{
	memcpy(to, from, bytes);
	return cudaSuccess;
}

cudaError_t
cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t)
{
	return cudaMemcpy(to, from, bytes, kind);
}

cudaError_t
cudaMemset(void *p, int v, size_t bytes)
{
	memset(p, v, bytes);
	return cudaSuccess;
}

cudaError_t
cudaMemsetAsync(void *p, int v, size_t bytes, cudaStream_t)
{
	return cudaMemset(p, v, bytes);
}

cudaError_t
cudaStreamCreate(cudaStream_t *s)
{
	*s = nullptr;
	return cudaSuccess;
}

cudaError_t
cudaStreamDestroy(cudaStream_t)
{
	return cudaSuccess;
}

cudaError_t
cudaStreamSynchronize(cudaStream_t)
{
	return cudaSuccess;
}

cudaError_t
cudaEventCreate(cudaEvent_t *e)
{
	*e = new cudacpu_event();
	return cudaSuccess;
}

cudaError_t
cudaEventDestroy(cudaEvent_t e)
{
	delete e;
	return cudaSuccess;
}

cudaError_t
cudaEventRecord(cudaEvent_t e, cudaStream_t)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	e->seconds = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
	return cudaSuccess;
}

cudaError_t
cudaEventSynchronize(cudaEvent_t)
{
	return cudaSuccess;
}

cudaError_t
cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
	*ms = (float)(1e3 * (to->seconds - from->seconds));
	return cudaSuccess;
}
