/* A stream that an option names, with one item of the same shape for each item of the input. These functions may die. */
#ifndef TOOLS_BESIDE_H
#define TOOLS_BESIDE_H

#include "common/stream/raw.h"

struct beside {
	const char *option; /* for messages */
	char *path[1];
	struct raw_in *in; /* owned; NULL: the option is not given */
	struct img x;	   /* the item; the caller frees it */
};

/* Opens the file, unless path is NULL. *b must stay where it is until beside_close(). */
void beside_open(struct beside *b, const char *option, const char *path, size_t max_bytes);

/* Goes to the item that belongs to item x of in, and dies when its shape or its part of a picture is another. */
void beside_next(struct beside *b, const struct raw_in *in, const struct img *x);

/* Dies when items are left. */
void beside_close(struct beside *b, const struct raw_in *in);

#endif
