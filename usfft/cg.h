/* Conjugate gradients for a symmetric, positive matrix. */
#ifndef WEIR_USFFT_CG_H
#define WEIR_USFFT_CG_H

#include <stddef.h>

#include "usfft/inverse.h"

/* out = matrix in, for n reals each. It returns 0 or -errno. */
typedef int cg_matrix(void *who, const double *in, double *out);

/*
 * Solves matrix f = r for n reals, from f on, which is zero without v->start. A right side of zeros gives f = 0. r: the
 * right side, which becomes the residual. Returns 0, -ENOMEM, -ERANGE (the numbers are too large for double) or what the
 * matrix returned.
 */
int usfft_cg(cg_matrix *matrix, void *who, size_t n, const struct usfft_inverse *v, double *f,
	     double *r, struct usfft_outcome *got);

#endif
