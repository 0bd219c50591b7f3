/* Measures of connected samples: size, box, sums, peak and moments. They are added run by run, and region by region. Pure. */
#ifndef WEIR_PICTURE_REGION_H
#define WEIR_PICTURE_REGION_H

#include <stddef.h>
#include <stdint.h>

/* Moments are about the first sample. */
struct region {
	uint64_t size;
	size_t lo[3], hi[3], first[3], top[3]; /* box, first sample, place of the peak: x y z */
	double shape[3];		       /* sums of x, y, z */
	double sum, peak;		       /* of the values */
	double moment[3], xx, yy, xy;	       /* sums of v x, v y, v z, v x^2, v y^2, v x y */
};

/* Begins a region, of no sample yet, whose first sample lies at x y z. */
void region_begin(struct region *g, const size_t at[3]);

/* Adds a run of n samples along x, the first of which lies at x y z. values are those of the run. */
void region_add(struct region *g, const size_t at[3], size_t n, const double *values);

/* Adds the samples of region b to region a. */
void region_merge(struct region *a, const struct region *b);

#endif
