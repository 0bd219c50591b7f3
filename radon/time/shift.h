/* RADON_TIME: whole transforms by shifting and adding in time. */
#ifndef RADON_SHIFT_H
#define RADON_SHIFT_H

#include "radon/core.h"

void radon_time_adjoint(const struct radon_core *p, const float *gather, float *panel, int threads);
void radon_time_model(const struct radon_core *p, const float *panel, float *gather, int threads);

#endif
