/*
 * CUDA on the CPU, for tests: what g++ includes as <cuda_runtime.h> when it compiles gpu/NAME.cu as plain C++. Every thread
 * of a block is a fiber (fibers.cu), blocks are shared among OpenMP threads, device memory is malloc's, a copy is
 * memcpy. A stream does its work at once, or as late as CUDA may (streams.cu), so that a missing wait shows.
 *
 * A fiber runs on until its thread meets a barrier, a shuffle, a vote or its end: the worst schedule there is, so a
 * missing barrier shows at once. cudacpu_order() chooses in which order the fibers go. Reported with a line on stderr and an
 * abort: a barrier or shuffle that some of its threads can never reach, a lane outside the mask it names, a stack
 * overrun, a launch beyond the limits of a block, exit() where a device is still open. AddressSanitizer sees overruns of
 * device and of dynamic shared memory.
 *
 * `make races` watches every access of the kernels (races.cu): two threads that nothing orders are found in any order of
 * the fibers, and named with both lines.
 *
 * `make traffic` counts what warps ask of global and shared memory (traffic.cu).
 *
 * What it cannot show: caches, occupancy, any time; the memory model beyond races.cu (a flag that is not waited for, a
 * plain load where a cached one goes stale); overruns of a static __shared__ array into its neighbour. A block that waits
 * for another must not need one that has not begun: blocks begin as threads are free. Static shared memory keeps what the
 * last block left; dynamic is filled with 0xff, as is device memory.
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
/*
 * Not inline by itself: a function of a header that is not __forceinline__ is as multiply defined here as nvcc's linker
 * finds it.
 */
#define __device__ __attribute__((unused))
#define __host__
#define __forceinline__ inline
#define __constant__	static
#define __launch_bounds__(...)
#define __shared__ static thread_local

#include "t/cudacpu/arithmetic.h"
#include "t/cudacpu/atomic.h"
#include "t/cudacpu/runtime.h"
#include "t/cudacpu/vectors.h"
#include "t/cudacpu/warp.h"

/* Set before a fiber is resumed. */
extern __thread dim3 threadIdx, blockIdx, blockDim, gridDim;
static constexpr int warpSize = 32;

/* The order of fibers within a block, of blocks, and of streams. */
enum { CUDACPU_FORWARD, CUDACPU_BACKWARD, CUDACPU_SHUFFLED };
extern "C" void cudacpu_order(int order, unsigned seed);
/* Device memory from now on, of each device: an allocation beyond it fails. */
extern "C" void cudacpu_memory(size_t bytes);
/* How many devices there are from now on, 1 at first. */
extern "C" void cudacpu_devices(int n);
/* The driver's version from now on: of CUDA 13.0 at first, as the runtime is; whether kernels are for these devices. */
extern "C" void cudacpu_driver(int version, int kernels);
/* Whether fibers switch by ucontext, as they do wherever there is no assembler for it. */
extern "C" void cudacpu_fallback(int on);

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

template <class... P, class... A>
void
cudacpu_launch_kernel(void (*k)(P...), dim3 grid, dim3 block, size_t shared, cudaStream_t stream,
		      A... a)
{
	const cudacpu_grid g = {reinterpret_cast<const void *>(k), grid, block, shared, stream};

	cudacpu_launch(g, [=] { k(a...); });
}

#define WEIR_LAUNCH(kernel, grid, block, shared, stream, ...) \
	cudacpu_launch_kernel(kernel, grid, block, shared, stream, __VA_ARGS__)
#define WEIR_SHARED(type, name) type *const name = static_cast<type *>(cudacpu_dynamic())

#endif
