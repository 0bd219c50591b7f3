/* The operator for an item, by the item's type, maxval and spacings. */
#ifndef MORPHREC_ITEM_OP_H
#define MORPHREC_ITEM_OP_H

#include "common/raw.h"
#include "morphrec/args.h"

/*
 * The operator of a with its figures in range for x; dies where they are not. shape: what it looks at, to be freed;
 * picture: that of --shape=FILE.
 */
struct morphrec_operator
item_operator(const struct raw_in *in, const struct img *x, const struct args *a,
	      const struct img *picture, struct shape *shape);

#endif
