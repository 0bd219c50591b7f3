/* Plans and describes one item after the other. On failure the program ends with a line that names the file and the item. */
#ifndef WEIR_WCONV_JOB_H
#define WEIR_WCONV_JOB_H

#include "common/base/opt.h"
#include "gpu/gpu.h"
#include "wconv/kernels.h"
#include "wconv/overlap_io.h"
#include "wconv/restore/restore.h"
#include "wconv/volume/volume.h"
#include "wconv/wconv.h"

struct args {
	struct opt_common common;
	const char *kernels, *grid, *centre, *cols, *rows, *basis;
	int place, edge, nan, output, method, type;
	int steps; /* --deconvolve; 0: none */
	double constant, damp, noise, sky;
	bool has_constant, has_edge, has_nan, has_damp, has_noise, has_sky;
	bool correlate, normalise, in_double, adjoint, accelerate;

	struct gpu *gpu;      /* NULL: the CPU */
	struct wconv_ask ask; /* what the options above say about kernels */
	char **path;
	size_t npath;
};

/* The kernels and the plans, which are kept from item to item, and what is known of the current item. */
struct job {
	const struct args *args;
	struct wconv_kernels kernels;
	struct wconv_problem q;
	/* plans of the convolution, and of its adjoint on the CPU; NULL for a deconvolution, which has plans of its own */
	struct wconv_plan *plan;
	struct wconv_adjoint *adjoint;
	/* for a kernel of three axes, in place of both */
	struct wconv_volume *volume;
	struct wconv_restore *restore;
	struct wconv_restored restored;
	struct stats *st;
	/* the input, the current item's progress bar, its pictures and planes, and the position of its first pixel */
	const struct raw_in *in;
	struct progress *bar;
	size_t pictures, planes;
	ptrdiff_t at_x, at_y, at_z;
	/* x and y of the whole image's first pixel in the FITS image that it was cut from; NaN: it is flipped */
	double corner[2];
	/* the plans were made for an item of the same shape */
	bool planned;
	/* how many pictures of the item are done; samples in a row of the item, and of the result */
	size_t done, row, out_row;
};

/* Reads the kernels that j->args names. */
void job_start(struct job *j);

/* Poses the problem of the item x. */
void job_pose(struct job *j, const struct raw_in *in, const struct img *x);

/* Tells the size of the result of the adjoint, the deconvolution or a volume: rows of all its slices. */
void job_size(const struct job *j, size_t *w, size_t *rows);

/* Plans for the item. Keeps the last plan if the shape is the same. */
void job_plan(struct job *j);

/* Makes y the header of x's result. The convolution must have been planned; the others need not. */
void job_describe(const struct job *j, const struct img *x, struct img *y);

/* Makes f the convolution of all pictures of the item, a band of rows at a time. f->head and f->mapped are kept. */
void job_flow(struct job *j, struct wconv_flow *f);

/*
 * Returns the plan of the convolution, or the one by which a deconvolution computes A. NULL: none was made, or the kernel has
 * three axes.
 */
const struct wconv_plan *job_plan_of(const struct job *j);

/*
 * Ends the program if a finite sample is so large that transforms would overflow, or a float could not hold it. The item must
 * have been planned.
 */
void job_check_range(const struct job *j, const void *samples, enum img_type type, size_t n);

/* Sets the key tile:= of y, a header of some rows of the result, which begin at row `row` of it. */
void job_tile(const struct job *j, struct img *y, ptrdiff_t row);

/* Reports to j->st what was chosen for the last item. */
void job_report(const struct job *j);

void job_end(struct job *j);

/*
 * The adjoint and the deconvolution of an item, and all work on volumes. They hold one picture, or volume, in memory.
 * On failure the program ends with a line that names the item.
 */

/* The work on an item, a plane at a time. */
struct whole;

/*
 * wconv --part=I/N: convolves one share of the rows of tiles of all pictures of the input, which are regular files.
 * On failure the program ends with a line that names the item.
 */

/* Reads in, of which nothing has been read, and writes the share to out. */
void share_run(struct job *j, struct raw_in *in, struct raw_out *out);

/* The items of a run, except with --part. On failure the program ends with a line that names the item. */

/* Processes all items of in, and writes the results. j has its kernels. */
void stream_run(struct job *j, struct raw_in *in, struct raw_out *out);

/* Items that a kernel of three axes convolves. On failure the program ends with a line that names the file and the item. */

/* Refuses options that a kernel of three axes excludes. */
void volume_check_args(const struct args *args);

#endif
