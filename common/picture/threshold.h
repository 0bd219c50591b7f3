/* Which samples of an item a program works on: those above a threshold, or those that are not 0. Pure. */
#ifndef WEIR_PICTURE_THRESHOLD_H
#define WEIR_PICTURE_THRESHOLD_H

#include <stddef.h>
#include <stdint.h>

#include "common/stream/img.h"

/*
 * Sets chosen[i] to 1 where sample i of from is greater than `above`, or, where that is NaN, is not 0; to 0 elsewhere. A NaN is
 * never chosen. work has room for n doubles.
 */
void choose(uint8_t *restrict chosen, double *restrict work, const void *restrict from,
	    enum img_type type, size_t n, double above);

#endif
