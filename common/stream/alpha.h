/* Alpha: how opaque a pixel is, as its last sample. */
#ifndef WEIR_STREAM_ALPHA_H
#define WEIR_STREAM_ALPHA_H

#include "common/stream/img.h"

/* What the last plane is, by the kind of axis 0 and by keys. */
enum alpha { ALPHA_NONE, ALPHA_STRAIGHT, ALPHA_PREMULTIPLIED };
enum alpha alpha_of(const struct img *x);

/* The alpha of opaque pixels: maxval:=, the greatest integer of the type, or 1 of floats. */
double alpha_opaque(const struct img *x);

/* Divides the premultiplied colours of so many pixels of x, at data, by their alpha, and says so in the keys of x. */
void alpha_divide(struct img *x, void *data, size_t pixels);

#endif
