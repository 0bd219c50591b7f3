/*
 * Rows that count more than once: the colours of pictures with their numbers of pixels, and weighted points.
 *
 * The colours of several pictures are gathered in rows. The vertices of these rows, their weights and their numbers are those
 * of one item that holds all these pictures, in this order.
 */
#ifndef EMST_ROWS_H
#define EMST_ROWS_H

#include "emst/vertices.h"

/* The sum of all counts is below this. */
#define ROWS_MOST ((uint64_t)1 << 46)

struct rows {
	enum img_type type; /* of x */
	size_t planes, n, room;
	bool points; /* every row is a point of its own; otherwise rows are colours of pictures */
	char *x;     /* [n][planes] samples; owned */
	uint64_t *count; /* [n], 1 or more; owned */
	/*
	 * [n], ascending: the place of the first pixel of each colour among all pixels; owned. NULL when the rows are points or
	 * rows_coded(): such rows need no place.
	 */
	uint32_t *place;
	uint64_t total;	 /* the sum of all counts */
	double opaque;	 /* as in struct vertices */
	size_t distinct; /* the rows that rows_add() left when it last joined equal ones */
};

/* Makes rows without any. Free them with rows_free(), which accepts zeroed ones too. */
void rows_init(struct rows *r, enum img_type type, size_t planes, bool points);
void rows_free(struct rows *r);

/* Returns true for colours of 1..3 planes of 8 bits. The order of their edges depends on the colours, not on their places. */
bool rows_coded(enum img_type type, size_t planes, bool points);

/*
 * Appends n rows. The numbers of a row are its samples, its count and, for rows with places, its place. Returns 0; -ENOMEM; or
 * one of these, and then *at is the row: ROWS_SAMPLE when the type cannot hold a sample, ROWS_COUNT when the count is not a whole
 * number from 1 or all counts together reach ROWS_MOST, ROWS_PLACE when the place is not a whole number below 2^31 and above that
 * of the row before.
 */
enum { ROWS_SAMPLE = 1, ROWS_COUNT, ROWS_PLACE };
int rows_put(struct rows *r, const double *row, size_t n, size_t *at);

/*
 * Appends the distinct colours of v, and joins equal rows when there are many. v has been weighed. Returns 0, -ENOMEM, or
 * -ERANGE when the counts reach ROWS_MOST or a place reaches 2^31.
 */
int rows_add(struct rows *r, const struct vertices *v, int threads);

/* Makes the vertices of the rows, which must outlive them. Returns what vertices_make() returns. */
int rows_vertices(const struct rows *r, struct vertices *v, int threads, size_t *at);

#endif
