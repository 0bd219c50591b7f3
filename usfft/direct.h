/* The exact sums of usfft.h, one output at a time, and the exact inverse. Tests compare with them. */
#ifndef WEIR_USFFT_DIRECT_H
#define WEIR_USFFT_DIRECT_H

#include "usfft/inverse.h"
#include "usfft/usfft.h"

/* out = sum_j c_j exp(sign 2 pi i s.x_j): types 1 and 3. c: m complex samples. */
void usfft_direct_sum(int dim, const struct usfft_points *pt, const double *c, int sign,
		      const double s[3], double out[2]);

/* out = the mode of type 1 that lies at index `at` of the modes. */
void usfft_direct_mode(const struct usfft_options *o, const struct usfft_points *pt,
		       const double *c, int sign, size_t at, double out[2]);

/* out = the value of type 2 at point j. */
void usfft_direct_point(const struct usfft_options *o, const struct usfft_points *pt,
			const double *modes, int sign, size_t j, double out[2]);

/*
 * Solves the problem of usfft_inverse() by Gaussian elimination on the dense normal equations, with n^3 operations for n
 * modes. It ignores v->iter and v->rtol. Returns 0 or -ENOMEM.
 */
int
usfft_direct_inverse(const struct usfft_options *o, const struct usfft_points *pt, const double *w,
		     const double *b, const struct usfft_inverse *v, double *modes);

/* map = what usfft_espirit() writes at pixel x, a complex number for each of up to 8 coils. Returns 0 or -ENOMEM. */
int usfft_direct_map(const struct usfft_centre *c, const double *lattice, const size_t x[3],
		     double *map);

#endif
