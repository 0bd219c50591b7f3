/* Adapts the operator of the command line to an item: to its type, maxval and spacings. */
#ifndef MORPHREC_ITEM_OP_H
#define MORPHREC_ITEM_OP_H

#include "common/stream/raw.h"
#include "morphrec/args.h"

/*
 * Returns the operator of a for item x. Dies when one of its numbers is out of range for x. The operator points to *shape,
 * which the caller frees. picture is the image of --shape=FILE.
 */
struct morphrec_operator
item_operator(const struct raw_in *in, const struct img *x, const struct args *a,
	      const struct img *picture, struct shape *shape);

#endif
