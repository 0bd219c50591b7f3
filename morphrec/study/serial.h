/*
 * The method for comparison and study: the cluster of parallel heaps. It works on copies of J and I as keys. A frame of zeros, which neither rise nor raise, surrounds each picture or volume, so that each neighbour
 * lies at a fixed offset.
 */
#ifndef WEIR_MORPHREC_STUDY_SERIAL_H
#define WEIR_MORPHREC_STUDY_SERIAL_H

#include "morphrec/problem.h"

enum {
	SERIAL_HALF = 13,  /* neighbours before a pixel in raster order, at most */
	SERIAL_NODE = 256, /* pixels of a node of a heap */
};

struct serial {
	size_t w, h, d; /* with the frame */
	size_t pieces;	/* arrays that are reconstructed one by one: slices, or 1 volume */
	int n;		/* neighbours before a pixel in raster order; as many lie after it */
	ptrdiff_t before[SERIAL_HALF];
	ptrdiff_t to[2 * SERIAL_HALF]; /* before[0..n) and their opposites */
	uint64_t *J, *I;	       /* [d][h][w] of one piece */
	struct morphrec_figures figures;
};

/* Returns NULL when there is no memory. */
struct serial *serial_new(const struct morphrec_problem *what);
void serial_free(struct serial *s);

/* J, which is clipped, becomes the fixpoint. Adds to *figures. Returns 0 or -ENOMEM. */
int serial_run(struct serial *s, const struct morphrec_problem *what,
	       struct morphrec_figures *figures, void *J, const void *I);

#endif
