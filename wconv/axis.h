/*
 * One direction of the problem, x or y: edges, weight functions, tiles. Positions are those of the whole image. With
 * WCONV_FULL, results lie before its first pixel and after its last one too.
 */
#ifndef WCONV_AXIS_H
#define WCONV_AXIS_H

#include "wconv/wconv.h"

/* The results [a,b). They need the functions f0 .. f0+nf-1. */
struct wconv_tile {
	ptrdiff_t a, b;
	size_t f0, nf;
};

struct wconv_axis {
	ptrdiff_t n;		      /* pixels of the whole image */
	ptrdiff_t have0, have1;	      /* pixels [have0,have1) of the item */
	ptrdiff_t lo, hi;	      /* results [lo,hi) of the item */
	ptrdiff_t whole_lo, whole_hi; /* results of the whole */
	ptrdiff_t before, after;      /* the window of result x is x-before .. x+after */
	enum wconv_edge edge;

	/* Function f is 1 on its plateau [left,right] and falls to 0 at its neighbours' plateaus.
	   It uses the kernels of node[f]. */
	size_t nfun;
	double *left, *right;
	size_t *node;
	/* >= 0: a basis, where function f is ((x - zero) / scale)^f instead */
	int degree;
	double zero, scale;

	/* tiles; results in the longest tile; functions in the tile that has most */
	size_t ntile, longest, most;
	struct wconv_tile *tile;
};

/*
 * The edge continues the image endlessly. Returns which pixel, 0..n-1, stands at position x, or -1 if none does
 * (zero, constant, renormalise).
 */
ptrdiff_t wconv_edge(enum wconv_edge edge, ptrdiff_t x, ptrdiff_t n);

/* Returns function f at x. */
double wconv_weight(const struct wconv_axis *a, size_t f, ptrdiff_t x);

/*
 * Fills in everything except the tiles. y: the vertical direction. alike[i]: node i+1 has the same kernels as node i.
 * Returns 0 or -errno: -EDOM when there is no result, -ERANGE when the item is a part smaller than a kernel,
 * -EINVAL when it is a part and the edge wraps, -ENOMEM.
 */
int wconv_axis(struct wconv_axis *a, const struct wconv_problem *q, bool y, const bool *alike);

/*
 * Cuts [lo,hi) into tiles of at most `longest` results. Minimises the sum over tiles of
 * tile + functions * (fun + each * length). Returns 0 or -ENOMEM.
 */
int wconv_cut(struct wconv_axis *a, size_t longest, double tile, double fun, double each);

void wconv_axis_free(struct wconv_axis *a);

#endif
