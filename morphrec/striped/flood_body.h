/* The flood of flood.c for one element type, a template: see four_body.h. */

/* Pixels that have risen and not spread yet, in the tile's coordinates. */
struct N(wait) {
	int n;
	struct N(risen) {
		int x, y, z;
		T key;
	} v[FLOOD_WAITING];
};

/* Pixel x, y, z rose to key: it waits its turn, or is owed to the neighbour whose it is. False: too many wait. */
static inline bool
N(note)(struct striped_job *o, struct N(wait) * w, int x, int y, int z, T key)
{
	const int dx = side(&o->sx, x), dy = side(&o->sy, y), dz = side(&o->sz, z);

	if (dx | dy | dz) {
		o->owe(o->with, 9 * dz + 3 * dy + dx + 13, z - dz * (int)o->z.own,
		       y - dy * (int)o->y.own, x - dx * (int)o->x.own, striped_level(o, key));
		return true;
	}
	if (w->n == FLOOD_WAITING)
		return false;
	w->v[w->n++] = (struct N(risen)){x, y, z, key};
	return true;
}

/* Pixel p raises its neighbours. False: more wait than there is room for; the row of the one left out is in rose. */
static inline bool
N(spread)(struct striped_job *o, struct N(wait) * w, const struct near *to, int n,
	  const struct N(risen) * p, uint64_t *rose)
{
	const size_t at =
	    ((size_t)(o->sz.at + p->z) * o->y.n + (size_t)(o->sy.at + p->y)) * o->x.n +
	    (size_t)(o->sx.at + p->x);
	T *J = o->J;
	const T *I = o->I;

	for (int k = 0; k < n; k++) {
		const int x = p->x + to[k].x, y = p->y + to[k].y, z = p->z + to[k].z;
		if (!is_in(&o->sx, x) || !is_in(&o->sy, y) || !is_in(&o->sz, z))
			continue;
		const size_t q = at + (size_t)to[k].at;
		const T m = IN(I[q], o->map), v = p->key < m ? p->key : m;
		if (IN(J[q], o->map) >= v)
			continue;
		J[q] = OUT(v, o->map);
		if (to[k].at * to[k].at > 1) {
			__builtin_prefetch(
			    (const char *)((uintptr_t)(J + q) +
					   (uintptr_t)(FLOOD_AHEAD * to[k].at) * sizeof(T)));
			__builtin_prefetch(
			    (const char *)((uintptr_t)(I + q) +
					   (uintptr_t)(FLOOD_AHEAD * to[k].at) * sizeof(T)));
		}
		if (!N(note)(o, w, x, y, z, v)) {
			rose[z] |= UINT64_C(1) << y;
			return false;
		}
	}
	return true;
}

static bool
N(flood)(struct striped_job *o, int width, const uint32_t *px, int n, uint64_t *rose)
{
	struct near to[FLOOD_NEAR];
	const int near = list_near(o, to);
	struct N(wait) w = {.n = 0};
	struct N(risen) p;
	int steps = 0;
	bool all = true;

	for (int i = 0; i < n; i++) {
		const int x = (int)px[i] % width, y = (int)px[i] / width % STRIPED_ROWS,
			  z = (int)px[i] / width / STRIPED_ROWS;
		const size_t at =
		    ((size_t)(o->sz.at + z) * o->y.n + (size_t)(o->sy.at + y)) * o->x.n +
		    (size_t)(o->sx.at + x);
		N(note)(o, &w, x, y, z, IN(((const T *)o->J)[at], o->map));
	}
	while (all && w.n) {
		int top = 0;
		for (int i = 1; i < w.n; i++)
			top = w.v[i].key > w.v[top].key ? i : top;
		p = w.v[top];
		if (steps++ == FLOOD_LENGTH)
			break;
		w.v[top] = w.v[--w.n];
		all = N(spread)(o, &w, to, near, &p, rose);
		if (!all)
			rose[p.z] |= UINT64_C(1) << p.y;
	}
	for (int i = 0; i < w.n; i++)
		rose[w.v[i].z] |= UINT64_C(1) << w.v[i].y;
	return all && !w.n;
}
