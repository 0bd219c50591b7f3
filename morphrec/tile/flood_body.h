/* The flood of morphrec.c for one element type. This file is a template: see by_type.h. */

/* Pixels that have risen but have not raised their neighbours yet, in the tile's coordinates. */
struct N(wait) {
	int n;
	struct N(risen) {
		int x, y, z;
		T key;
	} v[FLOOD_WAITING];
};

/* Pixel x, y, z rose to key. It is queued, or told to the neighbouring tile that owns it. False when the queue is full. */
static inline bool
N(note)(struct tile_job *o, struct N(wait) * w, int x, int y, int z, T key)
{
	const int dx = tile_side(&o->sx, x), dy = tile_side(&o->sy, y), dz = tile_side(&o->sz, z);

	if (dx | dy | dz) {
		o->tell(o->with, 9 * dz + 3 * dy + dx + 13, z - dz * (int)o->z.own,
			y - dy * (int)o->y.own, x - dx * (int)o->x.own, tile_level(o, key));
		return true;
	}
	if (w->n == FLOOD_WAITING)
		return false;
	w->v[w->n++] = (struct N(risen)){x, y, z, key};
	return true;
}

/* Raises pixel q of the array to *v = min(key, mask). Returns whether it rose. */
static inline bool
N(raise)(const struct tile_job *o, size_t q, T key, T *v)
{
	T *J = o->J;
	const T m = IN(((const T *)o->I)[q], o->map);

	*v = key < m ? key : m;
	if (IN(J[q], o->map) >= *v)
		return false;
	J[q] = OUT(*v, o->map);
	return true;
}

/* Prefetches pixels further on in the direction of neighbour k, for a corridor that crosses the rows. */
static inline void
N(foresee)(const struct tile_job *o, size_t q, const struct neighbour *k)
{
	const uintptr_t on = (q + (size_t)(FLOOD_AHEAD * k->at)) * sizeof(T);

	if (k->y | k->z) {
		__builtin_prefetch((const char *)((uintptr_t)o->J + on));
		__builtin_prefetch((const char *)((uintptr_t)o->I + on));
	}
}

/* Pixel p raises its neighbours. False when the queue is full; the row of the pixel that is left out is then added to rose. */
static inline bool
N(spread)(struct tile_job *o, struct N(wait) * w, const struct N(risen) * p, uint64_t *rose)
{
	const size_t at = place(o, p->x, p->y, p->z);
	const bool image = o->conn == 4 || o->conn == 8,
		   within = w->n + NEIGHBOURS <= FLOOD_WAITING && is_within(&o->sx, p->x) &&
			    is_within(&o->sy, p->y) && (image || is_within(&o->sz, p->z));
	T v;

	for (int i = 0; within && i < o->nears; i++) {
		const struct neighbour *k = &o->near[i];
		if (!N(raise)(o, at + (size_t)k->at, p->key, &v))
			continue;
		N(foresee)(o, at + (size_t)k->at, k);
		w->v[w->n++] = (struct N(risen)){p->x + k->x, p->y + k->y, p->z + k->z, v};
	}
	for (int i = 0; !within && i < o->nears; i++) {
		const struct neighbour *k = &o->near[i];
		const int x = p->x + k->x, y = p->y + k->y, z = p->z + k->z;
		if (!is_in(&o->sx, x) || !is_in(&o->sy, y) || !is_in(&o->sz, z) ||
		    !N(raise)(o, at + (size_t)k->at, p->key, &v))
			continue;
		N(foresee)(o, at + (size_t)k->at, k);
		if (!N(note)(o, w, x, y, z, v)) {
			rose[z] |= UINT64_C(1) << y;
			return false;
		}
	}
	return true;
}

/* Takes the highest pixel out of the queue. */
static inline struct N(risen) N(take)(struct N(wait) * w)
{
	int top = 0;

	for (int i = 1; i < w->n; i++)
		top = w->v[i].key > w->v[top].key ? i : top;
	const struct N(risen) p = w->v[top];
	w->v[top] = w->v[--w->n];
	return p;
}

static bool
N(flood)(struct tile_job *o, int width, const uint32_t *px, int n, uint64_t *rose)
{
	struct N(wait) w;
	bool all = true;

	w.n = 0;
	for (int i = 0; i < n; i++) {
		const int x = (int)px[i] % width, y = (int)px[i] / width % TILE_ROWS,
			  z = (int)px[i] / width / TILE_ROWS;
		N(note)(o, &w, x, y, z, IN(((const T *)o->J)[place(o, x, y, z)], o->map));
	}
	for (int steps = 0; all && w.n && steps < FLOOD_LENGTH; steps++) {
		const struct N(risen) p = N(take)(&w);
		all = N(spread)(o, &w, &p, rose);
		if (!all)
			rose[p.z] |= UINT64_C(1) << p.y;
	}
	for (int i = 0; i < w.n; i++)
		rose[w.v[i].z] |= UINT64_C(1) << w.v[i].y;
	return all && !w.n;
}
