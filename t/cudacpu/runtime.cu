/*
 * The CUDA runtime of cuda_runtime.h: devices, whose memory is malloc's. What belongs to a device is known, so that a twin
 * that runs on several is found when it mixes them up.
 */
#include <map>
#include <mutex>

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

namespace
{

constexpr int MOST = 8, RUNTIME = 13000;

struct block {
	size_t bytes;
	int device;
};

std::mutex lock;
std::map<const char *, block> blocks, pinned; /* on any device; of the host */
std::map<const void *, size_t> allowed;	      /* shared memory of kernels */
size_t memory = (size_t)1 << 40, used[MOST];
int devices = 1, driver = RUNTIME, kernels = 1; /* kernels: there are some for these devices */
thread_local int device;
thread_local cudaError_t last = cudaSuccess;

/* CUDA would close the device here, below the threads that use it. */
void
report_open(void)
{
	if (!cudacpu_is_open())
		return;
	fputs("cudacpu: exit() while a device is open\n", stderr);
	_exit(99);
}

/* Whether those bytes lie in one block. */
bool
lies_in(const std::map<const char *, block> &all, const void *p, size_t bytes)
{
	const char *const c = static_cast<const char *>(p);
	const std::lock_guard<std::mutex> hold(lock);
	auto b = all.upper_bound(c);

	return b != all.begin() && (--b, c + bytes <= b->first + b->second.bytes);
}

} // namespace

void
cudacpu_watch_exit(void)
{
	static const int watched = atexit(report_open);

	(void)watched;
}

cudaError_t
cudacpu_result(cudaError_t e)
{
	if (e != cudaSuccess)
		last = e;
	return e;
}

bool
cudacpu_is_pinned(const void *p)
{
	return lies_in(pinned, p, 0);
}

bool
cudacpu_is_on_device(const void *p, size_t bytes)
{
	return lies_in(blocks, p, bytes);
}

extern "C" void
cudacpu_memory(size_t bytes)
{
	memory = bytes;
}

extern "C" void
cudacpu_driver(int version, int with_kernels)
{
	driver = version;
	kernels = with_kernels;
}

extern "C" void
cudacpu_devices(int n)
{
	devices = n < MOST ? n : MOST;
}

cudaError_t
cudacpu_may_launch(const cudacpu_grid &g)
{
	const std::lock_guard<std::mutex> hold(lock);
	const auto a = allowed.find(g.kernel);

	return cudacpu_result(g.shared > (a == allowed.end() ? (size_t)CUDACPU_SHARED : a->second)
				  ? cudaErrorInvalidValue
				  : cudaSuccess);
}

cudaError_t
cudacpu_allow(const void *kernel, size_t shared)
{
	const std::lock_guard<std::mutex> hold(lock);

	if (shared > CUDACPU_SHARED_OPTIN)
		return cudacpu_result(cudaErrorInvalidValue);
	allowed[kernel] = shared > CUDACPU_SHARED ? shared : (size_t)CUDACPU_SHARED;
	return cudaSuccess;
}

cudaError_t
cudaGetDeviceCount(int *n)
{
	*n = driver < RUNTIME ? 0 : devices;
	return cudacpu_result(driver < RUNTIME ? cudaErrorInsufficientDriver : cudaSuccess);
}

cudaError_t
cudaSetDevice(int d)
{
	if (d < 0 || d >= devices)
		return cudacpu_result(cudaErrorInvalidDevice);
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
	*version = driver;
	return cudaSuccess;
}

cudaError_t
cudaRuntimeGetVersion(int *version)
{
	*version = RUNTIME;
	return cudaSuccess;
}

cudaError_t
cudacpu_attributes(cudaFuncAttributes *a)
{
	a->maxThreadsPerBlock = 1024;
	return cudacpu_result(kernels ? cudaSuccess : cudaErrorNoKernelImageForDevice);
}

cudaError_t
cudaMemGetInfo(size_t *available, size_t *total)
{
	const std::lock_guard<std::mutex> hold(lock);

	*total = memory;
	*available = memory > used[device] ? memory - used[device] : 0;
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
	if (cudacpu_captures())
		return cudacpu_result(cudaErrorStreamCaptureUnsupported);
	if (bytes > memory || used[device] > memory - bytes || posix_memalign(p, 256, bytes))
		return cudacpu_result(cudaErrorMemoryAllocation);
	memset(*p, 0xff, bytes);
	blocks[static_cast<char *>(*p)] = {bytes, device};
	used[device] += bytes;
	return cudaSuccess;
}

/* Waits for all that the device does, as CUDA may. */
cudaError_t
cudaFree(void *p)
{
	if (!p)
		return cudaSuccess;
	if (cudacpu_captures())
		return cudacpu_result(cudaErrorStreamCaptureUnsupported);
	cudacpu_drain();
	const std::lock_guard<std::mutex> hold(lock);
	const auto b = blocks.find(static_cast<char *>(p));

	if (b == blocks.end())
		return cudacpu_result(cudaErrorInvalidValue);
	used[b->second.device] -= b->second.bytes;
	blocks.erase(b);
	free(p);
	return cudaSuccess;
}

cudaError_t
cudacpu_malloc_host(void **p, size_t bytes)
{
	const std::lock_guard<std::mutex> hold(lock);

	if (cudacpu_captures())
		return cudacpu_result(cudaErrorStreamCaptureUnsupported);
	if (!(*p = malloc(bytes)))
		return cudacpu_result(cudaErrorMemoryAllocation);
	pinned[static_cast<char *>(*p)] = {bytes, device};
	return cudaSuccess;
}

cudaError_t
cudaFreeHost(void *p)
{
	cudacpu_drain();
	const std::lock_guard<std::mutex> hold(lock);

	pinned.erase(static_cast<char *>(p));
	free(p);
	return cudaSuccess;
}
