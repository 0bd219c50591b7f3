/* What gathers.c (items to gathers), offsets.c (where their traces lie) and heads.c (the heads of results) share. */
#ifndef RADON_HEADS_H
#define RADON_HEADS_H

#include "radon/stream/gathers.h"

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

/* All of the file of offsets, into s->file. */
void offsets_read(struct gathers *s, const char *path);

/* The item's own offsets, from its key or its trace axis, into s->offset; none where a file gives them gather by gather. */
void offsets_of_item(struct gathers *s);

/* The traces of a plane (a panel that does not say has one for each offset), and that the number of offsets suits them. */
size_t offsets_count(const struct gathers *s);

/* The range of g over the item into s->shape, so that all its panels have one time axis. */
void offsets_range(struct gathers *s);

/* Offsets and g of the next plane: of the file, of all planes, or this plane's own. */
void offsets_take(struct gathers *s, struct gather *g);

/* Makes g->head: that of the item which begins with g, the first gather of the current one. */
void head_of_result(const struct gathers *s, struct gather *g);

#endif
