/*
 * The colours present in an image of 8-bit samples, as bits of the 256^3 lattice.
 *
 *	row (r,g)     258 x 258 rows, r and g from -1 to 256, so that every row of the lattice has four neighbours
 *	bits          6 words a row:  0 | b 0..63 | 64..127 | 128..191 | 192..255 | 0
 *	before        4 counts a row: the number of colours before each word; the rank of a colour is its vertex index
 *	filled        a bit for each row, 6 words for each r from -1 to 256 as above: whether the row has colours
 *
 * The colours of images of two planes have r = 0. Those of images of one plane have r = g = 0.
 */
#ifndef WEIR_EMST_LATTICE_LATTICE_H
#define WEIR_EMST_LATTICE_LATTICE_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/cpu.h"

/* The distinct colours of small pictures, for which a lattice of 256^3 bits would take longer than all else. */

/* Up to so many pixels sorting is faster than a lattice. */
enum { FEW_MOST = 1 << 14 };

/*
 * Finds the distinct colours of n pixels of c = 1..3 planes. Fills of[n] with the index of each pixel's colour, and code[n]
 * with the colours in ascending order; only the first of code[] count. work [2n]. n <= FEW_MOST. Returns their number.
 */
size_t
few_colours(const uint8_t *px, size_t n, size_t c, uint32_t *of, uint32_t *code, uint64_t *work);

enum { LATTICE_SIDE = 258, LATTICE_ROWS = LATTICE_SIDE * LATTICE_SIDE, LATTICE_WORDS = 6 };

struct lattice {
	uint64_t *bits;	  /* [LATTICE_ROWS][LATTICE_WORDS], owned */
	uint32_t *before; /* [LATTICE_ROWS][4], owned */
	uint64_t *filled; /* [LATTICE_SIDE][LATTICE_WORDS], owned; lattice_index() fills it */
	size_t n;	  /* colours */
	size_t rows;	  /* rows that are not empty */
	/* All differences of coordinates are multiples of step; see lattice_scale(). */
	uint32_t step;
};

/* Makes an empty lattice. lattice_free() accepts a zeroed one too. 0 or -ENOMEM. */
int lattice_init(struct lattice *l);
void lattice_free(struct lattice *l);

/* Marks the colours of n pixels of c = 1..3 planes. Call lattice_index() once, after the last pixels. 0 or -ENOMEM. */
int lattice_add(struct lattice *l, const uint8_t *px, size_t n, size_t c, int threads);
void lattice_index(struct lattice *l);

/* Marks n colours that are given as codes. */
void lattice_add_codes(struct lattice *l, const uint32_t *code, size_t n);

/* Fills code[n] with the colours in ascending order. */
void lattice_codes(const struct lattice *l, uint32_t *code, int threads);

/*
 * Makes `to`: the colours of l divided by the largest step that divides all differences of coordinates. A posterised image
 * becomes dense by this. The order of the colours, and of all differences of their codes, stays. When there is no step above
 * 1, to->step is 1 and nothing is copied. 0 or -ENOMEM.
 */
int lattice_scale(const struct lattice *l, struct lattice *to);

static inline size_t
lattice_row(int r, int g)
{
	return (size_t)((r + 1) * LATTICE_SIDE + g + 1);
}

/* Returns the four words of row (r,g); the words before and after them are zero. */
static inline const uint64_t *
lattice_words(const struct lattice *l, int r, int g)
{
	return l->bits + lattice_row(r, g) * LATTICE_WORDS + 1;
}

static inline int
code_r(uint32_t code)
{
	return (int)(code >> 16);
}

static inline int
code_g(uint32_t code)
{
	return (int)(code >> 8 & 255);
}

static inline int
code_b(uint32_t code)
{
	return (int)(code & 255);
}

/* Returns the four words of bits that tell which rows (r,0..255) have colours; the words before and after them are zero. */
static inline const uint64_t *
lattice_filled(const struct lattice *l, int r)
{
	return l->filled + (size_t)(r + 1) * LATTICE_WORDS + 1;
}

/* Returns the first g' >= g for which row (r,g') has colours, or 256. */
static inline int
lattice_next_row(const struct lattice *l, int r, int g)
{
	const uint64_t *filled = lattice_filled(l, r);
	int i = g >> 6;
	uint64_t x = i < 4 ? filled[i] & ~(uint64_t)0 << (g & 63) : 0;

	while (!x && ++i < 4)
		x = filled[i];
	return x ? i << 6 | __builtin_ctzll(x) : 256;
}

/* Returns the vertex index of a colour that is present. */
CPU_INLINE uint32_t
lattice_rank(const struct lattice *l, uint32_t code)
{
	size_t row = lattice_row(code_r(code), code_g(code)), w = (code & 255) >> 6;
	uint64_t below = ((uint64_t)1 << (code & 63)) - 1;

	return l->before[row * 4 + w] +
	       (uint32_t)__builtin_popcountll(l->bits[row * LATTICE_WORDS + 1 + w] & below);
}

/* Returns word w[0] of a row shifted so that bit b holds what was at b + s. |s| <= 64; w[-1] or w[1] is read too. */
CPU_INLINE uint64_t
row_shift(const uint64_t *w, int s)
{
	if (s == 0)
		return w[0];
	if (s > 0)
		return s == 64 ? w[1] : w[0] >> s | w[1] << (64 - s);
	return s == -64 ? w[-1] : w[0] << -s | w[-1] >> (64 + s);
}

#endif
