/* What gathers.c (items to gathers) and heads.c (the heads of results) share. */
#ifndef RADON_HEADS_H
#define RADON_HEADS_H

#include "radon/gathers.h"

/* As --curve and radon_curve:= have them, by enum radon_curve. */
extern const char *const radon_curve_names[3];

struct gathers {
	struct raw_in *in;
	const struct gathers_options *o;
	struct img item;      /* the current item's head; dim 0: none */
	size_t planes, plane; /* of it */
	double *offset;	      /* owned: those of the item, nx for each plane or nx for all */
	size_t noffset;
	double *file;		    /* owned: all of the offsets file */
	size_t nfile, at;	    /* at: used so far, where there are more than one gather's */
	struct radon_options shape; /* of the item's gathers; no g */
	enum radon_curve curve;
	double reference, depth;
	size_t rows, n; /* of a plane of the input: traces or curves, samples */
	size_t skip;	/* where its samples lie in the rows of the transform */
	void *raw;	/* owned: one row as the item has it */
	double *wide;	/* owned: one row */
};

/* Makes g->head: that of the item which begins with g, the first gather of the current one. */
void head_of_result(const struct gathers *s, struct gather *g);

#endif
