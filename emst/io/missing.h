/* Pixels without data: they are no vertices and have no class. */
#ifndef EMST_MISSING_H
#define EMST_MISSING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/stream/raw.h"
#include "emst/vertices.h"

struct missing {
	size_t n;	 /* pixels without data */
	uint8_t *is;	 /* [pixels of the item]: 1: it has no data; owned. NULL where n is 0 */
	uint32_t *place; /* [the other pixels]: their places in the item; owned */
};

/*
 * Finds the pixels of x that are NaN in a plane, or equal to the key nodata:= in all planes. *inputs: the pixels of x, each of
 * `planes` samples. The samples of the pixels with data move to the front of x->data, and *inputs becomes their number. Dies
 * when no pixel has data.
 */
void missing_find(struct missing *m, const struct raw_in *in, struct img *x, size_t planes,
		  size_t *inputs);

/* Gives the vertices of these others their places as numbers. 0 or -ENOMEM. */
int missing_number(const struct missing *m, struct vertices *v);

/*
 * Moves the rows of the pixels with data, which stand at the front of rows[n], to their pixels from..from + n - 1 of the item.
 * Pixels without data get the row `none`. Rows have this many bytes.
 */
void missing_spread(const struct missing *m, char *rows, size_t from, size_t n, const char *none,
		    size_t bytes);

/* Counts the pixels with data among from..from + n - 1. */
size_t missing_others(const struct missing *m, size_t from, size_t n);

void missing_free(struct missing *m);

#endif
