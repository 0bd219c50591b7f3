/* A* W A of usfft/inverse.c on the device, a Toeplitz matrix of modes by FFTs of twice their length. */
#ifndef WEIR_GPU_USFFT_TOEPLITZ_H
#define WEIR_GPU_USFFT_TOEPLITZ_H

#include "gpu/usfft/work.h"

struct toeplitz {
	int dim;
	unsigned n[3], len[3]; /* modes; cells, at least 2 n - 1 */
	unsigned tail[3]; /* modes that lie at the end of an axis: the negative ones in FFT order */
	size_t modes, cells;
	double *symbol;
	cplx<double> *work;
};

/* Lengths, for o's modes. 0, or -EIO where there are too many cells. */
int toeplitz_shape(struct gpu *g, const struct usfft_options *o, struct toeplitz *t);

/* The matrix of that column: 2 n - 1 modes an axis, in FFT order. The work array takes the memory of the points' grid. */
int toeplitz_make(struct gpu *g, struct toeplitz *t, const cplx<double> *column);

/* out = T in. */
int
toeplitz_apply(struct gpu *g, const struct toeplitz &t, const cplx<double> *in, cplx<double> *out);

#endif
