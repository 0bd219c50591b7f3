/*
 * The inside of struct gpu, only for .cu files. Functions return 0, or -EIO; gpu_why() then names the call
 * that failed.
 *
 * Launches go through GPU_LAUNCH and dynamic shared memory through WEIR_SHARED, so that the kernels also compile as
 * plain C++ and run on a CPU for the tests: t/cudacpu.
 */
#ifndef WEIR_GPU_DEVICE_H
#define WEIR_GPU_DEVICE_H

#include <cuda_runtime.h>
#include <errno.h>
#include <stddef.h>

extern "C" {
#include "common/base/mem.h"
#include "gpu/gpu.h"
}

#ifndef WEIR_LAUNCH
#define WEIR_LAUNCH(kernel, grid, block, shared, stream, ...) \
	kernel<<<grid, block, shared, stream>>>(__VA_ARGS__)
#define WEIR_SHARED(type, name) extern __shared__ type name[]
#endif

/*
 * Returns *i modulo n, and divides *i by n: the innermost index of an element. A GPU has no instruction for division, and in 64
 * bits it takes many more of the others, so it divides in 32 bits where *i fits.
 */
static __device__ __forceinline__ unsigned
take_index(size_t *i, unsigned n)
{
	const size_t whole = *i;

	*i = whole >> 32 ? whole / n : (unsigned)whole / n;
	return (unsigned)(whole - *i * n);
}

/* Element x of row y of plane z; x is the innermost index. */
struct gpu_place3 {
	unsigned x, y, z;
};

/* Returns where element i of an array [..][h][w] is. */
static __device__ __forceinline__ gpu_place3
gpu_split(size_t i, unsigned w, unsigned h)
{
	const unsigned x = take_index(&i, w), y = take_index(&i, h);

	return {x, y, (unsigned)i};
}

/* Returns how many blocks of that many threads n elements take. */
static __host__ __device__ constexpr unsigned
gpu_blocks(size_t n, size_t threads)
{
	return (unsigned)((n + threads - 1) / threads);
}

/* Returns the element of this thread. */
static __device__ __forceinline__ size_t
gpu_element(void)
{
	return (size_t)blockIdx.x * blockDim.x + threadIdx.x;
}

/* Returns the error of a call, if it has one. */
#define GPU_DO(...)                                  \
	do {                                         \
		const int gpu_error = (__VA_ARGS__); \
		if (gpu_error)                       \
			return gpu_error;            \
	} while (0)

/* Calls end() at the end of its scope. */
template <class F> struct gpu_at_end {
	F end;

	~gpu_at_end()
	{
		end();
	}
};

template <class F> gpu_at_end(F) -> gpu_at_end<F>;

/* The slots of gpu_hold(). Each twin uses those below GPU_SLOT_FFT as it likes. */
enum { GPU_SLOT_FFT = 15, GPU_SLOTS };

/* Pinned buffers for copies, of which one thread at a time makes use: copy.cu. */
enum { GPU_RING = 4 };
static constexpr size_t GPU_CHUNK = (size_t)4 << 20;

struct gpu_ring {
	cudaStream_t stream;	    /* all copies of the ring */
	void *at[GPU_RING];	    /* GPU_CHUNK bytes each, when it was used */
	cudaEvent_t done[GPU_RING]; /* the copy from or to a buffer */
	size_t next;		    /* buffers used so far */
};

struct gpu {
	int number;
	/* next: the next device of the list, owned; NULL: none, and in run() of gpu_each(). rest: the same, and in run() too */
	struct gpu *next, *rest;
	cudaDeviceProp prop;
	cudaStream_t stream[1];	       /* kernels */
	cudaEvent_t from, to;	       /* before and after the kernels of a run */
	bool timed;		       /* between gpu_begin() and gpu_end() */
	cudaEvent_t order;	       /* between the streams of kernels and of copies */
	struct gpu_ring ring;	       /* for copies of a run itself */
	struct gpu_courier *up, *down; /* for copies beside runs: copy.cu */
	void *held[GPU_SLOTS];	       /* the blocks of gpu_hold() */
	size_t bytes[GPU_SLOTS];
	struct gpu_ffts *ffts; /* gpu/fft.cu */
	double kernel, copy;   /* seconds */
	char why[GPU_WHY], names[GPU_WHY];
	struct gpu_opening *opening; /* of the first of a list that gpu_start() opens: gpu/gpu.cu */
};

/* Whether e is a failure. If so, gpu_why() will name `call` and the reason. */
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

/* A thread for each i < n calls f(i, a...). */
template <auto f, class... A>
__global__ void
gpu_each_thread(size_t n, A... a)
{
	const size_t i = gpu_element();

	if (i < n)
		f(i, a...);
}

template <auto f, class... A>
int
gpu_launch_each(struct gpu *g, const char *call, size_t n, const A &...a)
{
	constexpr unsigned THREADS = 256;

	if (n)
		WEIR_LAUNCH((gpu_each_thread<f, A...>), gpu_blocks(n, THREADS), THREADS, 0,
			    g->stream[0], n, a...);
	return gpu_failed(g, cudaGetLastError(), call) ? -EIO : 0;
}

/* Launches f(i, ...) for all i < n, in any order: f is a device function. */
#define GPU_EACH(g, f, n, ...) \
	GPU_DO(gpu_launch_each<f>((g), "the launch of " #f, (n), __VA_ARGS__))

/*
 * Sets *at to a block of at least `bytes` bytes on the device. The block of a slot stays from call to call. A larger request
 * replaces it, and its content is lost.
 */
int gpu_hold(struct gpu *g, int slot, size_t bytes, void **at);

/* The same for n elements. */
template <class E>
int
gpu_array(struct gpu *g, int slot, size_t n, E **at)
{
	void *block;

	GPU_DO(gpu_hold(g, slot, n * sizeof(E), &block));
	*at = static_cast<E *>(block);
	return 0;
}

/* Sets *bytes to the memory that gpu_hold() could get if all slots were freed. */
int gpu_room(struct gpu *g, size_t *bytes);

/*
 * gpu_up() copies to the device, in the order of the kernels, and returns when host has been read. What gpu_ahead() has
 * brought already is copied within the device. gpu_down() copies what the kernels so far have made, and returns when it is
 * at host. Both go through a ring of pinned buffers.
 */
int gpu_up(struct gpu *g, void *device, const void *host, size_t bytes);
int gpu_down(struct gpu *g, void *host, const void *device, size_t bytes);

/* Sends n elements to the block of a slot. *at is NULL where there are none, or host is NULL. */
template <class E, class P>
int
gpu_send(struct gpu *g, int slot, const E *host, size_t n, P **at)
{
	E *to;

	*at = NULL;
	if (!host || !n)
		return 0;
	GPU_DO(gpu_array(g, slot, n, &to));
	*at = to;
	return gpu_up(g, to, host, n * sizeof(E));
}

/* gpu_down() for a few bytes, without a ring. cudaMemcpy() would also wait for the copies of other items. */
int gpu_look(struct gpu *g, void *host, const void *device, size_t bytes);

/* gpu_ahead() and gpu_settle() for one device of a list: within gpu_each(), and for what lies below them. */
void gpu_ahead_here(struct gpu *g, const struct gpu_span *s, size_t n);
int gpu_settle_here(struct gpu *g, const void *host, size_t bytes);

/*
 * gpu_down() for the results of a run, at its end: they come to host while later kernels run. They have arrived after
 * gpu_settle(). The memory on the device may be used again at once.
 */
struct gpu_result {
	void *host;
	const void *device;
	size_t bytes;
};
int gpu_later(struct gpu *g, const struct gpu_result *r, size_t n);

/* Call these before and after the kernels of a run. gpu_end() waits for the kernels and adds up their time. */
int gpu_begin(struct gpu *g);
int gpu_end(struct gpu *g);

/* For gpu.cu: the ring and the events of g, and the end of them and of the copies beside runs. */
int gpu_open_copies(struct gpu *g);
void gpu_close_copies(struct gpu *g);

/* Waits until the devices of gpu_start() are open; whether they are. Both accept NULL. Any thread may call them. */
void gpu_await(const struct gpu *g);
bool gpu_is_open(const struct gpu *g);

/*
 * Calls run(device, i) for each device of g, i = 0 .. gpu_count(g) - 1, each in a host thread of its own. device->next is NULL
 * in run(). What the calls share must not depend on their order. Waits for all calls; returns the error of the first device in
 * the list that had one.
 */
int gpu_each_of(struct gpu *g, int (*run)(struct gpu *device, size_t i, void *with), void *with);

template <class F>
int
gpu_each(struct gpu *g, F run)
{
	const auto call = [](struct gpu *device, size_t i, void *with) {
		return (*static_cast<F *>(with))(device, i);
	};

	return gpu_each_of(g, call, &run);
}

/* --- several arrays in one piece of memory ----------------------------------------------------------------------------- */

/*
 * On the host or the device. A function lays them out, and is called twice: first without memory, to count the bytes; then to place
 * the arrays.
 *
 *	gpu_place(g, SLOT, [&](gpu_block *b) {
 *		x = gpu_take<float>(b, n);
 *		y = gpu_take<int>(b, m);
 *	});
 */
struct gpu_block {
	char *base; /* NULL: gpu_take() only counts */
	size_t used;
};

/* Takes n elements from the block, at a multiple of 256 bytes. Returns NULL when the block only counts. */
template <class E>
E *
gpu_take(struct gpu_block *b, size_t n)
{
	const size_t at = (b->used + 255) / 256 * 256;

	b->used = at + n * sizeof(E);
	return b->base ? reinterpret_cast<E *>(b->base + at) : NULL;
}

/* Takes n elements for each of these arrays. */
template <class... E>
void
gpu_take_all(struct gpu_block *b, size_t n, E **...to)
{
	((*to = gpu_take<E>(b, n)), ...);
}

template <class F>
size_t
gpu_lay(void *base, F lay)
{
	gpu_block b = {static_cast<char *>(base), 0};

	lay(&b);
	return b.used;
}

/* Arrays on the host, zeros; weir_free() frees them. Returns NULL when there is no memory. */
template <class F>
void *
gpu_place_on_host(F lay)
{
	void *const base = weir_calloc(gpu_lay(NULL, lay), 1);

	if (base)
		gpu_lay(base, lay);
	return base;
}

/* Arrays on the device, in that slot of gpu_hold(). Returns 0 or -EIO. */
template <class F>
int
gpu_place(struct gpu *g, int slot, F lay)
{
	void *at;

	GPU_DO(gpu_hold(g, slot, gpu_lay(NULL, lay), &at));
	gpu_lay(at, lay);
	return 0;
}

/* Arrays on the device with the values that fill() gives them where they lie on the host. Returns 0, -ENOMEM or -EIO. */
template <class L, class F>
int
gpu_place_filled(struct gpu *g, int slot, L lay, F fill)
{
	void *const host = gpu_place_on_host(lay);
	const size_t bytes = gpu_lay(host, lay);
	const gpu_at_end done{[=] { weir_free(host); }};

	if (!host)
		return -ENOMEM;
	fill();
	GPU_DO(gpu_place(g, slot, lay));
	return gpu_up(g, g->held[slot], host, bytes);
}

#endif
