/* PSFEx's models and kernels in FITS files. */
#ifndef WEIR_CONVERT_FITSPSF_H
#define WEIR_CONVERT_FITSPSF_H

#include <fitsio.h>
#include <stdbool.h>

#include "common/convert/psf.h"
#include "common/stream/img.h"
#include "common/stream/raw.h"

enum { FITSPSF_ERR = 128 };

/* Whether the current HDU has PSFEx's coefficients: as a table (.psf), or as an image (homo.fits). */
bool fitspsf_is(fitsfile *f);

/* Reads what they are. Returns 0, or -1 with a sentence in err. */
int fitspsf_read(fitsfile *f, struct psf *p, char err[FITSPSF_ERR]);

/* Describes the item that the planes become, at pixels: `x y n`, with the keys that --basis of wconv needs. */
void fitspsf_describe(const struct psf *p, struct img *x);

/* Returns the samples as they are stored, which the caller frees by weir_free(). *status is cfitsio's. */
float *fitspsf_load(fitsfile *f, const struct psf *p, int *status);

/* Brings the planes to pixels and writes them. */
void fitspsf_put(const struct psf *p, const float *samples, struct raw_out *out);

#endif
