/*
 * The rows of a tile for one element type: striping, and the arithmetic of a row. This file is a template, and visit_body.h,
 * the visit of a tile, follows it. The including file defines
 *
 *	T, BITS		the unsigned element and its width
 *	N(name)		the name of an instance
 *	TARGET, INLINE	the function attributes of the instruction set
 *	V, LANE		a vector register, and its number of 16-byte lanes
 *	v_zero, v_or, v_xor
 *	v_any(v)	whether v is not all 0
 *	v_max, v_min	the larger and the smaller elements, by BITS
 *	v_up(v), v_down(v)	v moved by one element, to the later or the earlier place; a 0 is shifted in
 *	v_lo(a, b), v_hi(a, b)	interleave the elements of the lower, or upper, halves of each 16-byte lane
 *	v_load_lanes(p, step)	loads lane g from the 16 bytes at p + g * step; v_store_lanes(p, step, v) stores it there
 */
enum {
	N(PER_LANE) = 128 / BITS,
	N(WIDTH) = TILE_VECTORS * LANE * N(PER_LANE),
	N(LEVELS) = BITS == 8	 ? 4
		    : BITS == 16 ? 3
		    : BITS == 32 ? 2
				 : 1 /* log2 PER_LANE */
};

/*
 * Does one perfect shuffle of each lane. The bits of an element's place (vector, element of the lane) rotate left by one.
 * To stripe takes a rotation left by log2(PER_LANE), which equals a rotation right by two; two more left undo it.
 */
INLINE void
N(shuffle)(V v[4])
{
	const V a = v_lo(BITS)(v[0], v[2]), b = v_hi(BITS)(v[0], v[2]), c = v_lo(BITS)(v[1], v[3]),
		d = v_hi(BITS)(v[1], v[3]);

	v[0] = a;
	v[1] = b;
	v[2] = c;
	v[3] = d;
}

/* Stripes a row of WIDTH pixels: a lane of 16 bytes, in each of four vectors, holds 64 consecutive bytes of the row. */
INLINE void
N(stripe)(V v[4])
{
	for (int l = 0; l < N(LEVELS); l++)
		N(shuffle)(v);
}

INLINE void
N(unstripe)(T *to, const V from[4])
{
	V v[4];

	for (int k = 0; k < 4; k++)
		v[k] = from[k];
	for (int l = 0; l < 2; l++)
		N(shuffle)(v);
	for (int k = 0; k < 4; k++)
		v_store_lanes((char *)to + 16 * k, 64, v[k]);
}

/* Returns the larger of c and the pixels beside it, clipped to the mask m. */
INLINE V
N(take)(V c, V beside, V m)
{
	return v_min(BITS)(m, v_max(BITS)(c, beside));
}

INLINE bool
N(same)(V a, V b)
{
	return !v_any(v_xor(a, b));
}

/* Brings c to its fixpoint along the row under m: left to right and, from the same start, right to left. */
INLINE void
N(along)(V c[4], const V m[4])
{
	V r1 = N(take)(c[1], c[0], m[1]), r2 = N(take)(c[2], r1, m[2]),
	  r3 = N(take)(c[3], r2, m[3]), r0 = N(take)(c[0], v_up(BITS)(r3), m[0]);
	V l2 = N(take)(c[2], c[3], m[2]), l1 = N(take)(c[1], l2, m[1]),
	  l0 = N(take)(c[0], l1, m[0]), l3 = N(take)(c[3], v_down(BITS)(l0), m[3]);
	V was_r = c[0], was_l = c[3];

	while (v_any(v_or(v_xor(r0, was_r), v_xor(l3, was_l)))) {
		was_r = r0;
		was_l = l3;
		r1 = N(take)(r1, r0, m[1]);
		l2 = N(take)(l2, l3, m[2]);
		r2 = N(take)(r2, r1, m[2]);
		l1 = N(take)(l1, l2, m[1]);
		r3 = N(take)(r3, r2, m[3]);
		l0 = N(take)(l0, l1, m[0]);
		r0 = N(take)(r0, v_up(BITS)(r3), m[0]);
		l3 = N(take)(l3, v_down(BITS)(l0), m[3]);
	}
	c[0] = v_max(BITS)(r0, l0);
	c[1] = v_max(BITS)(r1, l1);
	c[2] = v_max(BITS)(r2, l2);
	c[3] = v_max(BITS)(r3, l3);
}

/* Each pixel becomes the largest of itself and the two beside it. */
INLINE void
N(widen)(V v[4])
{
	const V ab = v_max(BITS)(v[0], v[1]), cd = v_max(BITS)(v[2], v[3]),
		b = v_max(BITS)(ab, v[2]), c = v_max(BITS)(v[1], cd),
		a = v_max(BITS)(ab, v_up(BITS)(v[3])), d = v_max(BITS)(cd, v_down(BITS)(v[0]));

	v[0] = a;
	v[1] = b;
	v[2] = c;
	v[3] = d;
}

INLINE void
N(max_row)(V c[4], const V *a)
{
	for (int i = 0; i < 4; i++)
		c[i] = v_max(BITS)(c[i], a[i]);
}

/*
 * c becomes the largest of the neighbours, outside the row itself, of each pixel of the row at j. Only neighbours on one
 * side count, before or after the row in raster order: y and z are the signed distances to the row and the slice beside.
 * conn is a constant.
 */
INLINE void
N(dilate)(V c[4], const V *j, ptrdiff_t y, ptrdiff_t z, int conn)
{
	for (int i = 0; i < 4; i++)
		c[i] = j[y + i];
	if (conn == 4 || conn == 8) {
		if (conn == 8)
			N(widen)(c);
		return;
	}
	N(max_row)(c, j + z);
	if (conn == 26) {
		N(max_row)(c, j + z - y);
		N(max_row)(c, j + z + y);
	}
	if (conn != 6)
		N(widen)(c);
	if (conn == 18) {
		N(max_row)(c, j + z - y);
		N(max_row)(c, j + z + y);
	}
}

/* Raises row j under m from its neighbours. Returns whether it rose. always: the row is not at its own fixpoint yet. */
INLINE bool
N(row)(V *j, const V *m, ptrdiff_t y, ptrdiff_t z, int conn, bool always)
{
	V c[4], rose = v_zero();

	N(dilate)(c, j, y, z, conn);
	for (int i = 0; i < 4; i++) {
		c[i] = N(take)(c[i], j[i], m[i]);
		rose = v_or(rose, v_xor(c[i], j[i]));
	}
	if (!always && !v_any(rose))
		return false;
	N(along)(c, m);
	rose = v_zero();
	for (int i = 0; i < 4; i++) {
		rose = v_or(rose, v_xor(c[i], j[i]));
		j[i] = c[i];
	}
	return !always || v_any(rose);
}
