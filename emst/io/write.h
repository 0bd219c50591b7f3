/* The writers of main.c, one for each kind of output: they and main.c do all the input and output of emst. */
#ifndef EMST_WRITE_H
#define EMST_WRITE_H

#include "common/opt.h"
#include "common/raw.h"
#include "emst/classes/classes.h"

/* In the order of --to's words. */
enum kind { TREE, TEXT, LINKAGE, LABELS, MEANS, PALETTE, KINDS };

/* All that is known of an item when it is written. */
struct result {
	const struct opt_common *common;
	const struct raw_in *in;
	const struct img *x;
	const struct vertices *v;
	const struct emst_tree *tree; /* of the vertices */
	const struct emst_tree *full; /* the same, of all points of a list */
	size_t min_pts; /* 0: Euclidean; else the tree is that of mutual reachability */
	const struct classes *classes; /* for LABELS, MEANS and PALETTE */
};

void write_result(struct raw_out *out, enum kind kind, const struct result *r);

#endif
