/* The two plans of a type 3 transform, and the boxes of its points and targets. type3.c says how it uses them. */
#ifndef WEIR_USFFT_TYPE3_H
#define WEIR_USFFT_TYPE3_H

#include "usfft/plan.h"

struct box {
	double mid[3], half[3];
};

struct usfft_3 {
	struct usfft_options o;
	size_t m, targets; /* how many points and targets there are */
	struct box box, target_box;
	double period[3], scale[3];	  /* scale: 1 / period, a number of 30 bits */
	struct usfft_plan *outer, *inner; /* owned */
};

/*
 * Finds the boxes and makes the plans, for t->o. Returns 0 or an error of usfft_type3(). The caller frees t also after an
 * error.
 */
int type3_plan(struct usfft_3 *t, const struct usfft_points *pt, const struct usfft_points *targets,
	       size_t *bad);
void type3_free(struct usfft_3 *t);

#endif
