/* What becomes of samples where parts of a picture overlap. Pure. */
#ifndef WEIR_PICTURE_OVERLAP_H
#define WEIR_PICTURE_OVERLAP_H

#include "common/picture/gap.h"
#include "common/stream/img.h"

enum overlap { OVERLAP_SAME, OVERLAP_FIRST, OVERLAP_LAST, OVERLAP_SUM, OVERLAP_MAX, OVERLAP_MIN };

/* Whether each part counts where parts overlap: of sum, max and min. */
bool overlap_combines(enum overlap how);

/*
 * y[i] becomes the sum, the greater or the lesser of y[i] and x[i], for i < n. NaN plus a number is NaN; of NaN and a number,
 * the greater and the lesser is the number. Sums of integers must be exact, and at most `most` where it is not 0. Returns n,
 * or the index of the first sum that is not.
 */
size_t overlap_combine(enum overlap how, void *restrict y, const void *restrict x,
		       enum img_type type, unsigned most, size_t n);

/*
 * Lays n samples x over y: OVERLAP_FIRST keeps y, OVERLAP_LAST takes x, OVERLAP_SAME requires that both have the same bytes, and
 * the others do what overlap_combine() does. Returns n, or the index of the first sample that differs, or whose sum does not
 * fit.
 */
size_t overlap_lay(enum overlap how, void *restrict y, const void *restrict x, enum img_type type,
		   unsigned most, size_t n);

/* Does the same for samples that are there in both. Where one of the two is missing, y becomes the other one. */
size_t overlap_lay_gaps(enum overlap how, const struct gap *g, void *restrict y,
			const void *restrict x, unsigned most, size_t n);

#endif
