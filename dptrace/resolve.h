/* What the options mean for each segment. */
#ifndef DPTRACE_RESOLVE_H
#define DPTRACE_RESOLVE_H

#include "dptrace/dptrace.h"

/* The guides along a curve, of the passes after the first under the cost. */
struct tube_shape {
	int n, d;  /* guides; samples of an inner one */
	double dv; /* px between samples */
	int per_gap;
	int points;    /* of the curve */
	double smooth; /* the Gaussian that smooths it, px */
	double phi;    /* radians */
};

/* A segment of a line, resolved. What is the same for a whole line stands in each of its segments. */
struct segment_shape {
	double ax, ay, ex, ey, length;
	int n, d;
	double halfwidth, dv;
	double phi;
	bool cost; /* the objective; else the sum */
	int polarity;
	double bright, dark; /* levels of its points by polarity, not of a sum */
	double level;	     /* cost: l */
	double noise;	     /* the response that pixel noise around the line has by itself */
	int steepest;	     /* cost: rows that a link may climb; 0: any */
	struct tube_shape tube;
};

/* Puts a sentence into err; returns -1. */
int dptrace_fail(char err[DPTRACE_ERR], const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The segments of a line, checked; gray: the mean of the planes. Returns 0, or -1 with a sentence in err. */
int
dptrace_shape(struct segment_shape *s, const struct dptrace_line *l, const struct dptrace_image *im,
	      const float *gray, const struct dptrace_options *o, char err[DPTRACE_ERR]);

#endif
