/*
 * The two directions of radio interferometry, with the w-term: a real image of the sky, and visibilities at points u, v, w.
 *
 *	type 2	V_j = sum_lm I(l,m) exp(s 2 pi i (u_j l + v_j m + w_j (n - 1)))			image -> visibilities
 *	type 1	I(l,m) = Re sum_j V_j exp(s 2 pi i (u_j l + v_j m + w_j (n - 1)))		visibilities -> image
 *
 * n = sqrt(1 - l^2 - m^2). Pixel k = -N/2 .. (N-1)/2 of an axis lies at l = k pixel[0] or m = k pixel[1], direction cosines.
 * Pixels beyond the horizon, l^2 + m^2 > 1, are 0 in type 1 and are not seen by type 2. u, v and w are in wavelengths. An
 * image is [ny][nx] doubles, and a visibility is a pair of doubles. Type 1 with the sign -s is the adjoint of type 2 with
 * the sign s over the real numbers: Re <V, A I> = <A* V, I>.
 *
 * Method: w-stacking (Offringa et al., MNRAS 444, 2014) with a window along w (Ye, Gull, Tan and Nikolic, MNRAS 510, 2022;
 * Arras, Reinecke, Westermann and Ensslin, A&A 646, 2021). Planes lie D apart in w. A visibility is spread to the W planes
 * around it, with the weights of the Kaiser-Bessel window. The visibilities of a plane are a 2-D transform, which pixel by
 * pixel is multiplied by exp(s 2 pi i w_p (n - 1)), and the sum over planes is divided by the window's transform. With h
 * the largest 1 - n of the image, n - 1 + h/2 is at most h/2, so D = 1 / (sigma h) oversamples w by sigma: the window's
 * error, and thereby the number of planes, sigma h (max w - min w) + W, follows from the tolerance as for any axis. Pairs
 * of W and sigma that keep the tolerance are compared by an estimate of the time. A visibility of w < 0 is replaced by its
 * conjugate at -u, -v, -w, which is the same for a real image.
 */
#ifndef WEIR_USFFT_SKY_SKY_H
#define WEIR_USFFT_SKY_SKY_H

#include "usfft/inverse.h"
#include "usfft/usfft.h"

struct usfft_sky_options {
	struct usfft_options o; /* o.dim is 2, and o.single is ignored */
	double pixel[2];	/* l and m from pixel to pixel, not 0 */
};

struct usfft_sky;

/*
 * Makes *p for points x = u, v, w, which it copies. Returns 0; -EDOM (an option is out of range), -EOVERFLOW,
 * -ENOMEM, or -EINVAL: point *bad is not finite. After an error *p is NULL.
 */
int usfft_sky_plan(struct usfft_sky **p, const struct usfft_sky_options *o,
		   const struct usfft_points *pt, size_t *bad);

/* Frees a plan and what it owns. It accepts NULL. */
void usfft_sky_free(struct usfft_sky *p);

/* What the plan chose: the planes, the taps along w and the wavelengths between planes. */
struct usfft_sky_choice {
	size_t planes;
	int taps;
	double wstep;
};
struct usfft_sky_choice usfft_sky_choice(const struct usfft_sky *p);

/* Both directions. They return 0 or -ENOMEM. */
int usfft_sky_type1(struct usfft_sky *p, int sign, const double *vis, double *image);
int usfft_sky_type2(struct usfft_sky *p, int sign, const double *image, double *vis);

/*
 * Computes, by conjugate gradients, the real image that minimises
 *
 *	sum_j w_j |b_j - (A I)_j|^2 + mu sum_j w_j sum_lm I^2
 *
 * A is type 2 with the sign v->sign. w: a weight for each point; NULL: ones. v->coils is not read. A step costs one transform in each direction. Returns 0 or -ENOMEM.
 */
int usfft_sky_inverse(struct usfft_sky *p, const double *w, const double *b,
		      const struct usfft_inverse *v, double *image, struct usfft_outcome *got);

/* direct.c: the pixel at index `at` of an image, and the visibility of point j. */
double usfft_direct_pixel(const struct usfft_sky_options *o, const struct usfft_points *pt,
			  const double *vis, int sign, size_t at);
void usfft_direct_visibility(const struct usfft_sky_options *o, const struct usfft_points *pt,
			     const double *image, int sign, size_t j, double out[2]);

#endif
