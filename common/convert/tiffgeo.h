/* Missing samples of maps: GDAL names their value, which tiffgeo.c has kept as the key nodata, or has a mask of them. */
#ifndef WEIR_CONVERT_TIFFGEO_H
#define WEIR_CONVERT_TIFFGEO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/stream/img.h"

struct nodata {
	bool any;	     /* the item has the key, and it is a number */
	enum img_type given; /* of the samples in the file */
	enum img_type type;  /* of the samples of the item */
	double value;
	uint64_t kept; /* missing samples that stay integers */
	char *made;    /* [room] bytes, for samples of another type; owned */
	size_t room;
	/* of the page at hand: [h][w], 0 where the pixel is missing; NULL: none. Owned */
	unsigned char *mask;
	size_t w, at;  /* its width; how many of its pixels nodata_mark() has used */
	size_t planes; /* samples of a pixel */
};

/*
 * Reads the key of x. Missing samples of floats will become NaN. With nan those of integers will, too: then x->type becomes
 * float, or double for 32 and 64 bits. masked: a page has a mask. Then x gets the key when it has none.
 */
struct nodata nodata_of(struct img *x, bool nan, bool masked);

/*
 * Returns n samples of the item, made of n samples of the file. They are `rows`, which it changes, or lie in a buffer that the
 * next call fills again.
 */
const void *nodata_mark(struct nodata *d, void *rows, size_t n);

/* Whether a sample of the type can have the value that the text states. A float rounds it. True where the text is no number. */
bool nodata_fits(const char *text, enum img_type type);

void nodata_free(struct nodata *d);

#endif
