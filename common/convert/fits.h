/* cfitsio's types and messages, which fitstoraw and rawtofits share. */
#ifndef WEIR_CONVERT_FITS_H
#define WEIR_CONVERT_FITS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/stream/img.h"

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

#endif
