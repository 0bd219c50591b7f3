/* The pass of ops.c for one element type. This file is a template: see four_body.h. */

/* N(look) for a map whose `real` is a constant, so that the loop has no branches. */
static inline __attribute__((always_inline)) bool
N(look_at)(const T *restrict J, const T *restrict I, size_t n, struct key_map map, T range[2])
{
	const T zero = (T)((T)1 << (BITS - 1)); /* -0 */
	T lo = (T)-1, hi = range[1], odd = 0;

	for (size_t i = 0; i < n; i++) {
		const T j = IN(J[i], map), m = IN(I[i], map), k = j < m ? j : m;
		lo = k < lo ? k : lo;
		hi = k > hi ? k : hi;
		odd |= (T)(j ^ k);
		if (map.real)
			odd |= (T)(J[i] == zero);
	}
	odd |= (T)(map.real & !lo);
	range[0] = lo < range[0] ? lo : range[0];
	range[1] = hi;
	return odd != 0;
}

/* Whether any of the n samples must be changed: J is above I, -0 or NaN. Widens range to the keys of J0. */
WEIR_CLONES_OF(bool, N(look),
	       (const T *restrict J, const T *restrict I, size_t n, struct key_map map, T range[2]),
	       (J, I, n, map, range))
{
	return map.real ? N(look_at)(J, I, n, (struct key_map){map.flip, true}, range)
			: N(look_at)(J, I, n, (struct key_map){map.flip, false}, range);
}

/*
 * Replaces J by J0. A NaN of the marker becomes the lowest value, an infinity, so that it marks nothing. count receives the
 * markers beyond the mask and the pixels with a NaN.
 */
WEIR_CLONES(N(mend),
	    (T *restrict J, const T *restrict I, size_t n, struct key_map map, uint64_t count[2]),
	    (J, I, n, map, count))
{
	const T infinity = (T)(sizeof(T) == 4 ? UINT32_MAX >> 9 : UINT64_MAX >> 12);
	uint64_t above = 0, nan = 0;

	for (size_t i = 0; i < n; i++) {
		const T j = IN(J[i], map), m = IN(I[i], map);
		nan += map.real && (!j || !m);
		above += j > m && !(map.real && !m);
		J[i] = OUT(j > m ? m : map.real && !j && m ? infinity : j, map);
	}
	count[0] = above;
	count[1] = nan;
}

/* Finds the first sample that is NaN in either; n when there is none. */
static size_t
N(first_nan)(const T *J, const T *I, size_t n, struct key_map map)
{
	size_t i = 0;

	while (i < n && !(map.real && (!IN(J[i], map) || !IN(I[i], map))))
		i++;
	return i;
}

static void
N(clip)(void *to, const void *from, size_t n, size_t at, struct key_map map,
	struct morphrec_clip *c)
{
	T *J = to, range[2] = {(T)c->lo, (T)c->hi};
	const T *I = from;
	uint64_t count[2];

	if (N(look)(J, I, n, map, range)) {
		const size_t nan = c->nan ? 0 : N(first_nan)(J, I, n, map);
		N(mend)(J, I, n, map, count);
		c->first_nan = !c->nan && count[1] ? at + nan : c->first_nan;
		c->above += count[0];
		c->nan += count[1];
	}
	c->lo = range[0];
	c->hi = range[1];
}
