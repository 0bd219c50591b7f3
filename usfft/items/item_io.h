/*
 * The I/O of usfft, one item after the other: what was read becomes arguments of the transforms, what they give is written
 * and their failures end the program with a line that names the file and the item. It computes nothing: that is done in
 * transform.c (types 1 and 2), usfft.h (type 3), inverse.c, values.c and spot_check.c.
 */
#ifndef WEIR_USFFT_ITEM_IO_H
#define WEIR_USFFT_ITEM_IO_H

#include "common/opt.h"
#include "common/raw.h"
#include "common/stats.h"
#include "usfft/items/stream.h"
#include "usfft/transform.h"
#include "usfft/usfft.h"

struct args {
	struct opt_common common;
	int type, sign, order, window, part, check, iter;
	const char *n, *points, *targets, *wisdom, *weights, *weights_to, *start, *coils;
	double tol, rtol, damp, sigma;
	bool adjoint, batch, inverse, strict;
};

/* The words of --order and --window. */
enum { ORDER_CENTRED, ORDER_FFT };
enum { WINDOW_KAISER, WINDOW_GAUSS };

/* What one run of the program works on. */
struct job {
	struct args a;
	int type, sign; /* after --adjoint */
	struct usfft_options o;
	struct transform run;	    /* of types 1 and 2; its gpu: NULL for the CPU */
	struct img points, targets; /* points: those that serve all items */
	struct stream_points at, to;
	bool fixed;	      /* points came from --points or --batch */
	double *weights;      /* owned: of the item, of fixed points, or from a file; NULL: none */
	size_t nweights;      /* numbers in the file; 0: there is none */
	double *maps, *start; /* owned: of --inverse, complex; NULL: none */
	size_t coils;	      /* maps */
	struct raw_out *weights_out; /* NULL: none */
	struct raw_in *in;
	struct raw_out *out;
	struct stats st;
	struct usfft_seconds took;
	double check_error;
	size_t piece; /* points of the item that are read at a time; 0: its data is here */
};

/* The points of an item, which p borrows; name: of its file; values: they should have some. */
void item_take_points(const struct job *j, const char *name, const struct img *x, bool values,
		      struct stream_points *p);

/* The samples of an item, as raw_map; those of points that can be sorted as they come are left in the pipe. */
void item_read(struct job *j, struct img *x);

/* An item x in, one out. */
void item_points_to_modes(struct job *j, struct img *x);
void item_modes_to_points(struct job *j, struct img *x);
void item_points_to_points(struct job *j, struct img *x);
void item_invert(struct job *j, struct img *x);

#endif
