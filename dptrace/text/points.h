/* Points and world files: text to numbers. Pure. */
#ifndef DPTRACE_POINTS_H
#define DPTRACE_POINTS_H

#include "dptrace/dptrace.h"

/* Lines and their points, in one piece. */
struct points {
	struct dptrace_line *line;
	double (*xy)[2];
	size_t nline, nxy;
};

/*
 * Adds the lines of a text, one polyline `x y x y ...` a line; blanks, tabs and a CR before the newline separate, # begins
 * a comment, a line without numbers is passed over. Returns 0, or -1 with a sentence in err.
 */
int points_parse(struct points *p, const char *text, size_t n, bool closed, char err[DPTRACE_ERR]);

/* Adds one line of n points; 0, or -1: no memory. */
int points_add(struct points *p, const double (*xy)[2], size_t n, bool closed);

/* Once all are added: sets the lines' xy. */
void points_finish(struct points *p);

void points_free(struct points *p);

/*
 * A world file, six numbers A D B E C F: (x, y) lies at (A x + B y + C, D x + E y + F). Returns 0, or -1 with a sentence in
 * err.
 */
int world_parse(double world[6], const char *text, size_t n, char err[DPTRACE_ERR]);

/*
 * The key geotransform:= x0 dx rx y0 ry dy as a world file: the outer corner of pixel (i, j) lies at (x0 + dx i + rx j, y0 +
 * ry i + dy j), its centre half a pixel on. Returns 0, or -1 with a sentence in err.
 */
int geotransform_parse(double world[6], const char *text, char err[DPTRACE_ERR]);

#endif
