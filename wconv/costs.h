/* What the planner knows of this machine: measured times, those of one vector of lanes. */
#ifndef WCONV_COSTS_H
#define WCONV_COSTS_H

#include <stddef.h>

#define WCONV_SIZES 40

struct wconv_costs {
	size_t n;		       /* transforms known, by increasing length */
	size_t size[WCONV_SIZES];      /* lengths, 2^a 3^b 5^c, all multiples of 4 */
	double transform[WCONV_SIZES]; /* seconds of a complex transform of LANES columns */
	double turn;	/* seconds per row sample: transposing and untangling LANES rows */
	double product; /* per point: product with a kernel and blend of the result */
	double tap;	/* per sample of a kernel and vector: a direct sum */
};

/* Those of the machine named in costs.c. Never NULL. */
const struct wconv_costs *wconv_costs_builtin(void);

#endif
