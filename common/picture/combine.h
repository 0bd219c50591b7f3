/* Combines many numbers into one: of each pixel, those that the items of a stack have. NaN is no number. Pure. */
#ifndef WEIR_PICTURE_COMBINE_H
#define WEIR_PICTURE_COMBINE_H

#include <stdbool.h>
#include <stddef.h>

enum combine {
	COMBINE_NONE,
	COMBINE_MEDIAN,
	COMBINE_MEAN,
	COMBINE_SUM,
	COMBINE_MIN,
	COMBINE_MAX,
	COMBINE_CLIP
};

enum { COMBINE_BLOCK = 256 }; /* pixels at a time */

/* Whether all items are needed at once: of the median and of the clipped mean. */
int combine_needs_all(enum combine how);

/*
 * For sums, means, least and greatest numbers, items come one after the other. total[i] holds the result so far, and count[i]
 * how many numbers there were, for i < n; their form is combine.c's own. Numbers that came from doubles are wide: their sum may pass
 * the largest one, and their mean is right all the same. The last call makes total[i] NaN where there was none.
 */
void combine_start(enum combine how, double *total, unsigned *count, size_t n);
void
combine_add(enum combine how, double *total, unsigned *count, const double *v, size_t n, bool wide);
void combine_finish(enum combine how, double *total, const unsigned *count, size_t n);

/*
 * Sets out[i] to the median, or to the clipped mean, of v[0][i] .. v[items-1][i], for i < n <= COMBINE_BLOCK. v is overwritten.
 * The median of an even number is the mean of the two in the middle. The clipped mean leaves out numbers that are more than
 * 3 standard deviations from the median, again and again until none is left out, and is the mean of the rest. NaN where
 * all numbers are NaN.
 */
void combine_all(enum combine how, double (*v)[COMBINE_BLOCK], size_t items, size_t n, double *out);

#endif
