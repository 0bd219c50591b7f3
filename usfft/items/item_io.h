/*
 * The I/O of usfft, one item after the other. It passes what it read to the transforms and writes their results. A failure
 * ends the program with a line that names the file and the item. The computing is done in transform.c, inverse.c and values.c.
 */
#ifndef WEIR_USFFT_ITEM_IO_H
#define WEIR_USFFT_ITEM_IO_H

#include "common/base/opt.h"
#include "common/base/stats.h"
#include "common/stream/raw.h"
#include "common/stream/slices.h"
#include "usfft/items/stream.h"
#include "usfft/sky/sky.h"
#include "usfft/transform.h"
#include "usfft/usfft.h"

struct args {
	struct opt_common common;
	int type, sign, order, window, output, iter;
	const char *n, *points, *targets, *wisdom, *weights, *weights_to, *start, *coils, *pixel;
	double tol, rtol, damp, sigma, wstep;
	bool adjoint, batch, inverse, strict, has_order, has_iter, has_rtol;
};

/* The words of --order, --window and --output. */
enum { ORDER_CENTRED, ORDER_FFT };
enum { WINDOW_KAISER, WINDOW_GAUSS };
enum { OUTPUT_COMPLEX, OUTPUT_REAL, OUTPUT_IMAG, OUTPUT_ABS };

/* What one run of the program works on. */
struct job {
	struct args a;
	int type, sign; /* after --adjoint */
	struct usfft_options o;
	struct transform run;	    /* run.gpu is NULL on the CPU */
	struct img points, targets; /* points: the item of --points or --batch */
	struct stream_points at, to;
	bool fixed;	       /* the points are those of --points or --batch, for all items */
	double pixel[2];       /* of --pixel, as direction cosines */
	struct usfft_sky *sky; /* owned: of --pixel; NULL: none */
	size_t sky_n[2];       /* the image that it is for */
	double *weights;       /* owned: of the item, of fixed points, or from a file; NULL: none */
	size_t nweights;       /* numbers in the file; 0: there is none */
	bool weighed;	       /* an item has got its weights */
	double *maps, *start;  /* owned: of --inverse, complex; NULL: none */
	size_t coils;	       /* maps */
	struct raw_out *weights_out; /* NULL: none */
	struct raw_in *in;
	struct raw_out *out;
	struct slices share; /* the items that --part leaves; without it, all */
	struct stats st;
	struct usfft_seconds took;
	/* What messages call the item whose results are written; NULL: the last one read. */
	const char *where;
	/* Owned: items that wait for one call of transform_many(); NULL: none yet. */
	struct group *group;
	size_t piece; /* points of the item that are read at a time; 0: all data is in memory */
};

/* args.c: sets j to what the options ask for, checked. *path points to the *npath files among the arguments. */
void usfft_args(struct job *j, int argc, char **argv, char ***path, size_t *npath);

/* Finds the points of item x, which p borrows; name is that of its file. values: as in stream_points(). */
void item_take_points(const struct job *j, const char *name, const struct img *x, bool values,
		      struct stream_points *p);

/* Maps or loads the samples of an item. Points that can be sorted as they arrive stay in the pipe; see piece. */
void item_read(struct job *j, struct img *x);

/* Each transforms item x and writes an item of results. */
void item_points_to_modes(struct job *j, struct img *x);
void item_modes_to_points(struct job *j, struct img *x);
void item_points_to_points(struct job *j, struct img *x);
void item_invert(struct job *j, struct img *x);

/* The first two with --pixel: from visibilities to an image of the sky, and back. */
void item_to_sky(struct job *j, struct img *x);
void item_from_sky(struct job *j, struct img *x);

#endif
