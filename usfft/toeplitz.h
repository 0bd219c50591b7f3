/*
 * The product with the Toeplitz matrix of a Hermitian column, (T F)_k = sum_k' T_{k-k'} F_k', by two FFTs of twice the
 * size. In double precision.
 */
#ifndef WEIR_USFFT_TOEPLITZ_H
#define WEIR_USFFT_TOEPLITZ_H

#include <fftw3.h>

#include "usfft/usfft.h"

struct toeplitz {
	int dim, threads;
	size_t n[3], len[3]; /* modes; sizes of the FFT, at least 2 n - 1 */
	size_t tail[3]; /* modes that lie at the end of an axis: the negative ones in FFT order */
	size_t rows;	/* len[1] * len[2] */
	double *symbol; /* owned: the transform of T, real, scaled */
	fftw_complex *work;		 /* owned */
	fftw_plan fft[2][3];		 /* [inverse][axis] */
	struct usfft_seconds own, *took; /* took: the caller's, or own */
};

/*
 * For the modes and threads of o. column: T at 2 n - 1 modes per axis, in FFT order. 0, -ENOMEM or -EOVERFLOW. t need not
 * be initialised; free it also after a failure.
 */
int usfft_toeplitz_make(struct toeplitz *t, const struct usfft_options *o, const double *column);

/* out = T in, n complex modes of o's order each. */
void usfft_toeplitz_apply(struct toeplitz *t, const double *in, double *out);

/* A zeroed struct is fine. */
void usfft_toeplitz_free(struct toeplitz *t);

#endif
