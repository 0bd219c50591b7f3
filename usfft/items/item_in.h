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

/* Dies for what usfft_plan, usfft_points and the functions built on them gave; 0 is fine. */
void item_judge(const struct job *j, int err, const size_t *bad);

/* Warns of a tolerance that cannot be reached; with --strict it is an error. */
void item_check_tolerance(const struct job *j, const struct usfft_options *o);

/* A plan for this item, unless the last one fits. Fixed points are sorted into it. */
void item_plan(struct job *j, const struct usfft_options *o);

/*
 * The item's points, or the fixed ones, m of them, and its values: sets times m. Of points that are still to be read: where
 * the first would lie.
 */
struct item_input item_input(const struct job *j, const struct img *x, size_t m, size_t sets);

/* Sorts an item's points into the plan, unless they are fixed ones, and frees its samples, which --check alone needs. */
void item_sort(struct job *j, struct img *x, const struct item_input *q);

/* Writes one row of n complex results, or the part of them that --part asks for. */
void item_write_row(struct job *j, void *row, size_t n, bool single);

/* The head of an item of results, with the keys of the one that it came from. */
void item_write_head(struct job *j, struct img *y, const struct img *from);

/* Whether --weights asks for any; reads those of a file; opens the file of --weights-to. */
bool item_weighs(const struct job *j);
void item_load_weights(struct job *j);

/* The weights of the points as --weights says, or NULL; valid until the next item. They are written where --weights-to says. */
const double *
item_weigh(struct job *j, const struct usfft_points *pt, const struct usfft_options *o);

/* Reads --start and --coils. */
void item_load_inverse(struct job *j);

#endif
