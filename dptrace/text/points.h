/* Parsers of the text of points and of world files. They are pure functions. */
#ifndef DPTRACE_POINTS_H
#define DPTRACE_POINTS_H

#include "dptrace/dptrace.h"

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

/*
 * Adds the polylines of a text in GeoJSON: its LineStrings and MultiLineStrings, in order. Another geometry with coordinates
 * is an error. Returns 0, or -1 with a sentence in err.
 */
int geojson_parse(struct points *p, const char *text, size_t n, bool closed, char err[DPTRACE_ERR]);

/* Adds a point of the next line. Returns 0, or -1 when there is no memory. */
int points_point(struct points *p, double x, double y);

/* Makes a line of the last n points. Returns 0, or -1 when there is no memory. */
int points_line(struct points *p, size_t n, bool closed);

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
