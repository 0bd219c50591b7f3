/* Where the samples of a picture lie: on a map by geotransform:=, or in the sky by the FITS cards of the item. */
#ifndef WEIR_PICTURE_WORLD_H
#define WEIR_PICTURE_WORLD_H

#include "common/stream/raw.h"

struct world {
	enum { WORLD_NONE, WORLD_MAP, WORLD_SKY } kind;
	/* Of a map: common/picture/mosaic.h. Where there is neither map nor sky, places are positions along the axes. */
	double g[6];
	struct wcsprm *sky; /* owned */
	char names[20];	 /* of coordinates in the sky, each behind a blank: " ra dec"; "": none */
	char system[40]; /* what places are; in the sky, such as "RA DEC J2000" */
	const struct img *x;
};

/*
 * Finds the map or the sky of x, an item of in. x is borrowed. Cards that are wrong are none, and a warning says so. WORLD_RIGHT: it
 * dies then. WORLD_MUST: it dies where x has none.
 */
enum world_need { WORLD_MAY, WORLD_RIGHT, WORLD_MUST };
void
world_open(struct world *w, const struct raw_in *in, const struct img *x, enum world_need need);

/* The place of the positions p[0..n) along rows, columns and so on. In the sky: longitude and latitude in degrees, or NaN. */
void world_place(const struct world *w, const double *p, int n, double place[2]);

/* The positions along rows and columns of a place, or NaN. Along other axes, it is that of the first sample. */
void world_find(const struct world *w, const double place[2], double p[2]);

/* A zeroed struct is allowed. WCSLIB serves one thread at a time. */
void world_close(struct world *w);

/*
 * For world.c alone, by WCSLIB, or without it. Finds w->sky and w->names by the cards of x, if they have one, or returns what is
 * wrong with them. Then finds the place of a pixel, which counts from 1 along each axis, or moves the pixel to a place.
 */
const char *world_find_sky(struct world *w, const struct img *x);
void world_place_sky(const struct world *w, const double *pixel, double place[2]);
void world_pixel_sky(const struct world *w, const double place[2], double *pixel);

#endif
