/* The command line of emst. */
#ifndef EMST_ARGS_H
#define EMST_ARGS_H

#include "emst/io/write.h"
#include "gpu/use.h"

/*
 * A size: percent of all pixels or points, or, when percent < 0, a number of them. Number 0 stands for the square root of all.
 */
struct args_size {
	double number, percent;
};

struct args {
	struct opt_common common;
	int to, select, linkage, method;
	const char *file[KINDS]; /* --tree-to and the like */
	const char *tree, *min_size;
	size_t k, min_pts, palette;
	int neighbours; /* 4, 8, or 0: not given */
	double scale;
	double distance, functional, genie;
	bool has_k, has_distance, has_functional, has_genie, has_min_pts, has_select, fill;
	bool dither, has_palette, has_scale, has_to, points, image, together;
	bool colours;	    /* some output is COLOURS */
	struct args_size m; /* -m as parsed */
	struct gpu *gpu;    /* NULL: the CPU */
	char **path;
	size_t npath;
};

/* Returns the checked options. Dies on wrong usage, and when -g finds no GPU. */
struct args args_parse(int argc, char **argv);

#endif
