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
enum { GPU_SLOT_FFT = 15, GPU_SLOTS };
static constexpr size_t GPU_CHUNK = (size_t)4 << 20;

struct gpu {
	int number;
	struct gpu *next; /* the next device of the list, owned; NULL: none */
	cudaDeviceProp prop;
	cudaStream_t stream[3]; /* kernels; copies through pinned[0], and through pinned[1] */
	cudaEvent_t from, to;	/* around kernels */
	void *pinned[2];	/* what copies go through: GPU_CHUNK bytes each */
	void *held[GPU_SLOTS];	/* gpu_hold() */
	size_t bytes[GPU_SLOTS];
	struct gpu_ffts *ffts;	      /* gpu/fft.cu */
	double kernel, copy;	      /* seconds */
	int (*meanwhile)(void *with); /* gpu_meanwhile() */
	void *with;
	bool overlapping; /* it is called now */
	char why[GPU_WHY], names[GPU_WHY];
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

/*
 * To the device and back, in chunks through pinned memory: a chunk is copied there while the one before it is on the bus.
 * Kernels that were launched before have ended first, but for copies that gpu_meanwhile() makes.
 */
int gpu_up(struct gpu *g, void *device, const void *host, size_t bytes);
int gpu_down(struct gpu *g, void *host, const void *device, size_t bytes);

/* Around the kernels of a run: end waits for them and adds their time. */
int gpu_begin(struct gpu *g);
int gpu_end(struct gpu *g);

/*
 * Copies beside kernels. The next gpu_end() calls copies(with), once, before it waits, while the kernels launched since
 * gpu_begin() are at work; what they touch is not to be copied. For work in bands, in this order:
 *
 *	kernels of band b start; meanwhile result b - 1 comes down and then input b + 1 goes up; all wait for band b
 *
 * The harness runs the kernels first. An error of copies is gpu_end()'s.
 */
void gpu_meanwhile(struct gpu *g, int (*copies)(void *with), void *with);

/*
 * Several devices. run(device, i, with) for each device of g, i = 0 .. gpu_count(g) - 1, each by a host thread of its own; the
 * device that run is given has no next. What runs share through `with` must not depend on who comes first. All are
 * waited for; the error is that of the first device in the list that had one.
 */
int gpu_each(struct gpu *g, int (*run)(struct gpu *device, size_t i, void *with), void *with);

#endif
