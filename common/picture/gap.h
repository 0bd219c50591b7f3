/* Missing samples of a map: NaN among floats; among integers, the value that the key nodata:= names. Pure. */
#ifndef WEIR_PICTURE_GAP_H
#define WEIR_PICTURE_GAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/stream/img.h"

struct gap {
	enum img_type type;
	bool any; /* a sample can be missing: of floats always */
	/* What a missing sample is, in this machine's byte order. */
	_Alignas(double) char sample[8];
};

struct gap gap_of(const struct img *x);

/* Whether both say the same. */
bool gap_same(const struct gap *a, const struct gap *b);

/* is[i] becomes 1 where sample i of v is missing, else 0. */
void gap_mark(const struct gap *g, uint8_t *restrict is, const void *restrict v, size_t n);

#endif
