/* The part of a picture that an item says it is, tile:=x0 y0 W H. Pure. */
#ifndef WEIR_TILE_H
#define WEIR_TILE_H

#include "common/img.h"

enum { TILE_MOST = 134217728 }; /* the widest and the highest picture */

struct tile {
	size_t x0, y0; /* its first column and row */
	size_t W, H;   /* the whole picture */
};

/*
 * Where x, pictures of w by h pixels, lies: without the key it is the whole. Returns NULL, or a sentence that says why the
 * key makes no sense, in words[TILE_ERR].
 */
enum { TILE_ERR = 160 };
const char *tile_of(const struct img *x, size_t w, size_t h, struct tile *t, char words[TILE_ERR]);

/* Sets the key. */
void tile_set(struct img *x, const struct tile *t);

#endif
