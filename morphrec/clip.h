/* The pass before a reconstruction: J0 = min(marker, mask), and what it met. */
#ifndef MORPHREC_CLIP_H
#define MORPHREC_CLIP_H

#include <stdint.h>

#include "morphrec/problem.h"

struct morphrec_clip {
	uint64_t above;	      /* markers beyond the mask: clipped */
	uint64_t first_above; /* the index of the first of them */
	uint64_t nan;	      /* pixels where marker or mask is NaN */
	uint64_t first_nan;
	uint64_t lo,
	    hi; /* smallest and largest key of J0 (keys.h); lo > hi: nothing was clipped yet */
};

/* The figures of no samples at all. */
static inline struct morphrec_clip
clip_nothing(void)
{
	const struct morphrec_clip none = {0, 0, 0, 0, UINT64_MAX, 0};

	return none;
}

/* Writes J0 into J, the whole array, by what->threads threads. */
struct morphrec_clip clip_all(const struct morphrec_problem *what, void *J, const void *I);

/* Clips samples [at, at + n) of the array, and adds to sum what it met. */
void clip_some(const struct morphrec_problem *what, void *J, const void *I, size_t at, size_t n,
	       struct morphrec_clip *sum);

/* Adds to *sum what was met in another part. */
void clip_join(struct morphrec_clip *sum, const struct morphrec_clip *part);

#endif
