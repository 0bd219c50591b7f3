/*
 * Hyperbolic curves t = sqrt(tau^2 + q g). The shift of a sample depends on its time, so that both operators work in time:
 *
 *	adjoint		m(tau, q) = sum_x d(sqrt(tau^2 + q g(x)), x), by linear interpolation of d
 *	modelling	the exact transpose
 *
 * Samples with tau below 0 are 0. No mute is applied.
 */
#ifndef RADON_HYPERBOLA_H
#define RADON_HYPERBOLA_H

#include "radon/core.h"

void hyperbola_adjoint(const struct radon_core *p, const float *gather, float *panel, int threads);
void hyperbola_model(const struct radon_core *p, const float *panel, float *gather, int threads);

#endif
