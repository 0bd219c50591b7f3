/* libtiff's messages, tags that libtiff does not know, and tags as keys. tifftoraw and rawtotiff share them. */
#ifndef WEIR_CONVERT_TIFF_H
#define WEIR_CONVERT_TIFF_H

#include <stdbool.h>
#include <stdint.h>
#include <tiffio.h>

#include "common/stream/img.h"

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

/*
 * The key of a resolution that the axes do not state: `tiff.resolution:=N`, `N in` or `N cm`, pixels per unit along an axis of
 * spacing 1. Without a unit it is what the page says, and nobody knows of what.
 */
#define TIFF_RESOLUTION "tiff.resolution"

/* Keeps libtiff's messages off stderr and registers the tags above. Call it first. */
void tiff_init(void);

/* Returns libtiff's first error since the last call, or "" when there was none. */
const char *tiff_why(void);

/*
 * Returns the first error or warning since the last call, or "". While samples are read, either says that they are damaged: of
 * facsimiles and JPEG, libtiff goes on behind the damage and reports success.
 */
const char *tiff_doubt(void);

/*
 * Adds the text tags and the colour profile to x as keys, such as `tiff.Software:=...`. In a value, a newline is written \n
 * and a backslash \\.
 */
void tiff_keys_of(TIFF *t, struct img *x);

/* Sets the tags from such keys. */
void tiff_set_keys(TIFF *t, const struct img *x);

/* Adds the palette of a page of so many bits to x, as the key `tiff.ColorMap:=r,g,b r,g,b ...`. */
void tiff_palette_of(TIFF *t, unsigned bits, struct img *x);

/* Sets the palette of a page of so many bits from that key. Returns false when x has none, or one with more colours. */
bool tiff_set_palette(TIFF *t, unsigned bits, const struct img *x);

/*
 * Adds tags of private or unknown meaning to x as keys `tiff.tag.NUMBER:=TYPE VALUES`: hexadecimal digits for text and bytes,
 * numbers for shorts and longs. Tags that cannot be kept are named in a warning about the file `name`. Dies without memory.
 */
void tiff_keep_tags(TIFF *t, struct img *x, const char *name);

/* Sets the tags from such keys. imagej: ImageJ's own tags too, which describe the stack as it was. */
void tiff_set_tags(TIFF *t, const struct img *x, bool imagej);

/* Unescapes the value of such a key. The caller frees the result. Returns NULL when there is no memory. */
char *tiff_unescape(const char *value);

/*
 * Adds GeoTIFF's tags to x as keys: geotransform:=x0 dx rx y0 ry dy, crs:=EPSG:n, nodata:=, and the other tags unchanged as
 * geotiff.*:=. The outer corner of pixel i, j lies at x0 + dx i + rx j, y0 + ry i + dy j. The axes get positions in pixels of
 * the page. When a part is cut out later, the positions say where it was.
 */
void tiff_geo_of(TIFF *t, struct img *x, int row_axis);

/* Sets the tags from such keys and from the positions of the axes. */
void tiff_set_geo(TIFF *t, const struct img *x, int row_axis);

/*
 * Adds the tags MinSampleValue, MaxSampleValue, SMinSampleValue and SMaxSampleValue to x as keys of these names, such as
 * `tiff.MaxSampleValue:=255`. tiff_set_range() sets the tags of a page that has its planes already; tiff_drop_range() drops the
 * keys, which are true of the samples of the file alone.
 */
void tiff_range_of(TIFF *t, struct img *x);
void tiff_set_range(TIFF *t, const struct img *x);
void tiff_drop_range(struct img *x);

#endif
