/*
 * Models of point spread functions by PSFEx, and its homogenisation kernels: planes of coefficients of polynomials, sampled
 * at steps of PSF_SAMP pixels. psf_resample() brings a plane to pixels as PSFEx itself does before it subtracts a model from
 * an image: by the Lanczos function of three lobes, whose weights have the sum 1 at each pixel. Pure.
 */
#ifndef WEIR_CONVERT_PSF_H
#define WEIR_CONVERT_PSF_H

#include <stdbool.h>
#include <stddef.h>

struct psf {
	size_t w, h, n;		  /* n planes of h rows of w samples */
	int degree;		  /* of the polynomials: n = (degree + 1) (degree + 2) / 2 */
	double zero[2], scale[2]; /* of positions; zero counts pixels from 0 */
	double step;		  /* between samples, in pixels */
	/* What resampled samples are multiplied by. Those of a model are light per pixel already, those of a homogenisation
	 * kernel are light per sample: 1 / step^2. */
	double gain;
};

/* Returns how many pixels n samples cover: as many on both sides of the centre, n / 2 rounded down, which is a pixel. */
size_t psf_pixels(size_t n, double step);

/*
 * out[H][W] = in[h][w] at pixels, where W = psf_pixels(w, step) and H likewise. A constant stays the same.
 * work has room for W * h numbers.
 */
void psf_resample(const float *in, size_t w, size_t h, double step, float *out, double *work);

#endif
