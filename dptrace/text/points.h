/* Parsers of the text of points and of world files. They are pure functions. */
#ifndef WEIR_DPTRACE_TEXT_POINTS_H
#define WEIR_DPTRACE_TEXT_POINTS_H

#include "common/stream/img.h"
#include "dptrace/dptrace.h"

/* Checks the samples of items and converts them to floats. */

/*
 * Copies the samples of the picture p of x into v by planes, [c][h][w]. Pixels that mask [h][w] (NULL: none) leaves out are
 * 0. Returns 0, or -1 with a sentence in err when another sample is NaN, infinite or too large.
 */
int take_planes(float *v, const struct img *x, const struct img_picture *p,
		const unsigned char *mask, int threads, char err[DPTRACE_ERR]);

/*
 * Moves the samples of each pixel from their mean m by a factor of k: v <- m + k (v - m), for the c planes [c][n] of v. So
 * differences of colour count k times in a gradient of all planes, and those of the mean once. Returns 0, or -1 with a
 * sentence in err when a result is too large.
 */
int take_chroma(float *v, size_t c, size_t n, double k, int threads, char err[DPTRACE_ERR]);

/*
 * Checks the link scores x, and makes floats of samples of another type. Returns 0, or -1 with a sentence in err when a
 * score is NaN or beyond 1e20.
 */
int take_scores(struct img *x, char err[DPTRACE_ERR]);

/* Lines and their points. All points are in one array, the lines' xy point into it. */
struct points {
	struct dptrace_line *line;
	double (*xy)[2];
	size_t nline, nxy;
};

/*
 * Adds the polylines of a text. Each line of text is one polyline `x y x y ...`, or WKT's `LINESTRING (x y, x y, ...)`,
 * where a third and a fourth number of a position are skipped.
 * Blanks, tabs and a CR before the newline separate numbers. # begins a comment. A line without numbers is skipped. A text
 * that begins with { is GeoJSON. Returns 0, or -1 with a sentence in err.
 */
int points_parse(struct points *p, const char *text, size_t n, bool closed, char err[DPTRACE_ERR]);

/* Adds one line of n points. Returns 0, or -1 when there is no memory. */
int points_add(struct points *p, const double (*xy)[2], size_t n, bool closed);

/* Sets the xy of all lines. Call it once all lines are added. */
void points_finish(struct points *p);

/* Makes `to` a copy whose lines are those of p. Returns 0, or -1 when there is no memory; then it is empty. */
int points_copy(struct points *to, const struct points *p);

void points_free(struct points *p);

/* Turns a place xy of such a map (world_parse()) into a pixel. */
void points_unmap(const double world[6], double xy[2]);

/*
 * Parses a world file, six numbers A D B E C F. Pixel (x, y) lies at (A x + B y + C, D x + E y + F). Returns 0, or -1 with
 * a sentence in err.
 */
int world_parse(double world[6], const char *text, size_t n, char err[DPTRACE_ERR]);

/*
 * Parses the key geotransform:= x0 dx rx y0 ry dy into the six numbers of a world file. The outer corner of pixel (i, j)
 * lies at (x0 + dx i + rx j, y0 + ry i + dy j). Its centre lies half a pixel further in i and j. Returns 0, or -1 with a
 * sentence in err.
 */
int geotransform_parse(double world[6], const char *text, char err[DPTRACE_ERR]);

#endif
