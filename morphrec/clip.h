/* The pass of clip.c for one element type, a template: T, N(name), and IN and OUT, to keys and back. */

/* Whether samples i in [0, n) need more than a look: J above I, -0, NaN. Gathers the range of keys. */
static WEIR_CLONES bool
N(look)(const T *restrict J, const T *restrict I, size_t n, struct key_map map, T range[2])
{
	T lo = range[0], hi = range[1], odd = 0;

	for (size_t i = 0; i < n; i++) {
		const T j = IN(J[i], map), m = IN(I[i], map), k = j < m ? j : m;
		lo = k < lo ? k : lo;
		hi = k > hi ? k : hi;
		odd |= (j > m) | (OUT(j, map) != J[i]) | (map.real && (!j || !m));
	}
	range[0] = lo;
	range[1] = hi;
	return odd != 0;
}

/* Whether all samples have one of two keys. */
static WEIR_CLONES bool
N(is_two)(const T *restrict a, size_t n, struct key_map map, T off, T on)
{
	T odd = 0;

	for (size_t i = 0; i < n; i++) {
		const T k = IN(a[i], map);
		odd |= (T)((k != off) & (k != on));
	}
	return !odd;
}

/* Writes J0, sample by sample; at: the index of the first. A NaN marks nothing: it becomes the lowest, infinite value. */
static void
N(mend)(T *J, const T *I, size_t n, size_t at, struct key_map map, struct morphrec_clip *c)
{
	const T infinity = (T)(sizeof(T) == 4 ? UINT32_MAX >> 9 : UINT64_MAX >> 12);

	for (size_t i = 0; i < n; i++) {
		const T j = IN(J[i], map), m = IN(I[i], map);
		if (map.real && (!j || !m))
			c->first_nan = c->nan++ ? c->first_nan : at + i;
		if (j > m && !(map.real && !m))
			c->first_above = c->above++ ? c->first_above : at + i;
		J[i] = OUT(j > m ? m : map.real && !j && m ? infinity : j, map);
	}
}

/* The two keys of the mask, as far as they show: off and on differ once there are two. */
static void
N(find_two)(const T *I, size_t n, struct key_map map, struct morphrec_clip *c, bool first)
{
	T a = first ? IN(I[0], map) : (T)c->off;

	if (first)
		c->off = c->on = a;
	for (size_t i = 0; c->off == c->on && i < n; i++) {
		const T k = IN(I[i], map);
		c->off = k < a ? k : a;
		c->on = k < a ? a : k;
	}
}

static void
N(clip)(T *J, const T *I, size_t n, size_t at, struct key_map map, struct morphrec_clip *c)
{
	T range[2] = {(T)c->lo, (T)c->hi};

	if (N(look)(J, I, n, map, range))
		N(mend)(J, I, n, at, map, c);
	c->lo = range[0];
	c->hi = range[1];
	if (!c->two)
		return;
	N(find_two)(I, n, map, c, at == 0);
	c->two =
	    N(is_two)(I, n, map, (T)c->off, (T)c->on) && N(is_two)(J, n, map, (T)c->off, (T)c->on);
}

#undef T
#undef IN
#undef OUT
#undef N
