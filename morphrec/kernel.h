/*
 * The kernels of the tile engine for one element type, a template. The including file defines
 *
 *	T, BITS		the unsigned element and its width
 *	N(name)		the name of an instance
 *	TARGET		the function attribute of the instruction set
 *	V, LANE		a vector register, and its number of 16-byte lanes
 *	v_load v_store v_zero v_or v_note(z, a, b): z | a ^ b, v_any(v), max, min, prev(a, b), next(b, c), lo, hi(a, b) by BITS
 *	v_load_lanes(p, step)	lane g from the 16 bytes at p + g * step
 *
 * prev(a, b) is b one element later, the last of a coming in first; next(b, c) is b one element earlier. lo and hi
 * interleave the elements of each 16-byte lane.
 */
enum {
	N(PER_LANE) = 128 / BITS,
	N(PER_V) = LANE * N(PER_LANE),
	N(NV) = TILE / N(PER_V),      /* vectors in a row of a tile */
	N(GROUP) = N(NV) < 2 ? 1 : 2, /* vectors that a sweep takes at a time */
	N(LEVELS) = BITS == 8	 ? 4
		    : BITS == 16 ? 3
		    : BITS == 32 ? 2
				 : 1 /* log2 PER_LANE */
};

/* A 64 x 64 tile: rows of elements, one behind the other. */
struct N(tile) {
	_Alignas(64) T a[TILE][TILE];
};

/* Transposes a block of PER_LANE rows; each lane of the vectors is a block of its own. */
static inline TARGET void
N(transpose_lanes)(V r[N(PER_LANE)])
{
	V s[N(PER_LANE)];

	for (int l = 0; l < N(LEVELS); l++) {
		for (int i = 0; i < N(PER_LANE) / 2; i++) {
			s[2 * i] = v_lo(BITS)(r[i], r[i + N(PER_LANE) / 2]);
			s[2 * i + 1] = v_hi(BITS)(r[i], r[i + N(PER_LANE) / 2]);
		}
		for (int i = 0; i < N(PER_LANE); i++)
			r[i] = s[i];
	}
}

/*
 * Lane g of a vector is taken from the rows of block g, so that only the blocks are left to transpose: by loads that insert
 * a lane, since shuffles across lanes wait for the one port that has them (Intel: 150 -> 113 ns for bytes).
 */
static TARGET void
N(transpose)(struct N(tile) *restrict to, const struct N(tile) *restrict from)
{
	for (int y = 0; y < TILE; y += N(PER_V))
		for (int x = 0; x < TILE; x += N(PER_LANE)) {
			V r[N(PER_LANE)];
			for (int i = 0; i < N(PER_LANE); i++)
				r[i] = v_load_lanes(&from->a[y + i][x],
						    sizeof from->a[0] * N(PER_LANE));
			N(transpose_lanes)(r);
			for (int i = 0; i < N(PER_LANE); i++)
				v_store(&to->a[x + i][y], r[i]);
		}
}

/*
 * Down and up at once, the 4-neighbours of a column: c = min(I, max(J, c)). The two chains cross in the middle, each
 * going on over what the other left, so that neither waits for the other; that is the fixpoint along the column.
 */
static TARGET bool
N(sweep)(struct N(tile) *restrict j, const struct N(tile) *restrict m)
{
	V z = v_zero();

	for (int x = 0; x < TILE; x += N(GROUP) * N(PER_V)) {
		V d[N(GROUP)], u[N(GROUP)];
		for (int g = 0; g < N(GROUP); g++)
			d[g] = u[g] = v_zero();
		for (int y = 0; y < TILE; y++)
			for (int g = 0; g < N(GROUP); g++) {
				T *jd = &j->a[y][x + g * N(PER_V)],
				  *ju = &j->a[TILE - 1 - y][x + g * N(PER_V)];
				V od = v_load(jd);
				d[g] = v_min(BITS)(v_load(&m->a[y][x + g * N(PER_V)]),
						   v_max(BITS)(od, d[g]));
				z = v_note(z, od, d[g]);
				v_store(jd, d[g]);
				V ou = v_load(ju);
				u[g] = v_min(BITS)(v_load(&m->a[TILE - 1 - y][x + g * N(PER_V)]),
						   v_max(BITS)(ou, u[g]));
				z = v_note(z, ou, u[g]);
				v_store(ju, u[g]);
			}
	}
	return v_any(z);
}

/* The largest of each element of c and its two neighbours in the row. */
static inline TARGET void
N(widen)(const V c[N(NV)], V to[N(NV)])
{
	for (int k = 0; k < N(NV); k++) {
		const V before = k ? c[k - 1] : v_zero(),
			after = k + 1 < N(NV) ? c[k + 1] : v_zero();
		to[k] = v_max(BITS)(
		    c[k], v_max(BITS)(v_prev(BITS)(before, c[k]), v_next(BITS)(c[k], after)));
	}
}

/*
 * A row of a chain: c is the row before, and becomes this row. diagonal: the row takes from three pixels of it, not one.
 * steps: pixels that may spread along the row at once.
 */
static inline TARGET V
N(row)(T *restrict j, const T *restrict m, V c[N(NV)], bool diagonal, int steps)
{
	V z = v_zero(), w[N(NV)];

	if (diagonal)
		N(widen)(c, w);
	for (int k = 0; k < N(NV); k++) {
		const V o = v_load(j + k * N(PER_V));
		c[k] =
		    v_min(BITS)(v_load(m + k * N(PER_V)), v_max(BITS)(o, diagonal ? w[k] : c[k]));
	}
	for (int s = 0; s < steps; s++) {
		N(widen)(c, w);
		for (int k = 0; k < N(NV); k++)
			c[k] = v_min(BITS)(v_load(m + k * N(PER_V)), w[k]);
	}
	for (int k = 0; k < N(NV); k++) {
		z = v_note(z, v_load(j + k * N(PER_V)), c[k]);
		v_store(j + k * N(PER_V), c[k]);
	}
	return z;
}

/* As sweep, by rows. A pixel raised going up may still owe one below or beside it: not a fixpoint by itself. */
static inline TARGET bool
N(sweep_rows)(struct N(tile) *restrict j, const struct N(tile) *restrict m, bool diagonal,
	      int steps)
{
	V z = v_zero(), d[N(NV)], u[N(NV)];

	for (int k = 0; k < N(NV); k++)
		d[k] = u[k] = v_zero();
	for (int y = 0; y < TILE; y++) {
		z = v_or(z, N(row)(j->a[y], m->a[y], d, diagonal, steps));
		z = v_or(z, N(row)(j->a[TILE - 1 - y], m->a[TILE - 1 - y], u, diagonal, steps));
	}
	return v_any(z);
}

static TARGET bool
N(sweep_diagonal)(struct N(tile) *restrict j, const struct N(tile) *restrict m)
{
	return N(sweep_rows)(j, m, true, 0);
}

static TARGET bool
N(sweep_stairs)(struct N(tile) *restrict j, const struct N(tile) *restrict m, bool diagonal)
{
	return diagonal ? N(sweep_rows)(j, m, true, 1) : N(sweep_rows)(j, m, false, 1);
}

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

/* The loops are written out for floats and for integers, so that they have no branches. */
static TARGET void
N(keys_in)(T *restrict a, int n, struct key_map map)
{
	const struct key_map real = {map.flip, true}, integer = {map.flip, false};

	for (int i = 0; map.real && i < n; i++)
		a[i] = CAT(CAT(key, BITS), _in)(a[i], real);
	for (int i = 0; !map.real && i < n; i++)
		a[i] = CAT(CAT(key, BITS), _in)(a[i], integer);
}

static TARGET void
N(keys_out)(T *restrict a, int n, struct key_map map)
{
	const struct key_map real = {map.flip, true}, integer = {map.flip, false};

	for (int i = 0; map.real && i < n; i++)
		a[i] = CAT(CAT(key, BITS), _out)(a[i], real);
	for (int i = 0; !map.real && i < n; i++)
		a[i] = CAT(CAT(key, BITS), _out)(a[i], integer);
}

/* The keys of array from (J or I) over a tile and its ring; 0 outside the picture. */
static TARGET void
N(load)(const struct tile_job *job, const T *from, const struct N(place) * p,
	struct N(tile) *restrict to)
{
	const bool plain = !job->map.real && !job->map.flip,
		   whole = p->r - p->l == TILE && p->b - p->t == TILE;
	const size_t w = job->w;
	const T *row = from + (size_t)(p->y + p->t) * w + (size_t)(p->x + p->l);

	if (whole) {
		for (int y = 0; y < TILE; y++)
			memcpy(to->a[y], row + (size_t)y * w, sizeof to->a[y]);
		if (!plain)
			N(keys_in)(to->a[0], TILE * TILE, job->map);
		return;
	}
	memset(to, 0, sizeof *to);
	for (int y = p->t; y < p->b; y++, row += w) {
		memcpy(&to->a[y][p->l], row, (size_t)(p->r - p->l) * sizeof *row);
		if (!plain)
			N(keys_in)(&to->a[y][p->l], p->r - p->l, job->map);
	}
}

/* The tile's own pixels back into J. */
static TARGET void
N(save)(const struct tile_job *job, const struct N(place) * p, struct N(tile) *restrict j)
{
	const bool plain = !job->map.real && !job->map.flip;
	const int n = (p->r < TILE ? p->r : TILE - 1) - 1;

	for (int y = 1; y < TILE - 1 && y < p->b; y++) {
		if (!plain)
			N(keys_out)(&j->a[y][1], n, job->map);
		T *row = (T *)job->J + (size_t)(p->y + y) * job->w + (size_t)(p->x + 1);
		if (n == TILE_OWN)
			memcpy(row, &j->a[y][1], TILE_OWN * sizeof(T));
		else
			memcpy(row, &j->a[y][1], (size_t)n * sizeof(T));
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

/*
 * Sweeps to the fixpoint, j and its transpose jt both current at the end. Along the rows a sweep leaves a fixpoint; a
 * sweep across them that then changes nothing ends it, and, when that one was of columns alone, so does one along the
 * rows after it. Stairs rise by a step a round: where four rounds were not enough, sweeps across take a step aside too.
 */
static TARGET bool
N(fixpoint)(struct N(tile) *restrict j, const struct N(tile) *restrict m,
	    struct N(tile) *restrict jt, const struct N(tile) *restrict mt, bool diagonal)
{
	bool any = false;

	for (int round = 0;; round++) {
		const bool stairs = round >= 4, along = N(sweep)(jt, mt);
		any |= along;
		if (along)
			N(transpose)(j, jt);
		else if (round && !diagonal && !stairs)
			return any;
		const bool across = stairs     ? N(sweep_stairs)(j, m, diagonal)
				    : diagonal ? N(sweep_diagonal)(j, m)
					       : N(sweep)(j, m);
		any |= across;
		if (!across)
			return any;
		N(transpose)(jt, j);
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
	N(transpose)(&jt, &j);
	N(transpose)(&mt, &m);
	memcpy(was[0], j.a[0], sizeof was[0]);
	memcpy(was[1], j.a[TILE - 1], sizeof was[0]);
	memcpy(was[2], jt.a[0], sizeof was[0]);
	memcpy(was[3], jt.a[TILE - 1], sizeof was[0]);
	for (int k = 0; k < 9; k++)
		job->owed[k].level = job->owed[k].n = 0;
	if (!N(fixpoint)(&j, &m, &jt, &mt, job->diagonal))
		return;
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
