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

#include "common/base/both.h"
#include "common/base/cpu.h"
#include "emst/emst.h"
#include "emst/sort.h"

/* Up to so many pixels sorting is faster than a lattice of 256^3 bits. */
enum { SMALL_MOST = 1 << 14 };

/*
 * Finds the distinct colours of n pixels of c = 1..3 planes. Fills of[n] with the index of each pixel's colour, and code[n]
 * with the colours in ascending order; only the first of code[] count. work [2n]. n <= SMALL_MOST. Returns their number.
 */
size_t small_colours(const uint8_t *px, size_t n, size_t c, uint32_t *of, uint32_t *code,
		     struct sorted *work);

enum { LATTICE_SIDE = 258, LATTICE_ROWS = LATTICE_SIDE * LATTICE_SIDE, LATTICE_WORDS = 6 };

struct lattice {
	uint64_t *bits;	  /* [LATTICE_ROWS][LATTICE_WORDS], owned */
	uint32_t *before; /* [LATTICE_ROWS][4], owned */
	uint64_t *filled; /* [LATTICE_SIDE][LATTICE_WORDS], owned; lattice_index() fills it */
	size_t n;	  /* colours */
	size_t rows;	  /* rows that are not empty */
	uint64_t blue[4]; /* the union of all rows */
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

/* The inline functions with WEIR_BOTH serve the twin in gpu/emst, too. */
WEIR_BOTH static inline size_t
lattice_row(int r, int g)
{
	return (size_t)((r + 1) * LATTICE_SIDE + g + 1);
}

/* Returns the four words of row (r,g) of the bits; the words before and after them are zero. */
WEIR_BOTH static inline const uint64_t *
row_words(const uint64_t *bits, int r, int g)
{
	return bits + lattice_row(r, g) * LATTICE_WORDS + 1;
}

static inline const uint64_t *
lattice_words(const struct lattice *l, int r, int g)
{
	return row_words(l->bits, r, g);
}

WEIR_BOTH static inline int
code_r(uint32_t code)
{
	return (int)(code >> 16);
}

WEIR_BOTH static inline int
code_g(uint32_t code)
{
	return (int)(code >> 8 & 255);
}

WEIR_BOTH static inline int
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
WEIR_BOTH CPU_INLINE uint64_t
row_shift(const uint64_t *w, int s)
{
	if (s == 0)
		return w[0];
	if (s > 0)
		return s == 64 ? w[1] : w[0] >> s | w[1] << (64 - s);
	return s == -64 ? w[-1] : w[0] << -s | w[-1] >> (64 + s);
}

/* Returns the colours of a word that have a neighbour outside the set. */
WEIR_BOTH CPU_INLINE uint64_t
row_exposed(const uint64_t *w)
{
	enum { G = LATTICE_WORDS, R = LATTICE_SIDE * LATTICE_WORDS };

	return w[0] & ~(w[-G] & w[G] & w[-R] & w[R] & row_shift(w, 1) & row_shift(w, -1));
}

/*
 * Returns those pairs of a word that may be edges of the tree. The bits of x are pairs (u, u + o) of the offset o = (r, g, b) of
 * squared length d2. Let e be a unit vector; a pair (u, v) is dropped in two cases:
 *
 *	(u-e, v-e) is a pair too	u-e ~ u and v-e ~ v are edges of length 1, and that pair comes earlier
 *	u+e or v-e is present		where e points from u towards v: the path through that colour is shorter
 *
 * The pair to the left along blue has been dropped already.
 */
WEIR_BOTH CPU_INLINE uint64_t
row_prune(uint64_t x, const uint64_t *u, const uint64_t *v, int r, int g, int b, uint32_t d2)
{
	enum { G = LATTICE_WORDS, R = LATTICE_SIDE * LATTICE_WORDS };
	const int sb = (b > 0) - (b < 0), sg = ((g > 0) - (g < 0)) * G,
		  sr = ((r > 0) - (r < 0)) * R;

	if (d2 > 1) {
		if (sb)
			x &= ~row_shift(u, sb) & ~row_shift(v, b - sb);
		if (sg)
			x &= ~u[sg] & ~row_shift(v - sg, b);
		if (sr)
			x &= ~u[sr] & ~row_shift(v - sr, b);
		x &= ~(u[-R] & row_shift(v - R, b));
	}
	if (d2 > 1 || r)
		x &= ~(u[-G] & row_shift(v - G, b));
	return x;
}

/* --- the tree of blocks, as boruvka.c describes it ------------------------------------------------------------------ */

/* Returns the number of the node at R,G,B, counted in nodes of its level. */
WEIR_BOTH CPU_INLINE uint32_t
node_id(int level, int R, int G, int B)
{
	const int s = 6 - 2 * level;

	return (uint32_t)((R << s | G) << s | B);
}

/* Returns the node of `level` that bit t of its parent, a node of level + 1, stands for. */
WEIR_BOTH CPU_INLINE uint32_t
node_child(uint32_t parent, int level, int t)
{
	const int s = 4 - 2 * level;
	const uint32_t mask = (1u << s) - 1;

	return node_id(level, (int)(parent >> 2 * s) * 4 + (t >> 4),
		       (int)(parent >> s & mask) * 4 + (t >> 2 & 3),
		       (int)(parent & mask) * 4 + (t & 3));
}

/* Returns the code of bit t of a block. */
WEIR_BOTH CPU_INLINE uint32_t
block_code(uint32_t id, int t)
{
	const uint32_t r = (id >> 12) * 4 + ((uint32_t)t >> 4),
		       g = (id >> 6 & 63) * 4 + ((uint32_t)t >> 2 & 3);

	return r << 16 | g << 8 | ((id & 63) * 4 + ((uint32_t)t & 3));
}

WEIR_BOTH CPU_INLINE unsigned
is_present(const uint64_t *bits, int r, int g, int b)
{
	return (unsigned)b < 256 ? (unsigned)(row_words(bits, r, g)[b >> 6] >> (b & 63) & 1) : 0;
}

/* Returns which neighbours are present: bit 2a: that at x[a] - 1; bit 2a + 1: that at x[a] + 1. */
WEIR_BOTH CPU_INLINE unsigned
faces_of(const uint64_t *bits, uint32_t code)
{
	const int r = code_r(code), g = code_g(code), b = code_b(code);

	return is_present(bits, r - 1, g, b) | is_present(bits, r + 1, g, b) << 1 |
	       is_present(bits, r, g - 1, b) << 2 | is_present(bits, r, g + 1, b) << 3 |
	       is_present(bits, r, g, b - 1) << 4 | is_present(bits, r, g, b + 1) << 5;
}

/* --- the forest that grows into the tree: lattice.c joins near colours, then boruvka.c joins the remaining trees ----------- */

enum { FOREST_MAXD2 = 512 }; /* the squared length of the longest edges that shells look for */

struct forest {
	const struct lattice *l;
	int threads;
	size_t n, trees; /* colours; trees that they form so far */
	/* [n]: union-find. A parent has a smaller index than its child. Between shells every entry is the root. */
	uint32_t *up;
	bool *shared;		/* [n]: see join() in lattice.c. NULL: one thread */
	struct emst_edge *edge; /* [n-1]: the first nedge are filled, in order */
	size_t nedge;
	size_t upto[FOREST_MAXD2 +
		    1]; /* upto[d2]: edges of at most that squared length; valid below next */
	uint32_t next;	/* all edges with d2 < next have been found */
	bool sparse; /* forest_boruvka() would be slow: too many colours are left, too far apart */
};

/*
 * Runs Kruskal's algorithm by shells of equal d2 = 1, 2, 3 ... until one tree is left or another method is faster.
 * 0 or -ENOMEM.
 */
int forest_shells(struct forest *f);

/* Replaces union-find by tree numbers 0.. in place, and returns how many trees there are. On entry every entry is its root. */
size_t forest_number(struct forest *f);

/*
 * Finds the remaining edges by Boruvka's algorithm and completes edge[]. d2[i] is the squared length of the edge at the old
 * nedge + i. 0 or -ENOMEM.
 */
int forest_boruvka(struct forest *f, uint32_t **d2);

#endif
