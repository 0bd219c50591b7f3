/*
 * The Levinson-Durbin recursion for Hermitian positive definite Toeplitz matrices T[i][l] = t[i - l], t[-i] = conj t[i], i, l < n,
 * LEVINSON_LANES of them in the lanes of double vectors: the predictor a of each, T a = E (1, 0 .. 0) with a_0 = 1, by n^2
 * complex multiplications and additions.
 *
 * Source: Golub and Van Loan, Matrix Computations, 4.7.
 */
#ifndef RADON_LEVINSON_H
#define RADON_LEVINSON_H

#include <stddef.h>

#include "usfft/line.h"

enum { LEVINSON_LANES = USFFT_LINE };

/*
 * t, a: n rows of LANES re and LANES im, aligned to 64 bytes. e: E of each lane. A lane whose E falls below `least` of t[0]
 * stops changing, so that it stays finite, and is marked by a 0 in alive; the others by a 1. steps: n rows of LANES, the E of
 * the first 1 .. n unknowns; their product is the determinant.
 */
void levinson(const double *t, size_t n, double least, double *a, double *e, double *alive,
	      double *steps);

#endif
