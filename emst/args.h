/* The command line of emst. */
#ifndef EMST_ARGS_H
#define EMST_ARGS_H

#include "emst/io/write.h"
#include "gpu/use.h"

struct args {
	struct opt_common common;
	int to, select, method;
	const char *file[KINDS]; /* --tree-to and the like */
	const char *tree, *min_size;
	size_t k, min_pts;
	double distance, zahn, functional;
	bool has_k, has_distance, has_zahn, has_functional, has_min_pts, has_select, points;
	double size, percent; /* -m as parsed; percent < 0: size holds */
	struct gpu *gpu;      /* NULL: the CPU */
	char **path;
	size_t npath;
};

/* Checked; dies on wrong usage, and where -g finds no GPU. */
struct args args_parse(int argc, char **argv);

#endif
