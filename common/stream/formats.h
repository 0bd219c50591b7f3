/*
 * The other formats of items: what raw.h reads by itself (NumPy's .npy of versions 1 to 3, PFM, and by libnetpbm PNM and PAM), and
 * the names of those that other programs convert. A function with why returns 0, or -1.
 */
#ifndef WEIR_STREAM_FORMATS_H
#define WEIR_STREAM_FORMATS_H

#include <stdbool.h>
#include <stdio.h>

#include "common/base/why.h"
#include "common/stream/img.h"

/* --- .npy and PFM ---------------------------------------------------------------------------- */

/* How the payload of a .npy file differs from an item's. */
struct npy_layout {
	bool swap;    /* it is in the other byte order */
	bool fortran; /* the first index runs fastest */
	bool half;    /* its samples have 16 bits (f2); x's are float */
};

/*
 * Reads the header of a .npy file. The order of the axes is reversed, so that the last index is axis 0. A complex dtype
 * becomes an axis 0 of kind complex.
 */
int npy_head(FILE *f, struct img *x, struct npy_layout *how, struct why *why);

/* Parses text[0..n), the dictionary of such a header. Pure, fuzzed. */
int npy_parse(const char *text, size_t n, struct img *x, struct npy_layout *how, struct why *why);

/* Converts n 16-bit floats, which lie in the upper half of the memory of v[0..n), to v[0..n). */
void npy_widen(float *v, size_t n);

/* Copies from[], a payload whose first index runs fastest, to to[] in x's order. Both have x's size and do not overlap. */
void npy_transpose(const struct img *x, void *to, const void *from);

/*
 * Reads the header of a PFM file: x has type float and sizes `x y` or `3 x y`. The payload has the rows from the bottom up.
 * *swap: it is in the other byte order.
 */
int pfm_head(FILE *f, struct img *x, bool *swap, struct why *why);

/* Reverses the order of the rows of x->data, in place. */
void pfm_flip(struct img *x);

/* --- PNM and PAM: the headers, and the payloads that are not blocks of samples ---------------- */

/*
 * Reads the header at f, P1 to P7. x gets type uchar or ushort, a maxval:= key, and sizes `x y` or `planes x y`. *block: the
 * payload is a block of samples (P5, P6, P7), of which two-byte samples are big-endian; otherwise pnm_load reads it.
 */
int pnm_head(FILE *f, struct img *x, bool *block, struct why *why);

/* Reads the payload of P1 to P4 into x->data, which the caller has allocated. It must follow pnm_head directly. */
int pnm_load(FILE *f, const struct img *x, char magic, struct why *why);

/* Writes the header of a picture: P5 for one plane, P6 for three, P7 for others. Returns the bytes written, or -1. */
int pnm_put_head(FILE *f, const struct img_picture *p, unsigned maxval, const char *tuple_type);

/* --- formats by their first bytes, for messages about a file of the wrong one ------------------ */

/*
 * FOREIGN_MAGIC first bytes tell all formats except SU, which has no magic. FOREIGN_MOST bytes also hold the longest trace of
 * SU and the header of the next one.
 */
enum { FOREIGN_MAGIC = 352, FOREIGN_MOST = 240 + 4 * 65535 + 240 };

/*
 * Returns what the file is whose first n bytes these are, for "this is ...": "TIFF; convert it with tifftoraw". Returns NULL
 * when the format is unknown, or when the calling program itself reads it.
 */
const char *foreign_what(const void *first, size_t n);

/* Whether more than these n bytes may tell that the file is SU: a header that states a kind of trace and its samples. */
bool foreign_may_be_su(const void *first, size_t n);

#endif
