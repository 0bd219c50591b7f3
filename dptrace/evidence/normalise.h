/* From derivatives at the base rows to evidence, in place. */
#ifndef DPTRACE_NORMALISE_H
#define DPTRACE_NORMALISE_H

#include "dptrace/evidence/strip.h"

/*
 * Makes the fields of the sum from the derivatives in b->f, with their sizes and the inside of the picture in scratch. Sets
 * b->g0, and b->blank where there is no evidence.
 */
void normalise_sum(struct base *b, const struct scratch *scratch, const struct grid *g,
		   const struct dptrace_options *o, const struct rule *rule);

/*
 * Makes the fields of the cost and sets b->blank. Fields 0 and 2 of a ridge are T_uu and T_vv; what is subtracted from both
 * counts alike for links of all directions. The sizes in scratch are those of the gradient.
 */
void normalise_cost(struct base *b, const struct scratch *scratch, const struct grid *g,
		    const struct dptrace_options *o, const struct rule *rule);

#endif
