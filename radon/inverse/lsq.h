/* Least squares: solves the Toeplitz system (A^H A + damping) m = A^H d at each frequency. */
#ifndef RADON_LSQ_H
#define RADON_LSQ_H

#include "radon/core.h"
#include "radon/inverse/toeplitz.h"

/* Factors A^H A + damping for all blocks of the band, at least one. Returns 0 or -ENOMEM; after an error *to is NULL. */
int radon_lsq_factor(struct toeplitz **to, const struct radon_core *p);

/* Allocates the work of `threads` threads. Returns NULL when there is no memory. */
struct radon_lsq_work;
struct radon_lsq_work *radon_lsq_work(const struct toeplitz *s, int threads);
void radon_lsq_work_free(struct radon_lsq_work *w); /* accepts NULL */

/* Does the work of radon_run() for RADON_LSQ; see radon.h. */
void radon_lsq_run(const struct radon_core *p, const struct toeplitz *s, struct radon_room *w,
		   struct radon_lsq_work *own, const float *in, float *out, struct radon_report *r);

#endif
