/*
 * Finds the kernel that turns one picture of a field, the reference R, into another one, N.
 *
 *	N(x,y) = sum_kt a_kt p_t(u,v) (B_k * R)(x,y) + sum_t b_t p_t(u,v)
 *
 *	B_k	a basis of kernels of size x size samples: Gaussians times powers, or single samples
 *	p_t	u^i v^j, i + j <= degree, in the order of wconv's polynomials; u = (x - zero_x) / scale_x, v likewise
 *
 * B_0 has the sum 1, and its coefficient is constant: the ratio of fluxes is the same all over the field. From each other
 * B_k its sum times B_0 is subtracted, so that its sum is 0.
 * The coefficients minimise the sum of squares of the misfit over stamps around stars. Each pixel's square is divided by
 * its variance sn^2 + sr^2 + (n + r) / gain. sn and sr are the noise of the two skies. n and r are what the pixel has above
 * the sky around its star in each picture, or 0 where that is less than 3 sn or 3 sr. The term (n + r) / gain is left out where
 * it is less than a tenth of sn^2 + sr^2. The p_t of the kernels are taken as constant over one stamp.
 * Stamps whose misfit is an outlier are rejected, and the rest is fitted again.
 * Each stamp has a constant of its own meanwhile. At last the ratio is corrected for noise in R, and the b_t are fitted.
 *
 * Source of the Gaussians: C. Alard, R. H. Lupton, ApJ 503, 1998; C. Alard, A&AS 144, 2000. Source of the single samples
 * with a penalty on the kernels' Laplacians: A. C. Becker et al., MNRAS 425, 2012.
 */
#ifndef WEIR_WCONV_PSFMATCH_PSFMATCH_H
#define WEIR_WCONV_PSFMATCH_PSFMATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/why.h"

/* Limits: see sky, sharp, width and blur of struct psfmatch, and psfmatch_align(). Then the default size; see drop_rim(). */
#define PSFMATCH_CURVED .25
#define PSFMATCH_SHARP	2.6
#define PSFMATCH_WIDTH	4
#define PSFMATCH_ROOM	3
#define PSFMATCH_NEAR	1.5
#define PSFMATCH_SIZE	21
#define PSFMATCH_RIM	.3

enum psfmatch_basis { PSFMATCH_GAUSS, PSFMATCH_DELTA };

/*
 * Which picture the kernel convolves. PSFMATCH_EITHER is the reference, unless its kernel sharpens, and that of new sharpens less
 * and has no larger misfit.
 */
enum psfmatch_convolve { PSFMATCH_REF, PSFMATCH_NEW, PSFMATCH_EITHER };

struct psfmatch_options {
	enum psfmatch_basis basis;
	enum psfmatch_convolve convolve;
	/* a kernel is size x size samples; odd. 0: PSFMATCH_SIZE, and more as the Gaussians are wider */
	int size;
	/* degrees of the polynomials of the kernel and of the background; the first is lowered where the stars are too few for it */
	int degree, background;
	/*
	 * With PSFMATCH_DELTA: to the sum of squares, each divided by its variance, this times the sum of squares of the kernels'
	 * Laplacians is added, for kernels divided by the ratio of fluxes. 0: no penalty.
	 */
	double smooth;
	/* electrons in a unit of the pictures; INFINITY: light adds no noise */
	double gain;
	/* a star is not used when its stamp, or what the kernels reach from there, has a pixel above this in ref or new */
	double top;
	int threads;
	/* ref has neither sky nor noise */
	bool points;
};

struct psfmatch {
	size_t size;
	int degree, background;
	/* [psfmatch_terms(degree)][size][size]: the planes of wconv's basis poly:degree; owned */
	float *kernel;
	/* [psfmatch_terms(background)]: the b_t; owned */
	double *b;
	/* in pixels */
	double zero_x, zero_y, scale_x, scale_y;
	/* Whether new and ref have each other's place: K convolves new. width and sharp are then as if they were exchanged. */
	bool exchanged;
	/* the ratio of fluxes, those of new over those of ref: the kernel's sum, or 1 over that if exchanged */
	double ratio;
	/* the sky and its noise of the picture that the kernel convolves, and of the other one */
	double level[2], noise[2];
	/*
	 * The lower quartile of the widths of new's stars at half height, in pixels, and how many times wider the Gaussians are
	 * therefore: width / PSFMATCH_WIDTH, at least 1.
	 */
	double width, stretch;
	/*
	 * The width of a Gaussian that makes ref's stars as wide as new's; 0 where they are. Kernels narrower than PSFMATCH_ROOM
	 * times this lose light.
	 */
	double blur;
	/* how far new's stars are from those of ref, x and y in pixels; 0 where at most half of them agree within a pixel */
	double shift[2];
	/* stamps fitted, stamps rejected */
	size_t used, rejected;
	/* the median over the stamps of the mean of (misfit^2 / variance) */
	double misfit;
	/*
	 * The median over all stamps of the sky that the background does not follow, divided by the noise of a pixel in both
	 * pictures. Above PSFMATCH_CURVED the background is too stiff.
	 */
	double sky;
	/*
	 * The median over nine places of the sum of the kernel's absolute values near its centre, over its sum. Above PSFMATCH_SHARP
	 * the kernel sharpens, and the ratio may be wrong. It is less where that was the kernel's noise.
	 */
	double sharp;
};

/* ref, new: [h][w], NaN where the pixel is unknown. Returns 0, or -ENOMEM or -1 with a sentence in why; m is then empty. */
int psfmatch_fit(struct psfmatch *m, const float *ref, const float *new, size_t w, size_t h,
		 const struct psfmatch_options *o, struct why *why);

/*
 * Does so with the point spread function of a frame, which is m's kernel, of the sum 1, for the kernel that turns points into the
 * frame's stars. The error is that of psfmatch_fit().
 */
int psfmatch_find_psf(struct psfmatch *m, const float *frame, size_t w, size_t h,
		      const struct psfmatch_options *o, struct why *why);

/* Returns how many terms u^i v^j, i + j <= degree, there are. */
static inline size_t
psfmatch_terms(int degree)
{
	return (size_t)((degree + 1) * (degree + 2) / 2);
}

/*
 * Makes new the difference: new less the background and less ref convolved with the kernels. If exchanged: new convolved with the
 * kernels, and the background, less ref, times ratio. ref, new: [h][w]. Returns 0, or -1 with a sentence in why; new is then
 * unchanged.
 */
int psfmatch_subtract(const struct psfmatch *m, const float *ref, float *new, size_t w, size_t h,
		      int threads, struct why *why);

/* The picture is repeated beyond its edges, or mirrored; or it holds variances, and the kernels are squared. */
enum psfmatch_how { PSFMATCH_PLAIN, PSFMATCH_MIRROR, PSFMATCH_SQUARED };

/* Convolves from[h][w] with the kernels. Returns as psfmatch_subtract() does. */
int psfmatch_convolve(const struct psfmatch *m, const float *from, size_t w, size_t h,
		      enum psfmatch_how how, int threads, float *to, struct why *why);

/*
 * The deviation of each pixel of a difference. With A, the picture that is convolved, and B, the other one, it is the root of
 *
 *	sky^2 (sB^2 + K^2 * sA^2) + P / gain + error^2 P^2,	P = lB + K^2 * lA
 *
 * sA and sB are the noise of the skies; lA and lB are the light above them, means of 3x3 pixels, 0 or more; K^2 has the squares of
 * the kernel at each place. The three numbers, 0 or more, are found of the difference, in which stars are gone. They minimise how far
 * this is from the square of 1.4826 times the median of absolute differences, in units of that: where P is less than the root of the
 * first bracket, and in each octave of P from twice that on. `sky` is off 1 where neighbouring pixels have noise in common;
 * `error` is what the kernel does not follow of the light.
 */
struct psfmatch_noise {
	double sky, gain, error;
};

/* Fills in light[h][w], the P of whole pictures; NaN where what is beyond the edges matters. Returns as psfmatch_subtract() does. */
int psfmatch_find_light(const struct psfmatch *m, const float *ref, const float *new, size_t w,
			size_t h, int threads, float *light, struct why *why);

/*
 * Turns light into the deviation of `difference`, in units of new; NaN where one of the two is. gain: that of the pictures, or 0
 * if it is to be found. Returns 0 or -ENOMEM.
 */
int psfmatch_find_noise(const struct psfmatch *m, const float *difference, size_t w, size_t h,
			double gain, int threads, float *light, struct psfmatch_noise *n);

/*
 * Makes those pixels of x[n] NaN that have its least value, if three in a row have it, and it is below the sky by more than 5 times
 * the noise: they were filled up. Returns how many they are, or SIZE_MAX without memory; *value: the least value. So it does with
 * the largest value, which is that of saturated pixels, but does not count them.
 */
size_t psfmatch_drop_fill(float *x, size_t n, double *value);

/*
 * Puts the median around in the place of lone bright pixels of ref[h][w] or new, hot ones and those of tracks of cosmic rays, at which
 * the other picture shows nothing, and sets lone[h][w] there. Returns 0, -ENOMEM or -EDOM, as psfmatch_measure_sky() does.
 */
int psfmatch_clean(float *ref, float *new, size_t w, size_t h, unsigned char *lone);

/*
 * Moves ref[h][w] by whole pixels to where the stars of new are, if these are more than PSFMATCH_NEAR pixels off; what comes from
 * beyond the edges is NaN. move: in x and y. Returns as psfmatch_clean() does.
 */
int psfmatch_align(float *ref, const float *new, size_t w, size_t h, long move[2]);

/* m may be zeroed. */
void psfmatch_free(struct psfmatch *m);

/* The inside of the fit: the basis, and the stamps, which are squares of pixels around stars. */

/* A stamp is (2 PSFMATCH_HALF + 1)^2 pixels. */
enum {
	PSFMATCH_HALF = 15,
	PSFMATCH_SIDE = 2 * PSFMATCH_HALF + 1,
	PSFMATCH_PIXELS = PSFMATCH_SIDE * PSFMATCH_SIDE,
	/* the terms of polynomials of degrees 10 and 20 */
	PSFMATCH_TERMS = 66,
	PSFMATCH_MOMENTS = 231
};

/* The basis. Kernel k is the outer product of y[k] and x[k], minus sum[k] times kernel 0. */
struct psfmatch_kernels {
	enum psfmatch_basis basis;
	size_t n, size;
	double *x, *y; /* [n][size] */
	double *sum;   /* [n]; 0 for kernel 0 */
	/* how many different x there are; [n]: which of them kernel k has */
	size_t different, *which;
};

/* Makes the basis of kernels of size x size samples; Gaussians are `stretch` times as wide. Returns 0 or -ENOMEM. */
int psfmatch_make_kernels(struct psfmatch_kernels *k, enum psfmatch_basis basis, size_t size,
			  double stretch);
void psfmatch_free_kernels(struct psfmatch_kernels *k);

/* Adds `by` times kernel k to to[size][size]. */
void psfmatch_add_kernel(const struct psfmatch_kernels *b, size_t k, double by, double *to);

/* Returns the tap of kernel k of single samples, as row * size + column. The kernel of the centre comes first. */
static inline size_t
psfmatch_tap(size_t k, size_t size)
{
	const size_t centre = size * size / 2;

	return k == 0 ? centre : k <= centre ? k - 1 : k;
}

/* What is known of a picture: its sky, the noise of one pixel there, and the value from which on pixels are too bright. */
struct psfmatch_sky {
	double level, noise, top;
};

/* The two pictures, [h][w]. */
struct psfmatch_field {
	const float *ref, *new;
	size_t w, h;
	struct psfmatch_sky r, n;
	double noise; /* sqrt(sn^2 + sr^2), see above */
	/* how much of ref's noise new has too: the slope of the one on the other */
	double shared;
	double gain;
};

/*
 * Fills in r, n, noise and shared. top: that of struct psfmatch_options. Returns 0, -ENOMEM, or -EDOM if too few pixels are
 * known.
 */
int psfmatch_measure_sky(struct psfmatch_field *f, double top);

struct psfmatch_stamp {
	size_t x, y; /* its centre */
	bool used;
	/* the skies of ref and new around it */
	double sky_ref, sky_new;
	/*
	 * Sums over its pixels, each divided by the pixel's variance. The functions are the n kernels * ref, and the terms of
	 * the background. q: products of two functions, the rows of the lower triangle without gaps, see psfmatch_packed();
	 * b: products with the data; yy: squares of the data.
	 */
	double *q, *b, yy;
	/*
	 * With remove_constant(), q, b and yy are those of functions and data less a constant each, so that they are
	 * orthogonal to the constant. one: the products [n] of the constant with the functions as they were; sum: with the data.
	 */
	double *one, sum;
	/* the sum over its pixels of ref's variance, divided by that of both pictures */
	double noise;
};

/* Returns where row i of a lower triangle without gaps begins: how many elements are before it. */
static inline size_t
psfmatch_packed(size_t i)
{
	return i * (i + 1) / 2;
}

enum { PSFMATCH_STAMPS = 400 };

/*
 * Divides the field into cells and takes the brightest star of each, at most PSFMATCH_STAMPS in all. Stars nearer to
 * the edge than PSFMATCH_HALF + margin are not taken. Returns 0 or -ENOMEM; the caller frees *s.
 */
int psfmatch_find_stamps(const struct psfmatch_field *f, size_t margin, struct psfmatch_stamp **s,
			 size_t *n);

/*
 * Finds the lower quartiles of the widths at half height of the stamps' stars, in pixels: in ref and in new. 0 without
 * stamps.
 */
void psfmatch_find_widths(const struct psfmatch_field *f, const struct psfmatch_stamp *s, size_t n,
			  double width[2]);

/* Returns the width at half height, along rows and columns, of the star whose peak is pixel `at`. */
double psfmatch_width(const float *from, size_t w, size_t at, double sky);

/* Finds what struct psfmatch calls shift. */
void psfmatch_find_shift(const struct psfmatch_field *f, const struct psfmatch_stamp *s, size_t n,
			 double shift[2]);

/* Returns sum a[i] b[i]. */
double psfmatch_dot(const double *a, const double *b, size_t n);

/* to[i] += sum_s by[s] from[s][i], i < n, s < count */
void psfmatch_add(const double *by, const double *const *from, size_t count, size_t n, double *to);

/* Reorders v[n], n > 0, and returns its median. */
double psfmatch_median(double *v, size_t n);

/* Reorders v[n], n > 0, and returns its lower quartile. */
double psfmatch_quartile(double *v, size_t n);

/* Returns how many doubles psfmatch_gram() needs as room for m rows, and psfmatch_factor() for m unknowns. */
size_t psfmatch_room(size_t m);

/* q[i][j] += by sum_l g[i][l] g[j][l], j <= i, for the m rows g[m][n]; q: see psfmatch_packed(). */
void psfmatch_gram(const double *g, size_t m, size_t n, double by, double *room, double *q);

/*
 * Replaces the lower triangle of g[n][n], a little damped, by Cholesky's factor. The result does not depend on threads. Returns
 * false if g is singular.
 */
bool psfmatch_factor(double *g, size_t n, double *room, int threads);

/* Solves g x = a, with x stored in a. g: what psfmatch_factor() left. */
void psfmatch_substitute(const double *g, double *a, size_t n);

/* Fills in the powers u^i v^j, i + j <= degree, at (x,y). */
void psfmatch_powers(const struct psfmatch *m, int degree, double x, double y, double *p);

/* Returns how many doubles psfmatch_sum_stamp() needs as work. */
size_t psfmatch_stamp_room(const struct psfmatch_kernels *k, size_t terms);

/* Fills in yy and noise, and the arrays q and b, which the caller has allocated. */
void psfmatch_sum_stamp(const struct psfmatch_field *f, const struct psfmatch_kernels *k,
			const struct psfmatch *m, struct psfmatch_stamp *s, double *work);

/* Returns what struct psfmatch calls sharp, for a model of which all else is filled in. */
double psfmatch_sharpness(const struct psfmatch *m);

/*
 * A stamp has n functions: the kernels of the basis, and the background's terms. The coefficient of a kernel is a polynomial.
 * Those of kernel 0 and of the background's terms are constants. The terms of function f's coefficient are the unknowns
 * first[f] .. first[f] + terms[f] - 1.
 *
 * The normal equations are sums over stamps of products of two functions, times products of two terms. The latter are
 * the terms of a polynomial of twice the degree. moment[e] is the sum of the stamps' q times term e of that one.
 */
struct psfmatch_normal {
	struct psfmatch *m;
	struct psfmatch_kernels k;
	struct psfmatch_stamp *s;
	size_t stamps, n, unknowns;
	size_t *first, *terms;
	size_t moments, each; /* each: psfmatch_packed(n) */
	double *moment;	      /* [moments][each] */
	/* the stamps that moment holds, and the largest moment[0][0] that it had */
	bool in[PSFMATCH_STAMPS];
	double most;
	/* [unknowns]: right side, then solution; [unknowns][unknowns]: the equations, the lower triangle */
	double *a, *g;
	/* [k.n][k.n], see psfmatch_packed(): products of the kernels' Laplacians; NULL: no penalty */
	double *penalty;
	double *memory, *room; /* of all stamps' sums; for psfmatch_factor() */
	/* [terms][size][size]: see sum_kernels(); then work_of(), and work of correct() */
	double *planes;
	int threads;
};

/* Counts the unknowns, and allocates memory. m, k, s, stamps and threads are filled in. Returns 0 or -ENOMEM. */
int psfmatch_make_normal(struct psfmatch_normal *f);

/* Frees all but m. */
void psfmatch_free_normal(struct psfmatch_normal *f);

/* Writes the equations of the used stamps to g and a. smooth: weight of the penalty, relative to that of the data. */
void psfmatch_write_normal(struct psfmatch_normal *f, double smooth);

#endif
