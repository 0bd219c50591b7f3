/* The sums of one block of LANES frequencies from k on, added term by term in double. Shapes are those of block.h. */
#ifndef RADON_RECURRENCE_H
#define RADON_RECURRENCE_H

#include "radon/core.h"

/* z = exp(sign 2 pi i k' x), k' = k .. k + LANES - 1, as LANES re and LANES im. */
void recurrence_phases(double x, size_t k, int sign, double *z);

void recurrence_adjoint(const struct radon_core *p, struct radon_worker *w, size_t k,
			const float *d, size_t ldd, float *m, size_t ldm);
void recurrence_model(const struct radon_core *p, struct radon_worker *w, size_t k, const float *m,
		      size_t ldm, float *d, size_t ldd);

/* The first column of A^H A: t[n] = sum over live traces j of exp(2 pi i k n c_j), n < p->nq, in rows of LANES re and LANES im. */
void recurrence_column(const struct radon_core *p, struct radon_worker *w, size_t k, double *t);

#endif
