/* Items whose payload is kept in a temporary file, for --max-mem. All functions die on failure. */
#ifndef MORPHREC_ITEM_IO_H
#define MORPHREC_ITEM_IO_H

#include "common/stream/raw.h"

enum { ITEM_PIECE = 1 << 22 }; /* bytes that are copied between a stream and a file at a time */

/* Makes room for the payload of x in a temporary file. */
void item_room(const struct raw_in *in, struct img *x);

/* Reads the payload of x into a temporary file. */
void item_spool(struct raw_in *in, struct img *x);

/* Writes x as raw_put() does, a piece at a time. */
void item_unspool(struct raw_out *out, const struct img *x);

#endif
