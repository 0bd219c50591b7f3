/* What fitstoraw and rawtofits share: cfitsio's types and messages. */
#ifndef TOOLS_FITS_H
#define TOOLS_FITS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/img.h"

/* cfitsio's code of a type in memory, TUSHORT and the like; its code of a type in a file, USHORT_IMG and the like. */
int fits_code(enum img_type type);
int fits_image(enum img_type type);

/* What samples BZERO + BSCALE * v become; blank: some v may stand for NaN. */
enum img_type fits_choose_type(int bitpix, double scale, double zero, bool blank);

/* The first of cfitsio's messages about a failure, in text[0..n); the others are dropped. */
void fits_why(int status, char *text, size_t n);

#endif
