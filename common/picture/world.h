/* Where the samples of a picture lie: on a map by geotransform:=, or in the sky by the FITS cards of the item. */
#ifndef WEIR_PICTURE_WORLD_H
#define WEIR_PICTURE_WORLD_H

#include "common/stream/raw.h"

struct world {
	enum { WORLD_NONE, WORLD_MAP, WORLD_SKY } kind;
	double g[6];	    /* of a map: common/picture/mosaic.h */
	struct wcsprm *sky; /* owned */
	char names[20]; /* of coordinates in the sky, each behind a blank: " ra dec"; "": none */
	const struct img *x;
};

/*
 * Finds the map or the sky of x, an item of in. x is borrowed. Cards that are wrong are none, and a warning says so. Dies where x must
 * have a place and has none.
 */
void world_open(struct world *w, const struct raw_in *in, const struct img *x, bool must);

/* The place of the positions p[0..n) along rows, columns and so on. In the sky: longitude and latitude in degrees, or NaN. */
void world_place(const struct world *w, const double *p, int n, double place[2]);

/* A zeroed struct is allowed. */
void world_close(struct world *w);

/*
 * For world.c alone, by WCSLIB, or without it. Finds w->sky and w->names by the cards of x, if they have one, or returns what is
 * wrong with them. Then finds the place of a pixel, which counts from 1 along each axis.
 */
const char *world_find_sky(struct world *w, const struct img *x);
void world_place_sky(const struct world *w, const double *pixel, double place[2]);

#endif
