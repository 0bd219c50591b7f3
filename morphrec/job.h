/* What the files of the program share: its options, and what is done to each item. All functions may die. */
#ifndef WEIR_MORPHREC_JOB_H
#define WEIR_MORPHREC_JOB_H

#include <stddef.h>

#include "common/base/opt.h"
#include "common/base/stats.h"
#include "common/stream/img.h"
#include "common/stream/raw.h"
#include "common/stream/share.h"
#include "gpu/use.h"
#include "morphrec/morphrec.h"

/* The command line of morphrec. */

enum args_nan { ARGS_ERROR, ARGS_BARRIER, ARGS_FRAME };

struct args {
	struct opt_common common;
	const char *mask;
	struct morphrec_operator o;
	int flag_op; /* enum morphrec_op: the operator that takes no argument */
	const char *
	    reach; /* R of an opening, closing or top-hat, perhaps with a unit; NULL: none of them */
	double radius;
	const char *unit; /* of the radius; "" for pixels */
	const char *shape;
	enum args_shape { ARGS_SQUARE, ARGS_DISK, ARGS_BALL, ARGS_LINE, ARGS_PICTURE } kind;
	double degrees; /* ARGS_LINE */
	const char *hysteresis;
	bool has_hmax, has_hmin, has_hdome, has_open, has_close, has_tophat, has_area,
	    has_area_close, has_dilate, has_erode;
	int conn;  /* 0: as the item is a picture or a volume */
	int depth; /* of enum img_depth */
	bool erode;
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

/* --- items: all functions die on failure ---------------------------------------------------------------------------- */

/*
 * An item is split into arrays that are reconstructed one by one: the planes of a colour picture, the volumes of an item. Where it
 * has pictures alone, these are the slices of one array.
 */
static inline size_t
planes_count(const struct img_volumes *p)
{
	return p->c * p->n;
}

/* For --max-mem: arrays of the same shape that are mapped from temporary files; I is NULL when the mask is not. */
struct spool_pages {
	char *J, *I;
};

/* An item under way. The caller sets the members before `planes`. */
struct item {
	struct raw_in *in;
	const struct args *a;
	const struct img *mask, *picture; /* NULL: none; the image of --shape=FILE */
	struct img_volumes planes;
	struct morphrec_problem what; /* of each array */
	struct spool_pages pages;
	struct progress bar;
	struct morphrec_plan p;
	struct gpu *gpu; /* what reconstructs it; NULL: the CPU */
	/* samples of all arrays that were reconstructed so far: those where the marker was beyond the mask, all that are no NaN */
	size_t beyond, known;
};

/* Makes the problem of x, whose header was read, and loads its samples. */
void item_load(struct item *i, struct img *x);

/* Plans, and with -v writes the item and its plan to standard error. */
void item_plan(struct item *i);

/* Reconstructs x, which becomes the result. */
void item_run(struct item *i, struct img *x);

/* Adds the figures of a plan to *sum. */
void item_add_figures(struct morphrec_figures *sum, const struct morphrec_figures *f);

/* With --max-mem, writes x as raw_put() does, a piece at a time. */
void item_unspool(struct raw_out *out, const struct img *x);

/* --- what these and the shares of one picture have in common ---------------------------------------------------------- */

/* Makes the planes and the problem of item x. Dies when it cannot be reconstructed. */
void item_problem(struct item *i, const struct img *x);

/*
 * Returns the operator for item x: adapted to its type, maxval and spacings. Dies when one of its numbers is out of range
 * for x. The operator points to *shape, which the caller frees.
 */
struct morphrec_operator
item_operator(const struct item *i, const struct img *x, struct shape *shape);

/*
 * Clips and reconstructs J under I by the plan. Dies on NaN, which the CPU counts during the run. J begins at byte `at` of an
 * array of the shape of whole; messages give places in that.
 */
void
item_reconstruct(struct item *i, void *J, void *I, const struct morphrec_problem *whole, size_t at);

/* Warns where most of a given marker was beyond the mask; with -v, says how much of it was. */
void item_say_clipped(const struct item *i);

/* The mask, and its copies in float and double, made for the first marker of that type. All may be zeroed. */
struct masks {
	struct img given, wide[2];
	struct img shape; /* the image of --shape=FILE */
};

/*
 * Returns, for marker x and in its type, layers [at, at + n) of the mask, which are rows of a picture or slices of a volume, of
 * `layers` in all. It drops the rest of the mask. m owns it.
 */
struct img *masks_layers(const struct raw_in *in, const struct img *x, struct masks *m,
			 const struct args *a, size_t layers, size_t at, size_t n);

/* --- shares of a run: --part=I/N -------------------------------------------------------------------------------------- */

/* What slices_open() is to count as one slice: an item, or a picture or volume of it. */
struct slicing {
	int depth; /* of enum img_depth */
	bool items;
};

/* The fingerprint of the run. */
uint64_t share_hash(const struct args *a);

/* The axis of x along which its pictures, or its volumes, are processed one by one, -1: there is none; and their number. */
int share_axis(const struct slicing *by, const struct img *x);
size_t share_count(const void *slicing, const struct img *x);

/* Opens the share. With a mask, several items are shared out whole, since each is under the whole mask. */
void share_open(struct slices *s, struct slicing *by, const struct args *a, struct raw_in *in);

/* Returns what of the mask belongs to the slices of x that are in the share. NULL: there is no mask. */
const struct img *masks_of(const struct raw_in *in, const struct img *x, struct masks *m,
			   const struct args *a, const struct slices *s, int axis);

/*
 * Runs a share of one picture, --seam=DIR --part=I/N: see seam.c. Reads the one item of the input, runs the share, and writes
 * its picture when there is -o. Then prints a line on standard output: `rose` and the shares that must run again, or `still`.
 * Adds to *f.
 */
void seam_run(struct raw_in *in, struct masks *m, const struct args *a, struct stats *st,
	      struct morphrec_figures *f);

#endif
