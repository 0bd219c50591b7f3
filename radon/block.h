/*
 * Adjoint and modelling of LANES frequencies from k on. d has nx rows of stride ldd, and m has nq rows of stride ldm, both in
 * complex samples.
 */
#ifndef WEIR_RADON_BLOCK_H
#define WEIR_RADON_BLOCK_H

#include "radon/core.h"

/* The sums of one block of LANES frequencies from k on, added term by term in double. Shapes are those of block.h. */

void recurrence_adjoint(const struct radon_core *p, struct radon_worker *w, size_t k,
			const float *d, size_t ldd, float *m, size_t ldm);

/* The first column of A^H A: t[n] = sum over live traces j of exp(2 pi i k n c_j), n < p->nq, in rows of LANES re and LANES im. */
void recurrence_column(const struct radon_core *p, struct radon_worker *w, size_t k, double *t);

/* The plan chooses between the transform of nonequispaced points and the recurrence. */
void radon_block_adjoint(const struct radon_core *p, struct radon_worker *w, size_t k,
			 const float *d, size_t ldd, float *m, size_t ldm);
void radon_block_model(const struct radon_core *p, struct radon_worker *w, size_t k, const float *m,
		       size_t ldm, float *d, size_t ldd);

/* Transform all blocks of the band: the adjoint from w->d to w->m, weighted by q_weight; modelling from w->m to w->d. */
void radon_adjoint_all(const struct radon_core *p, struct radon_room *w);
void radon_model_all(const struct radon_core *p, struct radon_room *w);

/* Copies m, nq rows of LANES complex, to rows of stride ld, weighted by a mute that depends on q alone. */
void radon_weigh_rows(const struct radon_core *p, const float *m, float *to, size_t ld);

#endif
