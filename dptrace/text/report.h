/* Polylines as text, WKT, GeoJSON, SVG and CSV; and drawn over the picture. */
#ifndef DPTRACE_REPORT_H
#define DPTRACE_REPORT_H

#include "common/raw.h"
#include "dptrace/dptrace.h"

enum report_format { REPORT_TEXT, REPORT_WKT, REPORT_GEOJSON, REPORT_SVG, REPORT_CSV };

struct report {
	struct raw_out *out;
	enum report_format format;
	const double *world; /* NULL: pixels */
	size_t written;	     /* polylines so far */
};

/* The beginning of the whole output; w x h is the picture's size for SVG, 0 when there is none. */
void report_begin(struct report *r, size_t w, size_t h);

/* Polyline `line` (from 0) of item `item`. */
void
report_line(struct report *r, const struct dptrace_trace *t, bool closed, size_t item, size_t line);

void report_end(struct report *r);

/*
 * The picture, gray or colour, as 8-bit RGB in *y (owned by the caller), to be drawn on; 0 or -errno. image's range is
 * 0..maxval, or that of its samples when maxval is 0.
 */
int overlay_make(struct img *y, const struct dptrace_image *image, unsigned maxval);

/* Draws a polyline in red, its given points in yellow. */
void overlay_draw(struct img *y, const struct dptrace_trace *t);

#endif
