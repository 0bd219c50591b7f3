/* `AXIS:INDEX` names one index along one axis of an item. Pure. */
#ifndef WEIR_STREAM_SLICE_H
#define WEIR_STREAM_SLICE_H

#include <stdbool.h>

#include "common/stream/img.h"

struct slice {
	size_t axis; /* 0 is the fastest; counted before any cut */
	size_t index;
};

/* Returns 0, or -1 when text is not of the form AXIS:INDEX. */
int slice_parse(const char *text, struct slice *s);

/* Says whether one of n slices removes an axis. */
bool slice_removes(const struct slice *s, size_t n, size_t axis);

/*
 * Cuts x, its description and its payload, at one index along each of n different axes. The other axes keep their order. When
 * all axes are cut, one sample is left. Returns NULL; or a sentence that says what is wrong, and then x is unchanged.
 */
const char *slice_apply(struct img *x, const struct slice *s, size_t n);

#endif
