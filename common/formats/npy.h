/* NumPy's .npy (versions 1 to 3) and PFM, both for input only. Each returns 0, or -1 with a sentence in err. */
#ifndef WEIR_NPY_H
#define WEIR_NPY_H

#include <stdbool.h>
#include <stdio.h>

#include "common/img.h"
#include "common/raw.h"

/* How the payload of a .npy file differs from an item's. */
struct npy_layout {
	bool swap;    /* it is in the other byte order */
	bool fortran; /* the first index runs fastest */
	bool half;    /* its samples are of 16 bits (f2), x's are float */
};

/*
 * The header of a .npy file: axes reversed, so that the last index is axis 0; a complex dtype becomes an axis 0 of kind
 * complex.
 */
int npy_head(FILE *f, struct img *x, struct npy_layout *how, char err[RAW_ERR]);

/* The dictionary of such a header, text[0..n): pure, fuzzed. */
int npy_parse(const char *text, size_t n, struct img *x, struct npy_layout *how, char err[RAW_ERR]);

/* n halves in the upper half of v[0..n) become v[0..n). */
void npy_widen(float *v, size_t n);

/* Rearranges a payload whose first index ran fastest into x's order: to[] and from[] of x's size, distinct. */
void npy_transpose(const struct img *x, void *to, const void *from);

/* The header of a PFM file: float, `x y` or `3 x y`, rows from the bottom up. *swap as above. */
int pfm_head(FILE *f, struct img *x, bool *swap, char err[RAW_ERR]);

/* Turns the rows of x->data upside down, in place. */
void pfm_flip(struct img *x);

#endif
