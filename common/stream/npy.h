/* Reads NumPy's .npy (versions 1 to 3) and PFM. A function with why returns 0, or -1. */
#ifndef WEIR_STREAM_NPY_H
#define WEIR_STREAM_NPY_H

#include <stdbool.h>
#include <stdio.h>

#include "common/base/why.h"
#include "common/stream/img.h"

/* How the payload of a .npy file differs from an item's. */
struct npy_layout {
	bool swap;    /* it is in the other byte order */
	bool fortran; /* the first index runs fastest */
	bool half;    /* its samples have 16 bits (f2); x's are float */
};

/*
 * Reads the header of a .npy file. The order of the axes is reversed, so that the last index is axis 0. A complex dtype
 * becomes an axis 0 of kind complex.
 */
int npy_head(FILE *f, struct img *x, struct npy_layout *how, struct why *why);

/* Parses text[0..n), the dictionary of such a header. Pure, fuzzed. */
int npy_parse(const char *text, size_t n, struct img *x, struct npy_layout *how, struct why *why);

/* Converts n 16-bit floats, which lie in the upper half of the memory of v[0..n), to v[0..n). */
void npy_widen(float *v, size_t n);

/* Copies from[], a payload whose first index runs fastest, to to[] in x's order. Both have x's size and do not overlap. */
void npy_transpose(const struct img *x, void *to, const void *from);

/*
 * Reads the header of a PFM file: x has type float and sizes `x y` or `3 x y`. The payload has the rows from the bottom up.
 * *swap: it is in the other byte order.
 */
int pfm_head(FILE *f, struct img *x, bool *swap, struct why *why);

/* Reverses the order of the rows of x->data, in place. */
void pfm_flip(struct img *x);

#endif
