/* The exact sums of usfft.h, one output at a time, and the exact inverse. Tests and --check compare with them. */
#ifndef WEIR_USFFT_DIRECT_H
#define WEIR_USFFT_DIRECT_H

#include "usfft/inverse.h"
#include "usfft/sky/sky.h"
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

/* The pixel at index `at` of an image of the sky, and the visibility of point j: see usfft/sky/sky.h. */
double usfft_direct_pixel(const struct usfft_sky_options *o, const struct usfft_points *pt,
			  const double *vis, int sign, size_t at);
void usfft_direct_visibility(const struct usfft_sky_options *o, const struct usfft_points *pt,
			     const double *image, int sign, size_t j, double out[2]);

/*
 * Solves the problem of usfft_inverse() by Gaussian elimination on the dense normal equations, with n^3 operations for n
 * modes. It ignores v->iter, v->rtol and v->start. Returns 0 or -ENOMEM.
 */
int
usfft_direct_inverse(const struct usfft_options *o, const struct usfft_points *pt, const double *w,
		     const double *b, const struct usfft_inverse *v, double *modes);

#endif
