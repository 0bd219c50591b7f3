/* The order of the values of an item: its samples, or the magnitudes of complex ones. Those that are not finite do not count. */
#ifndef WEIR_PICTURE_RANKS_H
#define WEIR_PICTURE_RANKS_H

#include "common/stream/img.h"

enum { RANKS_BLOCK = 1024, RANKS_LEVELS = 4 };

struct ranks {
	enum img_type type;
	const void *data; /* n samples, or pairs of them where complex */
	size_t n;
	bool complex;
	bool positive;	/* numbers from 0 down do not count */
	double centre;	/* values are |v - centre|; NaN: they are v */
	double *weight; /* owned, with data: how often each value counts; NULL: once */
	int threads;

	/* For ranks_find(): what it has counted, owned, below which prefixes of keys, and about which centre. */
	size_t *table;
	uint64_t prefix[RANKS_LEVELS][2];
	bool counted[RANKS_LEVELS];
	double about;
};

/*
 * The values of x, whose payload is borrowed. Many samples of at most 16 bits are counted by ranks_start(), once, and the rest
 * works on the counts. ranks_view() is for ranks_load() alone, and needs no ranks_free().
 */
struct ranks ranks_view(const struct img *x, bool positive);
struct ranks ranks_start(const struct img *x, bool positive, int threads);
void ranks_free(struct ranks *r);

/* Computes n <= RANKS_BLOCK values from number `first` on; NaN is what does not count. v has room for 2 RANKS_BLOCK. */
void ranks_load(const struct ranks *r, size_t first, size_t n, double *v);

/* The least, the greatest and the number of the values. */
struct sample_stats ranks_extremes(const struct ranks *r);

/* The number of values in lo..hi, and of those below lo; mean and standard deviation of the former, from sums of v - about. */
struct ranks_sums {
	double n, below, mean, sd; /* right, too, where the sums overflow */
};
struct ranks_sums ranks_measure(const struct ranks *r, double lo, double hi, double about);

/* Finds the values of two ranks in ascending order, from 0, each below the number of values. */
void ranks_find(struct ranks *r, const size_t rank[2], double found[2]);

/* The percentile among n values from rank `first` on, between two of them where it falls between; NaN of none. */
double ranks_percentile(struct ranks *r, double percent, size_t first, size_t n);

/* Counts the values in n bins: value v is in bin floor((unit v - unit lo) / width), or in the last one. */
void
ranks_count(const struct ranks *r, double unit, double lo, double width, size_t n, size_t *count);

/*
 * The threshold between two classes, as scikit-image's filters have it: Otsu's (1979), with the greatest variance between them, or
 * the triangle's (Zack, Rogers, Latt 1977), the bin furthest below the line from the peak of the histogram to its further end.
 * Whole numbers have a bin each, if at most 65536; other values have 256, and the threshold is the middle of one. NaN: none.
 */
double ranks_threshold(struct ranks *r, bool whole, bool otsu);

#endif
