/*
 * Items on the same points wait here until there are as many as the plan transforms at once, or until the input pauses, ends
 * or fails. Their results are then written in the order of the items.
 */
#ifndef WEIR_USFFT_GROUP_H
#define WEIR_USFFT_GROUP_H

#include "usfft/items/item_in.h"

/* Whether items of the plan should wait. */
bool group_suits(const struct job *j);

/*
 * Takes over the last item that was read: the header y of its results and its values v, which own their memory. There will
 * be n complex results.
 */
void group_add(struct job *j, const struct img *y, const struct values *v, size_t n);

/* Transforms the waiting items and writes their results. */
void group_flush(struct job *j);

/* The same when the next item has not arrived yet, so that nobody waits for results while this program waits for input. */
void group_flush_when_idle(struct job *j);

void group_free(struct job *j);

#endif
