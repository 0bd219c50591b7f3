/* Reads the header of an item in any of the formats. */
#ifndef WEIR_STREAM_ITEM_H
#define WEIR_STREAM_ITEM_H

#include "common/stream/source.h"

enum { ITEM_MAGIC = 8 }; /* the first bytes, which tell the format */

/*
 * Reads the header of the item whose first n bytes are magic, and makes in ready for the payload. These n bytes are still
 * unread. Dies when no format begins with them.
 */
void item_head(struct raw_in *in, struct img *x, const char *magic, size_t n);

#endif
