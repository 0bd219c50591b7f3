/* The distinct colours of small pictures, for which a lattice of 256^3 bits would take longer than all else. */
#ifndef EMST_FEW_H
#define EMST_FEW_H

#include <stddef.h>
#include <stdint.h>

/* Up to so many pixels sorting is faster than a lattice. */
enum { FEW_MOST = 1 << 14 };

/*
 * Finds the distinct colours of n pixels of c = 1..3 planes. Fills of[n] with the index of each pixel's colour, and code[n]
 * with the colours in ascending order; only the first of code[] count. work [2n]. n <= FEW_MOST. Returns their number.
 */
size_t
few_colours(const uint8_t *px, size_t n, size_t c, uint32_t *of, uint32_t *code, uint64_t *work);

#endif
