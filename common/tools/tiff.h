/* What tifftoraw and rawtotiff share: libtiff's messages, tags that it does not know, and tags as keys. */
#ifndef TOOLS_TIFF_H
#define TOOLS_TIFF_H

#include <stdbool.h>
#include <stdint.h>
#include <tiffio.h>

#include "common/img.h"

/* Tags of GeoTIFF and of GDAL. */
enum {
	TIFF_PIXEL_SCALE = 33550,
	TIFF_TIEPOINTS = 33922,
	TIFF_TRANSFORMATION = 34264,
	TIFF_GEO_KEYS = 34735,
	TIFF_GEO_DOUBLES = 34736,
	TIFF_GEO_ASCII = 34737,
	TIFF_GDAL_METADATA = 42112,
	TIFF_NODATA = 42113
};

/* Sees to it that libtiff says nothing on stderr, and knows the tags above. Call it first. */
void tiff_init(void);

/* The first error since the last call, "" when there was none. Warnings are dropped. */
const char *tiff_why(void);

/* Tags of text and the colour profile as keys, `tiff.Software:=...`; a newline is \n and a backslash \\ there. And back. */
void tiff_keys_of(TIFF *t, struct img *x);
void tiff_set_keys(TIFF *t, const struct img *x);

/* Unescapes such a value. Caller frees; NULL: no memory. */
char *tiff_unescape(const char *value);

/*
 * GeoTIFF's tags as keys: geotransform:= x0 dx rx y0 ry dy, so that pixel i, j has its outer corner at
 * x0 + dx i + rx j, y0 + ry i + dy j; crs:=EPSG:n; nodata:=; and geotiff.*:= as they are. The axes get positions in pixels,
 * which say later what was cut out. And back.
 */
void tiff_geo_of(TIFF *t, struct img *x, int row_axis);
void tiff_set_geo(TIFF *t, const struct img *x, int row_axis);

#endif
