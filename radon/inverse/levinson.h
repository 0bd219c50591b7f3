/*
 * The Levinson-Durbin recursion for Hermitian positive definite Toeplitz matrices T[i][l] = t[i - l], t[-i] = conj t[i],
 * i, l < n. It finds the predictor a with T a = E (1, 0 .. 0) and a_0 = 1 in n^2 complex multiplications and additions. The
 * lanes of double vectors hold LEVINSON_LANES matrices at once.
 *
 * Source: Golub and Van Loan, Matrix Computations, 4.7.
 */
#ifndef RADON_LEVINSON_H
#define RADON_LEVINSON_H

#include <stddef.h>

#include "usfft/line.h"

enum { LEVINSON_LANES = USFFT_LINE };

/*
 * t, a: n rows of LANES re and LANES im, aligned to 64 bytes. e: E of each lane. steps: n rows of LANES, the E of the leading
 * matrices of 1 .. n unknowns; the product of a lane's rows is its determinant. A lane whose E falls to `least` times t[0] or
 * below stops changing, so that it stays finite, and its element of alive becomes 0. The other elements of alive are 1.
 */
void levinson(const double *t, size_t n, double least, double *a, double *e, double *alive,
	      double *steps);

#endif
