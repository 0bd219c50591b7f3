/*
 * Finds connected components, row by row. Each row is cut into runs of chosen samples. A run that touches none of an earlier
 * row begins a label; others take the label of the first run that they touch. Labels that meet are joined by union-find, in
 * which the least becomes the root. The root of a component is therefore the label of its first run. Memory grows with the
 * number of runs, and with one bit for each sample of a plane of a volume. Measures are kept for roots alone. Pure.
 *
 *	label_open(&l, w, h, depth, connectivity);
 *	for each row: label_row(&l, chosen, values);	chosen[i] != 0: sample i belongs to a component
 *	label_close(&l, min_size);			numbers the components in the order of their first samples
 *	for each row: label_write(&l, row, labels);	0 outside, else 1 to l.n
 *
 * Parts that are known already, by any numbers, are numbered and measured with label_parts() in place of label_row().
 */
#ifndef WEIR_PICTURE_LABEL_H
#define WEIR_PICTURE_LABEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/stream/img.h"

/* Sums over samples of weight v, about a first sample: v, v x .., and v xx, v yy, v zz, v xy, v xz, v yz. */
struct moments {
	double s, m[3], q[6];
};

/* Measures of connected samples, added run by run, and region by region. */
struct region {
	uint64_t size;
	size_t lo[3], hi[3], first[3], top[3]; /* box, first sample, place of the peak: x y z */
	double peak, least;		       /* of the values */
	double squares;			       /* of what they differ from their mean, summed */
	struct moments shape, light;	       /* of weight 1, and of the values */
};

/* Run i of a row touches run j of another. */
struct bitrow_pair {
	uint32_t i, j;
};

/* The runs of a row. Run i has the columns edge[2 * i] .. edge[2 * i + 1] - 1. */
struct label_runs {
	uint32_t *edge;	 /* 2n columns, in ascending order */
	uint32_t *label; /* of each run; behind the edges in memory */
	size_t n;
};

struct label_block;

struct label {
	size_t w, h, depth;	   /* a picture has depth 1 */
	int connectivity;	   /* 4, 8; 6, 18, 26 */
	size_t rows;		   /* rows given to label_row() so far */
	struct label_runs *row;	   /* owned */
	struct label_block *block; /* the newest of the blocks that hold the runs; owned */
	uint64_t *bits;		   /* the chosen samples of the last `ring` rows; owned */
	size_t words, ring;	   /* row y has its words at bits + y % ring * words */
	struct bitrow_pair *pair;  /* work for one row; owned */

	/* A label of the same component that is not larger. After label_close(): the number of the component. Owned. */
	uint32_t *up;
	size_t nlabel, room_up;

	/* Of roots, while rows come: the index of the region. After label_close(): that of each component. Owned. */
	uint32_t *slot;
	struct region *region; /* owned */
	size_t nregion, room_slot, room_region;
	uint32_t
	    spare; /* the first of the regions that no root has; its size is the index of the next */
	size_t n;  /* number of components, after label_close() */
	bool
	    inside; /* to be set after label_open(): components that touch the border are left out; they are measured */

	/* Of label_parts(): the number that was given for each label, after label_close() for each component, and where to find it. Owned. */
	uint32_t *name, *found;
	size_t room_name, room_found;

	/* of bands: label.c */
	bool dense, waits; /* rows have many runs now; the upper row of a band has come */
	uint32_t *lower;   /* work for one row; owned */
	int32_t *painted;  /* labels of a band; owned */
	const uint32_t *painted_band; /* the labels of the runs of that band */
};

/* Returns 0 or -ENOMEM. */
int label_open(struct label *l, size_t w, size_t h, size_t depth, int connectivity);

/*
 * Adds a row of w samples and, unless NULL, their w values: all rows have values, or none has. Returns 0, -ENOMEM, or
 * -EOVERFLOW at 2^32 labels.
 */
int label_row(struct label *l, const uint8_t *chosen, const double *values);

/*
 * Does the same where parts are known: samples with the same part[i] != 0 are a component, which touch or not. A label_row() in
 * between is not allowed.
 */
int label_parts(struct label *l, const uint32_t *part, const double *values);

/* Numbers the components. Those of fewer than min_size samples get label 0. Returns 0, -ENOMEM, or -EOVERFLOW. */
int label_close(struct label *l, uint64_t min_size);

/* Returns the measures of component i < l->n. */
const struct region *label_region(const struct label *l, size_t i);

/* Writes the w labels of row number `row`. labels has room for w + LABEL_PAD. */
enum { LABEL_PAD = 32 };
void label_write(struct label *l, size_t row, int32_t *labels);

/* Whether the component's box touches the border of the picture or volume. Axes of one sample have no border. */
bool region_touches(const struct region *g, const struct label *l);

/*
 * Returns the labels of all samples, with a frame of zeros: rows of w + 2, h + 2 of them a plane, and of volumes a plane before the
 * first and behind the last. The caller passes it to weir_free(). NULL: no memory.
 */
int32_t *label_map(struct label *l, bool volume);

/*
 * Chooses the holes of all samples, too, which are of l's shape: what is not chosen, not NaN, and does not hang together with the
 * border: by sides where l's components touch by edges or corners, else by corners, too. Returns 0, -ENOMEM or -EOVERFLOW.
 */
int label_fill_holes(const struct label *l, const double *values, uint8_t *chosen);

/* Sets step to the spacings of x along its rows, columns and slices: 1 where an axis has none. */
void label_steps(const struct img *x, size_t dims, double step[3]);

/*
 * Replaces l by its components after they have grown by `most` in the units of the axes of x, as grow_labels() does. They keep their
 * numbers, or names where `named`. values: of all samples, or NULL. Returns 0, -ENOMEM or -EOVERFLOW: the process is to end then.
 */
int label_grow(struct label *l, const struct img *x, size_t dims, double most, const double *values,
	       bool named);

void label_free(struct label *l);

#endif
