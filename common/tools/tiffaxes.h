/* What the tags of a page say of the item that pages make up. */
#ifndef TOOLS_TIFFAXES_H
#define TOOLS_TIFFAXES_H

#include "common/tools/stackmeta.h"
#include "common/tools/tiffpage.h"

/*
 * Makes x the description of n pages like p, the current directory of t: sizes, kinds, distances, units, labels and keys. m:
 * what its ImageDescription says of a stack.
 */
void
tiffpage_describe(TIFF *t, const struct tiffpage *p, size_t n, struct img *x, struct stackmeta *m);

#endif
