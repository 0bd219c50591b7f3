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
#ifndef EMST_PALETTE_H
#define EMST_PALETTE_H

#include "emst/vertices.h"

enum { PALETTE_MOST = 256, PALETTE_PLANES = 64 };

/*
 * Sets label[i] to the class, 0 .. k-1, of each vertex. v is a picture whose colours have been weighed; palette_takes(v).
 * 1 <= k <= PALETTE_MOST. When there are at most k colours, every colour is a class of its own; all clear colours are one. The
 * result is the same for any number of threads. 0 or -ENOMEM.
 */
int palette_make(const struct vertices *v, size_t k, int threads, uint32_t *label);

/* Whether a picture has one to four planes of 8 or 16 bits. */
bool palette_takes(const struct vertices *v);

/* Does what palette_make() does for all other pictures, without alpha. v->planes is at most PALETTE_PLANES. */
int palette_wide(const struct vertices *v, size_t k, int threads, uint32_t *label);

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
