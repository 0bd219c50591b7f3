/*
 * PNM and PAM through libnetpbm: headers, and the payloads that are not plain blocks of samples. libnetpbm ends the
 * process on an error; here alone that is caught, so that each function returns 0, or -1 with a sentence in err.
 */
#ifndef WEIR_PNM_H
#define WEIR_PNM_H

#include <stdbool.h>
#include <stdio.h>

#include "common/img.h"
#include "common/raw.h"

/*
 * Reads the header at f, P1 to P7. x: uchar or ushort with a maxval:= key, sizes `x y` or `planes x y`. *block: the
 * payload is a block of samples (P5, P6, P7), two-byte ones in big-endian order; else pnm_load reads it.
 */
int pnm_head(FILE *f, struct img *x, bool *block, char err[RAW_ERR]);

/* The payload of P1 to P4, right after pnm_head, into x->data, which holds it already. */
int pnm_load(FILE *f, const struct img *x, char magic, char err[RAW_ERR]);

/* The header of a picture: P5 for one plane, P6 for three, P7 for others. Bytes written, or -1. */
int pnm_put_head(FILE *f, const struct img_picture *p, unsigned maxval, const char *tuple_type);

#endif
