/*
 * A visit for one element type, a template that goes on where kernel.h ends: a tile and its ring as keys, what its
 * neighbours are owed, and what a slice pours into the next.
 */
/* Where a tile with its ring lies: its first pixel, and the part [l, r) x [t, b) of it that is in the picture. */
struct N(place) {
	ptrdiff_t x, y;
	int l, r, t, b;
};

static inline struct N(place) N(place_of)(const struct tile_job *job, size_t tx, size_t ty)
{
	struct N(place) p = {.x = (ptrdiff_t)(tx * TILE_OWN) - 1,
			     .y = (ptrdiff_t)(ty * TILE_OWN) - 1,
			     .l = tx == 0,
			     .t = ty == 0};
	const ptrdiff_t r = (ptrdiff_t)job->w - p.x, b = (ptrdiff_t)job->h - p.y;

	p.r = r < TILE ? (int)r : TILE;
	p.b = b < TILE ? (int)b : TILE;
	return p;
}

/*
 * n samples to keys, and keys to samples: whole rows go with a constant n, and floats apart from integers, so that the
 * loops are whole vectors without branches.
 */
static inline TARGET __attribute__((always_inline)) void
N(keys_in)(T *restrict to, const T *restrict from, int n, struct key_map map)
{
	const struct key_map real = {map.flip, true}, integer = {map.flip, false};

	for (int i = 0; map.real && i < n; i++)
		to[i] = CAT(CAT(key, BITS), _in)(from[i], real);
	for (int i = 0; !map.real && i < n; i++)
		to[i] = CAT(CAT(key, BITS), _in)(from[i], integer);
}

static inline TARGET __attribute__((always_inline)) void
N(keys_out)(T *a, int n, struct key_map map)
{
	const struct key_map real = {map.flip, true}, integer = {map.flip, false};

	for (int i = 0; map.real && i < n; i++)
		a[i] = CAT(CAT(key, BITS), _out)(a[i], real);
	for (int i = 0; !map.real && map.flip && i < n; i++)
		a[i] = CAT(CAT(key, BITS), _out)(a[i], integer);
}

/* The keys of array from (J or I) over a tile and its ring; 0 outside the picture. */
static TARGET void
N(load)(const struct tile_job *job, const T *from, const struct N(place) * p,
	struct N(tile) *restrict to)
{
	const bool whole = p->r - p->l == TILE && p->b - p->t == TILE;
	const size_t w = job->w;
	const T *row = from + (size_t)(p->y + p->t) * w + (size_t)(p->x + p->l);

	if (whole) {
		for (int y = 0; y < TILE; y++)
			N(keys_in)(to->a[y], row + (size_t)y * w, TILE, job->map);
		return;
	}
	memset(to, 0, sizeof *to);
	for (int y = p->t; y < p->b; y++, row += w)
		N(keys_in)(&to->a[y][p->l], row, p->r - p->l, job->map);
}

/*
 * The tile's own pixels back into J; j is used up. Copies of known length are two or four moves that overlap: 218 -> 100 ns
 * for bytes. (Where rows are 4096 bytes apart all lie in the same sets of the first-level cache: 560 -> 520.)
 */
static TARGET void
N(save)(const struct tile_job *job, const struct N(place) * p, struct N(tile) *restrict j)
{
	const int n = (p->r < TILE ? p->r : TILE - 1) - 1;

	for (int y = 1; y < TILE - 1 && y < p->b; y++) {
		T *row = (T *)job->J + (size_t)(p->y + y) * job->w + (size_t)(p->x + 1);
		N(keys_out)(j->a[y], TILE, job->map);
		if (n == TILE_OWN)
			memcpy(row, &j->a[y][1], TILE_OWN * sizeof *row);
		else
			memcpy(row, &j->a[y][1], (size_t)n * sizeof *row);
	}
}

/* To debt what raised pixel px of the neighbour to key. */
static inline void
N(owe)(const struct tile_job *job, struct tile_debt *d, int px, T key)
{
	uint8_t l = tile_level(job, key);

	d->level = l > d->level ? l : d->level;
	if (d->n < TILE_FEW)
		d->px[d->n++] = (uint16_t)px;
	else
		d->n = TILE_FULL;
}

/*
 * One side of the ring, was -> is: its ends belong to the corners lc and rc, the rest to neighbour mid. at and step: its
 * pixels in the tile of mid, by their index in the side; a corner's pixel is the corner of the neighbour's own part.
 */
static TARGET void
N(owe_side)(struct tile_job *job, const T *restrict was, const T *restrict is, int mid, int at,
	    int step)
{
	struct tile_debt *d = &job->owed[mid];
	T rose[TILE], top = 0, n = 0;

	/* The ends are left out below, so that these loops are whole vectors: settling 3.0 -> 1.1 ms of an h-dome of 4096 x 4096. */
	for (int i = 0; i < TILE; i++)
		rose[i] = was[i] != is[i] ? is[i] : 0;
	rose[0] = rose[TILE - 1] = 0;
	for (int i = 0; i < TILE; i++) {
		top = rose[i] > top ? rose[i] : top;
		n = (T)(n + (rose[i] != 0));
	}
	if (n > TILE_FEW) {
		const uint8_t l = tile_level(job, top);
		d->level = l > d->level ? l : d->level;
		d->n = TILE_FULL;
		return;
	}
	for (int i = 1; n && i < TILE - 1; i++)
		if (rose[i])
			N(owe)(job, d, at + i * step, rose[i]);
}

/* What the risen ring owes whom. was and wast: the rows 0 and 63 of the tile before, and of its transpose. */
static TARGET void
N(settle)(struct tile_job *job, T was[4][TILE], const struct N(tile) * j, const struct N(tile) * jt)
{
	enum { LAST = TILE - 2 }; /* last own row or column */

	N(owe_side)(job, was[0], j->a[0], 1, LAST * TILE, 1);
	N(owe_side)(job, was[1], j->a[TILE - 1], 7, TILE, 1);
	N(owe_side)(job, was[2], jt->a[0], 3, LAST, TILE);
	N(owe_side)(job, was[3], jt->a[TILE - 1], 5, 1, TILE);
	if (!job->diagonal)
		return;
	if (was[0][0] != j->a[0][0])
		N(owe)(job, &job->owed[0], LAST * TILE + LAST, j->a[0][0]);
	if (was[0][TILE - 1] != j->a[0][TILE - 1])
		N(owe)(job, &job->owed[2], LAST * TILE + 1, j->a[0][TILE - 1]);
	if (was[1][0] != j->a[TILE - 1][0])
		N(owe)(job, &job->owed[6], TILE + LAST, j->a[TILE - 1][0]);
	if (was[1][TILE - 1] != j->a[TILE - 1][TILE - 1])
		N(owe)(job, &job->owed[8], TILE + 1, j->a[TILE - 1][TILE - 1]);
}

/* The first and the last column of the tile as J still has them, the pixels of neighbours. */
static inline void
N(old_columns)(const struct tile_job *job, const struct N(place) * p, T *restrict first,
	       T *restrict last)
{
	const T *row = (const T *)job->J + (size_t)(p->y + p->t) * job->w + (size_t)p->x;

	memset(first, 0, TILE * sizeof *first);
	memset(last, 0, TILE * sizeof *last);
	for (int y = p->t; y < p->b; y++, row += job->w) {
		if (!p->l)
			first[y] = CAT(CAT(key, BITS), _in)(row[0], job->map);
		if (p->r == TILE)
			last[y] = CAT(CAT(key, BITS), _in)(row[TILE - 1], job->map);
	}
}

static TARGET void
N(visit)(struct tile_job *job, size_t tx, size_t ty)
{
	const struct N(place) p = N(place_of)(job, tx, ty);
	struct N(tile) j, m, jt, mt;
	_Alignas(64) T was[4][TILE];

	job->changed = false;
	N(load)(job, job->J, &p, &j);
	N(load)(job, job->I, &p, &m);
	memcpy(was[0], j.a[0], sizeof was[0]);
	memcpy(was[1], j.a[TILE - 1], sizeof was[0]);
	for (int k = 0; k < 9; k++)
		job->owed[k].level = job->owed[k].n = 0;
	if (!N(fixpoint)(&j, &m, &jt, &mt, job->diagonal))
		return;
	N(old_columns)(job, &p, was[2], was[3]);
	N(settle)(job, was, &j, &jt);
	job->changed = true;
	N(save)(job, &p, &j);
}

/* For N(pour): the largest of the neighbours in the other slice, c and its ring, of row y. */
static inline TARGET void
N(dilate_row)(const struct N(tile) *restrict c, int y, enum tile_pour how, T *restrict to)
{
	for (int x = 1; x < TILE - 1; x++) {
		T v = c->a[y][x];
		if (how != POUR_6)
			for (int k = -1; k <= 1; k += 2) {
				v = c->a[y][x + k] > v ? c->a[y][x + k] : v;
				v = c->a[y + k][x] > v ? c->a[y + k][x] : v;
			}
		if (how == POUR_26)
			for (int k = -1; k <= 1; k += 2) {
				v = c->a[y + k][x - 1] > v ? c->a[y + k][x - 1] : v;
				v = c->a[y + k][x + 1] > v ? c->a[y + k][x + 1] : v;
			}
		to[x] = v;
	}
}

static TARGET uint8_t
N(pour)(struct tile_job *job, const void *from, enum tile_pour how, size_t tx, size_t ty)
{
	const struct N(place) p = N(place_of)(job, tx, ty);
	struct N(tile) c, j, m;
	T top = 0;

	N(load)(job, from, &p, &c);
	N(load)(job, job->J, &p, &j);
	N(load)(job, job->I, &p, &m);
	for (int y = 1; y < TILE - 1; y++) {
		T v[TILE];
		N(dilate_row)(&c, y, how, v);
		for (int x = 1; x < TILE - 1; x++) {
			const T w = v[x] < m.a[y][x] ? v[x] : m.a[y][x], o = j.a[y][x];
			j.a[y][x] = w > o ? w : o;
			top = w > o && w > top ? w : top;
		}
	}
	if (!top)
		return 0;
	N(save)(job, &p, &j);
	return tile_level(job, top);
}

#undef T
#undef BITS
#undef N
