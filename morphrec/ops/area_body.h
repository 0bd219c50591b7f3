/* Area opening for one element type. This file is a template: see four_body.h. */

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
	const uint32_t r = find_root(t, q);

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
