/* The reconstruction of one array of an item, with its messages. All functions die on failure. */
#ifndef MORPHREC_ITEM_RUN_H
#define MORPHREC_ITEM_RUN_H

#include "common/stream/raw.h"
#include "morphrec/args.h"
#include "morphrec/items/parts.h"

/* Makes the problem of each array in *p of item x. Dies when the item cannot be reconstructed. */
struct morphrec_problem
item_problem(const struct raw_in *in, const struct img *x, const struct args *a, struct parts *p);

/* Writes the item and its plan to standard error, for -v. */
void item_explain(const struct raw_in *in, const struct morphrec_plan *p);

/* Serves as `step` of struct morphrec_problem; its `step_with` is a struct progress. */
void item_step(void *bar, double share);

/*
 * Clips and reconstructs J under I. Dies on NaN and on markers beyond the mask, which the CPU counts during the run. J begins
 * at byte `at` of an array of the shape of whole; messages give places in that.
 */
void item_reconstruct(const struct raw_in *in, struct morphrec_plan *p, const struct args *a,
		      void *J, void *I, const struct morphrec_problem *whole, size_t at);

/* Dies on NaN among samples f, which are not clipped otherwise. f serves as marker and mask, so it does not change. */
void
item_refuse_nan(const struct raw_in *in, struct morphrec_plan *p, const struct args *a, void *f);

/* Adds the figures of a plan to *sum. */
void item_add_figures(struct morphrec_figures *sum, const struct morphrec_figures *f);

#endif
