/*
 * Least squares and sparse inverses of hyperbolic curves, by the iteration of radon/inverse/irls.h. Gathers are samples in
 * time.
 */
#ifndef RADON_TIME_INVERSE_H
#define RADON_TIME_INVERSE_H

#include "radon/inverse/irls.h"

/* Allocates the arrays of one gather. Returns NULL when there is no memory. */
struct radon_irls *radon_time_inverse(const struct radon_core *p);

/* Does the work of radon_run() for RADON_LSQ and RADON_SPARSE; see radon.h. */
void radon_time_inverse_run(struct radon_irls *s, struct radon_room *w, const float *in, float *out,
			    struct radon_report *r);

#endif
