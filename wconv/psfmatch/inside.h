/* The fit from inside: the basis, the stamps. */
#ifndef PSFMATCH_INSIDE_H
#define PSFMATCH_INSIDE_H

#include "wconv/psfmatch/psfmatch.h"

/* A stamp is (2 PSFMATCH_HALF + 1)^2 pixels. */
enum { PSFMATCH_HALF = 15, PSFMATCH_SIDE = 2 * PSFMATCH_HALF + 1 };

/* Kernel k is the outer product of y[k] and x[k], less sum[k] times kernel 0. */
struct psfmatch_kernels {
	size_t n, size;
	double *x, *y; /* [n][size] */
	double *sum;   /* [n]; 0 for kernel 0 */
	/* how many different x there are, and which of them kernel k has */
	size_t different, *which;
};

/* 0 or -ENOMEM. */
int psfmatch_make_kernels(struct psfmatch_kernels *k, const struct psfmatch_options *o);
void psfmatch_free_kernels(struct psfmatch_kernels *k);

/* Adds `by` times kernel k to to[size][size]. */
void psfmatch_add_kernel(const struct psfmatch_kernels *b, size_t k, double by, double *to);

/* The pictures and what is known of their noise. */
struct psfmatch_field {
	const float *ref, *new;
	size_t w, h;
	double sky_ref, sky_new, noise; /* noise: sqrt(sn^2 + sr^2) */
	double gain, top;
};

/* Fills in the skies and the noise. 0, -ENOMEM, or -EDOM: too few pixels are known. */
int psfmatch_measure_sky(struct psfmatch_field *f);

struct psfmatch_stamp {
	size_t x, y; /* its centre */
	bool used;
	/* over its pixels, by their variances: products of the basis's functions, [n + 1][n + 1], with the data, the data's square */
	double *q, *b, yy;
	size_t pixels;
};

/* Stars: the brightest of each cell of the field, at most PSFMATCH_STAMPS. 0 or -ENOMEM. */
enum { PSFMATCH_STAMPS = 400 };
int psfmatch_find_stamps(const struct psfmatch_field *f, size_t margin, struct psfmatch_stamp **s,
			 size_t *n);

/* sum a[i] b[i] */
double psfmatch_dot(const double *a, const double *b, size_t n);

/* Fills in q, b, yy, pixels, which have room. 0 or -ENOMEM. */
int psfmatch_sum_stamp(const struct psfmatch_field *f, const struct psfmatch_kernels *k,
		       struct psfmatch_stamp *s);

#endif
