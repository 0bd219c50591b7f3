/* Converts samples that TIFF has packed to samples of an item. Pure. */
#ifndef WEIR_CONVERT_UNPACK_H
#define WEIR_CONVERT_UNPACK_H

#include <stddef.h>
#include <stdint.h>

#include "common/stream/img.h"

struct palette {
	const uint16_t *map[3]; /* 2^bits entries of red, green and blue */
	int shift; /* entries are shifted right by it and become bytes; -1: they stay ushorts */
};

/*
 * Unpacks n samples of `bits` bits each. Samples of 8, 16, 32 and 64 bits are in this machine's byte order; others are packed
 * highest bit first, and those of signed types are two's complements. Sample i becomes to[i * apart]. unpack_half() does the
 * same for floats of 16 bits, and unpack_float24() for those of 24 bits, which are in this machine's byte order.
 */
void unpack_samples(void *to, const unsigned char *from, size_t n, unsigned bits,
		    enum img_type type, size_t apart);
void unpack_half(float *to, const unsigned char *from, size_t n, size_t apart);
void unpack_float24(float *to, const unsigned char *from, size_t n, size_t apart);

/* Makes floats of n integers with signs, of 8 or 16 bits, or doubles of 32 bits. They are in this machine's byte order. */
void unpack_integers(void *to, const unsigned char *from, size_t n, unsigned bits);

/*
 * Replaces n indices of `bits` bits by their colours, three samples each. p->shift says whether these are bytes or ushorts.
 * Index i is sample i * step of from, and its colour begins at to[i * apart].
 */
void unpack_palette(void *to, const unsigned char *from, size_t n, size_t step, unsigned bits,
		    const struct palette *p, size_t apart);

/* Replaces each sample v by 2^bits - 1 - v. It inverts pictures in which 0 is white. */
void unpack_invert(void *samples, size_t n, enum img_type type, unsigned bits);

#endif
