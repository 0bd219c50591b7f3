/* Plans and describes one item after the other. On failure the program ends with a line that names the file and the item. */
#ifndef WCONV_JOB_H
#define WCONV_JOB_H

#include "common/opt.h"
#include "common/progress.h"
#include "common/raw.h"
#include "common/stats.h"
#include "gpu/gpu.h"
#include "wconv/kernels.h"
#include "wconv/restore/restore.h"
#include "wconv/wconv.h"

struct args {
	struct opt_common common;
	const char *kernels, *grid, *centre, *cols, *rows, *basis;
	int place, edge, nan, output, method, type;
	int steps; /* --deconvolve; 0: none */
	double constant, damp, noise, sky;
	bool has_constant, has_edge, has_nan, has_damp, has_noise, has_sky;
	bool correlate, normalise, in_double, adjoint;

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
	/* plans of the convolution and of its adjoint; NULL for a deconvolution, which has plans of its own */
	struct wconv_plan *plan;
	struct wconv_adjoint *adjoint;
	struct wconv_restore *restore;
	struct wconv_restored restored;
	/* the current item's progress bar */
	struct progress *bar;
	/* the current item's planes, and the position of its first pixel */
	size_t planes;
	ptrdiff_t at_x, at_y;
};

/* Reads the kernels that j->args names. */
void job_start(struct job *j);

/* Plans for the item x. Keeps the last plan if the shape is the same. Returns how many pictures the item has. */
size_t job_plan(struct job *j, const struct raw_in *in, const struct img *x);

/* Returns picture i of an item's payload. */
const void *job_picture(const struct job *j, const void *payload, size_t i);

/* Makes y the header of x's result. */
void job_describe(const struct job *j, const struct img *x, struct img *y);

/* Reports to st what was chosen for the last item. */
void job_report(const struct job *j, struct stats *st);

void job_end(struct job *j);

#endif
