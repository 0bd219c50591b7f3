/* Plans and describes one item after the other. On failure the program ends with a line that names the file and the item. */
#ifndef WEIR_WCONV_JOB_H
#define WEIR_WCONV_JOB_H

#include "wconv/args.h"
#include "wconv/flow.h"
#include "wconv/restore/restore.h"
#include "wconv/volume/volume.h"
#include "wconv/wconv.h"

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
	struct raw_in *in;
	struct raw_out *out;
	struct wconv_io *io;
	/* the current item's progress bar, its pictures and planes, and the position of its first pixel */
	struct progress *bar;
	size_t pictures, planes;
	ptrdiff_t at_x, at_y;
	/* x and y of the whole image's first pixel in the FITS image that it was cut from; NaN: it is flipped */
	double corner[2];
	/* the plans were made for an item of the same shape; integers were said to have more digits than a float */
	bool planned, said_narrow;
	/* the kernel without a file that the last item had, its sizes in pixels; of 0 axes: none yet */
	struct wconv_made made;
	/* how many pictures of the item are done; samples in a row of the item, and of the result */
	size_t done, row, out_row;
};

/* Reads the kernels that j->args names, if any. */
void job_start(struct job *j);

/* Poses the problem of the item x. */
void job_pose(struct job *j, const struct img *x);

/* Plans for the item. Keeps the last plan if the shape is the same. */
void job_plan(struct job *j);

/* Makes y the header of x's result. The convolution must have been planned; the others need not. */
void job_describe(const struct job *j, const struct img *x, struct img *y);

/* Makes f the convolution of all pictures of the item, a band of rows at a time. f->head and f->mapped are kept. */
void job_flow(struct job *j, struct wconv_flow *f);

/*
 * Whether the item is processed a whole picture, or volume, at a time: by the adjoint, a deconvolution, or a kernel of three axes.
 * Then job_flow_whole() makes f the work on item x, which plans with its first picture. job_drop_whole() ends it.
 */
bool job_is_whole(const struct job *j);
void job_flow_whole(struct job *j, const struct img *x, struct wconv_flow *f);
void job_drop_whole(struct wconv_flow *f);

/* Sets the key tile:= of y, a header of some rows of the result, which begin at row `row` of it. */
void job_tile(const struct job *j, struct img *y, ptrdiff_t row);

/* Reports to j->st what was chosen for the last item. */
void job_report(const struct job *j);

void job_end(struct job *j);

/* Does --part=I/N: reads j->in, of which nothing has been read, and writes the share to j->out. It is in share.c. */
void share_run(struct job *j);

#endif
