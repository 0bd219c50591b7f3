/* The planner's table of costs: measured seconds of work on one vector of lanes. */
#ifndef WCONV_COSTS_H
#define WCONV_COSTS_H

#include <stddef.h>

#define WCONV_SIZES 52

struct wconv_costs {
	/* [i]: one complex transform of LANES columns of wconv_sizes[i] points */
	double transform[WCONV_SIZES];
	/* per sample of LANES rows: transpose and untangle them */
	double turn;
	/* per point of LANES columns: multiply with a kernel, blend the result */
	double product;
	/* per kernel sample and vector of results: direct sums */
	double tap;
	/* the same for small kernels: see small.h */
	double small_tap;
	/* per sample of a column and a row, and vector of results: direct sums of their product; and what a vector of results
	   costs besides, in samples */
	double product_tap, product_line;
	/* per row of a tile and function of x, of one lane: blend the kernels, begin the sums */
	double line;
};

/* The lengths of transforms that the planner chooses from, increasing: 2^a 3^b 5^c, multiples of 4. */
extern const size_t wconv_sizes[WCONV_SIZES];

/* The costs, measured on the machine that costs.c names. */
extern const struct wconv_costs wconv_costs;

#endif
