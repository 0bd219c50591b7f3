/* What the planner knows of the machine: measured times of what one vector of lanes takes. */
#ifndef WCONV_COSTS_H
#define WCONV_COSTS_H

#include <stdbool.h>
#include <stddef.h>

#define WCONV_SIZES 52

struct wconv_costs {
	double transform
	    [WCONV_SIZES]; /* seconds of a complex transform of LANES columns, of wconv_sizes[i] points */
	double turn;	   /* per sample of LANES rows: transposing and untangling them */
	double product; /* per point of LANES columns: product with a kernel, blend of the result */
	double tap;	/* per kernel sample and vector of results: a direct sum */
};

/* Lengths of transforms, increasing: 2^a 3^b 5^c, multiples of 4. */
extern const size_t wconv_sizes[WCONV_SIZES];

/* Those of the machine named in costs.c. Never NULL. */
const struct wconv_costs *wconv_costs_builtin(void);

/* Those of this machine, in one precision: takes a second. 0 or -ENOMEM. */
int wconv_costs_measure(struct wconv_costs *c, bool in_double);

/* As text, NAME VALUE a line, and back. Room for WCONV_COSTS_TEXT characters. -1: it is no such text. */
#define WCONV_COSTS_TEXT 4096
void wconv_costs_format(const struct wconv_costs *c, char text[WCONV_COSTS_TEXT]);
int wconv_costs_parse(struct wconv_costs *c, const char *text);

#endif
