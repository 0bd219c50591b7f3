/* What was read, checked and turned into floats. */
#ifndef DPTRACE_TAKE_H
#define DPTRACE_TAKE_H

#include "common/img.h"
#include "dptrace/dptrace.h"

/* Samples of the picture p of x by planes, [c][h][w]. Returns 0, or -1 with a sentence in err: one is no number. */
int take_planes(float *v, const struct img *x, const struct img_picture *p, char err[DPTRACE_ERR]);

/* n link scores of x. Returns 0, or -1 with a sentence in err. */
int take_scores(float *v, const struct img *x, size_t n, char err[DPTRACE_ERR]);

#endif
