/* Devices: runtime.cu; memory: memory.cu; streams, events and graphs: streams.cu; for cuda_runtime.h. */
#ifndef CUDACPU_RUNTIME_H
#define CUDACPU_RUNTIME_H

#include <functional>

enum cudaError_t {
	cudaSuccess,
	cudaErrorInvalidValue,
	cudaErrorMemoryAllocation,
	cudaErrorInvalidConfiguration = 9,
	cudaErrorInsufficientDriver = 35,
	cudaErrorInvalidDeviceFunction = 98,
	cudaErrorNoDevice = 100,
	cudaErrorInvalidDevice = 101,
	cudaErrorNoKernelImageForDevice = 209,
	cudaErrorInvalidResourceHandle = 400,
	cudaErrorNotReady = 600,
	cudaErrorStreamCaptureUnsupported = 900
};
enum cudaMemcpyKind {
	cudaMemcpyHostToHost,
	cudaMemcpyHostToDevice,
	cudaMemcpyDeviceToHost,
	cudaMemcpyDeviceToDevice
};
enum : unsigned { cudaEventDefault, cudaEventBlockingSync, cudaEventDisableTiming };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
typedef struct cudacpu_stream *cudaStream_t; /* NULL: that of the device in use */
enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal };
typedef struct cudacpu_event *cudaEvent_t;
typedef struct cudacpu_graph *cudaGraph_t, *cudaGraphExec_t;

struct cudaDeviceProp {
	char name[256];
	int major, minor, multiProcessorCount, l2CacheSize;
	size_t sharedMemPerBlock, sharedMemPerBlockOptin, sharedMemPerMultiprocessor;
	size_t reservedSharedMemPerBlock, totalGlobalMem;
};

/* The device in use is each host thread's own. */
cudaError_t cudaGetDeviceCount(int *n);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int device);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaMemGetInfo(size_t *available, size_t *total);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaGetLastError(void);
const char *cudaGetErrorString(cudaError_t e);

/* Memory is a device's; a copy of a kind whose ends do not lie where it says is cudaErrorInvalidValue. */
cudaError_t cudacpu_malloc(void **p, size_t bytes);
cudaError_t cudacpu_malloc_host(void **p, size_t bytes);
cudaError_t cudaFree(void *p);
cudaError_t cudaFreeHost(void *p);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t
cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t s);
cudaError_t cudaMemset(void *p, int v, size_t bytes);
cudaError_t cudaMemsetAsync(void *p, int v, size_t bytes, cudaStream_t s);

template <class T>
cudaError_t
cudaMalloc(T **p, size_t bytes)
{
	return cudacpu_malloc(reinterpret_cast<void **>(p), bytes);
}

template <class T>
cudaError_t
cudaMallocHost(T **p, size_t bytes)
{
	return cudacpu_malloc_host(reinterpret_cast<void **>(p), bytes);
}

/* Streams and events belong to the device in use when they are made; with those of another device calls fail. */
cudaError_t cudaStreamCreate(cudaStream_t *s);
cudaError_t cudaStreamDestroy(cudaStream_t s);
cudaError_t cudaStreamSynchronize(cudaStream_t s);
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned flags = 0);
cudaError_t cudaEventCreate(cudaEvent_t *e);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t e);
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s);
cudaError_t cudaEventSynchronize(cudaEvent_t e);
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to);

/* What a stream is given between these becomes a graph, which does it again with the arguments of then. */
cudaError_t cudaStreamBeginCapture(cudaStream_t s, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *graph);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *run, cudaGraph_t graph, unsigned long long flags);
cudaError_t cudaGraphLaunch(cudaGraphExec_t run, cudaStream_t s);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t run);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);

/* Between the files of t/cudacpu: what a call gives, also to the next cudaGetLastError(); where an address lies. */
cudaError_t cudacpu_result(cudaError_t e);
bool cudacpu_is_pinned(const void *p);
/* Adds to the copies from or to pinned memory that wait in a stream. */
void cudacpu_count_copy(const void *p, int more);
bool cudacpu_is_on_device(const void *p, size_t bytes);
/* Whether an address is one of those that are kept for devices: without AddressSanitizer all their memory is there. */
bool cudacpu_is_in_range(uintptr_t at);
/* Does what a device is to do; memory of devices can be touched then, until the host has waited. Under the lock of streams.cu. */
void cudacpu_work(const std::function<void()> &task);
void cudacpu_rest(void);
/* Aborts if a pointer that a kernel is given is one to memory of the host. */
void cudacpu_pointer(const void *p);

/* Gives a stream a task; does all that the streams of the device in use have to do; chooses when they do it. */
cudaError_t cudacpu_give(cudaStream_t s, std::function<void()> task);
void cudacpu_drain(void);

/* Whether this host thread captures a stream: then it may neither wait, nor get or give back memory, nor use the NULL stream. */
bool cudacpu_captures(void);
/* Whether there is a stream, of any device. From cudacpu_watch_exit() on, exit() is reported while there is one. */
bool cudacpu_is_open(void);
void cudacpu_watch_exit(void);
void cudacpu_policy(int order, unsigned seed);

/* Dynamic shared memory: 48 KB, or what that kernel was allowed on the device in use. */
enum { CUDACPU_SHARED = 48 << 10 };
cudaError_t cudacpu_allow(const void *kernel, size_t shared);

struct cudaFuncAttributes {
	int maxThreadsPerBlock;
};

/* Fails after cudacpu_driver() has said that kernels are not for this device. */
cudaError_t cudacpu_attributes(cudaFuncAttributes *a);

template <class K>
cudaError_t
cudaFuncGetAttributes(cudaFuncAttributes *a, K)
{
	return cudacpu_attributes(a);
}

template <class K>
cudaError_t
cudaFuncSetAttribute(K kernel, cudaFuncAttribute, int bytes)
{
	return cudacpu_allow(reinterpret_cast<const void *>(kernel), (size_t)bytes);
}

/* Two, so that several blocks are at work at a time. */
template <class K>
cudaError_t
cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, K, int, size_t)
{
	*blocks = 2;
	return cudaSuccess;
}

#endif
