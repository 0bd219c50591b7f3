/* What ops.c does for one element type: clipping, areas, the loops of the operators. This file is a template: see by_type.h. */

/* ---- clipping ---- */

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

/* ---- areas ---- */

/*
 * Fills order with the n pixels by falling key; pixels of equal keys keep their order. It is a radix sort, byte by byte from
 * the lowest. spare has room for n elements.
 */
static void
N(sort)(uint32_t *order, uint32_t *spare, const T *key, size_t n)
{
	for (size_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	for (unsigned byte = 0; byte < sizeof(T); byte++) {
		size_t at[256] = {0}, sum = 0;
		for (size_t i = 0; i < n; i++)
			at[key[i] >> 8 * byte & 255]++;
		for (int b = 255; b >= 0; b--) {
			const size_t c = at[b];
			at[b] = sum;
			sum += c;
		}
		for (size_t i = 0; i < n; i++)
			spare[at[key[order[i]] >> 8 * byte & 255]++] = order[i];
		memcpy(order, spare, n * sizeof *order);
	}
}

/* Joins the set of q to that of p. p was placed last; q is a neighbour that was placed before. */
static inline void
N(join)(struct forest *t, const T *key, uint32_t p, uint32_t q)
{
	const uint32_t r = roots_find(t->parent, q);

	if (r == p)
		return;
	if (key[r] != key[p] && t->area[r] >= t->least) {
		t->area[p] = t->least;
		return;
	}
	t->area[p] += t->area[r];
	t->parent[r] = p;
}

static void
N(open)(struct forest *t, const struct piece *s, T *key, bool wall)
{
	N(sort)(t->order, t->parent, key, s->n);
	for (size_t i = 0; i < s->n; i++)
		t->parent[i] = NOWHERE;
	for (size_t i = 0; i < s->n; i++) {
		const uint32_t p = t->order[i];
		const size_t x = p % s->w, y = p / s->w % s->h, z = p / s->w / s->h;
		t->parent[p] = p;
		t->area[p] = 1;
		for (int k = 0; k < s->nears && !(wall && !key[p]); k++) {
			const struct neighbour *o = &s->near[k];
			if (x + (size_t)o->x < s->w && y + (size_t)o->y < s->h &&
			    z + (size_t)o->z < s->d && t->parent[p + (size_t)o->at] != NOWHERE)
				N(join)(t, key, p, (uint32_t)(p + (size_t)o->at));
		}
	}
	/* The lowest pixel comes first, so that a parent is done before its children. */
	for (size_t i = s->n; i-- > 0;) {
		const uint32_t p = t->order[i], up = t->parent[p];
		key[p] = key[up];
	}
}

static void
N(open_piece)(const struct morphrec_problem *a, struct forest *t, const struct piece *s, void *J,
	      const void *f)
{
	const struct key_map map = morphrec_keys(a);
	const T *from = f;
	T *key = J;

	for (size_t i = 0; i < s->n; i++)
		key[i] = IN(from[i], map);
	N(open)(t, s, key, map.real);
	for (size_t i = 0; i < s->n; i++)
		key[i] = OUT(key[i], map);
}

/* ---- operators ---- */

/*
 * Lowers keys by h, down to the floor at most. This is f - h where the reconstruction dilates, f + h where it erodes. The key
 * below that of 0 is that of -0, which counts as 0, so a float goes one further.
 */
WEIR_CLONES(N(lower), (void *to, void *from, size_t n, const struct morphrec_recipe *p),
	    (to, from, n, p))
{
	const T *restrict f = from, h = (T)p->h, floor = (T)p->floor;
	T *restrict J = to;

	for (size_t i = 0; i < n; i++) {
		const T k = IN(f[i], p->map), low = k < floor ? k : floor, down = (T)(k - h),
			same = IN(OUT(down, p->map), p->map) == k;
		J[i] = OUT(k > floor && k - floor > h ? (T)(down - same) : low, p->map);
	}
}

/* Makes the marker (f >= hi) in J and the mask (f >= lo) in f, as yes and no. Walls stay walls. */
WEIR_CLONES(N(threshold), (void *to, void *from, size_t n, const struct morphrec_recipe *p),
	    (to, from, n, p))
{
	T *restrict f = from, *restrict J = to;
	const T yes = (T)p->yes, no = (T)p->no, lo = (T)p->lo, hi = (T)p->hi;

	for (size_t i = 0; i < n; i++) {
		const T k = IN(f[i], p->map), wall = f[i];
		const bool is_wall = p->map.real && !k;
		J[i] = is_wall ? wall : k >= hi ? yes : no;
		f[i] = is_wall ? wall : k >= lo ? yes : no;
	}
}

/* J becomes f - J of integers, clipped to the largest value of the type. */
WEIR_CLONES(N(subtract), (void *to, void *from, size_t n, const struct morphrec_recipe *p),
	    (to, from, n, p))
{
	const T *restrict f = from, most = (T)p->most;
	T *restrict J = to;

	for (size_t i = 0; i < n; i++) {
		const T d = (T)(IN(f[i], p->map) - IN(J[i], p->map));
		J[i] = d < most ? d : most;
	}
}

/* J becomes yes where J is below f. If all of f is at the floor, where no marker can be lower, all of J becomes yes. */
WEIR_CLONES(N(below), (void *to, void *from, size_t n, const struct morphrec_recipe *p),
	    (to, from, n, p))
{
	const T *restrict f = from, yes = (T)p->yes, no = (T)p->no, floor = (T)p->floor;
	T *restrict J = to, odd = p->odd;

	for (size_t i = 0; i < n; i++)
		odd |= (T)(IN(f[i], p->map) ^ floor);
	for (size_t i = 0; i < n; i++) {
		const T k = IN(f[i], p->map), wall = f[i];
		const bool is_wall = p->map.real && !k;
		J[i] = is_wall ? wall : !odd || IN(J[i], p->map) < k ? yes : no;
	}
}
