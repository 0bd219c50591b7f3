/*
 * Least squares and sparse inverses of hyperbolic curves, by conjugate gradients in time. radon/inverse/sparse.h describes the
 * iteration; least squares is the same with one set of weights, W = 1. Dead traces and the zeros that a trace begins or ends
 * with contribute no equations.
 */
#ifndef RADON_TIME_INVERSE_H
#define RADON_TIME_INVERSE_H

#include "radon/core.h"

struct radon_time_inverse;

/* Allocates the arrays of one gather. Returns NULL when there is no memory. */
struct radon_time_inverse *radon_time_inverse(const struct radon_core *p);
void radon_time_inverse_free(struct radon_time_inverse *s); /* accepts NULL */

/* Does the work of radon_run() for RADON_LSQ and RADON_SPARSE; see radon.h. */
void radon_time_inverse_run(const struct radon_core *p, struct radon_time_inverse *s, int threads,
			    const float *in, float *out, struct radon_report *r);

#endif
