/*
 * Tells how long shells go on, from what they have cost and found: until blocks (blocks.h) find the remaining edges in less
 * time, or until the kd-tree finds all edges in less.
 */
#ifndef EMST_COSTS_H
#define EMST_COSTS_H

#include "emst/lattice/forest.h"

/* Zeroed at first. */
struct account {
	double spent, offsets; /* of all shells */
	/* Trees that were joined and offsets of late; those of each earlier shell count half. */
	double joined, tried;
	double saved_by_offset, seen_by_offset; /* of the last shell */
};

/* Tells whether another method takes over from the next shell, f->next. f->sparse tells whether that is the kd-tree. */
bool costs_hand_over(const struct account *a, struct forest *f, int offsets);

/* Enters a shell that has joined so many trees and seen so many pairs. */
void
costs_enter(struct account *a, const struct forest *f, int offsets, size_t joined, size_t seen);

#endif
