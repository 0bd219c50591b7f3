/* RADON_TIME: whole transforms by shifting and adding in time. */
#ifndef WEIR_RADON_TIME_TIME_H
#define WEIR_RADON_TIME_TIME_H

#include "radon/core.h"
#include "radon/inverse/sparse.h"

void radon_time_adjoint(const struct radon_core *p, const float *gather, float *panel, int threads);
void radon_time_model(const struct radon_core *p, const float *panel, float *gather, int threads);

/*
 * Hyperbolic curves t = sqrt(tau^2 + q g). The shift of a sample depends on its time, so that both operators work in time:
 *
 *	adjoint		m(tau, q) = sum_x d(sqrt(tau^2 + q g(x)), x), by linear interpolation of d
 *	modelling	the exact transpose
 *
 * Samples with tau below 0 are 0. No mute is applied.
 */

void hyperbola_adjoint(const struct radon_core *p, const float *gather, float *panel, int threads);
void hyperbola_model(const struct radon_core *p, const float *panel, float *gather, int threads);

/*
 * Least squares and sparse inverses of hyperbolic curves, by the iteration of radon/inverse/sparse.h. Gathers are samples in
 * time.
 */

/* Allocates the arrays of one gather. Returns NULL when there is no memory. */
struct radon_irls *radon_time_inverse(const struct radon_core *p);

/* Does the work of radon_run() for RADON_LSQ and RADON_SPARSE; see radon.h. */
void radon_time_inverse_run(struct radon_irls *s, struct radon_room *w, const float *in, float *out,
			    struct radon_report *r);

#endif
