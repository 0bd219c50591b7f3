/* Checks the samples of items and converts them to floats. */
#ifndef DPTRACE_TAKE_H
#define DPTRACE_TAKE_H

#include "common/stream/img.h"
#include "dptrace/dptrace.h"

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

#endif
