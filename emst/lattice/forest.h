/*
 * The tree of the colours of a lattice while it grows: shells.c joins near colours, boruvka.c joins what is left.
 */
#ifndef EMST_FOREST_H
#define EMST_FOREST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emst/emst.h"
#include "emst/lattice/lattice.h"
#include "emst/roots.h"

enum { FOREST_MAXD2 = 512 }; /* the longest edge that shells look for, squared */

struct forest {
	const struct lattice *l;
	int threads;
	size_t n, trees; /* colours; trees they form so far */
	uint32_t *
	    up; /* [n]: union-find; a parent's index is smaller; between shells all point at their root */
	struct emst_edge *edge; /* [n-1]: the first nedge, in order */
	size_t nedge;
	size_t upto[FOREST_MAXD2 + 1]; /* edges with d2 <= the index; valid below next */
	uint32_t next;		       /* all edges with d2 < next are in */
};

/* Kruskal by shells of equal d2 = 1, 2, 3 ... until one tree is left or going on would not pay. 0 or -ENOMEM. */
int forest_shells(struct forest *f);

/* The rest by Boruvka: edge[] complete, d2[0..] the squared lengths of those from the old nedge on. 0 or -ENOMEM. */
int forest_boruvka(struct forest *f, uint32_t **d2);

/* Whether that would be slow: too much is left, too far apart. */
bool forest_is_sparse(const struct forest *f);

#endif
