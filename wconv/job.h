/* One item after the other: what main.c read the options for. These die with a line that names the file and the item. */
#ifndef WCONV_JOB_H
#define WCONV_JOB_H

#include "common/opt.h"
#include "common/raw.h"
#include "common/stats.h"
#include "gpu/gpu.h"
#include "wconv/kernels.h"
#include "wconv/wconv.h"

struct args {
	struct opt_common common;
	const char *kernels, *grid, *centre, *cols, *rows, *basis;
	int place, edge, nan, output, method, type;
	double constant;
	bool has_constant, correlate, normalise, in_double;

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
	struct wconv_plan *plan;
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
