/* A page of a TIFF file: its layout (tiffpage.c), and its rows converted to samples of an item (tiffrows.c). */
#ifndef WEIR_CONVERT_TIFFPAGE_H
#define WEIR_CONVERT_TIFFPAGE_H

#include "common/convert/tiff.h"

struct tiffpage {
	size_t w, h;	    /* as shown: the orientation is applied */
	size_t planes;	    /* samples of a pixel, interleaved */
	size_t layers;	    /* pictures of the page: of complex samples each plane is one, else 1 */
	enum img_type type; /* of a sample of the item */
	unsigned maxval;    /* 0: the greatest value of the type */
	const char *kind;   /* of axis 0 when it holds planes, else NULL */

	/* As stored. */
	size_t stored_w, stored_h, stored_planes;
	unsigned bits;
	uint16_t photometric, orientation, format;
	bool complex, tiled, facsimile;
	bool separate, separate_layers; /* in strips or tiles of their own */
	/* INTEGERS: complex samples that are pairs of integers become floats */
	enum tiffway {
		TIFF_PLAIN,
		TIFF_INVERT,
		TIFF_PALETTE,
		TIFF_RGBA,
		TIFF_HALF,
		TIFF_FLOAT24,
		TIFF_INTEGERS
	} way;
};

/*
 * Reads the current directory of t. indices: those of a palette stay what they are. Returns NULL, or a sentence that names the
 * layout that is not supported. The next call may change the sentence.
 */
const char *tiffpage_read(TIFF *t, bool indices, struct tiffpage *p);

/*
 * How far the palette's entries are shifted right to become bytes v. The shift is 8 when all entries are v * 257, or v * 256
 * as some programs write them. It is 0 when they are v itself, as others write them. It is -1 when they need 16 bits.
 */
int tiffpage_palette_shift(TIFF *t, unsigned bits);

/* Whether two pages can be pictures of one stack. */
bool tiffpage_alike(const struct tiffpage *a, const struct tiffpage *b);

/* Bytes of a row of the item. */
size_t tiffpage_row(const struct tiffpage *p);

/* How many of the page's tiles or strips the file leaves out. They are read as the value of missing samples, else as 0. */
size_t tiffpage_absent(TIFF *t, const struct tiffpage *p);

/*
 * Reads a layer of the page from the top, a band at a time, and calls put(to, rows, n) for each band of n rows. The samples
 * have the item's type. Returns 0, or -1 when libtiff failed or there was no memory; tiff_why() says which.
 */
int tiffpage_rows(TIFF *t, const struct tiffpage *p, size_t layer,
		  void (*put)(void *to, const void *rows, size_t n), void *to);

#endif
