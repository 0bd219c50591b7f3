/* One place of one axis of an item, as `AXIS:INDEX`. Pure. */
#ifndef TOOLS_SLICE_H
#define TOOLS_SLICE_H

#include "common/img.h"

struct slice {
	size_t axis; /* 0 the fastest, as in the item before any cut */
	size_t index;
};

/* 0, or -1 when text is no slice. */
int slice_parse(const char *text, struct slice *s);

/*
 * Cuts x, description and payload, at n places of n different axes; the other axes stay in order. What is left of a single
 * axis is one sample. Returns NULL, or a sentence that says why it cannot be, with x as it was.
 */
const char *slice_apply(struct img *x, const struct slice *s, size_t n);

#endif
