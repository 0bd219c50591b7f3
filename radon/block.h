/*
 * Adjoint and modelling of LANES frequencies from k on. d has nx rows of stride ldd, and m has nq rows of stride ldm, both in
 * complex samples.
 */
#ifndef RADON_BLOCK_H
#define RADON_BLOCK_H

#include "radon/core.h"

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
