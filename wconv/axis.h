/*
 * One direction of the problem: edges, weight functions, tiles. Positions are those of the whole image; results may lie
 * before its first pixel and behind its last one (WCONV_FULL).
 */
#ifndef WCONV_AXIS_H
#define WCONV_AXIS_H

#include "wconv/wconv.h"

/* Results [a,b), which need the functions f0 .. f0+nf-1. */
struct wconv_tile {
	ptrdiff_t a, b;
	size_t f0, nf;
};

struct wconv_axis {
	ptrdiff_t n;		      /* pixels of the whole image */
	ptrdiff_t have0, have1;	      /* those of the item */
	ptrdiff_t lo, hi;	      /* results of the item */
	ptrdiff_t whole_lo, whole_hi; /* and of the whole */
	ptrdiff_t before, after;      /* the window of result x is x-before .. x+after */
	enum wconv_edge edge;

	/* function f: 1 on [left,right], falling to 0 at its neighbours' plateaus; it takes the kernels of node[f] */
	size_t nfun;
	double *left, *right;
	size_t *node;
	int degree; /* >= 0: function f is ((x - zero) / scale)^f instead */
	double zero, scale;

	size_t ntile, longest,
	    most; /* tiles, samples in the longest, functions in the one with most */
	struct wconv_tile *tile;
};

/* Where pixel x of the endless image is found: 0..n-1, or -1 for none (zero, constant, renormalise). */
ptrdiff_t wconv_edge(enum wconv_edge edge, ptrdiff_t x, ptrdiff_t n);

double wconv_weight(const struct wconv_axis *a, size_t f, ptrdiff_t x);

/*
 * Fills all but the tiles. n, at, have: pixels of the whole, first and number of the item's. k, c: samples of a kernel and
 * its centre (as for convolution). alike[i]: node i+1 has the kernels of node i. 0, or -errno: -EDOM when there is no
 * result, -ERANGE when the item is a part smaller than a kernel, -EINVAL when it is a part and the edge wraps.
 */
int wconv_axis(struct wconv_axis *a, const struct wconv_problem *q, bool y, const bool *alike);

/*
 * Cuts [lo,hi) into tiles of at most `longest` so that the sum of tile + functions * (fun + each * length) is least.
 * 0 or -ENOMEM.
 */
int wconv_cut(struct wconv_axis *a, size_t longest, double tile, double fun, double each);

void wconv_axis_free(struct wconv_axis *a);

#endif
