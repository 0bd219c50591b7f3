/* What the options mean for each segment. */
#ifndef DPTRACE_RESOLVE_H
#define DPTRACE_RESOLVE_H

#include "dptrace/dptrace.h"

/* A segment of a line, resolved. */
struct segment_shape {
	double ax, ay, ex, ey, length;
	int n, d;
	double halfwidth, dv;
	double phi; /* of its line */
};

/* Puts a sentence into err; returns -1. */
int dptrace_fail(char err[DPTRACE_ERR], const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The segments of a line, checked. Returns 0, or -1 with a sentence in err. */
int
dptrace_shape(struct segment_shape *s, const struct dptrace_line *l, const struct dptrace_image *im,
	      const struct dptrace_options *o, char err[DPTRACE_ERR]);

#endif
