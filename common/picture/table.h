/* A table of components: a row of measures for each, as an item or as text. */
#ifndef WEIR_PICTURE_TABLE_H
#define WEIR_PICTURE_TABLE_H

#include "common/picture/shape.h"
#include "common/picture/world.h"
#include "common/stream/raw.h"

/* Prints numbers as printf does, some ten times faster. Pure. */

enum { NUMBER_ROOM = 24 };

/*
 * Writes v without a zero at the end: whole numbers below 2^53 with all digits, others as %.9g does. Returns the length,
 * less than NUMBER_ROOM.
 */
size_t number_print(char *to, double v);

/* What the rows are made of. */
struct table {
	const struct img *x;
	struct label *l;
	const struct shape *shape; /* of the components; NULL: none */
	bool named;		   /* the numbers are those of l->name, not 1, 2 .. */
	size_t item;		   /* of the stream, from 0 */
	size_t dims;
	struct world world; /* its map has the places; its sky has two columns more */
};

/* The columns become where the steps along x, y and z lead on the map, or in the units of the axes. Returns the size of a sample. */
double table_steps(const struct table *t, double to[3][3]);

/* Writes comma-separated values; the last one is the item. The line of names stands before those of the first item. */
void table_put_csv(const struct table *t, struct raw_out *out);

/* Writes an item of doubles. Dies when there is no component. */
void table_put(const struct table *t, const struct raw_in *in, const struct opt_common *common,
	       struct raw_out *out);

#endif
