/* Where a picture lies: in a whole, by the key tile:=x0 y0 W H; on a map, on the sky, or along its axes. */
#ifndef WEIR_STREAM_PLACE_H
#define WEIR_STREAM_PLACE_H

#include <stdbool.h>

#include "common/base/why.h"
#include "common/stream/img.h"

enum { PLACE_MOST = 134217728 }; /* pixels: the greatest width and height of a picture */

struct place {
	size_t x0, y0; /* its first column and row */
	size_t W, H;   /* the whole picture */
};

/*
 * Finds where x, which holds pictures of w by h pixels, lies in the whole picture. Without the key, x is the whole. Returns
 * 0, or -1 when the key is invalid.
 */
int place_of(const struct img *x, size_t w, size_t h, struct place *t, struct why *why);

/* Whether x and y have the same place: both keys, and those of --part (common/stream/share.h), agree. */
bool place_same(const struct img *x, const struct img *y);

/*
 * Warns that x, called `where`, is a map of another place than y, called `than`: the first or the last samples of the two are more
 * than `most` pixels of y apart. That is so by geotransform:=, or by FITS cards, or by positions; each where both have them.
 */
void place_compare(const struct img *x, const struct img *y, double most, const char *where,
		   const char *than);

/*
 * The value of the FITS card of x whose name the format makes, behind the = of the free format; NULL: x has none, as where the name is
 * longer than those of cards. And the number on it: `absent` where there is none.
 */
const char *
card_text(const struct img *x, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
double card_number(const struct img *x, double absent, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Sets the key of x to t. */
void place_set(struct img *x, const struct place *t);

/* The number that a name as EPSG:32633 or urn:ogc:def:crs:EPSG::32633 has in the tables of EPSG; 0: none. name may be NULL. */
unsigned crs_number(const char *name);

/* The member by which GDAL and QGIS know the coordinates of a GeoJSON, for a number. */
#define CRS_MEMBER                                        \
	"\"crs\": {\"type\": \"name\", \"properties\": {" \
	"\"name\": \"urn:ogc:def:crs:EPSG::%u\"}}, "

#endif
