/*
 * The forest that grows into the tree of the colours of a lattice: lattice.c joins near colours, then boruvka.c joins the
 * remaining trees.
 */
#ifndef WEIR_EMST_LATTICE_FOREST_H
#define WEIR_EMST_LATTICE_FOREST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/roots.h"
#include "emst/emst.h"
#include "emst/lattice/lattice.h"

enum { FOREST_MAXD2 = 512 }; /* the squared length of the longest edges that shells look for */

struct forest {
	const struct lattice *l;
	int threads;
	size_t n, trees; /* colours; trees that they form so far */
	/* [n]: union-find. A parent has a smaller index than its child. Between shells every entry is the root. */
	uint32_t *up;
	struct emst_edge *edge; /* [n-1]: the first nedge are filled, in order */
	size_t nedge;
	size_t upto[FOREST_MAXD2 +
		    1]; /* upto[d2]: edges of at most that squared length; valid below next */
	uint32_t next;	/* all edges with d2 < next have been found */
	bool sparse; /* forest_boruvka() would be slow: too many colours are left, too far apart */
};

/*
 * Runs Kruskal's algorithm by shells of equal d2 = 1, 2, 3 ... until one tree is left or another method is faster.
 * 0 or -ENOMEM.
 */
int forest_shells(struct forest *f);

/* Replaces union-find by tree numbers 0.. in place, and returns how many trees there are. On entry every entry is its root. */
size_t forest_number(struct forest *f);

/*
 * Finds the remaining edges by Boruvka's algorithm and completes edge[]. d2[i] is the squared length of the edge at the old
 * nedge + i. 0 or -ENOMEM.
 */
int forest_boruvka(struct forest *f, uint32_t **d2);

#endif
