/*
 * The sparse inverse: iteratively reweighted least squares. W in (0, 1] weights the samples of the panel, and m = W u. For
 * given weights, `inner` steps of conjugate gradients from u = 0 minimise |d - A W u|^2 + NU nq |u|^2. Then new weights are
 * found, which grow with the amplitude of m. This is done `outer` times, the first time with W = 1. The zeros that a trace
 * begins or ends with contribute no equations.
 *
 * The weights are functions of time, which all frequencies share. Weights from low frequencies alone, for the first set or for
 * two sets (Herrmann et al. 2000), gained at most .3 dB of primaries and lost up to 3.8 dB in 12 scenes of 12, 20 and 40 traces
 * whose events alias above 9, 14 and 29 Hz.
 *
 * Source: Sacchi and Ulrych, Geophysics 60(4), 1995. The weights are functions of time as in Trad, Ulrych and Sacchi,
 * Geophysics 68(1), 2003.
 */
#ifndef RADON_SPARSE_H
#define RADON_SPARSE_H

#include "radon/core.h"

struct radon_sparse;

/* Allocates the arrays of one gather. Returns NULL when there is no memory. */
struct radon_sparse *radon_sparse_room(const struct radon_core *p);
void radon_sparse_free(struct radon_sparse *s); /* accepts NULL */

/* Does the work of radon_run() for RADON_SPARSE; see radon.h. */
void radon_sparse_run(const struct radon_core *p, struct radon_sparse *s, struct radon_room *w,
		      const float *in, float *out, struct radon_report *r);

#endif
