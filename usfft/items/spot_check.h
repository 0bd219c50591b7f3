/* --check: K results picked evenly, beside their exact sums. No I/O. */
#ifndef WEIR_USFFT_SPOT_CHECK_H
#define WEIR_USFFT_SPOT_CHECK_H

#include "usfft/usfft.h"
#include "usfft/items/values.h"

struct spot_check {
	size_t k, outs; /* so many of so many results */
	size_t next;	/* the next to be compared */
	int sign;
	double *in;	   /* owned: what the sums are of */
	double diff, norm; /* sums of squares */
};

/* k results (fewer if there are fewer) of outs, which come from the count values of v. k == 0: none. 0 or -ENOMEM. */
int spot_check_start(struct spot_check *s, size_t k, size_t outs, int sign, const struct values *v,
		     size_t count);

/* Type 1: those picked of row `row` of the modes. Rows come in order. */
void spot_check_row(struct spot_check *s, const struct usfft_options *o,
		    const struct usfft_points *pt, size_t row, const void *got);

/* Type 2: all that were picked. */
void spot_check_points(struct spot_check *s, const struct usfft_options *o,
		       const struct usfft_points *pt, const void *got);

/* Type 3: all that were picked. */
void
spot_check_targets(struct spot_check *s, const struct usfft_options *o,
		   const struct usfft_points *from, const struct usfft_points *to, const void *got);

/* Their l2 error, relative where the sums are not all 0; frees what s owns. */
double spot_check_end(struct spot_check *s);

#endif
