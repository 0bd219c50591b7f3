/* The sums of one block of frequencies, term by term, in double. */
#ifndef RADON_RECURRENCE_H
#define RADON_RECURRENCE_H

#include "radon/core.h"

void recurrence_adjoint(const struct radon_core *p, struct radon_lane *w, size_t k, const float *d,
			size_t ldd, float *m, size_t ldm);
void recurrence_model(const struct radon_core *p, struct radon_lane *w, size_t k, const float *m,
		      size_t ldm, float *d, size_t ldd);

/* t[i] = sum over live traces of exp(2 pi i k i c), i < nq, as rows of LANES re, LANES im. */
void recurrence_column(const struct radon_core *p, struct radon_lane *w, size_t k, double *t);

#endif
