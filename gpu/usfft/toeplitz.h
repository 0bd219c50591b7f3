/* The matrix A* W A of usfft/inverse.c on the device. A Toeplitz matrix of modes, it is applied by FFTs of twice their length. */
#ifndef WEIR_GPU_USFFT_TOEPLITZ_H
#define WEIR_GPU_USFFT_TOEPLITZ_H

#include "gpu/usfft/work.h"

struct toeplitz {
	int dim;
	unsigned n[3], len[3]; /* modes; cells, at least 2 n - 1 */
	unsigned tail[3];      /* modes at the end of an axis: the negative ones, in FFT order */
	size_t modes, cells;
	double *symbol;
	cplx<double> *work;
};

/* Fills *t with the lengths for the modes of o. Returns 0, or -EIO when there are too many cells. */
int toeplitz_shape(struct gpu *g, const struct usfft_options *o, struct toeplitz *t);

/* Makes the matrix from its column, 2 n - 1 modes along each axis, in FFT order. t->work takes the memory of the points' grid. */
int toeplitz_make(struct gpu *g, struct toeplitz *t, const cplx<double> *column);

/* out = T in. */
int
toeplitz_apply(struct gpu *g, const struct toeplitz &t, const cplx<double> *in, cplx<double> *out);

#endif
