/* The two plans of a type 3, and where its boxes lie; what they are for: type3.c. */
#ifndef WEIR_USFFT_TYPE3_H
#define WEIR_USFFT_TYPE3_H

#include "usfft/plan.h"

struct box {
	double mid[3], half[3];
};

struct usfft_3 {
	struct usfft_options o;
	struct box box, target_box;
	double period[3], scale[3];	  /* scale: 1 / period, a number of 30 bits */
	struct usfft_plan *outer, *inner; /* owned */
	double *x, *s; /* owned: points in periods, targets in turns per cell; then their rests */
	void *c;       /* owned: turned values */
};

/* Boxes and plans, for t->o. 0, or what usfft_type3() gives. Free it also after an error. */
int type3_plan(struct usfft_3 *t, const struct usfft_points *pt, const struct usfft_points *targets,
	       size_t *bad);
void type3_free(struct usfft_3 *t);

#endif
