/* What item_io.c needs of an item before it transforms it. All of these die for what is wrong with it. */
#ifndef WEIR_USFFT_ITEM_IN_H
#define WEIR_USFFT_ITEM_IN_H

#include "usfft/items/item_io.h"
#include "usfft/items/values.h"

enum { ITEM_PIECE = 1 << 18 }; /* bytes read or written at a time: they stay in the cache */

/* Points and values of one item, whichever way they came. */
struct item_input {
	struct stream_points at;
	struct values v;
};

/* Dies for what usfft_plan, usfft_points or their kin gave; 0 is fine. */
void item_judge(const struct job *j, int err, const size_t *bad);

/* Warns of a tolerance that cannot be reached; with --strict it is an error. */
void item_check_tolerance(const struct job *j, const struct usfft_options *o);

/* A plan for this item, unless the last one fits. Fixed points are sorted into it. */
void item_plan(struct job *j, const struct usfft_options *o);

/* The item's points, or the fixed ones, m of them, and its values. Of points still to be read: where the first would lie. */
struct item_input item_input(const struct job *j, const struct img *x, size_t m);

/* Sorts an item's points into the plan, unless they are fixed ones, and frees its samples, which --check alone needs. */
void item_sort(struct job *j, struct img *x, const struct item_input *q);

/* As --weights says, or NULL; the caller frees those of points that are not fixed. */
double *item_weigh(struct job *j, const struct usfft_points *pt, const struct usfft_options *o);

#endif
