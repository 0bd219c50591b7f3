/*
 * The sparse inverse, by the iteration of irls.h.
 *
 * The weights are functions of time, which all frequencies share. Weights from low frequencies alone, for the first set or for
 * two sets (Herrmann et al. 2000), gained at most .3 dB of primaries and lost up to 3.8 dB in 12 scenes of 12, 20 and 40 traces
 * whose events alias above 9, 14 and 29 Hz. On a real gather of which each second or fourth trace was kept, they gained at most
 * .2 dB and lost up to 1.9 dB of multiples; weights from frequency to frequency predicted the other traces .7 dB worse.
 *
 * Source: Sacchi and Ulrych, Geophysics 60(4), 1995. The weights are functions of time as in Trad, Ulrych and Sacchi,
 * Geophysics 68(1), 2003.
 */
#ifndef RADON_SPARSE_H
#define RADON_SPARSE_H

#include "radon/inverse/irls.h"

/* Allocates the arrays of one gather. Returns NULL when there is no memory. */
struct radon_irls *radon_sparse(const struct radon_core *p);

/* Does the work of radon_run() for RADON_SPARSE; see radon.h. */
void radon_sparse_run(struct radon_irls *s, struct radon_room *w, const float *in, float *out,
		      struct radon_report *r);

#endif
