/* cfitsio's types and messages, which fitstoraw and rawtofits share. */
#ifndef WEIR_CONVERT_FITS_H
#define WEIR_CONVERT_FITS_H

#include <fitsio.h>
#include <stddef.h>

#include "common/stream/img.h"

/* cfitsio's codes of a type (enum img_type) in memory, for example TUSHORT, and in a file, for example USHORT_IMG. */
extern const struct fits_type {
	int code, image;
} fits_types[];

/* Writes the first of cfitsio's messages about a failure into text[0..n) and drops the others. */
void fits_why(int status, char *text, size_t n);

#endif
