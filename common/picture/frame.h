/*
 * The smallest picture that holds all parts of a map, each where its geotransform says. Its grid of pixels is that of the first
 * part. Every function here dies on failure, with a line that names the file and the item.
 */
#ifndef WEIR_PICTURE_FRAME_H
#define WEIR_PICTURE_FRAME_H

#include <stdint.h>

#include "common/stream/raw.h"
#include "common/stream/tile.h"

struct frame {
	struct img first;      /* the head of the first part; owned */
	double g[6];	       /* its transform */
	int64_t left, top;     /* the corners of the picture, in pixels of the first part */
	int64_t right, bottom; /* exclusive */
};

/*
 * Reads the heads of all items, of which x is the first, and goes back to before the first one. The input is regular files.
 * Refuses items that are no pictures, have no place on a map, or have another coordinate system or grid than the first one.
 */
struct frame frame_of(struct raw_in *in, struct img *x);

/* Returns where the part x, of p, lies. Gives x the positions that a part has by itself when it has none. */
struct tile frame_place(const struct frame *f, const struct raw_in *in, struct img *x,
			const struct img_picture *p);

void frame_free(struct frame *f);

#endif
