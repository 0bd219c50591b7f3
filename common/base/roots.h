/* Union-find, with path halving: up[] leads from a member of a set to the root of the set. For a root r, up[r] == r. */
#ifndef WEIR_BASE_ROOTS_H
#define WEIR_BASE_ROOTS_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/mem.h"

static inline void
roots_single(uint32_t *up, size_t n)
{
	for (size_t i = 0; i < n; i++)
		up[i] = (uint32_t)i;
}

/* The caller frees the result. NULL means that memory has run out. */
static inline uint32_t *
roots_new(size_t n)
{
	uint32_t *up = weir_alloc_large(n, sizeof *up);

	if (up)
		roots_single(up, n);
	return up;
}

static inline uint32_t
roots_find(uint32_t *up, uint32_t x)
{
	while (up[x] != x)
		x = up[x] = up[up[x]];
	return x;
}

/* Joins two roots. The smaller one stays a root, so parents come before their children. */
static inline void
roots_join(uint32_t *up, uint32_t a, uint32_t b)
{
	up[a < b ? b : a] = a < b ? a : b;
}

#endif
