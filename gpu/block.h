/*
 * Several arrays in one piece of memory, on the host or the device. A function lays them out, and is called twice: first without
 * memory, to count the bytes; then to place the arrays.
 *
 *	gpu_place(g, SLOT, [&](gpu_block *b) {
 *		x = gpu_take<float>(b, n);
 *		y = gpu_take<int>(b, m);
 *	});
 */
#ifndef WEIR_GPU_BLOCK_H
#define WEIR_GPU_BLOCK_H

#include "gpu/device.h"

extern "C" {
#include "common/base/mem.h"
}

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

/* Sends n elements to an array that kernels only read. */
template <class E>
int
gpu_fill(struct gpu *g, const E *at, const E *host, size_t n)
{
	return gpu_up(g, const_cast<E *>(at), host, n * sizeof(E));
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
