/*
 * The outlines of the labels of a picture as polygons of pixel edges, which are valid as those of OGC: rings touch themselves
 * nowhere, and each other in single corners at most. The pixels of a label that hang together by their sides are one polygon;
 * with 8 neighbours, a component can have several, which touch in corners.
 */
#ifndef WEIR_PICTURE_OUTLINE_H
#define WEIR_PICTURE_OUTLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/picture/table.h"

/* Corner x y is the one before pixel x of row y. */
struct ring {
	uint32_t label, polygon; /* rings of one polygon have the same number */
	bool hole;
	size_t first, n; /* its corners: not in one line, and the first one is not repeated */
};

struct outlines {
	struct ring *ring; /* by label and polygon, holes after the ring around them */
	uint32_t (*corner)[2];
	size_t rings, corners, room_rings, room_corners;
};

/*
 * Finds the outlines of w by h labels, which have a frame of zeros as label_map() makes it. Where x goes right and y down, rings go
 * round to the right, and holes to the left. Work is 9 bytes a sample.
 */
void outlines_find(struct outlines *o, const int32_t *map, size_t w, size_t h);

void outlines_free(struct outlines *o);

/* GeoJSON, or WKT, as far as it is written. The caller writes the end of a FeatureCollection. */
struct outline_text {
	bool json;
	unsigned epsg; /* of the items so far */
	size_t features;
};

/* Writes a polygon or several for each label, in the order of the numbers from 1. Dies where a corner has no place. */
void outlines_put(struct outline_text *text, const struct table *t, const struct raw_in *in,
		  struct raw_out *out);

#endif
