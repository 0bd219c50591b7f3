/*
 * Finds connected components, row by row. Each row is cut into runs of chosen samples. Runs that touch are joined by
 * union-find, in which the least index becomes the root. The root of a component is therefore its first run. Memory grows
 * with the number of runs, not with the number of samples. Pure.
 *
 *	label_open(&l, w, h, depth, connectivity);
 *	for each row: label_row(&l, chosen, values);	chosen[i] != 0: sample i belongs to a component
 *	label_close(&l, min_size);			numbers the components in the order of their first samples
 *	for each row: label_write(&l, row, labels);	0 outside, else 1 to l.n
 */
#ifndef TOOLS_LABEL_H
#define TOOLS_LABEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct label_run {
	uint32_t from, to; /* the run has the columns from .. to - 1 */

	/* A run of the same component whose index is not larger. After label_close(): the label. */
	uint32_t up;
};

/* Measures of a component. Moments are about its first sample. */
struct label_region {
	uint64_t size;
	size_t lo[3], hi[3], first[3], top[3]; /* box, first sample, place of the peak: x y z */
	double shape[3];		       /* sums of x, y, z */
	double sum, peak;		       /* of the values */
	double moment[3], xx, yy, xy;	       /* sums of v x, v y, v z, v x^2, v y^2, v x y */
};

struct label {
	size_t w, h, depth;    /* a picture has depth 1 */
	int connectivity;      /* 4, 8; 6, 18, 26 */
	size_t rows;	       /* rows given to label_row() so far */
	size_t *row;	       /* index of the first run of each row; owned */
	struct label_run *run; /* owned */
	size_t nrun, room;
	struct label_region *region; /* of the components, after label_close; owned */
	size_t n, room_region;
};

/* Returns 0 or -ENOMEM. */
int label_open(struct label *l, size_t w, size_t h, size_t depth, int connectivity);

/* Adds a row of w samples and, unless NULL, their w values. Returns 0, -ENOMEM, or -EOVERFLOW at 2^32 runs. */
int label_row(struct label *l, const uint8_t *chosen, const double *values);

/* Numbers the components. Those of fewer than min_size samples get label 0. Returns 0 or -ENOMEM. */
int label_close(struct label *l, uint64_t min_size);

/* Writes the w labels of row number `row`. */
void label_write(const struct label *l, size_t row, int32_t *labels);

void label_free(struct label *l);

#endif
