/* One item after the other: what main.c read the options for. These die with a line that names the file and the item. */
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
	struct wconv_ask ask; /* what those say together */
	char **path;
	size_t npath;
};

/* What stays from item to item. */
struct job {
	const struct args *args;
	struct wconv_kernels kernels;
	struct wconv_problem q;
	/* of the convolution and of its adjoint; NULL for a deconvolution, which has its own */
	struct wconv_plan *plan;
	struct wconv_adjoint *adjoint;
	struct wconv_restore *restore;
	struct wconv_restored restored;
	/* of the item at hand */
	struct progress *bar;
	/* the item's planes and the position of its first pixel */
	size_t planes;
	ptrdiff_t at_x, at_y;
};

/* Reads the kernels, as j->args says. */
void job_start(struct job *j);

/* A plan for the item x, the last one's if that will do. Returns how many pictures the item has. */
size_t job_plan(struct job *j, const struct raw_in *in, const struct img *x);

/* Picture i of an item's payload. */
const void *job_picture(const struct job *j, const void *payload, size_t i);

/* y becomes the head of x's result. */
void job_describe(const struct job *j, const struct img *x, struct img *y);

/* What was chosen last, to st. */
void job_report(const struct job *j, struct stats *st);

void job_end(struct job *j);

#endif
