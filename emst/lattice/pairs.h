/* The pairs of colours of a lattice that differ by one offset, found a row at a time. */
#ifndef EMST_PAIRS_H
#define EMST_PAIRS_H

#include "emst/lattice/forest.h"

/* A difference of two colours, by plane and as a difference of codes. */
struct offset {
	int r, g, b, code;
};

/* Pairs, as edges in ascending order. */
struct pairs {
	struct emst_edge *e; /* owned */
	size_t n, room;
	size_t seen; /* pairs whose labels were compared */
	bool failed;
};

/*
 * Fills out with those pairs (u, u + o) that may be edges of the tree, u in the rows with red from..to-1. d2 is the squared
 * length of o. Pairs within one tree are left out, and pairs for which the rows themselves show a shorter or earlier path.
 * out is zeroed before the first call; its memory serves again, and the caller frees out->e.
 */
void pairs_find(const struct forest *f, const struct offset *o, uint32_t d2, int from, int to,
		struct pairs *out);

#endif
