/* A page of a TIFF file: how its samples are stored, and its rows as samples of an item. */
#ifndef TOOLS_TIFFPAGE_H
#define TOOLS_TIFFPAGE_H

#include "common/tools/tiff.h"

struct tiffpage {
	size_t w, h;	    /* as they are shown, orientation applied */
	size_t planes;	    /* samples of a pixel, interleaved */
	enum img_type type; /* of a sample of the item */
	unsigned maxval;    /* 0: the type's own */
	const char *kind;   /* of axis 0 where it has planes; NULL where it has none */

	/* As stored. */
	size_t stored_w, stored_h, stored_planes;
	unsigned bits;
	uint16_t photometric, orientation, format;
	bool complex, separate, tiled;
	enum tiffway { TIFF_PLAIN, TIFF_INVERT, TIFF_PALETTE, TIFF_RGBA, TIFF_HALF } way;
};

/* Reads the current directory of t. Returns NULL, or a sentence that names the layout that is not supported. */
const char *tiffpage_read(TIFF *t, struct tiffpage *p);

/* Whether pages can be pictures of one stack. */
bool tiffpage_alike(const struct tiffpage *a, const struct tiffpage *b);

/* Bytes of a row of the item. */
size_t tiffpage_row(const struct tiffpage *p);

/*
 * Calls put(to, rows, n) with the rows of the page from the top on, a band at a time, in the type of the item. Returns 0, or -1
 * when libtiff failed or there was no memory; see tiff_why().
 */
int tiffpage_rows(TIFF *t, const struct tiffpage *p,
		  void (*put)(void *to, const void *rows, size_t n), void *to);

#endif
