/* The measures of a region as a row of numbers, at the positions that the axes of its picture have. Pure. */
#ifndef WEIR_PICTURE_MEASURES_H
#define WEIR_PICTURE_MEASURES_H

#include "common/picture/region.h"
#include "common/stream/img.h"

enum { MEASURES = 24 }; /* room for the numbers of a row */

/* The names of the columns, separated by blanks: [0] of pictures, [1] of volumes. */
extern const char *const measures_names[2];

/* Writes the row of region g, with this label, of picture (dims 2) or volume (dims 3) x. Returns how many numbers it has. */
size_t measures_fill(double v[MEASURES], const struct img *x, const struct region *g, size_t label,
		     size_t dims);

/*
 * Changes the row that measures_fill() wrote to places on the map with the transform g of the page (common/picture/map.h). The box
 * becomes the one around the areas of the samples, parallel to the axes of the map.
 */
void measures_map(double v[MEASURES], const struct img *x, const double g[6], size_t dims);

#endif
