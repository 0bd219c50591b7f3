/*
 * The kernel that turns one picture of a field into another, R -> N: sharper, or of another focus.
 *
 *	N(x,y) = sum_kt a_kt p_t(u,v) (B_k * R)(x,y) + sum_t b_t p_t(u,v)
 *
 *	B_k	a basis of kernels of size x size samples: Gaussians times powers, or single samples
 *	p_t	u^i v^j, i + j <= degree, in the order of wconv's polynomials; u = (x - zero_x) / scale_x, v likewise
 *
 * B_0 alone has a sum, 1, and its coefficient is constant: the ratio of fluxes is the same all over the field. The others are
 * less their sum times B_0. The coefficients make least the squares over stamps around stars, each pixel by its variance
 * sn^2 + sr^2 + (n + r) / gain, with n and r what a pixel has above the sky of its picture and sn, sr the skies' noise. Over one stamp p_t is
 * constant. Stamps whose misfit stands out are left out, and the rest is fitted again.
 *
 * Gaussians: C. Alard, R. H. Lupton, ApJ 503, 1998; C. Alard, A&AS 144, 2000. Single samples with a penalty on the kernels'
 * Laplacians: A. C. Becker et al., MNRAS 425, 2012.
 */
#ifndef PSFMATCH_H
#define PSFMATCH_H

#include <stdbool.h>
#include <stddef.h>

#define PSFMATCH_ERR 256

enum psfmatch_basis { PSFMATCH_GAUSS, PSFMATCH_DELTA };

struct psfmatch_options {
	enum psfmatch_basis basis;
	/* of a kernel, odd; the degree of its polynomials, of the background's */
	size_t size;
	int degree, background;
	/* the penalty of single samples, relative to the data's part; 0: none */
	double smooth;
	/* electrons in a unit of the pictures */
	double gain;
	/* pixels above this serve for nothing */
	double top;
	int threads;
};

struct psfmatch {
	size_t size;
	int degree, background;
	/* [planes][size][size], planes = (degree + 1)(degree + 2) / 2: what wconv's basis poly:degree takes; owned */
	float *kernel;
	/* [(background + 1)(background + 2) / 2]; owned */
	double *b;
	double zero_x, zero_y, scale_x, scale_y;
	/* the kernels' sum; stamps fitted and left out; the misfit's mean square over its variance */
	double ratio;
	size_t used, rejected;
	double misfit;
};

/* ref, new: [h][w], NaN where nothing is known. 0, or -1 with a sentence in err; m is then empty. */
int psfmatch_fit(struct psfmatch *m, const float *ref, const float *new, size_t w, size_t h,
		 const struct psfmatch_options *o, char err[PSFMATCH_ERR]);

/* Value of the background at (x,y). */
double psfmatch_background(const struct psfmatch *m, double x, double y);

/* m may be zeroed. */
void psfmatch_free(struct psfmatch *m);

#endif
