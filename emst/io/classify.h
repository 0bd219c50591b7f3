/* Finds the classes that the options ask for, from a tree or directly. All of these functions may die. */
#ifndef EMST_CLASSIFY_H
#define EMST_CLASSIFY_H

#include "emst/args.h"
#include "emst/io/take.h"

struct mesh;

/* Dies when err says that memory has run out or that the input exceeds the limits. */
void insist(const struct raw_in *in, int err);

/* Finds the classes of a tree. */
void classify(struct classes *c, const struct emst_tree *t, struct vertices *v,
	      const struct raw_in *in, const struct args *args, int threads);

/* Makes a class of each colour of --palette. x is the item, or NULL when the vertices are those of several. */
void reduce_colours(struct classes *c, struct vertices *v, const struct raw_in *in,
		    const struct img *x, struct shape s, const struct args *args, int threads);

/* Makes a class of each region of --scale. */
void find_regions(struct classes *c, struct mesh *g, struct vertices *v, const struct raw_in *in,
		  const struct args *args);

#endif
