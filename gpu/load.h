/* What a courier of gpu/ahead.cu carries at once: spans of host memory that lie in one block of the device in turn. */
#ifndef WEIR_GPU_LOAD_H
#define WEIR_GPU_LOAD_H

#include "gpu/device.h"

struct load {
	gpu_span *span; /* [room], of which n are used; weir_free() frees it */
	size_t n, room;
	size_t left; /* bytes that nobody has taken yet */
};

/* Makes it n spans, all of which are left. Returns false when there are none: n is 0 or memory ends. */
bool load_set(load *l, const gpu_span *s, size_t n);

size_t load_bytes(const load &l);

/* Returns where [host, host + bytes) lies in the block; -1: it is not part of one span. */
ptrdiff_t load_place(const load &l, const void *host, size_t bytes);

/* Whether a span and [host, host + bytes) have a byte in common. */
bool load_meets(const load &l, const void *host, size_t bytes);

#endif
