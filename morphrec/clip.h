/* The pass before a reconstruction: it makes J0 = min(marker, mask) and counts what it clips. */
#ifndef MORPHREC_CLIP_H
#define MORPHREC_CLIP_H

#include <stdint.h>

#include "morphrec/problem.h"

struct morphrec_clip {
	uint64_t above;	      /* markers beyond the mask, which were clipped */
	uint64_t first_above; /* the index of the first of them */
	uint64_t nan;	      /* pixels where marker or mask is NaN */
	uint64_t first_nan;   /* the index of the first of them */
	/* The smallest and the largest key of J0 (keys.h); lo > hi when no sample was seen yet. */
	uint64_t lo, hi;
};

/* Returns the figures before the first sample. */
static inline struct morphrec_clip
clip_nothing(void)
{
	const struct morphrec_clip none = {0, 0, 0, 0, UINT64_MAX, 0};

	return none;
}

/* Replaces J, the whole array, by J0, on what->threads threads. Returns what it met. */
struct morphrec_clip clip_all(const struct morphrec_problem *what, void *J, const void *I);

/* Clips samples [at, at + n) of the array, and adds what it met to *sum. */
void clip_some(const struct morphrec_problem *what, void *J, const void *I, size_t at, size_t n,
	       struct morphrec_clip *sum);

/* Adds the figures of another range of samples to *sum. */
void clip_join(struct morphrec_clip *sum, const struct morphrec_clip *part);

#endif
