/*
 * The product with a Hermitian Toeplitz matrix, (T F)_k = sum_k' T_{k-k'} F_k', by two FFTs of twice the size, in double
 * precision.
 */
#ifndef WEIR_USFFT_TOEPLITZ_H
#define WEIR_USFFT_TOEPLITZ_H

#include "usfft/grid/grid.h"

struct toeplitz {
	struct grid grid; /* of at least 2 n - 1 cells along each axis */
	double *
	    symbol; /* owned: the transform of T, real, divided by the number of cells; as the grid is laid out */
	struct usfft_seconds own, *took; /* took: the caller's, or own */
};

/*
 * Makes t for the modes and threads of o. column: T_k at 2 n - 1 modes per axis, in FFT order. Returns 0, -ENOMEM or
 * -EOVERFLOW. t need not be initialised; the caller frees it also after a failure.
 */
int usfft_toeplitz_make(struct toeplitz *t, const struct usfft_options *o, const double *column);

/* out = T in. Both hold n complex modes in the order of o. */
void usfft_toeplitz_apply(struct toeplitz *t, const double *in, double *out);

/* Frees what t owns. It accepts a zeroed struct. */
void usfft_toeplitz_free(struct toeplitz *t);

#endif
