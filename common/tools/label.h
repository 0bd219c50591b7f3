/*
 * Connected components of rows that come one after the other: each row is cut into runs of chosen samples, runs that touch
 * are joined (union and find by least index), and a component is named by its first run. Memory grows with the number of
 * runs, not with that of samples. Pure.
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
	uint32_t from, to; /* columns from to to - 1 */
	uint32_t
	    up; /* a run of the same component with no larger index; after label_close the label */
};

/* What is known of a component. Moments are about its first sample. */
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
	size_t rows;	       /* that have come */
	size_t *row;	       /* where the runs of each row begin; owned */
	struct label_run *run; /* owned */
	size_t nrun, room;
	struct label_region *region; /* of the components, after label_close; owned */
	size_t n, room_region;
};

/* 0 or -ENOMEM. */
int label_open(struct label *l, size_t w, size_t h, size_t depth, int connectivity);

/* 0, -ENOMEM, or -EOVERFLOW when there are 2^32 runs. values: w of them. */
int label_row(struct label *l, const uint8_t *chosen, const double *values);

/* Components of fewer than min_size samples get label 0. 0 or -ENOMEM. */
int label_close(struct label *l, uint64_t min_size);

/* The labels of row number row, w of them. */
void label_write(const struct label *l, size_t row, int32_t *labels);

void label_free(struct label *l);

#endif
