/*
 * CUDA on the CPU, for tests: what g++ includes as <cuda_runtime.h> when it compiles gpu/NAME.cu as plain C++. Every thread
 * of a block is a fiber (fibers.cu), blocks are shared among OpenMP threads, a copy is memcpy. A stream does its work at
 * once, or as late as CUDA may (streams.cu), so that a missing wait shows.
 *
 * A fiber runs on until its thread meets a barrier, a shuffle, a vote or its end: the worst schedule there is, so a
 * missing barrier shows at once. cudacpu_order() chooses in which order the fibers go. Reported with a line on stderr and an
 * abort: a barrier or shuffle that some of its threads can never reach, or for which they come with another one, a lane
 * outside the mask it names, or that takes from one outside, a stack overrun, an access that is not aligned as its type is, a
 * launch of nothing or beyond the limits, pinned memory that is freed before its copy is done, exit() where a device is still
 * open. No kernel may have more than 256 threads a block, since with 255 registers each there is no room for more.
 *
 * Device memory is apart (memory.cu). A host that touches it ends, and so does a kernel that overruns it by a little more than
 * the alignment of a block, touches what was freed, or is given a pointer to the host's memory. AddressSanitizer sees
 * every byte of overruns, of dynamic shared memory too. Devices have the sizes of a small one or of a large one.
 *
 * `make races` watches every access of the kernels (races.cu): two threads that nothing orders are found in any order of
 * the fibers, and named with both lines. Then, and in `make traffic`, a kernel may not touch the host's memory through
 * pointers within structures either, and its accesses must be aligned.
 *
 * `make traffic` counts what warps ask of global and shared memory (traffic.cu).
 *
 * What it cannot show: caches, occupancy, any time; the memory model beyond races.cu and late.cu (a flag that is not waited
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

#include <type_traits>

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
