/* Points as records: points.c makes them, and spread.c sorts them by tile. */
#ifndef WEIR_USFFT_POINTS_POINTS_H
#define WEIR_USFFT_POINTS_POINTS_H

#include <stdint.h>

#include "usfft/usfft.h"

struct points {
	size_t m, room;	 /* points; points that the memory holds */
	bool indexed;	 /* records hold indices, else values */
	bool wide;	 /* places of 64 bits */
	size_t bytes;	 /* of a record */
	void *record;	 /* owned: m records sorted by tile */
	uint32_t *start; /* owned: first record of each tile, ntiles + 1 */

	/* The members below serve while points arrive. */
	size_t arrivals; /* points so far */
	/* Records in the caller's order. They lie in `record` if there is one key, in the grid's memory, or in `spare`. */
	char *arrived;
	void *spare;   /* owned */
	uint32_t *key; /* owned: tile and part of each point, in the caller's order */
	/* Owned: how many points have each key, counted separately for each thread's share. */
	uint32_t *count;
};

struct usfft_plan;

/* Points of one usfft_add() call; the first of them is point `first` of all. */
struct piece {
	const struct usfft_plan *p;
	const struct usfft_points *pt;
	const void *c;
	size_t cstride, first;
};

/*
 * Writes points from..to-1 of a piece to the records and keys of p->points, and counts their keys. It returns false when a
 * coordinate or a value is not finite; records_find_bad() returns the first such point of the piece.
 */
bool records_take(const struct piece *s, size_t from, size_t to, uint32_t *count);
size_t records_find_bad(const struct piece *s);

void sort_free(struct points *q);

#endif
