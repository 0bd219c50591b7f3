/*
 * The CUDA runtime of cuda_runtime.h: devices whose memory is malloc's, streams that do their work at once. What belongs to a
 * device is known to, so that a twin that runs on several is found when it mixes them up.
 */
#include <map>
#include <mutex>

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct cudacpu_stream {
	int device;
};

struct cudacpu_event {
	int device;
	double seconds;
};

namespace
{

constexpr int MOST = 8;

struct block {
	size_t bytes;
	int device;
};

std::mutex lock;
std::map<const char *, block> blocks;	/* on any device */
std::map<const void *, size_t> allowed; /* shared memory of kernels */
size_t memory = (size_t)1 << 40, used[MOST];
int devices = 1;
thread_local int device;
thread_local cudaError_t last = cudaSuccess;

/* Whether those bytes lie in one block of a device. */
bool
on_device(const void *p, size_t bytes)
{
	const char *const c = static_cast<const char *>(p);
	const std::lock_guard<std::mutex> hold(lock);
	auto b = blocks.upper_bound(c);

	return b != blocks.begin() && (--b, c + bytes <= b->first + b->second.bytes);
}

bool
kind_is_true(const void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
	const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
	const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;

	return !bytes ||
	       (on_device(to, bytes) == to_device && on_device(from, bytes) == from_device);
}

/* What a call gives, also to the next cudaGetLastError(). */
cudaError_t
result(cudaError_t e)
{
	if (e != cudaSuccess)
		last = e;
	return e;
}

/* Whether the stream may be used from the device in use. */
cudaError_t
own(cudaStream_t s)
{
	return result(!s || s->device == device ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

} // namespace

extern "C" void
cudacpu_memory(size_t bytes)
{
	memory = bytes;
}

extern "C" void
cudacpu_devices(int n)
{
	devices = n < MOST ? n : MOST;
}

cudaError_t
cudacpu_may_launch(const cudacpu_grid *g)
{
	const std::lock_guard<std::mutex> hold(lock);
	const auto a = allowed.find(g->kernel);

	if (own(g->stream) != cudaSuccess)
		return cudaErrorInvalidResourceHandle;
	return result(g->shared > (a == allowed.end() ? (size_t)CUDACPU_SHARED : a->second)
			  ? cudaErrorInvalidValue
			  : cudaSuccess);
}

cudaError_t
cudacpu_allow(const void *kernel, size_t shared)
{
	const std::lock_guard<std::mutex> hold(lock);

	if (shared > CUDACPU_SHARED_OPTIN)
		return result(cudaErrorInvalidValue);
	allowed[kernel] = shared > CUDACPU_SHARED ? shared : (size_t)CUDACPU_SHARED;
	return cudaSuccess;
}

cudaError_t
cudaGetDeviceCount(int *n)
{
	*n = devices;
	return cudaSuccess;
}

cudaError_t
cudaSetDevice(int d)
{
	if (d < 0 || d >= devices)
		return result(cudaErrorInvalidDevice);
	device = d;
	return cudaSuccess;
}

cudaError_t
cudaGetDevice(int *d)
{
	*d = device;
	return cudaSuccess;
}

cudaError_t
cudaGetDeviceProperties(cudaDeviceProp *p, int d)
{
	*p = {};
	snprintf(p->name, sizeof p->name, "cudacpu");
	p->major = 7;
	p->minor = 5;
	p->multiProcessorCount = 2;
	p->l2CacheSize = 4 << 20;
	p->sharedMemPerBlock = CUDACPU_SHARED;
	p->sharedMemPerBlockOptin = CUDACPU_SHARED_OPTIN;
	p->sharedMemPerMultiprocessor = 2 * CUDACPU_SHARED_OPTIN;
	p->totalGlobalMem = memory;
	return d >= 0 && d < devices ? cudaSuccess : cudaErrorInvalidDevice;
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
	const std::lock_guard<std::mutex> hold(lock);

	*total = memory;
	*available = memory > used[device] ? memory - used[device] : 0;
	return cudaSuccess;
}

cudaError_t
cudaDeviceSynchronize(void)
{
	return cudaSuccess;
}

/* Once, as on a GPU. */
cudaError_t
cudaGetLastError(void)
{
	const cudaError_t e = last;

	last = cudaSuccess;
	return e;
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
	case cudaErrorInvalidResourceHandle:
		return "invalid resource handle";
	default:
		return "invalid argument";
	}
}

cudaError_t
cudacpu_malloc(void **p, size_t bytes)
{
	const std::lock_guard<std::mutex> hold(lock);

	*p = nullptr;
	if (bytes > memory || used[device] > memory - bytes || !(*p = malloc(bytes)))
		return result(cudaErrorMemoryAllocation);
	memset(*p, 0xff, bytes);
	blocks[static_cast<char *>(*p)] = {bytes, device};
	used[device] += bytes;
	return cudaSuccess;
}

cudaError_t
cudaFree(void *p)
{
	const std::lock_guard<std::mutex> hold(lock);
	const auto b = blocks.find(static_cast<char *>(p));

	if (!p)
		return cudaSuccess;
	if (b == blocks.end())
		return result(cudaErrorInvalidValue);
	used[b->second.device] -= b->second.bytes;
	blocks.erase(b);
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
cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
	if (!kind_is_true(to, from, bytes, kind))
		return result(cudaErrorInvalidValue);
	memcpy(to, from, bytes);
	return cudaSuccess;
}

cudaError_t
cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t s)
{
	return own(s) == cudaSuccess ? cudaMemcpy(to, from, bytes, kind) : own(s);
}

cudaError_t
cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
		  size_t height, cudaMemcpyKind kind, cudaStream_t s)
{
	cudaError_t e =
	    width > to_pitch || width > from_pitch ? cudaErrorInvalidValue : cudaSuccess;

	for (size_t y = 0; y < height && e == cudaSuccess; y++)
		e = cudaMemcpyAsync(static_cast<char *>(to) + y * to_pitch,
				    static_cast<const char *>(from) + y * from_pitch, width, kind,
				    s);
	return e;
}

cudaError_t
cudaMemset(void *p, int v, size_t bytes)
{
	if (bytes && !on_device(p, bytes))
		return result(cudaErrorInvalidValue);
	memset(p, v, bytes);
	return cudaSuccess;
}

cudaError_t
cudaMemsetAsync(void *p, int v, size_t bytes, cudaStream_t s)
{
	return own(s) == cudaSuccess ? cudaMemset(p, v, bytes) : own(s);
}

cudaError_t
cudaStreamCreate(cudaStream_t *s)
{
	*s = new cudacpu_stream{device};
	return cudaSuccess;
}

cudaError_t
cudaStreamDestroy(cudaStream_t s)
{
	delete s;
	return cudaSuccess;
}

cudaError_t
cudaStreamSynchronize(cudaStream_t)
{
	return cudaSuccess;
}

cudaError_t
cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned)
{
	return cudaSuccess;
}

cudaError_t
cudaEventCreate(cudaEvent_t *e)
{
	*e = new cudacpu_event{device, 0};
	return cudaSuccess;
}

cudaError_t
cudaEventDestroy(cudaEvent_t e)
{
	delete e;
	return cudaSuccess;
}

cudaError_t
cudaEventRecord(cudaEvent_t e, cudaStream_t s)
{
	struct timespec t;

	if (e->device != (s ? s->device : device))
		return result(cudaErrorInvalidResourceHandle);
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
