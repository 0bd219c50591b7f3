/* The headers of items, one format after the other. */
#ifndef WEIR_ITEM_H
#define WEIR_ITEM_H

#include "common/source.h"

enum { ITEM_MAGIC = 8 }; /* the first bytes, which tell the format */

/*
 * Reads the header of the item whose first n bytes are magic, which are still unread, and makes in ready for its payload.
 * Dies when no format begins like that.
 */
void item_head(struct raw_in *in, struct img *x, const char *magic, size_t n);

#endif
