/* --check: compares K results, picked evenly, with their exact sums. It does no I/O. */
#ifndef WEIR_USFFT_SPOT_CHECK_H
#define WEIR_USFFT_SPOT_CHECK_H

#include "usfft/sky/sky.h"
#include "usfft/usfft.h"
#include "usfft/items/values.h"

struct spot_check {
	size_t k, outs; /* k: results to check; outs: results in total */
	size_t next;	/* the check that comes next, 0..k */
	int sign;
	double *in;	   /* owned: the values to sum */
	double diff, norm; /* sums of squares: of the errors, and of the exact sums */
};

/*
 * Prepares to check k of outs results, or all if there are fewer than k. The results come from the count values of v.
 * k == 0: nothing is checked. v NULL: they are given to spot_check_sky(). Returns 0 or -ENOMEM.
 */
int spot_check_start(struct spot_check *s, size_t k, size_t outs, int sign, const struct values *v,
		     size_t count);

/* Type 1: checks the picked modes of a row. Rows come in order. */
void spot_check_row(struct spot_check *s, const struct usfft_options *o,
		    const struct usfft_points *pt, size_t row, const void *got);

/* Type 2: checks all picked results. */
void spot_check_points(struct spot_check *s, const struct usfft_options *o,
		       const struct usfft_points *pt, const void *got);

/* Type 3: checks all picked results. */
void
spot_check_targets(struct spot_check *s, const struct usfft_options *o,
		   const struct usfft_points *from, const struct usfft_points *to, const void *got);

/* An image of the sky (image) or visibilities, computed from `in`: checks all picked results. */
void spot_check_sky(struct spot_check *s, const struct usfft_sky_options *o,
		    const struct usfft_points *pt, bool image, const double *in, const double *got);

/* Returns the l2 error of the checked results, relative unless all sums are 0, and frees what s owns. */
double spot_check_end(struct spot_check *s);

#endif
