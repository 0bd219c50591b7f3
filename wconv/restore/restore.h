/*
 * Deconvolution finds the picture x that gives the data y = A x + sky.
 *
 *	Richardson-Lucy		x <- x A'(y / (A x + sky)) / A' 1, from a flat start: the likeliest x >= 0 for counts
 *	accelerated		x <- max(X + a (X - X'), X / 10), where Richardson-Lucy makes X of x, and made X' a step before
 *	least squares		min |A x + sky - y|^2 + damp^2 |x|^2 by conjugate gradients (CGLS), from 0
 *
 * With g = X - x, and g' that of the step before, a = sum g g' / sum g'^2 over the estimate, 0..1, and 0 in the first step
 * (D. S. C. Biggs, M. Andrews, Applied Optics 36, 1997). The bound of X / 10 is ours: a sample that is 0 would stay 0.
 *
 * A is wconv's convolution, which gathers. With `scatters`, A is its adjoint: each point of x spreads along its own
 * kernel, as a point spread function does to light. With q->correlate too, the kernels are the point spread functions.
 * Sums over data run over known samples only. The steps of Richardson-Lucy take y < 0 as 0: with negative data x could grow
 * without limit.
 * Where the edge renormalises, what lies beyond the edges is unknown. The estimate x is then larger than the data by the
 * kernel's size less one, and is cut to the data's size at the end (M. Bertero, P. Boccacci, A&A 437, 2005).
 * With other edges, A takes beyond the edges what enum wconv_edge says.
 *
 * W. H. Richardson, J. Opt. Soc. Am. 62, 1972; L. B. Lucy, Astron. J. 79, 1974. M. R. Hestenes, E. Stiefel, J. Res. NBS 49, 1952.
 */
#ifndef WCONV_RESTORE_H
#define WCONV_RESTORE_H

#include "wconv/wconv.h"

struct wconv_restore_options {
	bool least_squares;
	/* for Richardson-Lucy; not for gpu_wconv_restore() */
	bool accelerate;
	/* for least squares; in units of the kernels' sums */
	double damp;
	/* a constant level that the kernels did not blur, in units of the data */
	double sky;
	/* the most steps to do; 1 or more */
	size_t steps;
	/* stops when the root mean square of y - A x - sky is this or less, in units of the data; 0: does all steps */
	double noise;
	bool scatters;
	/* for gpu_wconv_restore(): takes none of the memory that only wconv_restore_run() needs */
	bool on_device;
	/* called after each step with the number of steps done; may be NULL */
	void (*tell)(void *with, size_t steps);
	void *with;
};

/* steps: steps done. rms: the root mean square of y - A x - sky over the known samples, after those steps. */
struct wconv_restored {
	size_t steps;
	double rms;
};

struct wconv_restore;

/*
 * q describes a picture of one plane, or a part of it, with samples and results of q's precision. A part needs the edge
 * WCONV_RENORMALISE. The kernels are borrowed until wconv_restore_free.
 * Returns 0, or -1 with a sentence in err and *r NULL.
 */
int wconv_restore_plan(struct wconv_restore **r, const struct wconv_problem *q,
		       const struct wconv_restore_options *o, char err[WCONV_ERR]);

/*
 * y: [h][w] samples; those that are not finite are unknown. x: [h][w] results. With s = A' applied to 1 at known
 * samples and 0 at unknown ones, Richardson-Lucy gives NaN where s is at most a hundredth of its largest value.
 * The result has the same bytes for any number of threads. Returns 0, or -1 with a sentence in err.
 */
int wconv_restore_run(struct wconv_restore *r, const void *y, void *x, struct wconv_restored *done,
		      char err[WCONV_ERR]);

/* Returns the plan that computes A, which tells what was chosen; r owns it. NULL: the kernel has three axes. */
const struct wconv_plan *wconv_restore_by(const struct wconv_restore *r);

/* r may be NULL. */
void wconv_restore_free(struct wconv_restore *r);

#endif
