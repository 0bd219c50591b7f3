/*
 * All pairs (u, v) with v = u + o of one offset o are found a row at a time: the bits of row (r,g), AND the bits of row
 * (r,g) + o shifted by o's blue part. Most of these pairs can be dropped without looking at a tree, since a shorter or
 * earlier path is known to exist. Let e be a unit vector; a pair is dropped in two cases:
 *
 *	(u-e, v-e) is a pair too	u-e ~ u and v-e ~ v are edges of length 1, and that pair comes earlier
 *	u+e or v-e is present		where e points from u towards v: the path through that colour is shorter
 */
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "emst/lattice/pairs.h"

static int
sign(int x)
{
	return (x > 0) - (x < 0);
}

/* Doubles the room; returns false when memory has run out. */
static bool
grow(struct pairs *p)
{
	size_t room = p->room ? 2 * p->room : 1024;
	struct emst_edge *e = weir_alloc(room, sizeof *e);

	if (!e) {
		p->failed = true;
		return false;
	}
	if (p->n)
		memcpy(e, p->e, p->n * sizeof *e);
	weir_free(p->e);
	p->e = e;
	p->room = room;
	return true;
}

/* Returns those of the pairs x of one word that are not dropped. */
CPU_INLINE uint64_t
prune(uint64_t x, const uint64_t *u, const uint64_t *v, const struct offset *o, uint32_t d2)
{
	enum { G = LATTICE_WORDS, R = LATTICE_SIDE * LATTICE_WORDS };
	int b = o->b, sb = sign(b), sg = sign(o->g) * G, sr = sign(o->r) * R;

	if (d2 > 1) {
		if (sb)
			x &= ~row_shift(u, sb) & ~row_shift(v, b - sb);
		if (sg)
			x &= ~u[sg] & ~row_shift(v - sg, b);
		if (sr)
			x &= ~u[sr] & ~row_shift(v - sr, b);
		x &= ~(u[-R] & row_shift(v - R, b));
	}
	if (d2 > 1 || o->r)
		x &= ~(u[-G] & row_shift(v - G, b));
	return x;
}

/* Finds the pairs (u, u + o) of one row whose labels differ. */
CPU_INLINE void
scan_row(const struct forest *f, const struct offset *o, uint32_t d2, int r, int g,
	 struct pairs *out)
{
	const struct lattice *l = f->l;
	size_t row = lattice_row(r, g);
	const uint64_t *u = lattice_words(l, r, g), *v = lattice_words(l, r + o->r, g + o->g);
	uint64_t before = 0;

	for (uint32_t w = 0; w < 4; w++, u++, v++) {
		const uint64_t pairs = u[0] ? u[0] & row_shift(v, o->b) : 0;
		uint64_t x = pairs & ~(pairs << 1 | before);
		before = pairs >> 63;
		if (x)
			x = prune(x, u, v, o, d2);
		if (!x)
			continue;
		uint32_t code = (uint32_t)(r << 16 | g << 8) | w << 6;
		out->seen += (size_t)__builtin_popcountll(x);
		for (; x; x &= x - 1) {
			int bit = __builtin_ctzll(x);
			uint64_t below = ((uint64_t)1 << bit) - 1;
			uint32_t iu =
			    l->before[row * 4 + w] + (uint32_t)__builtin_popcountll(u[0] & below);
			uint32_t cv = code + (uint32_t)bit + (uint32_t)o->code;
			uint32_t iv = lattice_rank(l, cv);
			if (f->up[iu] != f->up[iv] && (out->n < out->room || grow(out)))
				out->e[out->n++] = (struct emst_edge){iu, iv};
		}
	}
}

/*
 * Tells whether a row has pairs at all. Where colours are sparse, few rows have: 300000 random colours take 1 / 1.4 of the
 * time with this test.
 */
CPU_INLINE bool
rows_meet(const uint64_t *u, const uint64_t *v, int b)
{
	typedef uint64_t four __attribute__((vector_size(32), aligned(8), may_alias));
	const four x = *(const four *)u, y = *(const four *)v;
	four z;

	if (b >= 0)
		z = x & (y >> b | *(const four *)(v + 1) << 1 << (63 - b));
	else
		z = x & (y << -b | *(const four *)(v - 1) >> 1 >> (63 + b));
	return z[0] | z[1] | z[2] | z[3];
}

WEIR_CLONES(scan_rows,
	    (const struct forest *f, const struct offset *o, uint32_t d2, int from, int to,
	     struct pairs *out),
	    (f, o, d2, from, to, out))
{
	const bool dense = f->l->n > 10 * f->l->rows;

	out->n = out->seen = 0;
	for (int r = from; r < to && r + o->r < 256; r++) {
		const uint64_t *filled = lattice_filled(f->l, r),
			       *other = lattice_filled(f->l, r + o->r);
		for (int i = 0; i < 4; i++)
			for (uint64_t x = filled[i] & row_shift(other + i, o->g); x; x &= x - 1) {
				const int g = i << 6 | __builtin_ctzll(x);
				const uint64_t *u = lattice_words(f->l, r, g),
					       *v = lattice_words(f->l, r + o->r, g + o->g);
				if (dense || rows_meet(u, v, o->b))
					scan_row(f, o, d2, r, g, out);
			}
	}
}

/* The caller's neighbours of *out belong to other threads, and share its cache line. So it is written once. */
void
pairs_find(const struct forest *f, const struct offset *o, uint32_t d2, int from, int to,
	   struct pairs *out)
{
	struct pairs own = *out;

	scan_rows(f, o, d2, from, to, &own);
	*out = own;
}
