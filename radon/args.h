/* The command line of radon. */
#ifndef WEIR_RADON_ARGS_H
#define WEIR_RADON_ARGS_H

#include "common/base/opt.h"
#include "radon/radon.h"
#include "radon/stream/gathers.h"

/* Frees what --polygons has set in m. */
void polygons_free(struct radon_mute *m);

struct args {
	struct opt_common common;
	const char *curves, *qy, *lsq, *sparse, *mute, *polygons, *offsets, *adapt;
	int curve, method, nan;
	double reference, azimuth, depth, taper, fmin, fmax;
	bool azimuth_given, depth_given, taper_given, lsq_given, sparse_given, subtract, cut;
	bool curve_given, model, balance;
};

/* Parses and checks the command line; wrong usage is fatal. The options that all gathers share go to g, which borrows a. */
void radon_args(int argc, char **argv, struct args *a, struct gathers_options *g, char ***operand,
		size_t *n);

#endif
