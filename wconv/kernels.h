/* The kernels of a file: where each lies in it, its centre, and where the nodes of the grid stand. Pure. */
#ifndef WCONV_KERNELS_H
#define WCONV_KERNELS_H

#include "common/img.h"
#include "wconv/wconv.h"

enum wconv_place { WCONV_PLACE_UNSAID, WCONV_CENTRE, WCONV_CORNER };

/* What the command line says about them. */
struct wconv_ask {
	size_t gx, gy; /* --grid: kernels on a contact sheet; 0: none */
	int degree;    /* --basis=poly:DEG; -1: what the file's key basis:= says */
	bool centred;  /* --centre was given: */
	size_t cx, cy;
	int place;	   /* enum wconv_place */
	double *col, *row; /* --cols, --rows; NULL: none */
	size_t ncol, nrow;
	bool in_double;
};

/* "poly:DEG" to *degree; -1: it is something else, or the degree is not in 0..WCONV_DEGREE. */
int wconv_parse_basis(const char *text, int *degree);

/* What a file holds. A zeroed struct holds nothing. */
struct wconv_kernels {
	struct img file;	 /* owned, with its payload */
	void *samples;		 /* owned: converted; NULL: those of the file serve */
	double *node_x, *node_y; /* owned, gx and gy of them */
};

/*
 * Takes over file, which has its payload, and fills in what q says about kernels (kernels, sizes, steps, degree, centre).
 * 0, or -1 with a sentence in err.
 */
int wconv_take_kernels(struct wconv_kernels *k, struct img *file, const struct wconv_ask *ask,
		       struct wconv_problem *q, char err[WCONV_ERR]);

/* Puts the nodes where they stand over an image of q->W x q->H, and q->node_x, node_y, zero and scale. 0 or -1. */
int wconv_place_nodes(struct wconv_kernels *k, const struct wconv_ask *ask, struct wconv_problem *q,
		      char err[WCONV_ERR]);

void wconv_drop_kernels(struct wconv_kernels *k);

#endif
