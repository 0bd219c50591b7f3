/*
 * The methods for comparison and study: scans, Vincent's queue, the cluster of parallel heaps. They work on copies of J
 * and I as keys, with a frame of zeros (which neither rise nor raise) around each picture or volume, so that a neighbour
 * is a fixed offset away.
 */
#ifndef MORPHREC_SERIAL_H
#define MORPHREC_SERIAL_H

#include "morphrec/problem.h"

enum { SERIAL_HALF = 13 }; /* neighbours of one half, at most */

struct serial {
	size_t w, h, d; /* with the frame */
	size_t pieces;	/* pictures one after the other: slices, or 1 volume */
	int n;		/* neighbours before a pixel in raster order; as many after */
	ptrdiff_t before[SERIAL_HALF];
	ptrdiff_t to[2 * SERIAL_HALF]; /* those and their opposites */
	uint64_t *J, *I;	       /* [d][h][w] of one piece */
	struct morphrec_figures figures;
};

/* NULL: no memory. */
struct serial *serial_new(const struct morphrec_problem *what);
void serial_free(struct serial *s);

/* J, clipped, becomes the fixpoint. Adds to *figures. 0 or -ENOMEM. */
int serial_run(struct serial *s, const struct morphrec_problem *what,
	       struct morphrec_figures *figures, void *J, const void *I);

/* The three, on one piece in s. 0 or -ENOMEM. */
int serial_scan(struct serial *s);
int serial_queue(struct serial *s);
int serial_heap(struct serial *s, int threads);

#endif
