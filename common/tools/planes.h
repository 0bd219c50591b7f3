/* Items as the planes of one picture, on its axis 0, and the planes of a picture as items. */
#ifndef TOOLS_PLANES_H
#define TOOLS_PLANES_H

#include "common/stream/raw.h"
#include "common/tools/stacking.h"

/* Counts the planes on axis 0 of x; 1 where it holds none. A complex sample is one number, not two planes. */
size_t planes_count(const struct img *x);

/* Describes the picture whose planes are those of the items of the group, in their order, without history. */
void planes_describe(const struct raw_in *in, const struct group *g, struct img *y);

/* Writes its samples. */
void planes_write(const struct group *g, struct raw_out *out);

/* Describes plane k of x, and writes its samples. x->data is there. */
void planes_describe_one(const struct img *x, size_t k, struct img *y);
void planes_write_one(const struct img *x, size_t k, struct raw_out *out);

#endif
