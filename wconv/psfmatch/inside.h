/* The inside of the fit: the basis, and the stamps, which are squares of pixels around stars. */
#ifndef PSFMATCH_INSIDE_H
#define PSFMATCH_INSIDE_H

#include "wconv/psfmatch/psfmatch.h"

/* A stamp is (2 PSFMATCH_HALF + 1)^2 pixels. */
enum { PSFMATCH_HALF = 15, PSFMATCH_SIDE = 2 * PSFMATCH_HALF + 1 };

/* The basis. Kernel k is the outer product of y[k] and x[k], minus sum[k] times kernel 0. */
struct psfmatch_kernels {
	size_t n, size;
	double *x, *y; /* [n][size] */
	double *sum;   /* [n]; 0 for kernel 0 */
	/* how many different x there are; [n]: which of them kernel k has */
	size_t different, *which;
};

/* Makes the basis that o describes. Returns 0 or -ENOMEM. */
int psfmatch_make_kernels(struct psfmatch_kernels *k, const struct psfmatch_options *o);
void psfmatch_free_kernels(struct psfmatch_kernels *k);

/* Adds `by` times kernel k to to[size][size]. */
void psfmatch_add_kernel(const struct psfmatch_kernels *b, size_t k, double by, double *to);

/* The two pictures, [h][w], and what is known of their noise. gain and top are those of struct psfmatch_options. */
struct psfmatch_field {
	const float *ref, *new;
	size_t w, h;
	double sky_ref, sky_new, noise; /* noise: sqrt(sn^2 + sr^2), see psfmatch.h */
	double gain, top;
};

/* Fills in the skies and the noise. Returns 0, -ENOMEM, or -EDOM if too few pixels are known. */
int psfmatch_measure_sky(struct psfmatch_field *f);

struct psfmatch_stamp {
	size_t x, y; /* its centre */
	bool used;
	/* Sums over its pixels, each divided by the pixel's variance. The functions are the n kernels * ref, and 1.
	   q: products of two functions, the lower triangle of [n + 1][n + 1]; b: products with the data, [n + 1]; yy: squares of the data */
	double *q, *b, yy;
	size_t pixels;
};

enum { PSFMATCH_STAMPS = 400 };

/*
 * Divides the field into cells and takes the brightest star of each, at most PSFMATCH_STAMPS in all. Stars nearer to
 * the edge than PSFMATCH_HALF + margin are not taken. Returns 0 or -ENOMEM; the caller frees *s.
 */
int psfmatch_find_stamps(const struct psfmatch_field *f, size_t margin, struct psfmatch_stamp **s,
			 size_t *n);

/* Returns sum a[i] b[i]. */
double psfmatch_dot(const double *a, const double *b, size_t n);

/* to[i] += by from[i], i < n */
void psfmatch_add(double by, const double *from, size_t n, double *to);

/* Sorts v[n] and returns its median. */
double psfmatch_median(double *v, size_t n);

/* Returns how many doubles psfmatch_gram() needs as room for m rows, and psfmatch_solve() for m unknowns. */
size_t psfmatch_room(size_t m);

/* q[i][j] = sum_l g[i][l] g[j][l], j <= i, for the m rows g[m][n]; zero for j > i. */
void psfmatch_gram(const double *g, size_t m, size_t n, double *room, double *q);

/*
 * Solves g x = a, with x stored in a, by Cholesky's factors of the lower triangle of g[n][n], a little damped. g is destroyed.
 * The result does not depend on threads. Returns false if g is singular.
 */
bool psfmatch_solve(double *g, double *a, size_t n, double *room, int threads);

/* Fills in pixels, yy, and the arrays q and b, which the caller has allocated. Returns 0 or -ENOMEM. */
int psfmatch_sum_stamp(const struct psfmatch_field *f, const struct psfmatch_kernels *k,
		       struct psfmatch_stamp *s);

#endif
