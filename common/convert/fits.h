/* cfitsio's types and messages, which fitstoraw and rawtofits share. */
#ifndef WEIR_CONVERT_FITS_H
#define WEIR_CONVERT_FITS_H

#include <fitsio.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/base/why.h"
#include "common/stream/img.h"
#include "common/stream/raw.h"

/* cfitsio's code of a type in memory, for example TUSHORT. */
int fits_code(enum img_type type);

/* cfitsio's code of a type in a file, for example USHORT_IMG. */
int fits_image(enum img_type type);

/* The item's type for samples BZERO + BSCALE * v. blank: some value of v may stand for NaN. */
enum img_type fits_choose_type(int bitpix, double scale, double zero, bool blank);

/* Writes the first of cfitsio's messages about a failure into text[0..n) and drops the others. */
void fits_why(int status, char *text, size_t n);

/* Whether the list of --hdu has this HDU, by its number or its name. fits_words() counts the words of the list. */
bool fits_listed(const char *list, int unit, const char *extname);
size_t fits_words(const char *list);

/*
 * Models of point spread functions by PSFEx, and its homogenisation kernels: planes of coefficients of polynomials, sampled
 * at steps of PSF_SAMP pixels. psf_resample() brings a plane to pixels as PSFEx itself does before it subtracts a model from
 * an image: by the Lanczos function of three lobes, whose weights have the sum 1 at each pixel. Pure.
 */

struct psf {
	size_t w, h, n;		  /* n planes of h rows of w samples */
	int degree;		  /* of the polynomials: n = (degree + 1) (degree + 2) / 2 */
	double zero[2], scale[2]; /* of positions; zero counts pixels from 0 */
	double step;		  /* between samples, in pixels */
	/* What resampled samples are multiplied by. Those of a model are light per pixel already, those of a homogenisation
	 * kernel are light per sample: 1 / step^2. */
	double gain;
};

/* PSFEx's models and kernels in FITS files. */

/* Whether the current HDU has PSFEx's coefficients: as a table (.psf), or as an image (homo.fits). */
bool fitspsf_is(fitsfile *f);

/* Reads what they are. Returns 0 or -1. */
int fitspsf_read(fitsfile *f, struct psf *p, struct why *why);

/* Describes the item that the planes become, at pixels: `x y n`, with the keys that --basis of wconv needs. */
void fitspsf_describe(const struct psf *p, struct img *x);

/* Returns the samples as they are stored, which the caller frees by weir_free(). *status is cfitsio's. */
float *fitspsf_load(fitsfile *f, const struct psf *p, int *status);

/* Brings the planes to pixels and writes them. */
void fitspsf_put(const struct psf *p, const float *samples, struct raw_out *out);

#endif
