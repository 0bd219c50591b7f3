/* The problem: shape, type, neighbours and method. Every file of morphrec includes this; morphrec.h states the formula. */
#ifndef WEIR_MORPHREC_PROBLEM_H
#define WEIR_MORPHREC_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/neighbours.h"
#include "common/stream/img.h"
#include "morphrec/keys.h"

enum morphrec_method {
	MORPHREC_TILE, /* the tile engine: tile/engine.h */
	MORPHREC_HEAP  /* He et al.: a cluster of parallel heaps, highest values first */
};

struct morphrec_problem {
	enum img_type type;
	size_t w, h, d; /* all >= 1 */
	int conn;	/* 4, 8 (images); 6, 18, 26 (volumes) */
	bool erode;
	enum morphrec_method method;
	int threads; /* >= 1 */
	/* A stage that passes over fewer bytes stays on one thread; 0: none does. Tests share out the smallest pictures. */
	size_t alone;
	size_t node, heaps; /* method heap: pixels of a node, and heaps; 0: the defaults */
	/* Method tile: bytes of marker and mask that all threads together may hold in memory; 0: no limit. */
	size_t max_mem;
	/* Called by any thread when bytes [at, at + n) of J and I are not needed for a while; or NULL. */
	void (*done)(void *with, size_t at, size_t n);
	void *done_with;
	/* Method tile: called now and then, by one thread at a time; share: tiles visited so far / all tiles; or NULL. */
	void (*step)(void *with, double share);
	void *step_with;
	/* Method tile: a row of tile_kernels; NULL: that of this CPU. */
	const struct tile_kernel *const *kernels;
};

/* How a run went: for --stats. */
struct morphrec_figures {
	size_t tiles, visits, floods; /* tile */
	/*
	 * heap: pixels that rose; how often pixels rose; how often a pixel was taken out of a heap after it
	 * had risen again. rises - risen: how often a pixel rose again, and its value was propagated again.
	 */
	size_t risen, rises, stale;
};

/* Whether pixels have neighbours in other slices too. */
static WEIR_BOTH inline bool
morphrec_is_volume(int conn)
{
	return conn != 4 && conn != 8;
}

/* Functions for elements of 8, 16, 32 and 64 bits (by_type.h) stand in a table, with that index. */
static inline int
morphrec_width(enum img_type type)
{
	return __builtin_ctzll(img_type_size(type));
}

/* Returns the threads of a stage that passes over all samples so many times, >= 1. */
static inline int
morphrec_threads(const struct morphrec_problem *what, size_t times)
{
	const size_t bytes = what->w * what->h * what->d * img_type_size(what->type);

	return bytes < what->alone / times ? 1 : what->threads;
}

/* Returns how that problem's samples map to keys. */
static inline struct key_map
morphrec_keys(const struct morphrec_problem *what)
{
	const unsigned bits = 8 * (unsigned)img_type_size(what->type);
	const uint64_t all = UINT64_MAX >> (64 - bits), top = UINT64_C(1) << (bits - 1);
	const bool is_signed =
	    what->type == IMG_I8 || what->type == IMG_I16 || what->type == IMG_I32;
	const struct key_map map = {(is_signed ? top : 0) ^ (what->erode ? all : 0),
				    img_is_float(what->type)};

	return map;
}

#endif
