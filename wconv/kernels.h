/* The kernels of a file: where each lies in it, its centre, and where the nodes of the grid stand. Pure code. */
#ifndef WEIR_WCONV_KERNELS_H
#define WEIR_WCONV_KERNELS_H

#include "common/stream/img.h"
#include "common/stream/place.h"
#include "wconv/wconv.h"

enum wconv_place { WCONV_PLACE_UNSAID = -1, WCONV_CENTRE, WCONV_CORNER };

/* What the command line says about kernels. */
struct wconv_ask {
	size_t gx, gy;	   /* --grid: kernels on a contact sheet; 0: none */
	int degree;	   /* --basis=poly:DEG; -1: what the file's key basis:= says */
	int place;	   /* enum wconv_place */
	double *col, *row; /* --cols, --rows; NULL: not given */
	size_t ncol, nrow;
	bool in_double;
};

/* Parses "poly:DEG" into *degree. Returns 0, or -1 if text is anything else or the degree is not in 0..WCONV_DEGREE. */
int wconv_parse_basis(const char *text, int *degree);

/* What a kernel file holds. A zeroed struct is empty and may be dropped. */
struct wconv_kernels {
	struct img file;	 /* owned, with its payload */
	void *samples;		 /* owned: converted samples; NULL: the file's own are used */
	double *node_x, *node_y; /* owned; [gx], [gy] */
};

/*
 * Takes ownership of file, which has its payload. Fills in what q says about kernels (kernels, sizes, steps, degree,
 * centre). Returns 0, or -1 with a sentence in why.
 */
int wconv_take_kernels(struct wconv_kernels *k, struct img *file, const struct wconv_ask *ask,
		       struct wconv_problem *q, struct why *why);

/* A kernel without a file: a Gaussian, or a box, of these sizes in pixels or in `unit`, and of three axes where these are. */
struct wconv_made {
	bool box;
	const char *unit; /* NULL: pixels */
	size_t axes;
	bool less;	   /* a second Gaussian is subtracted */
	double size[2][3]; /* of both; 0: there is no second one */
};

/* Makes file such a kernel of Gaussians, or a box, of the sum 1. A Gaussian ends at 4 standard deviations, as in SciPy. Returns 0, or -1 without memory. */
int wconv_make_kernel(struct img *file, const struct wconv_made *m);

/*
 * Places the nodes over an image of q->W x q->H. Fills in q->node_x and node_y, or for a basis its zero and scale.
 * corner: x and y of the image's first pixel in the picture whose pixels the file counts; NaN: the image is flipped.
 * Returns 0, or -1 with a sentence in why.
 */
int wconv_place_nodes(struct wconv_kernels *k, const struct wconv_ask *ask, const double corner[2],
		      struct wconv_problem *q, struct why *why);

/*
 * Finds x and y of the first pixel of the picture x: in the FITS image that it was cut from, as its axes say; for other
 * pictures, in the whole that t names. NaN: the FITS image is flipped along that axis.
 */
void wconv_find_corner(const struct img *x, const struct place *t, double corner[2]);

/* Frees what k owns. */
void wconv_drop_kernels(struct wconv_kernels *k);

#endif
