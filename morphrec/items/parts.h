/* An item is split into arrays that are reconstructed one by one: the planes of a colour picture, the volumes of four axes. */
#ifndef MORPHREC_PARTS_H
#define MORPHREC_PARTS_H

#include "common/stream/img.h"

/* An item as [n][d][h][w][c] samples: n volumes (or stacks) of d slices, c planes. */
struct parts {
	size_t c, w, h, d, n;
};

/* Fills *p with how x is split; false when x has too many axes. Axis 0 holds planes when its kind is not a domain. */
bool parts_of(const struct img *x, struct parts *p);

/* The number of such arrays. */
static inline size_t
parts_count(const struct parts *p)
{
	return p->c * p->n;
}

/* Copies array i of the item's samples, of `size` bytes each, to [d][h][w]; and back into the item. */
void parts_take(const struct parts *p, size_t i, size_t size, void *part, const void *all);
void parts_put(const struct parts *p, size_t i, size_t size, const void *part, void *all);

#endif
