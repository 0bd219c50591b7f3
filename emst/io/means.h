/* The colours that stand for classes. */
#ifndef EMST_MEANS_H
#define EMST_MEANS_H

#include "emst/io/write.h"

/*
 * Returns [label][k]: the weighted means of the classes. Row 0, for vertices without a class, is 0. Classes of colours as they
 * are seen (palette.h) have the colour that is nearest to theirs in this sense. The caller frees them. Dies without memory.
 */
double *means_of(const struct result *r);

#endif
