/* A plan and its work: each is the part that all methods share and the parts that one method adds. */
#ifndef WEIR_RADON_PLAN_H
#define WEIR_RADON_PLAN_H

#include "radon/adapt.h"
#include "radon/core.h"
#include "radon/inverse/lsq.h"
#include "radon/inverse/sparse.h"
#include "radon/time/time.h"

/*
 * RADON_USFFT2D, the method of Matveev et al. (radon.h): one 2-D transform of nonequispaced points in single precision
 * takes the points (k, k c_j) of all frequencies to the regular (tau, q). It spreads along k too, although k is regular. It
 * serves comparison and reproduction.
 */

struct radon_2d;

struct radon_plan {
	struct radon_core core;
	struct toeplitz *solver; /* owned; RADON_LSQ */
	struct radon_2d *two;	 /* owned; RADON_USFFT2D */
};

struct radon_work {
	struct radon_room room;
	struct radon_evidence *evidence; /* owned; NULL: NU is that of the options */
	struct radon_lsq_work *lsq;	 /* owned */
	struct radon_adapter *adapt;	 /* owned; NULL: no adaptive subtraction */
	struct radon_irls *irls; /* owned; for sparse, and for the inverses of hyperbolic curves */
};

#endif
