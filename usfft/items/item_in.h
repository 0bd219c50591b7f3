/* Reads and checks an item for item_io.c, plans, and sorts points. All functions die when the item is wrong. */
#ifndef WEIR_USFFT_ITEM_IN_H
#define WEIR_USFFT_ITEM_IN_H

#include "usfft/items/item_io.h"
#include "usfft/items/values.h"

enum { ITEM_PIECE = 1 << 18 }; /* bytes read or written at a time: they fit the cache */

/* Points and values of one item. The points are the item's own, or the fixed ones of --points or --batch. */
struct item_input {
	struct stream_points at;
	struct values v;
};

/* Dies with a message for err, a return value of usfft_plan(), usfft_points() or what is built on them; 0: returns. */
void item_judge(const struct job *j, int err, const size_t *bad);

/* Warns of a tolerance that cannot be reached; with --strict it is an error. */
void item_check_tolerance(const struct job *j, const struct usfft_options *o);

/* Makes j->run a plan for o, and sorts fixed points into it. It keeps the last plan if that fits. */
void item_plan(struct job *j, const struct usfft_options *o);

/*
 * Returns the item's points and values. With fixed points, there are m of them, and the item must hold sets times m values.
 * Where the item is still to be read, the pointers say where its first piece will lie.
 */
struct item_input item_input(const struct job *j, const struct img *x, size_t m, size_t sets);

/* Sorts an item's points into the plan, unless they are fixed. It frees the item's samples, except with --check. */
void item_sort(struct job *j, struct img *x, const struct item_input *q);

/* Writes one row of n complex results, or what --output asks of them. */
void item_write_row(struct job *j, void *row, size_t n, bool single);

/* Writes the header y of an item of results, with the keys of `from`, the item that it was computed from. */
void item_write_head(struct job *j, struct img *y, const struct img *from);

/* Whether --weights asks for weights. */
bool item_weighs(const struct job *j);

/* Whether --weights names a file. */
bool item_weighs_by_file(const struct job *j);

/* Reads the file of --weights, and opens the file of --weights-to, where they are given. */
void item_load_weights(struct job *j);

/*
 * Returns the weights of the points that --weights asks for, or NULL; they are valid until the next item. It also writes
 * them to the file of --weights-to.
 */
const double *
item_weigh(struct job *j, const struct usfft_points *pt, const struct usfft_options *o);

/* Reads --start and --coils. */
void item_load_inverse(struct job *j);

#endif
