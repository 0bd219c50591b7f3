/* Points as records, sorted by tile (sort.c), and how they become records (records.c). */
#ifndef WEIR_USFFT_POINTS_H
#define WEIR_USFFT_POINTS_H

#include <stdint.h>

#include "usfft/usfft.h"

struct points {
	size_t m, room;	 /* points; those there is memory for */
	bool indexed;	 /* records hold indices, else values */
	bool wide;	 /* places of 64 bits */
	size_t bytes;	 /* of a record */
	void *record;	 /* owned: m records sorted by tile */
	uint32_t *start; /* owned: first record of each tile, ntiles + 1 */

	/* While they arrive: */
	size_t arrivals; /* points so far */
	char *arrived;	 /* records in the caller's order: in the grid's memory, else in `spare` */
	void *spare;	 /* owned */
	uint32_t *key;	 /* owned: tile and part of each, in that order */
	uint32_t *count; /* owned: of keys, in each thread's share of the points */
};

struct usfft_plan;

/* Points that have arrived; the first of them is point `first` of all. */
struct piece {
	const struct usfft_plan *p;
	const struct usfft_points *pt;
	const void *c;
	size_t cstride, first;
};

/*
 * Writes points from..to-1 of a piece to the records and keys of p->points, and counts their keys. False when a
 * coordinate or a value is not finite; records_find_bad() is the first such point of the piece.
 */
bool records_take(const struct piece *s, size_t from, size_t to, uint32_t *count);
size_t records_find_bad(const struct piece *s);

void sort_free(struct points *q);
void sort_drop(struct usfft_plan *p); /* Forgets the points. */

#endif
