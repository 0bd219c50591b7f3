/* What the planner knows of the machine: measured seconds of work on one vector of lanes. */
#ifndef WCONV_COSTS_H
#define WCONV_COSTS_H

#include <stddef.h>

#define WCONV_SIZES 52

struct wconv_costs {
	/* a complex transform of LANES columns, of wconv_sizes[i] points */
	double transform[WCONV_SIZES];
	/* per sample of LANES rows: transposing and untangling them */
	double turn;
	/* per point of LANES columns: product with a kernel, blend of the result */
	double product;
	/* per kernel sample and vector of results: a direct sum */
	double tap;
};

/* Lengths of transforms, increasing: 2^a 3^b 5^c, multiples of 4. */
extern const size_t wconv_sizes[WCONV_SIZES];

/* Those of the machine named in costs.c. */
extern const struct wconv_costs wconv_costs;

#endif
