/*
 * Puts a picture into few colours by error diffusion (R. W. Floyd, L. Steinberg 1976): mean colours of small areas are kept.
 *
 * Pixels are taken in raster order. t is the pixel plus the errors that it has received, limited to the range of samples. It
 * gets the colour c nearest to t; among equally near ones the first. The error t - c goes to four pixels, in 128ths:
 *
 *	            pixel   49
 *	      21      35     7
 *
 * These are seven eighths of the weights of Floyd and Steinberg. All of the error would make noise from errors that no colour
 * can undo. Errors do not leave the picture.
 *
 * All numbers are whole: coordinates count 16ths of a sample of 8 bits, or samples of 16 bits, and the sum of the received
 * errors is rounded to the nearest, halves up. Squared distances are summed in single precision, coordinate by coordinate.
 *
 * With alpha, coordinates are the samples on black and then those on white. An opaque pixel gets an opaque colour if there is
 * one; a clear pixel gets a clear colour if there is one, and its error is dropped.
 */
#ifndef EMST_DITHER_H
#define EMST_DITHER_H

#include <stdint.h>

#include "common/stream/img.h"

struct dither {
	size_t w, h, planes;  /* 1 .. 4 planes */
	enum img_type type;   /* IMG_U8 or IMG_U16 */
	const void *px;	      /* [h][w][planes]; borrowed */
	double top;	      /* the largest sample */
	bool alpha;	      /* the last plane is alpha, and opaque pixels have the alpha top */
	size_t k;	      /* colours, 1 .. 256 */
	const double *colour; /* [k][planes], whole numbers from 0 to top; borrowed */
};

/* Sets index[h][w] to the colour of each pixel. 0 or -ENOMEM. */
int dither_run(const struct dither *d, uint8_t *index);

/* The definition, in direct_dither.c: one pixel, one colour and one coordinate at a time. */
int emst_direct_dither(const struct dither *d, uint8_t *index);

#endif
