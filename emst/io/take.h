/* Turns items into vertices. All of these functions may die. */
#ifndef EMST_TAKE_H
#define EMST_TAKE_H

#include "emst/args.h"
#include "emst/rows.h"

/* What an item holds: a list of points, or pictures whose pixels are points. */
struct shape {
	bool points;
	/* The last columns of the list are counts and, for colours that need them, places. */
	bool counted;
	enum img_type
	    type; /* of the samples; where colours are counted, that of the pictures they are from */
	size_t inputs, planes;
	size_t w, h;   /* of a picture */
	double opaque; /* as in struct vertices */
};

struct missing;

struct shape take_shape(const struct raw_in *in, const struct img *x, const struct args *args);

/*
 * Loads an item and makes its vertices. rows is filled when the item has counts; it must outlive v, as x must. m is filled
 * where some pixels have no data; the caller frees it.
 */
void take_item(struct vertices *v, struct rows *rows, struct missing *m, struct raw_in *in,
	       struct img *x, struct shape s, const struct args *args, int threads);

/* Loads an item and adds its colours to all. all is zeroed before the first item. */
void take_together(struct rows *all, struct raw_in *in, struct img *x, struct shape s,
		   const struct args *args, int threads);

/* Makes the vertices of all items. */
void take_all(struct vertices *v, const struct rows *all, const struct raw_in *in, int threads);

#endif
