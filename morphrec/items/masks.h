/* The mask of --mask, for markers of any type. All functions die on failure. */
#ifndef MORPHREC_MASKS_H
#define MORPHREC_MASKS_H

#include "common/stream/raw.h"
#include "morphrec/args.h"

/* The mask, and its copies in float and double, made for the first marker of that type. All may be zeroed. */
struct masks {
	struct img given, wide[2];
	struct img shape; /* the image of --shape=FILE */
};

/* Returns the mask for marker x, in x's type. m owns it. */
struct img *
masks_for(const struct raw_in *in, const struct img *x, struct masks *m, const struct args *a);

/*
 * The same for layers [at, at + n) of the mask, which are rows of a picture or slices of a volume, of `layers` in all. It
 * drops the rest of the mask.
 */
struct img *masks_layers(const struct raw_in *in, const struct img *x, struct masks *m,
			 const struct args *a, size_t layers, size_t at, size_t n);

#endif
