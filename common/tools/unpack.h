/* Samples as TIFF packs them, as samples of an item. Pure. */
#ifndef TOOLS_UNPACK_H
#define TOOLS_UNPACK_H

#include <stddef.h>
#include <stdint.h>

#include "common/img.h"

struct palette {
	const uint16_t *map[3]; /* 2^bits entries of red, green and blue */
	int shift;		/* entries become bytes, shifted by that; -1: they are ushorts */
};

/*
 * n samples of the given bits, the highest bit first where they are no whole bytes; whole bytes are in this machine's order.
 * Sample i becomes to[i * apart]. unpack_half does the same with floats of 16 bits.
 */
void unpack_samples(void *to, const unsigned char *from, size_t n, unsigned bits,
		    enum img_type type, size_t apart);
void unpack_half(float *to, const unsigned char *from, size_t n, size_t apart);

/* n pixels of three samples, by their indices: bytes or ushorts, as p says. */
void unpack_palette(void *to, const unsigned char *from, size_t n, unsigned bits,
		    const struct palette *p);

/* v becomes 2^bits - 1 - v: a picture in which 0 is white. */
void unpack_invert(void *samples, size_t n, enum img_type type, unsigned bits);

#endif
