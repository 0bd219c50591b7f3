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
 * Sums over data run over known samples only. Richardson-Lucy finds x >= -p, p being `floor` over the mean of A 1: its steps find
 * x + p from y + p A 1. What is still below 0 there counts as 0: with negative data x could grow without limit.
 * Where the edge renormalises, what lies beyond the edges is unknown. The estimate x is then larger than the data by the
 * kernel's size less one, and is cut to the data's size at the end (M. Bertero, P. Boccacci, A&A 437, 2005).
 * With other edges, A takes beyond the edges what enum wconv_edge says.
 *
 * W. H. Richardson, J. Opt. Soc. Am. 62, 1972; L. B. Lucy, Astron. J. 79, 1974. M. R. Hestenes, E. Stiefel, J. Res. NBS 49, 1952.
 */
#ifndef WEIR_WCONV_RESTORE_RESTORE_H
#define WEIR_WCONV_RESTORE_RESTORE_H

#include "wconv/wconv.h"

struct wconv_restore_options {
	bool least_squares;
	/* for Richardson-Lucy; not for gpu_wconv_restore() */
	bool accelerate;
	/* for least squares; in units of the kernels' sums */
	double damp;
	/* a constant level that the kernels did not blur, in units of the data */
	double sky;
	/* how far below 0 Richardson-Lucy may go, in units of the data; it may change from run to run */
	double floor;
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
 * Returns 0, or -1 with a sentence in why and *r NULL.
 */
int wconv_restore_plan(struct wconv_restore **r, const struct wconv_problem *q,
		       const struct wconv_restore_options *o, struct why *why);

/*
 * y: [h][w] samples; those that are not finite are unknown. x: [h][w] results. With s = A' applied to 1 at known
 * samples and 0 at unknown ones, Richardson-Lucy gives NaN where s is at most a hundredth of its largest value.
 * The result has the same bytes for any number of threads. Returns 0, or -1 with a sentence in why.
 */
int wconv_restore_run(struct wconv_restore *r, const void *y, void *x, struct wconv_restored *done,
		      struct why *why);

/* Returns the plan that computes A, which tells what was chosen; r owns it. NULL: the kernel has three axes. */
const struct wconv_plan *wconv_restore_by(const struct wconv_restore *r);

/* r may be NULL. */
void wconv_restore_free(struct wconv_restore *r);

/* The inside of a deconvolution: what the steps of both precisions share. */

struct wconv_restore {
	struct wconv_restore_options o;
	struct wconv_plan *plan;
	struct wconv_adjoint *adjoint;
	/* for a kernel of three axes, in place of both */
	struct wconv_volume *volume;
	int threads;
	bool in_double;
	/*
	 * The size of the data and of the estimate, and the place of the data's first sample in the estimate. h and eh count
	 * the rows of all slices of a volume; a slice of the data has `rows` of them, and one of the estimate `erows`.
	 */
	size_t w, h, ew, eh, ox, oy, oz, rows, erows;
	double *node_x, *node_y;
	/* the estimate x, and two arrays of its size */
	void *x, *p, *s;
	/* two arrays of the data's size */
	void *f, *r;
	/* one sum for each row of the data or of the estimate, so that totals do not depend on threads */
	double *row;
	/* Richardson-Lucy: the data; a step's smallest A x + sky; the value of s below which x is not known */
	const void *y;
	double least, dark;
	/* the floor in units of the estimate; if it is not 0, the data above it follow those of f */
	double floor;
	/* with acceleration: X and g of the step before, of the estimate's size; the sums g g' and g'^2 of each of its rows */
	void *last, *gain;
	double *along, *before;
};

/* The known samples: how many there are, their sum, and their largest absolute value. */
struct wconv_known {
	size_t n;
	double sum, peak;
};

/*
 * Fills in r->least and r->dark, and sets *level to the start of Richardson-Lucy: the constant that explains the sum of the
 * known samples. largest, all: the largest s = A' 1 and the sum of s. Richardson-Lucy is refused unless s is above a millionth of
 * `largest` for each known sample. Returns 0, or -1 with a sentence in why.
 */
int wconv_restore_start(struct wconv_restore *r, const struct wconv_known *k, double largest,
			double all, double *level, struct why *why);

/* Says in why that no sample is known. Returns -1. */
int wconv_restore_unknown(struct why *why);

/* Refuses sums of squares of the misfit and of the gradient that are not finite. Returns 0, or -1 with a sentence in why. */
int wconv_restore_check(double misfit, double gradient, struct why *why);

/* Sets done->rms, from the sum of squares over n known samples. Returns whether the steps end here. */
bool wconv_restore_ends(const struct wconv_restore *r, struct wconv_restored *done, double squares,
			size_t n);

/* Below this part of its first value, the gradient's sum of squares is nothing but rounding. */
double wconv_restore_tiny(const struct wconv_restore *r);

/*
 * to = A from; with transpose, to = A' from. With `row`, that is called for each row of the result when it is done, and `to` need
 * not hold the result afterwards.
 */
void wconv_restore_apply(struct wconv_restore *r, bool transpose, const void *from, void *to,
			 void (*row)(void *r, size_t row, const void *samples));

/* The methods in one precision. They return 0, or -1 with a sentence in why. */
struct wconv_restore_steps {
	int (*lucy)(struct wconv_restore *r, const void *y, struct wconv_restored *done,
		    struct why *why);
	int (*least_squares)(struct wconv_restore *r, const void *y, struct wconv_restored *done,
			     struct why *why);
};
extern const struct wconv_restore_steps wconv_restore_f32, wconv_restore_f64;

#endif
