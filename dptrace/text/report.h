/* Writes polylines as text, WKT, GeoJSON, SVG and CSV, and draws them over the picture. */
#ifndef WEIR_DPTRACE_TEXT_REPORT_H
#define WEIR_DPTRACE_TEXT_REPORT_H

#include "common/stream/img.h"
#include "common/stream/raw.h"
#include "dptrace/dptrace.h"

/* Masks of pictures: which pixels may hold a line, and what stands in the others. Pure. */

/*
 * Makes mask[i] 0 where the samples of x, an item of one plane with h rows of w, are 0 or NaN, and 1 elsewhere. Returns 0,
 * or -1 with a sentence in err when x has another shape.
 */
int mask_take(unsigned char *mask, const struct img *x, size_t w, size_t h, char err[DPTRACE_ERR]);

/*
 * Makes mask[i] 0 where a plane of the picture p of x has no data: where a sample is NaN, or equal to nodata. Returns
 * whether there are such pixels.
 */
bool
mask_nodata(unsigned char *mask, const struct img *x, const struct img_picture *p, double nodata);

/*
 * Gives pixels of mask 0 the samples of a near pixel of mask 1, in all c planes, so that the rim of the mask is no edge.
 * Returns 0, 1 when mask is 0 everywhere, or -ENOMEM.
 */
int mask_fill(float *v, size_t c, size_t h, size_t w, const unsigned char *mask);

enum report_format {
	REPORT_TEXT,
	REPORT_WKT,
	REPORT_GEOJSON,
	REPORT_SVG,
	REPORT_CSV,
	REPORT_GEOJSONL,
	REPORT_EWKT
};

/* Says whether programs that know maps read the format: its places are those of the map, where the picture has one. */
static inline bool
report_is_map(enum report_format f)
{
	return f == REPORT_WKT || f == REPORT_EWKT || f == REPORT_GEOJSON || f == REPORT_GEOJSONL;
}

struct report {
	struct raw_out *out;
	enum report_format format;
	const double *world; /* NULL: pixels */
	const char *crs;     /* the key crs of the picture; NULL: none */
	bool follows;	     /* another output stands before this one: it begins without a header */
	size_t written;	     /* polylines so far, with those of the outputs before */
};

/* Writes the beginning of the whole output. w x h is the size of the picture, for SVG; 0 without a picture. */
void report_begin(struct report *r, size_t w, size_t h);

/* Writes polyline `line` (counted from 0) of item `item`. */
void
report_line(struct report *r, const struct dptrace_trace *t, bool closed, size_t item, size_t line);

void report_end(struct report *r);

/*
 * Makes an 8-bit RGB picture in *y (owned by the caller) from the image, gray or colour, to draw on. The range of the
 * image is 0..maxval, or that of its samples when maxval is 0. Returns 0 or -errno.
 */
int overlay_make(struct img *y, const struct dptrace_image *image, unsigned maxval);

/* Draws a polyline in red and its given points in yellow. */
void overlay_draw(struct img *y, const struct dptrace_trace *t);

#endif
