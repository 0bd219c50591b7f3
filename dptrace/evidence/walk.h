/* Samples of a picture along a straight line. */
#ifndef DPTRACE_WALK_H
#define DPTRACE_WALK_H

#include <stddef.h>

/* A walk over the picture: sample i lies at (x + i dx, y + i dy). */
struct walk {
	double x, y, dx, dy;
};

/* Bilinear samples less ref of the picture p of h rows of w; beyond it those of its border, so that the border itself is no edge. */
void walk_sample(float *out, int n, const float *p, size_t w, size_t h, struct walk k, float ref);

/* 1 inside the picture, 0 outside. */
void walk_inside(float *out, int n, size_t w, size_t h, struct walk k);

#endif
