/* The palette of a gray picture, which has the least possible error. */
#ifndef EMST_LEVELS_H
#define EMST_LEVELS_H

#include <stdbool.h>

#include "emst/sort.h"

enum { LEVELS_MOST = 4096 }; /* with more, the engine of palette.h is faster and nearly as good */

/*
 * Sets label[] of n different levels to their classes, 0 .. k-1. Level i in ascending order is e[i].key, and its place in
 * weight[] and label[] is e[i].a. k <= n <= LEVELS_MOST. 0 or -ENOMEM.
 */
int
levels_make(const struct sorted *e, const uint64_t *weight, size_t n, size_t k, uint32_t *label);

#endif
