/*
 * A device from inside, for gpu/NAME.cu alone. Functions give 0 or -EIO, and then gpu_why() names the call.
 *
 * Launches go through GPU_LAUNCH and dynamic shared memory through WEIR_SHARED, so that the kernels also compile as
 * plain C++ and run on a CPU for the tests: t/cudacpu.
 */
#ifndef WEIR_GPU_DEVICE_H
#define WEIR_GPU_DEVICE_H

#include <cuda_runtime.h>
#include <errno.h>
#include <stddef.h>

#include "gpu/gpu.h"

#ifndef WEIR_LAUNCH
#define WEIR_LAUNCH(kernel, grid, block, shared, stream, ...) \
	kernel<<<grid, block, shared, stream>>>(__VA_ARGS__)
#define WEIR_SHARED(type, name) extern __shared__ type name[]
#endif

/* Slots of gpu_hold() below GPU_SLOT_FFT are the twins' own. */
enum { GPU_SLOT_FFT = 12, GPU_SLOTS };

struct gpu {
	cudaDeviceProp prop;
	cudaStream_t stream[2]; /* kernels and copies; copies alone */
	cudaEvent_t from, to;	/* around kernels */
	void *pinned[2];	/* what copies go through: GPU_CHUNK bytes each */
	void *held[GPU_SLOTS];	/* gpu_hold() */
	size_t bytes[GPU_SLOTS];
	struct gpu_ffts *ffts; /* gpu/fft.cu */
	double kernel, copy;   /* seconds */
	char why[GPU_WHY];
};

/* Whether e is a failure of that call, which is then what gpu_why() says. */
bool gpu_failed(struct gpu *g, cudaError_t e, const char *call);

#define GPU_TRY(g, call)                            \
	do {                                        \
		if (gpu_failed((g), (call), #call)) \
			return -EIO;                \
	} while (0)

#define GPU_LAUNCH(g, kernel, grid, block, shared, ...)                                \
	do {                                                                           \
		WEIR_LAUNCH(kernel, grid, block, shared, (g)->stream[0], __VA_ARGS__); \
		if (gpu_failed((g), cudaGetLastError(), "the launch of " #kernel))     \
			return -EIO;                                                   \
	} while (0)

/*
 * Memory on the device that stays from call to call: slot's block, made larger when bytes asks for more (what it held is
 * then lost).
 */
int gpu_hold(struct gpu *g, int slot, size_t bytes, void **at);

/* Bytes that gpu_hold() could still get if all slots were given back. */
int gpu_room(struct gpu *g, size_t *bytes);

/* To the device and back, in chunks through pinned memory, the next chunk copied while one is on the bus. */
int gpu_up(struct gpu *g, void *device, const void *host, size_t bytes);
int gpu_down(struct gpu *g, void *host, const void *device, size_t bytes);

/* Around the kernels of a run: end waits for them and adds their time. */
int gpu_begin(struct gpu *g);
int gpu_end(struct gpu *g);

#endif
