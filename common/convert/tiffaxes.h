/* Makes the description of an item from the tags of a page. */
#ifndef WEIR_CONVERT_TIFFAXES_H
#define WEIR_CONVERT_TIFFAXES_H

#include "common/convert/stackmeta.h"
#include "common/convert/tiffpage.h"

/*
 * Makes x the description of an item of n pages like p: sizes, kinds, spacings, units, labels and keys. p is the current
 * directory of t. Sets m to what the page's ImageDescription says of a stack.
 */
void
tiffpage_describe(TIFF *t, const struct tiffpage *p, size_t n, struct img *x, struct stackmeta *m);

#endif
