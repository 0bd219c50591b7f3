/* The CUDA runtime of cuda_runtime.h: devices and what they allow. */
#include <map>
#include <mutex>
#include <utility>

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

namespace
{

constexpr int MOST = 8, RUNTIME = 13000;

/* What sizes of a device the twins ask for. */
struct model {
	int major, minor, multiprocessors, l2;
	size_t optin, multiprocessor, reserved; /* shared memory */
};

/* A T4, but for its 40 multiprocessors, and an H100. */
constexpr model SMALL = {7, 5, 2, 4 << 20, 64 << 10, 64 << 10, 0},
		LARGE = {9, 0, 132, 50 << 20, 227 << 10, 228 << 10, 1 << 10};

std::mutex lock;
std::map<std::pair<const void *, int>, size_t> allowed; /* shared memory of kernels, on a device */
model of_all = SMALL;
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

extern "C" void
cudacpu_driver(int version, int with_kernels)
{
	driver = version;
	kernels = with_kernels;
}

extern "C" void
cudacpu_large(int yes)
{
	of_all = yes ? LARGE : SMALL;
	allowed.clear();
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
	const auto a = allowed.find({g.kernel, device});

	return cudacpu_result(g.shared > (a == allowed.end() ? (size_t)CUDACPU_SHARED : a->second)
				  ? cudaErrorInvalidValue
				  : cudaSuccess);
}

cudaError_t
cudacpu_allow(const void *kernel, size_t shared)
{
	const std::lock_guard<std::mutex> hold(lock);

	if (shared > of_all.optin)
		return cudacpu_result(cudaErrorInvalidValue);
	allowed[{kernel, device}] = shared > CUDACPU_SHARED ? shared : (size_t)CUDACPU_SHARED;
	return cudaSuccess;
}

cudaError_t
cudaGetDeviceCount(int *n)
{
	/* A pipe with a name holds back whoever opens devices until somebody writes to it. */
	const char *const gate = getenv("CUDACPU_GATE");

	if (FILE *const f = gate ? fopen(gate, "r") : NULL)
		fclose(f);
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

int
cudacpu_device(void)
{
	return device;
}

cudaError_t
cudaGetDeviceProperties(cudaDeviceProp *p, int d)
{
	size_t available;

	*p = {};
	snprintf(p->name, sizeof p->name, "cudacpu");
	p->major = of_all.major;
	p->minor = of_all.minor;
	p->multiProcessorCount = of_all.multiprocessors;
	p->l2CacheSize = of_all.l2;
	p->sharedMemPerBlock = CUDACPU_SHARED;
	p->sharedMemPerBlockOptin = of_all.optin;
	p->sharedMemPerMultiprocessor = of_all.multiprocessor;
	p->reservedSharedMemPerBlock = of_all.reserved;
	cudaMemGetInfo(&available, &p->totalGlobalMem);
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

void
__nanosleep(unsigned ns)
{
	const struct timespec t = {0, (long)ns};

	nanosleep(&t, nullptr);
}
