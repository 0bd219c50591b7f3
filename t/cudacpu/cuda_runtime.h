/*
 * CUDA on the CPU, for tests: what g++ includes as <cuda_runtime.h> when it compiles gpu/NAME.cu as plain C++. Every thread
 * of a block is a fiber (fibers.cu), blocks are shared among OpenMP threads, a copy is memcpy. A stream does its work at
 * once, or as late as CUDA may (streams.cu), so that a missing wait shows.
 *
 * A fiber runs on until its thread meets a barrier, a shuffle, a vote or its end: the worst schedule there is, so a
 * missing barrier shows at once. cudacpu_order() chooses in which order the fibers go. What is refused or found, in one line on
 * stderr and an abort, stands in gpu/README.md, "Tests without a GPU"; wrong.cu has the wrong kernels. Devices have the sizes of a small
 * one or of a large one.
 *
 * What it cannot show: caches, occupancy, any time; the memory model beyond races.cu and fibers.cu (a flag that is not waited
 * for, a plain load where a cached one goes stale); overruns of a static __shared__ array into its neighbour. A block that
 * waits for another must not need one that has not begun: blocks begin as threads are free. Static shared memory keeps what
 * the last block left; dynamic is filled with 0xff, as is device memory.
 *
 * Kernels keep to: launches through WEIR_LAUNCH, dynamic shared memory through WEIR_SHARED, no textures, no cooperative
 * groups, no dynamic parallelism, of CUB what cub/ has, and only the intrinsics below.
 */
#ifndef CUDACPU_H
#define CUDACPU_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <functional>
#include <type_traits>

#define __global__
/*
 * Not inline by itself: a function of a header that is not __forceinline__ is as multiply defined here as nvcc's linker
 * finds it.
 */
#define __device__ __attribute__((unused))
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static thread_local

/* --- bits, packed fields and roundings -------------------------------------------------------------------------------- */

using std::max;
using std::min;

#define CUDACPU_BITS(name, T, expression) \
	static inline int name(T v)       \
	{                                 \
		return expression;        \
	}
CUDACPU_BITS(__popc, unsigned, __builtin_popcount(v))
CUDACPU_BITS(__popcll, unsigned long long, __builtin_popcountll(v))
CUDACPU_BITS(__ffs, int, __builtin_ffs(v))
CUDACPU_BITS(__ffsll, long long, __builtin_ffsll(v))
CUDACPU_BITS(__clz, int, v ? __builtin_clz((unsigned)v) : 32)
#undef CUDACPU_BITS

/* The low and the high word of hi:lo shifted; shifts are taken modulo 32. */
static inline unsigned
__funnelshift_r(unsigned lo, unsigned hi, unsigned shift)
{
	return (unsigned)(((uint64_t)hi << 32 | lo) >> (shift & 31));
}

static inline unsigned
__funnelshift_l(unsigned lo, unsigned hi, unsigned shift)
{
	return (unsigned)((((uint64_t)hi << 32 | lo) << (shift & 31)) >> 32);
}

/* Bytes of hi:lo, one for each nibble of s. A nibble above 7, which repeats a sign, is not for here. */
static inline unsigned
__byte_perm(unsigned lo, unsigned hi, unsigned s)
{
	const uint64_t both = (uint64_t)hi << 32 | lo;
	unsigned r = 0;

	for (unsigned b = 0; b < 4; b++)
		r |= (unsigned)(both >> (s >> 4 * b & 7) * 8 & 255) << 8 * b;
	return r;
}

/* The sum of c and the products of the four bytes. */
static inline unsigned
__dp4a(unsigned a, unsigned b, unsigned c)
{
	for (unsigned s = 0; s < 32; s += 8)
		c += (a >> s & 255) * (b >> s & 255);
	return c;
}

/* The larger or smaller of each field of bits. */
template <unsigned bits, bool larger>
unsigned
cudacpu_fields(unsigned a, unsigned b)
{
	const unsigned field = (1u << bits) - 1;
	unsigned r = 0;

	for (unsigned s = 0; s < 32; s += bits) {
		const unsigned x = a >> s & field, y = b >> s & field;
		r |= ((x > y) == larger ? x : y) << s;
	}
	return r;
}

#define CUDACPU_FIELDS(name, bits, larger)                  \
	static inline unsigned name(unsigned a, unsigned b) \
	{                                                   \
		return cudacpu_fields<bits, larger>(a, b);  \
	}
CUDACPU_FIELDS(__vmaxu4, 8, true)
CUDACPU_FIELDS(__vminu4, 8, false)
CUDACPU_FIELDS(__vmaxu2, 16, true)
CUDACPU_FIELDS(__vminu2, 16, false)
#undef CUDACPU_FIELDS

static inline unsigned
__vimax3_u16x2(unsigned a, unsigned b, unsigned c)
{
	return __vmaxu2(__vmaxu2(a, b), c);
}

/* One rounding, whatever the compiler may fuse. */
static inline double
__dmul_rn(double a, double b)
{
	volatile double r = a * b;

	return r;
}

#define rsqrtf cudacpu_rsqrtf /* C libraries have one, too, since C23 */
static inline float
rsqrtf(float v)
{
	return 1 / sqrtf(v);
}

/* sin and cos of pi v. */
static inline void
sincospi(double v, double *s, double *c)
{
	const double r = v - 2 * rint(v / 2);

	*s = sin(M_PI * r);
	*c = cos(M_PI * r);
}

#define CUDACPU_AS(name, from, to)        \
	static inline to name(from v)     \
	{                                 \
		to u;                     \
		memcpy(&u, &v, sizeof u); \
		return u;                 \
	}
CUDACPU_AS(__float_as_uint, float, unsigned)
CUDACPU_AS(__uint_as_float, unsigned, float)
CUDACPU_AS(__double_as_longlong, double, long long)
CUDACPU_AS(__longlong_as_double, long long, double)
#undef CUDACPU_AS

/* --- atomics, fences, and accesses past the first-level cache --------------------------------------------------------- */

typedef unsigned long long cudacpu_u64;

/*
 * What __stcg() writes is kept from other blocks for as long as CUDA may keep it. It comes to memory with an atomic of a thread
 * that has called __threadfence() before, and that knew of the store then: it was its own, or a barrier came between. At the
 * latest it comes with the end of its block.
 *
 * In fibers.cu: cudacpu_keep() returns false where a watcher is to see the store. cudacpu_find() gives what this block has written and
 * others may not see; false: nothing.
 */
bool cudacpu_keep(void *p, const void *v, unsigned bytes);
bool cudacpu_find(const void *p, void *v);
void cudacpu_fence(void);
void cudacpu_publish(void);

/* *p = f(*p), as one step; the old value. Through bits, so that floats work too. Only this load acquires: see races.cu. */
template <class T, class F>
T
cudacpu_atomic(T *p, F f)
{
	T old, fresh;

	cudacpu_publish();
	__atomic_load(p, &old, __ATOMIC_ACQUIRE);
	do
		fresh = f(old);
	while (
	    !__atomic_compare_exchange(p, &old, &fresh, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
	return old;
}

#define CUDACPU_ATOMIC(name, T, expression)                                       \
	static inline T name(T *p, T v)                                           \
	{                                                                         \
		return cudacpu_atomic(p, [v](T old) -> T { return expression; }); \
	}
#define CUDACPU_ATOMICS(T)                                                                      \
	CUDACPU_ATOMIC(atomicAdd, T, old + v)                                                   \
	CUDACPU_ATOMIC(atomicMin, T, v < old ? v : old)                                         \
	CUDACPU_ATOMIC(atomicMax, T, v > old ? v : old)                                         \
	CUDACPU_ATOMIC(atomicOr, T, old | v)                                                    \
	CUDACPU_ATOMIC(atomicExch, T, (static_cast<void>(old), v))                              \
	static inline T atomicCAS(T *p, T compare, T v)                                         \
	{                                                                                       \
		return cudacpu_atomic(p, [=](T old) -> T { return old == compare ? v : old; }); \
	}
CUDACPU_ATOMICS(int)
CUDACPU_ATOMICS(unsigned)
CUDACPU_ATOMICS(cudacpu_u64)
CUDACPU_ATOMIC(atomicSub, int, old - v)
CUDACPU_ATOMIC(atomicSub, unsigned, old - v)
CUDACPU_ATOMIC(atomicAdd, float, old + v)
CUDACPU_ATOMIC(atomicAdd, double, old + v)
CUDACPU_ATOMIC(atomicExch, float, (static_cast<void>(old), v))
#undef CUDACPU_ATOMIC
#undef CUDACPU_ATOMICS

static inline void
__threadfence(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	cudacpu_fence();
}

void __nanosleep(unsigned ns);

/* Loads and stores past the first-level cache; atomic here, since other blocks may be at the same place. */
template <class T>
T
__ldcg(const T *p)
{
	T v;

	if (!cudacpu_find(p, &v))
		__atomic_load(const_cast<T *>(p), &v, __ATOMIC_RELAXED);
	return v;
}

template <class T>
void
__stcg(T *p, T v)
{
	if (!cudacpu_keep(p, &v, sizeof v))
		__atomic_store(p, &v, __ATOMIC_RELAXED);
}

template <class T>
T
__ldg(const T *p)
{
	return *p;
}

/* --- devices: runtime.cu; memory: memory.cu; streams, events and graphs: streams.cu ----------------------------------- */

enum cudaError_t {
	cudaSuccess,
	cudaErrorInvalidValue,
	cudaErrorMemoryAllocation,
	cudaErrorInsufficientDriver = 35,
	cudaErrorInvalidDeviceFunction = 98,
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
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int device);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaMemGetInfo(size_t *available, size_t *total);
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

/* Between the files of t/cudacpu: what a call gives, also to the next cudaGetLastError(); the device in use; where an address lies. */
cudaError_t cudacpu_result(cudaError_t e);
int cudacpu_device(void);
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

/* --- vectors ---------------------------------------------------------------------------------------------------------- */

struct dim3 {
	unsigned x, y, z;
	constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c)
	{
	}
};

#define CUDACPU_VECTOR2(T, name)                 \
	struct alignas(2 * sizeof(T)) name {     \
		T x, y;                          \
	};                                       \
	static inline name make_##name(T x, T y) \
	{                                        \
		return {x, y};                   \
	}
CUDACPU_VECTOR2(unsigned, uint2)
CUDACPU_VECTOR2(float, float2)
#undef CUDACPU_VECTOR2
struct alignas(16) int4 {
	int x, y, z, w;
};

/* --- barriers, shuffles and votes ------------------------------------------------------------------------------------- */

/* The calls that may meet: of __syncthreads() those of a line, of a named barrier all of that name. */
constexpr unsigned CUDACPU_NAMED = 1u << 31;
/* The barrier of the block; the number of threads that came with a true. counts: somebody asks; then all must. */
unsigned cudacpu_barrier(unsigned where, bool counts, bool vote);
/* Ends the program unless there is such a barrier of such a number of threads. */
void cudacpu_check_named(unsigned id, unsigned count);
/* Why lanes meet. What they did to memory before is seen by the others after CUDACPU_SYNC alone. */
enum cudacpu_meeting { CUDACPU_SYNC, CUDACPU_SHUFFLE, CUDACPU_VOTE };
unsigned cudacpu_lane(void);
/*
 * The barrier of the lanes in mask, all of which must be there for the same; what each of the 32 lanes brought. from: the lane
 * of which the caller takes it, in mask too.
 */
const uint64_t *
cudacpu_exchange(unsigned mask, uint64_t v, cudacpu_meeting why, unsigned from = cudacpu_lane());

static inline void
__syncthreads(unsigned line = __builtin_LINE())
{
	cudacpu_barrier(line, false, false);
}

static inline int
__syncthreads_or(int p, unsigned line = __builtin_LINE())
{
	return cudacpu_barrier(line, true, p != 0) > 0;
}

/* Barrier `id`, which threads may reach at different places of the code. */
static inline void
__barrier_sync_count(unsigned id, unsigned count)
{
	cudacpu_check_named(id, count);
	cudacpu_barrier(CUDACPU_NAMED | id, false, false);
}

static inline void
__syncwarp(unsigned mask = ~0u)
{
	cudacpu_exchange(mask, 0, CUDACPU_SYNC);
}

static inline unsigned
__ballot_sync(unsigned mask, int p)
{
	const uint64_t *v = cudacpu_exchange(mask, p != 0, CUDACPU_VOTE);
	unsigned r = 0;

	for (unsigned i = 0; i < 32; i++)
		r |= (mask >> i & 1 & (unsigned)v[i]) << i;
	return r;
}

static inline int
__any_sync(unsigned mask, int p)
{
	return __ballot_sync(mask, p) != 0;
}

template <class T>
T
cudacpu_from(unsigned mask, T v, unsigned lane)
{
	static_assert(sizeof v <= 8, "a shuffle moves at most 8 bytes");
	uint64_t bits = 0;

	memcpy(&bits, &v, sizeof v);
	memcpy(&v, cudacpu_exchange(mask, bits, CUDACPU_SHUFFLE, lane) + lane, sizeof v);
	return v;
}

/* Lanes in groups of width, a power of two; a source beyond the group is the lane itself. */
template <class T>
T
__shfl_sync(unsigned mask, T v, int lane, int width = 32)
{
	const unsigned me = cudacpu_lane(), w = (unsigned)width;

	return cudacpu_from(mask, v, (me & ~(w - 1)) | ((unsigned)lane & (w - 1)));
}

template <class T>
T
__shfl_up_sync(unsigned mask, T v, unsigned delta, int width = 32)
{
	const unsigned me = cudacpu_lane(), at = me & ((unsigned)width - 1);

	return cudacpu_from(mask, v, at >= delta ? me - delta : me);
}

template <class T>
T
__shfl_down_sync(unsigned mask, T v, unsigned delta, int width = 32)
{
	const unsigned me = cudacpu_lane(), at = me & ((unsigned)width - 1);

	return cudacpu_from(mask, v, at + delta < (unsigned)width ? me + delta : me);
}

template <class T>
T
__shfl_xor_sync(unsigned mask, T v, int bits, int width = 32)
{
	const unsigned me = cudacpu_lane(), w = (unsigned)width, to = me ^ (unsigned)bits;

	return cudacpu_from(mask, v, (to & ~(w - 1)) > (me & ~(w - 1)) ? me : to);
}

/* --- the scheduler: fibers.cu --------------------------------------------------------------------------------------- */

/* Set before a fiber is resumed. */
extern __thread dim3 threadIdx, blockIdx, blockDim, gridDim;

/* The order of fibers within a block, of blocks, and of streams. */
enum { CUDACPU_FORWARD, CUDACPU_BACKWARD, CUDACPU_SHUFFLED };
extern "C" void cudacpu_order(int order, unsigned seed);
/* Device memory from now on, of each device: an allocation beyond it fails. */
extern "C" void cudacpu_memory(size_t bytes);
/* Devices have the sizes of an H100 from now on, or again those of a small one. */
extern "C" void cudacpu_large(int yes);
/* How many devices there are from now on, 1 at first. */
extern "C" void cudacpu_devices(int n);
/* The driver's version from now on: of CUDA 13.0 at first, as the runtime is; whether kernels are for these devices. */
extern "C" void cudacpu_driver(int version, int kernels);

/* --- launches ---------------------------------------------------------------------------------------------------- */

/* What is asked of a launch; kernel: as cudaFuncSetAttribute() knows it. */
struct cudacpu_grid {
	const void *kernel;
	dim3 grid, block;
	size_t shared;
	cudaStream_t stream;
};

/* Starts nothing and leaves an error where a GPU would: a stream of another device, more shared memory than allowed. */
void cudacpu_launch(const cudacpu_grid &g, std::function<void()> call);
cudaError_t cudacpu_may_launch(const cudacpu_grid &g);
void *cudacpu_dynamic(void);
/* The thread of a kernel begins: what it read until now, to find its arguments, is no access of the kernel. */
void cudacpu_enter(void);

template <class P>
void
cudacpu_argument(P p)
{
	if constexpr (std::is_pointer_v<P> && !std::is_function_v<std::remove_pointer_t<P>>)
		cudacpu_pointer(p);
}

template <class... P, class... A>
void
cudacpu_launch_kernel(void (*k)(P...), dim3 grid, dim3 block, size_t shared, cudaStream_t stream,
		      A... a)
{
	const cudacpu_grid g = {reinterpret_cast<const void *>(k), grid, block, shared, stream};

	static_assert((0 + ... + sizeof(P)) <= 4096, "arguments of a kernel have 4 KB");
	(cudacpu_argument(static_cast<P>(a)), ...);
	cudacpu_launch(
	    g, [=]() __attribute__((no_sanitize("thread"))) {
		    cudacpu_enter();
		    k(a...);
	    });
}

#define WEIR_LAUNCH(kernel, grid, block, shared, stream, ...) \
	cudacpu_launch_kernel(kernel, grid, block, shared, stream, __VA_ARGS__)
#define WEIR_SHARED(type, name) type *const name = static_cast<type *>(cudacpu_dynamic())

#endif
