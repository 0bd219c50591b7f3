/* Reads trees that --to=tree has written. */
#ifndef EMST_SAVED_H
#define EMST_SAVED_H

#include "common/stream/raw.h"
#include "emst/vertices.h"

/*
 * Reads the next tree of `from` into t. Dies unless it is a tree of the vertices v that was made with this --min-pts (0: none).
 * Equal points are made one vertex. `in` is the input of the vertices; messages name it.
 */
void saved_read(struct emst_tree *t, struct vertices *v, struct raw_in *from, size_t min_pts,
		const struct raw_in *in);

#endif
