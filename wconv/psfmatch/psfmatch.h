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
 * the sky around its star in each picture, or 0 where that is less than 3 sn or 3 sr; (n + r) / gain is taken as 0 where it is
 * less than a tenth of sn^2 + sr^2. The p_t of the kernels are taken as constant over one stamp.
 * Stamps whose misfit is an outlier are rejected, and the rest is fitted again.
 * Each stamp has a constant of its own meanwhile. At last the ratio is corrected for noise in R, and the b_t are fitted.
 *
 * Source of the Gaussians: C. Alard, R. H. Lupton, ApJ 503, 1998; C. Alard, A&AS 144, 2000. Source of the single samples
 * with a penalty on the kernels' Laplacians: A. C. Becker et al., MNRAS 425, 2012.
 */
#ifndef PSFMATCH_H
#define PSFMATCH_H

#include <stdbool.h>
#include <stddef.h>

/* The first four are limits: see sky, sharp, width and blur of struct psfmatch. The others: the default size, and err's room. */
#define PSFMATCH_CURVED .25
#define PSFMATCH_SHARP	2.6
#define PSFMATCH_WIDTH	4
#define PSFMATCH_ROOM	3
#define PSFMATCH_SIZE	21
#define PSFMATCH_ERR	256

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
	size_t size;
	/* degrees of the polynomials of the kernel and of the background */
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
	 * the kernel sharpens, and the ratio may be wrong.
	 */
	double sharp;
};

/* ref, new: [h][w], NaN where the pixel is unknown. Returns 0, or -ENOMEM or -1 with a sentence in err; m is then empty. */
int psfmatch_fit(struct psfmatch *m, const float *ref, const float *new, size_t w, size_t h,
		 const struct psfmatch_options *o, char err[PSFMATCH_ERR]);

/* Returns how many terms u^i v^j, i + j <= degree, there are. */
static inline size_t
psfmatch_terms(int degree)
{
	return (size_t)((degree + 1) * (degree + 2) / 2);
}

/*
 * Makes new the difference: new less the background and less ref convolved with the kernels. If exchanged: new convolved with the
 * kernels, and the background, less ref, times ratio. ref, new: [h][w]. Returns 0, or -1 with a sentence in err; new is then
 * unchanged.
 */
int psfmatch_subtract(const struct psfmatch *m, const float *ref, float *new, size_t w, size_t h,
		      int threads, char err[PSFMATCH_ERR]);

/* m may be zeroed. */
void psfmatch_free(struct psfmatch *m);

#endif
