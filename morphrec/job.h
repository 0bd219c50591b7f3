/* What the files of the program share: its options, and what is done to each item. All functions may die. */
#ifndef WEIR_MORPHREC_JOB_H
#define WEIR_MORPHREC_JOB_H

#include <stddef.h>

#include "common/base/opt.h"
#include "common/base/stats.h"
#include "common/stream/img.h"
#include "common/stream/raw.h"
#include "gpu/use.h"
#include "morphrec/morphrec.h"

/* The command line of morphrec. */

enum args_nan { ARGS_ERROR, ARGS_BARRIER, ARGS_FRAME };

struct args {
	struct opt_common common;
	const char *mask;
	struct morphrec_operator o;
	int flag_op; /* enum morphrec_op: the operator that takes no argument */
	double hmax, hmin, hdome;
	const char *open, *close, *tophat; /* R, perhaps with a unit */
	double radius;
	const char *unit; /* of the radius; "" for pixels */
	size_t area, area_close;
	const char *shape;
	enum args_shape {
		ARGS_SQUARE,
		ARGS_DISK,
		ARGS_BALL,
		ARGS_OCTAGON,
		ARGS_LINE,
		ARGS_PICTURE
	} kind;
	double degrees; /* ARGS_LINE */
	const char *hysteresis;
	bool has_hmax, has_hmin, has_hdome, has_area, has_area_close;
	int conn;
	bool erode, strict;
	int nan; /* of enum args_nan */
	int method;
	size_t node, heaps; /* of the method heap; 0: not given */
	size_t max_mem;
	const char *seam; /* the directory of the shares; NULL: not given */
	struct gpu *gpu;  /* NULL: the CPU */
	char **path;
	size_t npath;
};

/* Returns the options, checked. Dies on wrong usage, and when -g finds no GPU. */
struct args morphrec_args(int argc, char **argv);

/* Items whose payload is kept in a temporary file, for --max-mem. All functions die on failure. */

enum { ITEM_PIECE = 1 << 22 }; /* bytes that are copied between a stream and a file at a time */

/* Makes room for the payload of x in a temporary file. */
void item_room(const struct raw_in *in, struct img *x);

/* Reads the payload of x into a temporary file. */
void item_spool(struct raw_in *in, struct img *x);

/* Writes x as raw_put() does, a piece at a time. */
void item_unspool(struct raw_out *out, const struct img *x);

/* Adapts the operator of the command line to an item: to its type, maxval and spacings. */

/*
 * Returns the operator of a for item x. Dies when one of its numbers is out of range for x. The operator points to *shape,
 * which the caller frees. picture is the image of --shape=FILE.
 */
struct morphrec_operator
item_operator(const struct raw_in *in, const struct img *x, const struct args *a,
	      const struct img *picture, struct shape *shape);

/* An item is split into arrays that are reconstructed one by one: the planes of a colour picture, the volumes of four axes. */

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

/* The reconstruction of one array of an item, with its messages. All functions die on failure. */

/* Makes the problem of each array in *p of item x. Dies when the item cannot be reconstructed. */
struct morphrec_problem
item_problem(const struct raw_in *in, const struct img *x, const struct args *a, struct parts *p);

/* Writes the item and its plan to standard error, for -v. */
void item_explain(const struct raw_in *in, const struct morphrec_plan *p);

/* Serves as `step` of struct morphrec_problem; its `step_with` is a struct progress. */
void item_step(void *bar, double share);

/*
 * Clips and reconstructs J under I. Dies on NaN and on markers beyond the mask, which the CPU counts during the run. J begins
 * at byte `at` of an array of the shape of whole; messages give places in that.
 */
void item_reconstruct(const struct raw_in *in, struct morphrec_plan *p, const struct args *a,
		      void *J, void *I, const struct morphrec_problem *whole, size_t at);

/* Dies on NaN among samples f, which are not clipped otherwise. f serves as marker and mask, so it does not change. */
void
item_refuse_nan(const struct raw_in *in, struct morphrec_plan *p, const struct args *a, void *f);

/* Adds the figures of a plan to *sum. */
void item_add_figures(struct morphrec_figures *sum, const struct morphrec_figures *f);

/* The mask of --mask, for markers of any type. All functions die on failure. */

/* The mask, and its copies in float and double, made for the first marker of that type. All may be zeroed. */
struct masks {
	struct img given, wide[2];
	struct img shape; /* the image of --shape=FILE */
};

/* Returns the mask for marker x, in x's type. m owns it. */
struct img *
masks_for(const struct raw_in *in, const struct img *x, struct masks *m, const struct args *a);

/*
 * The same for layers [at, at + n) of the mask, which are rows of a picture or slices of a volume, of `layers` in all. It
 * drops the rest of the mask.
 */
struct img *masks_layers(const struct raw_in *in, const struct img *x, struct masks *m,
			 const struct args *a, size_t layers, size_t at, size_t n);

/* For --max-mem: arrays that are mapped from temporary files, and returned to the system when they are not needed for a while. */

/* Arrays of the same shape that are mapped from files; I is NULL when the mask is not. */
struct spool_pages {
	char *J;
	const char *I;
};

/*
 * Returns the memory of the whole pages in bytes [at, at + n) of both arrays to the system; the files keep their content. It
 * serves as `done` of struct morphrec_problem.
 */
void spool_done(void *pages, size_t at, size_t n);

/* A run of one share: --seam=DIR --part=I/N. See seam.c. */

/*
 * Reads the one item of the input, runs the share, and writes its picture when there is -o. Then prints a line on standard
 * output: `rose` and the shares that must run again, or `still`. Dies on failure. Adds to *f.
 */
void seam_run(struct raw_in *in, struct masks *m, const struct args *a, struct stats *st,
	      struct morphrec_figures *f);

#endif
