/* What main.c does with a tree, or instead of one, to find the classes that the options ask for. All of it may die. */
#ifndef EMST_CLASSIFY_H
#define EMST_CLASSIFY_H

#include "emst/args.h"

struct mesh;

/* Dies where memory has run out, or the input is beyond the limits. */
void insist(const struct raw_in *in, int err);

/* The classes of a tree. */
void classify(struct classes *c, const struct emst_tree *t, struct vertices *v,
	      const struct raw_in *in, const struct args *args);

/* The colours of --palette as classes. */
void reduce_colours(struct classes *c, struct vertices *v, const struct raw_in *in,
		    const struct args *args, int threads);

/* The regions of --scale as classes. */
void find_regions(struct classes *c, const struct mesh *g, struct vertices *v,
		  const struct raw_in *in, const struct args *args);

#endif
