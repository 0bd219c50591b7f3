/* Byte order and range of a block of samples, one pass each at memory speed. */
#ifndef WEIR_SWAP_H
#define WEIR_SWAP_H

#include <stddef.h>

/* Reverses the bytes of each of count samples of size 1, 2, 4 or 8. */
void swap_bytes(void *buf, size_t count, size_t size);

/* The largest of count unsigned samples of size 1 or 2. */
unsigned sample_max(const void *buf, size_t count, size_t size);

#endif
