/*
 * The sparse inverse: iteratively reweighted least squares. With weights W in (0, 1] on the samples of the panel, m = W u and
 * u minimises |d - A W u|^2 + NU nq |u|^2, by `inner` steps of conjugate gradients from u = 0; then W grows with the
 * amplitude of m, and again, `outer` times in all, the first with W = 1. The zeros that a trace begins or ends with are no equations.
 *
 * Source: Sacchi and Ulrych, Geophysics 60(4), 1995; the weights live in time as in Trad, Ulrych and Sacchi, Geophysics
 * 68(1), 2003.
 */
#ifndef RADON_SPARSE_H
#define RADON_SPARSE_H

#include "radon/core.h"

struct radon_sparse;

/* Room for a gather. NULL: no memory. */
struct radon_sparse *radon_sparse_room(const struct radon_core *p);
void radon_sparse_free(struct radon_sparse *s); /* NULL is nothing */

/* As radon_run. */
void radon_sparse_run(const struct radon_core *p, struct radon_sparse *s, struct radon_room *w,
		      const float *in, float *out, struct radon_report *r);

#endif
