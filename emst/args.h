/* The command line of emst, and what its options ask for. All of these functions may die. */
#ifndef WEIR_EMST_ARGS_H
#define WEIR_EMST_ARGS_H

#include "emst/items.h"
#include "gpu/use.h"

/* A size: percent of all pixels or points, or, when percent < 0, a number of them. */
struct args_size {
	double number, percent;
};

struct args {
	struct opt_common common;
	int to, method, cut;
	const char *file[KINDS]; /* --labels-to and --palette-to */
	const char *tree, *map, *min_size;
	size_t k, min_pts;
	int neighbours; /* 4, 8, or 0: not given */
	double scale;
	double distance, functional, genie;
	bool has_k, has_distance, has_functional, has_genie, has_min_pts, has_scale, has_to,
	    has_cut;
	bool fill, points, image, together;
	struct args_size m;	/* -m as parsed */
	struct reading reading; /* how items are read */
	struct gpu *gpu;	/* NULL: the CPU */
	char **path;
	size_t npath;
};

/* Fills args with the checked options. Dies on wrong usage, and when -g finds no GPU. */
void args_parse(struct args *args, int argc, char **argv);

/* --- in run.c --------------------------------------------------------------------------------------------------------- */

/*
 * Makes the tree of an item, or reads the next one of `trees`, where --to=tree has written it. Equal points may become one
 * vertex.
 */
void run_tree(struct emst_tree *t, struct item *item, const struct raw_in *in, struct raw_in *trees,
	      const struct args *args);

/* Finds the classes of the tree or, with --scale, of the picture. */
void run_classes(struct classes *c, const struct emst_tree *t, struct item *item,
		 const struct raw_in *in, const struct args *args);

#endif
