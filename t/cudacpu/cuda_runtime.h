/*
 * CUDA on the CPU, for tests: what g++ includes as <cuda_runtime.h> when it compiles gpu/NAME.cu as plain C++. Every thread
 * of a block is a fiber (fibers.cu), blocks are shared among OpenMP threads, device memory is malloc's, a copy is
 * memcpy, a stream does its work at once.
 *
 * A fiber runs on until its thread meets a barrier, a shuffle, a vote or its end: the worst schedule there is, so a
 * missing barrier shows at once. cudacpu_order() chooses in which order the fibers go. Reported with a line on stderr and an
 * abort: a barrier or shuffle that some of its threads can never reach, a lane outside the mask it names, a stack
 * overrun, a launch beyond the limits of a block. AddressSanitizer sees overruns of device and of dynamic shared memory.
 *
 * What it cannot show: coalescing, bank conflicts, occupancy, any time; the memory model (a missing __threadfence(),
 * a plain load where a cached one goes stale); races between two barriers inside one warp that lockstep would hide;
 * overruns of a static __shared__ array into its neighbour. A block that waits for another must not need one that has not
 * begun: blocks begin as threads are free. Static shared memory keeps what the last block left; dynamic is filled
 * with 0xff, as is device memory.
 *
 * Kernels keep to: launches through WEIR_LAUNCH, dynamic shared memory through WEIR_SHARED, no textures, no cooperative
 * groups, no dynamic parallelism, no CUB or Thrust, and only the intrinsics below.
 */
#ifndef CUDACPU_H
#define CUDACPU_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define __global__
#define __device__ inline
#define __host__
#define __forceinline__
#define __constant__ static
#define __launch_bounds__(...)
#define __shared__ static thread_local

struct dim3 {
	unsigned x, y, z;
	constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c)
	{
	}
};

struct uint2 {
	unsigned x, y;
};
struct alignas(16) uint4 {
	unsigned x, y, z, w;
};
struct float2 {
	float x, y;
};
struct double2 {
	double x, y;
};

static inline uint2
make_uint2(unsigned x, unsigned y)
{
	return {x, y};
}

static inline uint4
make_uint4(unsigned x, unsigned y, unsigned z, unsigned w)
{
	return {x, y, z, w};
}

static inline float2
make_float2(float x, float y)
{
	return {x, y};
}

static inline double2
make_double2(double x, double y)
{
	return {x, y};
}

/* Set before a fiber is resumed. */
extern thread_local dim3 threadIdx, blockIdx, blockDim, gridDim;
static constexpr int warpSize = 32;

/* The order of fibers within a block, and of blocks. */
enum { CUDACPU_FORWARD, CUDACPU_BACKWARD, CUDACPU_SHUFFLED };
extern "C" void cudacpu_order(int order, unsigned seed);
/* Device memory from now on: an allocation beyond it fails. */
extern "C" void cudacpu_memory(size_t bytes);

/* --- launches ---------------------------------------------------------------------------------------------------- */

typedef struct cudacpu_stream *cudaStream_t;

void cudacpu_launch(dim3 grid, dim3 block, size_t shared, void (*call)(void *), void *args);
void *cudacpu_dynamic(void);

template <class... P, class... A>
void
cudacpu_launch_kernel(void (*k)(P...), dim3 grid, dim3 block, size_t shared, A... a)
{
	auto call = [&] { k(a...); };

	cudacpu_launch(
	    grid, block, shared, [](void *c) { (*static_cast<decltype(call) *>(c))(); }, &call);
}

#define WEIR_LAUNCH(kernel, grid, block, shared, stream, ...) \
	((void)(stream), cudacpu_launch_kernel(kernel, grid, block, shared, __VA_ARGS__))
#define WEIR_SHARED(type, name) type *const name = static_cast<type *>(cudacpu_dynamic())

/* --- barriers, shuffles, votes ------------------------------------------------------------------------------------- */

/* The barrier of the block; the number of threads that came with a true. */
unsigned cudacpu_barrier(bool vote);
/* The barrier of the lanes in mask; what each of the 32 lanes brought. */
const uint64_t *cudacpu_exchange(unsigned mask, uint64_t v);
unsigned cudacpu_lane(void);

static inline void
__syncthreads(void)
{
	cudacpu_barrier(false);
}

static inline int
__syncthreads_count(int p)
{
	return (int)cudacpu_barrier(p != 0);
}

static inline int
__syncthreads_or(int p)
{
	return cudacpu_barrier(p != 0) > 0;
}

static inline int
__syncthreads_and(int p)
{
	return cudacpu_barrier(p == 0) == 0;
}

static inline void
__syncwarp(unsigned mask = ~0u)
{
	cudacpu_exchange(mask, 0);
}

static inline unsigned
__ballot_sync(unsigned mask, int p)
{
	const uint64_t *v = cudacpu_exchange(mask, p != 0);
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

static inline int
__all_sync(unsigned mask, int p)
{
	return __ballot_sync(mask, !p) == 0;
}

template <class T>
T
cudacpu_from(unsigned mask, T v, unsigned lane)
{
	static_assert(sizeof v <= 8, "a shuffle moves at most 8 bytes");
	uint64_t bits = 0;

	memcpy(&bits, &v, sizeof v);
	memcpy(&v, cudacpu_exchange(mask, bits) + lane, sizeof v);
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

/* --- atomics ------------------------------------------------------------------------------------------------------- */

typedef unsigned long long cudacpu_u64;

/* *p = f(*p), as one step; the old value. Through bits, so that floats work too. */
template <class T, class F>
T
cudacpu_atomic(T *p, F f)
{
	T old, fresh;

	__atomic_load(p, &old, __ATOMIC_RELAXED);
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
	CUDACPU_ATOMIC(atomicAnd, T, old &v)                                                    \
	CUDACPU_ATOMIC(atomicOr, T, old | v)                                                    \
	CUDACPU_ATOMIC(atomicXor, T, old ^ v)                                                   \
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
}

static inline void
__threadfence_block(void)
{
	__threadfence();
}

void __nanosleep(unsigned ns);

/* Loads and stores past the first-level cache; atomic here, since other blocks may be at the same place. */
template <class T>
T
__ldcg(const T *p)
{
	T v;

	__atomic_load(const_cast<T *>(p), &v, __ATOMIC_RELAXED);
	return v;
}

template <class T>
void
__stcg(T *p, T v)
{
	__atomic_store(p, &v, __ATOMIC_RELAXED);
}

template <class T>
T
__ldg(const T *p)
{
	return *p;
}

/* --- arithmetic ------------------------------------------------------------------------------------------------------ */

template <class T>
static constexpr T
min(T a, T b)
{
	return b < a ? b : a;
}

template <class T>
static constexpr T
max(T a, T b)
{
	return a < b ? b : a;
}

static inline int
__popc(unsigned v)
{
	return __builtin_popcount(v);
}

static inline int
__ffs(int v)
{
	return __builtin_ffs(v);
}

static inline int
__clz(int v)
{
	return v ? __builtin_clz((unsigned)v) : 32;
}

static inline int
__clzll(long long v)
{
	return v ? __builtin_clzll((unsigned long long)v) : 64;
}

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

static inline unsigned
__vmaxu4(unsigned a, unsigned b)
{
	return cudacpu_fields<8, true>(a, b);
}

static inline unsigned
__vminu4(unsigned a, unsigned b)
{
	return cudacpu_fields<8, false>(a, b);
}

static inline unsigned
__vmaxu2(unsigned a, unsigned b)
{
	return cudacpu_fields<16, true>(a, b);
}

static inline unsigned
__vminu2(unsigned a, unsigned b)
{
	return cudacpu_fields<16, false>(a, b);
}

/* One rounding each, whatever the compiler may fuse. */
static inline float
__fmul_rn(float a, float b)
{
	volatile float r = a * b;

	return r;
}

static inline float
__fadd_rn(float a, float b)
{
	volatile float r = a + b;

	return r;
}

static inline double
__dmul_rn(double a, double b)
{
	volatile double r = a * b;

	return r;
}

static inline double
__dadd_rn(double a, double b)
{
	volatile double r = a + b;

	return r;
}

static inline unsigned
__float_as_uint(float v)
{
	unsigned u;

	memcpy(&u, &v, sizeof u);
	return u;
}

static inline float
__uint_as_float(unsigned u)
{
	float v;

	memcpy(&v, &u, sizeof v);
	return v;
}

static inline long long
__double_as_longlong(double v)
{
	long long u;

	memcpy(&u, &v, sizeof u);
	return u;
}

static inline double
__longlong_as_double(long long u)
{
	double v;

	memcpy(&v, &u, sizeof v);
	return v;
}

/* --- the runtime --------------------------------------------------------------------------------------------------- */

enum cudaError_t {
	cudaSuccess,
	cudaErrorInvalidValue,
	cudaErrorMemoryAllocation,
	cudaErrorInvalidDevice = 101
};
enum cudaMemcpyKind {
	cudaMemcpyHostToHost,
	cudaMemcpyHostToDevice,
	cudaMemcpyDeviceToHost,
	cudaMemcpyDeviceToDevice
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
typedef struct cudacpu_event *cudaEvent_t;

struct cudaDeviceProp {
	char name[256];
	int major, minor, multiProcessorCount;
	size_t sharedMemPerBlock, sharedMemPerBlockOptin, totalGlobalMem;
};

cudaError_t cudaGetDeviceCount(int *n);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int device);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaMemGetInfo(size_t *available, size_t *total);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaGetLastError(void);
const char *cudaGetErrorString(cudaError_t e);

cudaError_t cudacpu_malloc(void **p, size_t bytes);
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
	*p = static_cast<T *>(malloc(bytes));
	return *p ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaStreamCreate(cudaStream_t *s);
cudaError_t cudaStreamDestroy(cudaStream_t s);
cudaError_t cudaStreamSynchronize(cudaStream_t s);
cudaError_t cudaEventCreate(cudaEvent_t *e);
cudaError_t cudaEventDestroy(cudaEvent_t e);
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s);
cudaError_t cudaEventSynchronize(cudaEvent_t e);
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to);

template <class K>
cudaError_t
cudaFuncSetAttribute(K, cudaFuncAttribute, int bytes)
{
	return bytes <= 227 << 10 ? cudaSuccess : cudaErrorInvalidValue;
}

/* Two, so that several blocks are at work at a time. */
template <class K>
cudaError_t
cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, K, int threads, size_t shared)
{
	*blocks = threads <= 1024 && shared <= 227 << 10 ? 2 : 0;
	return cudaSuccess;
}

#endif
