/*
 * Deconvolution: the picture x that, seen through the kernels, gives the data y = A x + sky.
 *
 *	Richardson-Lucy		x <- x A'(y / (A x + sky)) / A' 1, from a flat start: the likeliest x >= 0 for counts
 *	least squares		min |A x + sky - y|^2 + damp^2 |x|^2 by conjugate gradients (CGLS), from 0
 *
 * A is wconv's convolution, which gathers, or with `scatters` the adjoint: each point of x spreads as its own kernel, which
 * is what a point spread function does to light (the kernels flipped, q->correlate, are the point spread functions then).
 * Sums over data run over known samples only. Where the edge renormalises, what lies beyond the edges is unknown: x is
 * larger than the data by the kernel's size less one, and is cut to the data's size at the end (M. Bertero, P. Boccacci,
 * A&A 437, 2005). At other edges A sees what the edge says.
 *
 * W. H. Richardson, J. Opt. Soc. Am. 62, 1972; L. B. Lucy, Astron. J. 79, 1974. M. R. Hestenes, E. Stiefel, J. Res. NBS 49, 1952.
 */
#ifndef WCONV_RESTORE_H
#define WCONV_RESTORE_H

#include "wconv/wconv.h"

struct wconv_restore_options {
	bool least_squares;
	/* of least squares; in units of the kernels' sums */
	double damp;
	/* a constant that the kernels did not see, in units of the data */
	double sky;
	/* at most; 1 or more */
	size_t steps;
	/* stop when the root mean square of y - A x - sky is no larger; 0: never */
	double noise;
	bool scatters;
	/* called after each step with the number of steps done; may be NULL */
	void (*tell)(void *with, size_t steps);
	void *with;
};

/* What the steps came to: how many were done, and the root mean square of y - A x - sky before the last of them. */
struct wconv_restored {
	size_t steps;
	double rms;
};

struct wconv_restore;

/*
 * q: a picture of one plane or a part of it (which needs the edge that renormalises), its samples and results of q's precision.
 * 0, or -1 with a sentence in err and *r NULL. The kernels are borrowed until wconv_restore_free.
 */
int wconv_restore_plan(struct wconv_restore **r, const struct wconv_problem *q,
		       const struct wconv_restore_options *o, char err[WCONV_ERR]);

/*
 * y: w*h samples; those that are not finite are unknown. x: w*h results; Richardson-Lucy gives NaN where less than a
 * hundredth of the largest A' 1 is known. The same bytes for any number of threads. 0, or -1 with a sentence in err.
 */
int wconv_restore_run(struct wconv_restore *r, const void *y, void *x, struct wconv_restored *done,
		      char err[WCONV_ERR]);

/* The plan that stands for A, owned by r: to be asked what was chosen. */
const struct wconv_plan *wconv_restore_by(const struct wconv_restore *r);

/* r may be NULL. */
void wconv_restore_free(struct wconv_restore *r);

#endif
