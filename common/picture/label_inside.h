/* What label.c and label_band.c share. */
#ifndef WEIR_PICTURE_LABEL_INSIDE_H
#define WEIR_PICTURE_LABEL_INSIDE_H

#include "common/picture/label.h"

/* The label of a run that has none yet. */
#define LABEL_NONE UINT32_MAX

/* Runs stay where they are, so that no row is copied when more come. */
struct label_block {
	struct label_block *older; /* owned */
	size_t used, room;	   /* of data */
	uint32_t data[];
};

/* Makes room for n more numbers in the newest block and for `more` labels. Returns 0, -ENOMEM or -EOVERFLOW. */
int label_make_room(struct label *l, size_t n, size_t more);

static inline uint32_t
label_find(uint32_t *up, uint32_t i)
{
	while (up[i] != i) {
		up[i] = up[up[i]]; /* path halving */
		i = up[i];
	}
	return i;
}

/* Writes v from labels[from] on, at least up to labels[to - 1], and at most LABEL_STEP samples more. */
enum { LABEL_STEP = 16 };
static inline void
label_fill(int32_t *restrict labels, size_t from, size_t to, int32_t v)
{
	do {
		for (int k = 0; k < LABEL_STEP; k++)
			labels[from + (size_t)k] = v;
		from += LABEL_STEP;
	} while (from < to);
}

/*
 * Where rows of a picture have many runs, two are labelled at once, as a band. With 8 neighbours, the runs of a band are those
 * of the union of its rows, because samples in neighbouring columns of a band touch. There are fewer of them than of the runs
 * of both rows, and of pairs that touch. A band keeps the bits of its rows and a label for each of its runs.
 *
 * label_band_row() takes a row whose bits are in l->bits: the upper one of a band, or the lower one if an upper one waits. It
 * returns 0, -ENOMEM or -EOVERFLOW. label_band_last() returns the labels of the runs of the last row, which ends a band, until
 * the next call. The other functions are for rows of bands, when all rows have come. label_band_sizes() adds the samples of
 * a row to the sizes of their roots; the up of each label is its root.
 */
#define LABEL_TOP SIZE_MAX	 /* what stands for the number of runs of a band's upper row */
#define LABEL_LOW (SIZE_MAX - 1) /* of its lower row */
int label_band_row(struct label *l);
const uint32_t *label_band_last(struct label *l);
void label_band_sizes(struct label *l, size_t row, uint64_t *sizes);
void label_band_write(struct label *l, size_t row, int32_t *labels);

#endif
