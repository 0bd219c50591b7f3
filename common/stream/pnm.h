/*
 * Reads PNM and PAM by libnetpbm: the headers, and the payloads that are not blocks of samples. Also writes their headers.
 * libnetpbm ends the process on an error. A function with why catches that, and returns 0 or -1.
 */
#ifndef WEIR_STREAM_PNM_H
#define WEIR_STREAM_PNM_H

#include <stdbool.h>
#include <stdio.h>

#include "common/base/why.h"
#include "common/stream/img.h"

#define PNM_RGB_ALPHA  "RGB_ALPHA" /* the tuple type of colours with alpha */
#define PNM_GRAY_ALPHA "GRAYSCALE_ALPHA"

/*
 * Reads the header at f, P1 to P7. x gets type uchar or ushort, a maxval:= key, and sizes `x y` or `planes x y`. *block: the
 * payload is a block of samples (P5, P6, P7), of which two-byte samples are big-endian; otherwise pnm_load reads it.
 */
int pnm_head(FILE *f, struct img *x, bool *block, struct why *why);

/* Reads the payload of P1 to P4 into x->data, which the caller has allocated. It must follow pnm_head directly. */
int pnm_load(FILE *f, const struct img *x, char magic, struct why *why);

/* Writes the header of a picture: P5 for one plane, P6 for three, P7 for others. Returns the bytes written, or -1. */
int pnm_put_head(FILE *f, const struct img_picture *p, unsigned maxval, const char *tuple_type);

#endif
