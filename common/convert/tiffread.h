/*
 * Reads what the TIFF tag ImageDescription says of a stack: how many pages lie along which axis, and the spacing of samples.
 * Two formats are read: the lines of ImageJ (`ImageJ=...`, slices=5) and the Pixels element of OME-XML. Pure.
 */
#ifndef WEIR_CONVERT_TIFFREAD_H
#define WEIR_CONVERT_TIFFREAD_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/why.h"
#include "common/convert/tiff.h"

struct stackmeta {
	bool imagej, ome;
	size_t n; /* pages: the product of size[]; 0: not stated */
	/* Axes of pages, fastest first, such as "czt". An axis of one page is left out. */
	char order[4];
	size_t size[3];	   /* pages along each axis of order */
	double spacing[3]; /* of x, y, z; NaN: not stated */
	char unit[3][16];  /* of x, y, z; "": not stated */
	double interval;   /* of t, in seconds; NaN: not stated */
};

/* planes: samples of a pixel. OME counts them among its channels. */
void stackmeta_read(const char *text, size_t planes, struct stackmeta *m);

/*
 * Returns a copy of the text in which the attribute of OME's first element Pixels has the value, if the element has the
 * attribute. The caller frees it. NULL: there is no memory.
 */
char *stackmeta_set(const char *text, const char *name, const char *value);

/* Writes the text that ImageJ reads into text[0..room). */
void stackmeta_print(const struct stackmeta *m, char *text, size_t room);

/* A page of a TIFF file: its layout (tiffread.c), and its rows converted to samples of an item (tifftoraw.c). */

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

/* Finds the pages of a TIFF file, and the masks of their missing pixels. */

/* A page, or the mask of one. */
struct tiffpages_page {
	struct tiffpage layout;
	uint64_t offset; /* of its directory */
	size_t number;	 /* from 0 */
	size_t mask;	 /* 1 + the index of its mask, which has its size; 0: none */
	size_t of;	 /* of a mask: the index of the page before it */
};

/* The caller frees it with tiffpages_free(). */
struct tiffpages {
	struct tiffpages_page *at;
	size_t n;
};

/* How many directories are small copies of other pages, or masks. */
struct tiffpages_seen {
	size_t copies, masks;
};

struct tiffpages_want {
	bool indices; /* those of a palette stay what they are */
	bool masks;   /* else masks is left empty */
	bool first;   /* the first page and its masks alone. What follows them is not read */
};

/*
 * Goes through the directories of t. Returns 0, or -1 when there is no page, or one cannot be read.
 */
int tiffpages_find(TIFF *t, const struct tiffpages_want *want, struct tiffpages *pages,
		   struct tiffpages *masks, struct tiffpages_seen *seen, struct why *why);

void tiffpages_free(struct tiffpages *l);

/* Makes the description of an item from the tags of a page. */

/*
 * Makes x the description of an item of n pages like p: sizes, kinds, spacings, units, labels and keys. p is the current
 * directory of t. Sets m to what the page's ImageDescription says of a stack.
 */
void
tiffpage_describe(TIFF *t, const struct tiffpage *p, size_t n, struct img *x, struct stackmeta *m);

#endif
