#ifndef WEIR_WCONV_ARGS_H
#define WEIR_WCONV_ARGS_H

#include "common/base/opt.h"
#include "gpu/gpu.h"
#include "wconv/kernels.h"

struct args {
	struct opt_common common;
	const char *kernels, *gaussian, *less, *box, *grid, *cols, *rows, *basis;
	int edge, nan, method, type;
	int depth; /* enum img_depth, of a kernel without a file */
	int steps; /* --deconvolve; 0: none */
	double damp, noise, sky;
	bool has_edge, has_nan, has_damp, has_noise, has_sky;
	bool correlate, normalise, adjoint, variance, accelerate;

	struct gpu *gpu;      /* NULL: the CPU */
	struct wconv_ask ask; /* what the options say about kernels */
	struct wconv_made made;
	char **path;
	size_t npath;
};

/* Parses and checks the options. On wrong usage the program ends. */
struct args wconv_args(int argc, char **argv);

/* Refuses options that a kernel of three axes excludes. */
void wconv_args_volume(const struct args *args);

void wconv_args_free(struct args *args);

#endif
