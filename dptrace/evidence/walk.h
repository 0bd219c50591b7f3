/* Samples of a picture along a straight line. */
#ifndef DPTRACE_WALK_H
#define DPTRACE_WALK_H

#include <stddef.h>

#include "dptrace/dptrace.h"

/* A walk over the picture: sample i lies at (x + i dx, y + i dy). */
struct walk {
	double x, y, dx, dy;
};

/*
 * Takes n bilinear samples of the picture p of h rows of w, and subtracts ref from each. Beyond the picture a sample is
 * that of the nearest place on the border, so that the border is no edge.
 */
void walk_sample(float *out, int n, const float *p, size_t w, size_t h, struct walk k, float ref);

/* Sets out[i] to 1 where sample i lies inside the picture and its mask (NULL: none), and to 0 outside. */
void walk_inside(float *out, int n, size_t w, size_t h, struct walk k, const unsigned char *mask);

/* Multiplies out[i] by the gain at sample i, where it is not 0. */
void
walk_gain(float *out, int n, size_t w, size_t h, struct walk k, const struct dptrace_gain *gain);

#endif
