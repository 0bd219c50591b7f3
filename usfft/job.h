/*
 * One item after the other: what main.c read the options for. These call the transforms and write the results; they die
 * with a line that names the file and the item.
 */
#ifndef WEIR_USFFT_JOB_H
#define WEIR_USFFT_JOB_H

#include "common/opt.h"
#include "common/raw.h"
#include "common/stats.h"
#include "gpu/gpu.h"
#include "usfft/stream.h"
#include "usfft/usfft.h"

struct args {
	struct opt_common common;
	int type, sign, order, weights, window, part, check, iter;
	const char *n, *points, *targets, *wisdom;
	double tol, rtol;
	bool adjoint, batch, inverse, strict;
};

/* The words of --order, --weights and --window. */
enum { ORDER_CENTRED, ORDER_FFT };
enum { WEIGHTS_NONE, WEIGHTS_PIPE };
enum { WINDOW_KAISER, WINDOW_GAUSS };

/* What one run of the program works on. */
struct job {
	struct args a;
	int type, sign; /* after --adjoint */
	struct usfft_options o;
	struct usfft_plan *plan;
	struct gpu *gpu;	    /* NULL: the CPU */
	struct img points, targets; /* points: those that serve all items */
	struct stream_points at, to;
	bool fixed;	 /* points came from --points or --batch */
	double *weights; /* of fixed points */
	struct raw_in *in;
	struct raw_out *out;
	struct stats st;
	struct usfft_seconds took;
	double check_error;
};

/* The points of an item, which p borrows; name: of its file. */
void job_take_points(const struct job *j, const char *name, const struct img *x,
		     struct stream_points *p);

/* An item x in, one out. */
void job_points_to_modes(struct job *j, struct img *x);
void job_modes_to_points(struct job *j, struct img *x);
void job_points_to_points(struct job *j, struct img *x);
void job_invert(struct job *j, struct img *x);

#endif
