/* The exact sums of usfft.h, one output at a time, and the inverse: the reference of the tests and of --check. */
#ifndef WEIR_USFFT_DIRECT_H
#define WEIR_USFFT_DIRECT_H

#include "usfft/inverse.h"
#include "usfft/usfft.h"

/* out = sum_j c_j exp(sign 2 pi i s.x_j): types 1 and 3. c: m complex samples. */
void usfft_direct_sum(int dim, const struct usfft_points *pt, const double *c, int sign,
		      const double s[3], double out[2]);

/* The mode in place at of type 1. */
void usfft_direct_mode(const struct usfft_options *o, const struct usfft_points *pt,
		       const double *c, int sign, size_t at, double out[2]);

/* Point j of type 2. */
void usfft_direct_point(const struct usfft_options *o, const struct usfft_points *pt,
			const double *modes, int sign, size_t j, double out[2]);

/*
 * What usfft_inverse() approximates, by Gaussian elimination on the dense normal equations: n^3 operations for n modes. 0 or
 * -ENOMEM. v->iter, v->rtol and v->start have no part in it.
 */
int
usfft_direct_inverse(const struct usfft_options *o, const struct usfft_points *pt, const double *w,
		     const double *b, const struct usfft_inverse *v, double *modes);

#endif
