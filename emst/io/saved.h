/* Trees that --to=tree has written. */
#ifndef EMST_SAVED_H
#define EMST_SAVED_H

#include "common/raw.h"
#include "emst/vertices.h"

/*
 * t: the next tree of `from`, checked to be one of these vertices, made with that --min-pts (0: none). Equal points are made
 * one vertex. Dies when it is not; in is the input that the vertices are of, for messages.
 */
void saved_read(struct emst_tree *t, struct vertices *v, struct raw_in *from, size_t min_pts,
		const struct raw_in *in);

#endif
