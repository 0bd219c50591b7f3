/* Writes results, with one writer for each kind of output. io/ and main.c do all the input and output of emst. */
#ifndef EMST_WRITE_H
#define EMST_WRITE_H

#include "common/base/opt.h"
#include "common/stream/raw.h"
#include "emst/classes/classes.h"
#include "emst/io/missing.h"

/* In the order of --to's words. */
enum kind { TREE, TEXT, LINKAGE, LABELS, MEANS, PALETTE, COLOURS, KINDS };

/* The results of one item. */
struct result {
	const struct opt_common *common;
	const struct raw_in *in;
	const struct img
	    *x; /* NULL: the vertices are of several items; then there are no LABELS and MEANS */
	const struct vertices *v;
	const struct missing *missing;
	const struct emst_tree *tree; /* of the vertices */
	const struct emst_tree *full; /* of all points of a list, equal ones included */
	/* 0: the tree is Euclidean; otherwise it is the tree of mutual reachability with this --min-pts. */
	size_t min_pts;
	const struct classes *classes; /* for LABELS, MEANS and PALETTE */
};

void write_result(struct raw_out *out, enum kind kind, const struct result *r);

#endif
