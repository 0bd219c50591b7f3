/* The byte order and the largest sample of a block. Each function makes one pass, at memory speed. */
#ifndef WEIR_BASE_SWAP_H
#define WEIR_BASE_SWAP_H

#include <stddef.h>

/* Reverses the bytes of each of count samples of 1, 2, 4 or 8 bytes. */
void swap_bytes(void *buf, size_t count, size_t size);

/* Returns the largest of count unsigned samples of 1 or 2 bytes. */
unsigned sample_max(const void *buf, size_t count, size_t size);

#endif
