/* The tags of the pages that rawtotiff writes. */
#ifndef WEIR_CONVERT_TIFFPUT_H
#define WEIR_CONVERT_TIFFPUT_H

#include "common/convert/tiff.h"

enum { TIFFPUT_PLAIN, TIFFPUT_DEFLATE, TIFFPUT_LZW, TIFFPUT_ZSTD };

/* How pages are stored. */
struct tiffput {
	int compress; /* one of the above */
	size_t tile;  /* the side of tiles; 0: strips of rows */
};

/* The shape of an item as pages. */
struct tiffput_pages {
	int row; /* the axis along a row: 1 when axis 0 holds planes, else 0 */
	size_t planes, w, h, n;
	size_t bits; /* of a sample */
	bool complex;
};

/* Whether tifftoraw found the item as a mask of missing pixels. */
bool tiffput_is_mask(const struct img *x);

/* Sets the tags of page i of x, i < p->n. After a failure, tiff_why() says what was wrong. */
void tiffput_tags(TIFF *t, const struct tiffput *how, const struct img *x,
		  const struct tiffput_pages *p, size_t i);

#endif
