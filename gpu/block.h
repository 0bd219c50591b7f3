/*
 * Several arrays in one block of memory, on the host or the device. The same calls run twice: first without memory, to
 * count the bytes; then in the block, to place the arrays.
 *
 *	struct gpu_block b = {};
 *	x = gpu_take<float>(&b, n);	x is NULL; b.used counts the bytes
 *	b = {memory, 0};		b.used bytes of memory
 *	x = gpu_take<float>(&b, n);	x points into the block
 */
#ifndef WEIR_GPU_BLOCK_H
#define WEIR_GPU_BLOCK_H

#include <stddef.h>

struct gpu_block {
	char *base; /* NULL: gpu_take() only counts */
	size_t used;
};

/* Takes n elements from the block, at a multiple of 16 bytes. Returns NULL when the block only counts. */
template <class E>
E *
gpu_take(struct gpu_block *b, size_t n)
{
	const size_t at = (b->used + 15) / 16 * 16;

	b->used = at + n * sizeof(E);
	return b->base ? reinterpret_cast<E *>(b->base + at) : NULL;
}

#endif
