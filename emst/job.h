/* What the files of the program share: its options, what is read, and what is written. */
#ifndef WEIR_EMST_JOB_H
#define WEIR_EMST_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/opt.h"
#include "common/stream/raw.h"
#include "emst/classes/classes.h"
#include "emst/vertices.h"
#include "gpu/use.h"

/* Pixels without data: they are no vertices and have no class. */

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

/* Writes results, with one writer for each kind of output. io/ and main.c do all the input and output of emst. */

/* In the order of --to's words. */
enum kind { TREE, TEXT, LINKAGE, LABELS, MEANS, PALETTE, COLOURS, KINDS };

/* The results of one item. */
struct result {
	const struct opt_common *common;
	const struct raw_in *in;
	const struct img
	    *x; /* NULL: the vertices are of several items; then there are no LABELS and MEANS */
	const struct vertices *v;
	const struct missing *missing;
	const struct emst_tree *tree; /* of the vertices */
	const struct emst_tree *full; /* of all points of a list, equal ones included */
	/* 0: the tree is Euclidean; otherwise it is the tree of mutual reachability with this --min-pts. */
	size_t min_pts;
	const struct classes *classes; /* for LABELS, MEANS and PALETTE */
};

void write_result(struct raw_out *out, enum kind kind, const struct result *r);

/* The command line of emst. */

/*
 * A size: percent of all pixels or points, or, when percent < 0, a number of them. Number 0 stands for the square root of all.
 */
struct args_size {
	double number, percent;
};

struct args {
	struct opt_common common;
	int to, select, linkage, method;
	const char *file[KINDS]; /* --tree-to and the like */
	const char *tree, *min_size;
	size_t k, min_pts, palette;
	int neighbours; /* 4, 8, or 0: not given */
	double scale;
	double distance, functional, genie;
	bool has_k, has_distance, has_functional, has_genie, has_min_pts, has_select, fill;
	bool dither, has_palette, has_scale, has_to, points, image, together;
	bool colours;	    /* some output is COLOURS */
	struct args_size m; /* -m as parsed */
	struct gpu *gpu;    /* NULL: the CPU */
	char **path;
	size_t npath;
};

/* Returns the checked options. Dies on wrong usage, and when -g finds no GPU. */
struct args args_parse(int argc, char **argv);

/*
 * Rows that count more than once: the colours of pictures with their numbers of pixels, and weighted points.
 *
 * The colours of several pictures are gathered in rows. The vertices of these rows, their weights and their numbers are those
 * of one item that holds all these pictures, in this order.
 */

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

/* Turns items into vertices. All of these functions may die. */

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

/* Finds the classes that the options ask for, from a tree or directly. All of these functions may die. */

struct mesh;

/* Dies when err says that memory has run out or that the input exceeds the limits. */
void insist(const struct raw_in *in, int err);

/* Finds the classes of a tree. */
void classify(struct classes *c, const struct emst_tree *t, struct vertices *v,
	      const struct raw_in *in, const struct args *args, int threads);

/* Makes a class of each colour of --palette. x is the item, or NULL when the vertices are those of several. */
void reduce_colours(struct classes *c, struct vertices *v, const struct raw_in *in,
		    const struct img *x, struct shape s, const struct args *args, int threads);

/* Makes a class of each region of --scale. */
void find_regions(struct classes *c, struct mesh *g, struct vertices *v, const struct raw_in *in,
		  const struct args *args);

/* Reads trees that --to=tree has written. */

/*
 * Reads the next tree of `from` into t. Dies unless it is a tree of the vertices v that was made with this --min-pts (0: none).
 * Equal points are made one vertex. `in` is the input of the vertices; messages name it.
 */
void saved_read(struct emst_tree *t, struct vertices *v, struct raw_in *from, size_t min_pts,
		const struct raw_in *in);

#endif
