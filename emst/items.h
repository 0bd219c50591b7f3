/*
 * Items as vertices, and classes of vertices as items: the input and output of emst and of its guest rawpalette. All of these
 * functions may die.
 */
#ifndef WEIR_EMST_ITEMS_H
#define WEIR_EMST_ITEMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/opt.h"
#include "common/stream/raw.h"
#include "emst/classes/classes.h"
#include "emst/vertices.h"

/* Dies when err says that memory has run out or that the input exceeds the limits. */
void insist(const struct raw_in *in, int err);

/* --- reading, in io/read.c ---------------------------------------------------------------------------------------- */

/* How items become vertices. */
struct reading {
	const struct opt_common *common;
	enum vertices_of of;	   /* what the vertices of a picture are */
	bool points, image;	   /* --points, --image */
	bool palette;		   /* a table is a list of colours */
	bool whole;		   /* pixels without data count like others */
	const char *pictures_only; /* what takes no list of points; NULL: nothing */
	int most;		   /* planes */
	int threads;
};

/* What an item holds: a list of points, or pictures whose pixels are points. */
struct shape {
	bool points;
	/* The last columns of the list are counts and, for colours that need them, places. */
	bool counted;
	enum img_type
	    type; /* of the samples; where colours are counted, that of the pictures they are from */
	size_t inputs, planes;
	size_t w, h, pictures; /* pictures: 0 for a list */
	double opaque;	       /* as in struct vertices */
	size_t missing;	       /* pixels without data, of a list of colours those of its pictures */
};

/* Pixels without data: they are no vertices and have no class. */
struct missing {
	size_t n;	 /* pixels without data */
	uint8_t *is;	 /* [pixels of the item]: 1: it has no data; owned. NULL where n is 0 */
	uint32_t *place; /* [the other pixels]: their places in the item; owned */
};

/*
 * Rows that count more than once: the colours of pictures with their numbers of pixels, and weighted points. The vertices of
 * the rows of several pictures, their weights and their numbers are those of one item that holds all these pictures, in this
 * order.
 */
struct rows {
	enum img_type type; /* of x */
	size_t planes, n, room;
	bool points; /* every row is a point of its own; otherwise rows are colours of pictures */
	char *x;     /* [n][planes] samples; owned */
	uint64_t *count; /* [n], 1 or more; owned */
	/*
	 * [n], ascending: the place of the first pixel of each colour among all pixels; owned. NULL when the rows are points or
	 * coded colours: such rows need no place.
	 */
	uint32_t *place;
	uint64_t total;	 /* the sum of all counts */
	size_t missing;	 /* pixels without data: places count them too */
	double opaque;	 /* as in struct vertices */
	size_t distinct; /* the rows that were left when equal ones were last joined */
};

/* An item and its vertices; owned. */
struct item {
	struct img x; /* its samples serve the vertices */
	struct shape shape;
	struct missing missing;
	struct rows rows; /* of an item with counts; they serve the vertices */
	struct vertices v;
};

/* Reads the header of the next item. Returns false at the end of the stream. */
bool item_next(struct item *item, struct raw_in *in, const struct reading *r);

/* Loads the samples and makes the vertices. */
void item_fill(struct item *item, struct raw_in *in, const struct reading *r);

/* Makes the vertices of all items of the stream. `all` has no picture. Returns the number of items. */
size_t item_load_all(struct item *all, struct raw_in *in, const struct reading *r);

void item_free(struct item *item);

/* --- writing, in io/write.c ---------------------------------------------------------------------------------------- */

/* What is written, in the order of --to's words. */
enum kind { TREE, TEXT, LINKAGE, LABELS, MEANS, PALETTE, COLOURS, TABLE, KINDS };

static inline bool
is_of_classes(int kind)
{
	return kind == LABELS || kind == MEANS || kind == PALETTE || kind == TABLE;
}

/* The results of one item. */
struct result {
	const struct opt_common *common;
	const struct raw_in *in;
	struct item *item;
	const struct emst_tree *tree; /* of all points of a list, equal ones included */
	/* 0: the tree is Euclidean; otherwise it is the tree of mutual reachability with this --min-pts. */
	size_t min_pts;
	const struct classes *classes; /* for LABELS, MEANS and PALETTE */
	/* [class][planes]: the samples that stand for the classes; row 0, for no class, is 0. */
	const double *mean;
	/* [inputs]: the class of each pixel less 1, where pixels of one colour may differ. NULL: its vertex has it. */
	const uint8_t *pixel;
};

/* The output that --to names, and those of --labels-to and the like. */
struct outputs {
	int kind; /* of main */
	struct raw_out *main, *other[KINDS];
	bool classes, means; /* some output needs classes; means of classes */
	bool pictures;	     /* some output is of pixels: labels or means */
	enum { EVERYTHING, TABLES, PICTURES } which; /* outputs_write() passes over the others */
};

struct outputs
outputs_open(const struct opt_common *common, int kind, const char *const file[KINDS]);
void outputs_write(const struct outputs *o, const struct result *r);

/* Passes on what was written of an item: pipeline_flush(). */
void outputs_flush(const struct outputs *o);

/* Finishes all outputs except the main one; returns their bytes. */
uint64_t outputs_finish(const struct outputs *o);

/* --- classes of a file, in io/map.c -------------------------------------------------------------------------------- */

/* Rows of samples, each of a class. */
struct map {
	size_t n, planes, classes;
	double *x;	 /* [n][planes]; owned */
	uint32_t *class; /* [n]: 0 or 1 .. classes; owned */
	double *mean;	 /* [classes + 1][planes]: what stands for a class; owned */
};

/* Reads a palette, a list of colours or points, or a picture, whose colours are classes, those of the most pixels first. */
void map_read(struct map *m, const char *path, const struct reading *r);

/* Makes a row of each vertex. class [vertices], NULL: a class each; mean [classes + 1][planes], NULL: a row of the class. */
void map_make(struct map *m, const struct vertices *v, const uint32_t *class, const double *mean);

/* Gives each vertex the class of the row that it is, or else of the nearest one, with alpha as palette.h compares colours. */
void map_apply(struct classes *c, const struct map *m, struct vertices *v, const struct raw_in *in,
	       const struct reading *r, const struct outputs *o);

void map_free(struct map *m);

#endif
