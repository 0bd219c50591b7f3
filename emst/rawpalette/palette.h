/*
 * Finds K colours that replace all colours of a picture with little loss.
 *
 *	SSE = sum over colours i of w[i] min over j of |x[i] - c[j]|^2	x[i] colours, w[i] their pixels, c[j] the K centres
 *
 * No spanning tree is used. Classes of a tree lose 6 to 12 dB to this method on photographs, and Ward's method along the
 * edges of a tree loses to Ward's method over all pairs. The steps are:
 *
 *   1. The octree makes some hundred classes (seeds_make()), and Ward's method joins them until K are left.
 *   2. Light nodes of the octree become one colour each (cells_thin()), so that step 3 has some thousand colours instead of all.
 *   3. Rounds of Lloyd's method; between rounds, classes are joined and split where that lowers the SSE (swaps_make()). For
 *      small K, swaps are then tried one at a time (swaps_try()).
 *   4. Rounds of Lloyd's method over all colours.
 *
 * Sources: J. H. Ward 1963; F. Murtagh 1983 (nearest-neighbour chain); S. P. Lloyd 1982; P. Fraenti, J. Kivijaervi 2000
 * (swaps).
 *
 * Colours with alpha are compared as they are seen: d^2 is the mean of the squared differences on black and on white. With the
 * premultiplied colour p = c a of each plane this is the squared Euclidean distance of the vectors
 *
 *	(p - a/2 for each plane, a sqrt(planes)/2)	since  (dp^2 + (dp - da)^2)/2 = (dp - da/2)^2 + da^2/4
 *
 * At the end, classes with more opaque pixels than others become opaque, one class becomes clear, and opaque and clear pixels
 * go only there.
 */
#ifndef WEIR_EMST_PALETTE_PALETTE_H
#define WEIR_EMST_PALETTE_PALETTE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/stream/img.h"
#include "emst/classes/classes.h"

/*
 * Puts a picture into few colours by error diffusion (R. W. Floyd, L. Steinberg 1976): mean colours of small areas are kept.
 *
 * Pixels are taken in raster order. t is the pixel plus the errors that it has received, limited to the range of samples. It
 * gets the colour c nearest to t; among equally near ones the first. A part of the error t - c goes to four pixels, in 16ths:
 *
 *	            pixel   7
 *	       3       5    1
 *
 * The part is (26 + 30 s/(s + a)) / 64, rounded to 64ths. a is the mean of the squared differences from the pixel to those on
 * its left and above it, 0 where there is none; s is top^2 / (64 K). So smooth places, which would show bands, pass on
 * .88 of the errors. Texture passes on .41, since its errors cancel where the eye blurs them, and more makes it noisy.
 * Errors do not leave the picture.
 *
 * Then every pixel is chosen once more, in the same order, given the colours of all. It gets the colour nearest to t: itself, less
 * .3 part times the sum of g(i) g(j) d over the pixels i columns and j rows away, up to 2. d is a pixel's colour less the pixel,
 * and g is 1, 10/13, 5/13. This lowers the squares of d after a blur, by a Gaussian of one pixel whose correlation with itself is
 * nearly g, plus 3.3/part - 1 times those of d.
 *
 * The numbers of the first choice are whole: coordinates count 16ths of a sample of 8 bits, or samples of 16 bits, and the sum
 * of the received errors is rounded to the nearest, halves up. Sums of d are whole; the rest, and squared distances, are in
 * single precision, coordinate by coordinate.
 *
 * With alpha, coordinates are the samples on black and then those on white, which doubles a, so s is doubled too. An opaque
 * pixel gets an opaque colour if there is one; a clear pixel gets a clear colour if there is one, and its error is dropped.
 */

struct dither {
	size_t w, h, planes; /* 1 .. 4 planes */
	enum img_type type;  /* IMG_U8 or IMG_U16 */
	const void *px;	     /* [h][w][planes]; borrowed */
	double top;	     /* the largest sample */
	bool alpha;	     /* the last plane is alpha, and opaque pixels have the alpha top */
	size_t k;	     /* colours, 1 .. 256 */
	const double
	    *colour; /* [k][planes], rounded here to whole numbers from 0 to top; borrowed */
};

/* Sets index[pictures][h][w] to the colour of each pixel. The pictures, one after the other, are independent. 0 or -ENOMEM. */
int dither_run(const struct dither *d, size_t pictures, int threads, uint8_t *index);

/* The definition, in direct.c, for a picture and whole colours: one pixel, one colour and one coordinate at a time. */
int palette_direct_dither(const struct dither *d, uint8_t *index);

enum { PALETTE_MOST = 256, PALETTE_PLANES = 64 };

/*
 * Sets label[i] to the class, 0 .. k-1, of each vertex. v is a picture whose colours have been weighed, of at most
 * PALETTE_PLANES planes. 1 <= k <= PALETTE_MOST. When there are at most k colours, every colour is a class of its own; all
 * clear colours are one. The result is the same for any number of threads. 0 or -ENOMEM.
 */
int palette_make(const struct vertices *v, size_t k, int threads, uint32_t *label);

/*
 * Returns the colours of the classes as classes_means() does. Classes of colours as they are seen have the colour that is
 * nearest to theirs in this sense.
 */
double *palette_means(const struct classes *c, const struct vertices *v);

/* Whether a picture has one to four planes of 8 or 16 bits. Alpha and dithering are for these. */
bool palette_takes(enum img_type type, size_t planes);

/* The colours as an engine takes them. */
struct palette_colours {
	size_t n;
	const uint64_t *weight; /* [n]; their sum is below 2^46 */
	const uint32_t *code;	/* [n]: r<<16 | g<<8 | b, for three dimensions; NULL: see x */
	const uint16_t *x;	/* [n][dimensions] */
	int shift;		/* x / 2^shift is below 256 */
	bool gray;		/* all coordinates except the first are 0 */
	/* [n]; NULL: no colour is opaque. Otherwise the last coordinate / 2^shift is below 255. */
	const bool *opaque;
	bool has_clear; /* colour `clear` is fully transparent */
	size_t clear;
	/* The engine calls this when it has read x and opaque, so that they can be freed. NULL: it does not. */
	void (*placed)(void *of);
	void *placed_of;
};

/* The engines for three and for four dimensions. label[n] gets 0 .. k-1. 0 or -ENOMEM. */
int palette_rgb(const struct palette_colours *p, size_t k, int threads, uint32_t *label);
int palette_rgba(const struct palette_colours *p, size_t k, int threads, uint32_t *label);

#endif
