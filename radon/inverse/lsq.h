/* Least squares: per frequency the Toeplitz system (A^H A + damping) m = A^H d. */
#ifndef RADON_LSQ_H
#define RADON_LSQ_H

#include "radon/core.h"
#include "radon/inverse/toeplitz.h"

/* Factors A^H A + damping of all blocks of the band, of which there are some. 0 or -ENOMEM; *to is then NULL. */
int radon_lsq_factor(struct toeplitz **to, const struct radon_core *p);

/* Room for `threads` threads. NULL: no memory. */
struct radon_lsq_work;
struct radon_lsq_work *radon_lsq_work(const struct toeplitz *s, int threads);
void radon_lsq_work_free(struct radon_lsq_work *w); /* NULL is nothing */

/* As radon_run. */
void radon_lsq_run(const struct radon_core *p, const struct toeplitz *s, struct radon_room *w,
		   struct radon_lsq_work *own, const float *in, float *out, struct radon_report *r);

#endif
