/*
 * Several arrays in one block of memory, on the host or the device: laid out once without memory, which only counts, and once
 * more in it.
 *
 *	struct gpu_block b = {};
 *	x = gpu_take<float>(&b, n);	x is NULL, b.used the bytes
 *	b = {memory, 0};		and the same again
 */
#ifndef WEIR_GPU_BLOCK_H
#define WEIR_GPU_BLOCK_H

#include <stddef.h>

struct gpu_block {
	char *base; /* NULL: only counts */
	size_t used;
};

/* n elements, at a multiple of 16 bytes. */
template <class E>
E *
gpu_take(struct gpu_block *b, size_t n)
{
	const size_t at = (b->used + 15) / 16 * 16;

	b->used = at + n * sizeof(E);
	return b->base ? reinterpret_cast<E *>(b->base + at) : NULL;
}

#endif
