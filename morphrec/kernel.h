/*
 * The kernels of the tile engine for one element type, a template. The including file defines
 *
 *	T, BITS		the unsigned element and its width
 *	N(name)		the name of an instance
 *	TARGET		the function attribute of the instruction set
 *	V, LANE		a vector register, and its number of 16-byte lanes
 *	v_load v_store v_zero v_or v_note(z, a, b): z | a ^ b, v_lanes(v), max, min, prev(a, b), next(b, c), lo, hi(a, b) by BITS
 *	v_load_lanes(p, step)	lane g from the 16 bytes at p + g * step
 *
 * prev(a, b) is b one element later, the last of a coming in first; next(b, c) is b one element earlier. lo and hi
 * interleave the elements of each 16-byte lane.
 */
enum {
	N(PER_LANE) = 128 / BITS,
	N(PER_V) = LANE * N(PER_LANE),
	N(NV) = TILE / N(PER_V), /* vectors in a row of a tile */
	N(LEVELS) = BITS == 8	 ? 4
		    : BITS == 16 ? 3
		    : BITS == 32 ? 2
				 : 1 /* log2 PER_LANE */
};

/* A 64 x 64 tile: rows of elements, one behind the other. */
struct N(tile) {
	_Alignas(64) T a[TILE][TILE];
};

/*
 * Where a sweep changed a tile: of each block of PER_V rows, the strips of PER_LANE columns, a bit each. A row of blocks
 * is a vector of columns of the transpose, so what is 0 here need not be swept there.
 */
struct N(risen) {
	uint32_t strips[N(NV)];
};

static inline bool
N(any)(const struct N(risen) * r)
{
	uint32_t all = 0;

	for (int k = 0; k < N(NV); k++)
		all |= r->strips[k];
	return all != 0;
}

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
N(transpose)(struct N(tile) *restrict to, const struct N(tile) *restrict from,
	     const struct N(risen) * risen)
{
	for (int k = 0; k < N(NV); k++)
		for (uint32_t strips = risen->strips[k]; strips; strips &= strips - 1) {
			const int y = k * N(PER_V), x = __builtin_ctz(strips) * N(PER_LANE);
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
static TARGET struct N(risen) N(sweep)(struct N(tile) *restrict j, const struct N(tile) *restrict m,
				       const struct N(risen) * of)
{
	struct N(risen) risen = {{0}};

	for (int k = 0; k < N(NV); k++) {
		const int x = k * N(PER_V);
		V d = v_zero(), u = v_zero();
		for (int b = 0; of->strips[k] && b < N(NV); b++) {
			V zd = v_zero(), zu = v_zero();
			for (int y = b * N(PER_V); y < (b + 1) * N(PER_V); y++) {
				T *jd = &j->a[y][x], *ju = &j->a[TILE - 1 - y][x];
				const V od = v_load(jd);
				d = v_min(BITS)(v_load(&m->a[y][x]), v_max(BITS)(od, d));
				zd = v_note(zd, od, d);
				v_store(jd, d);
				const V ou = v_load(ju);
				u = v_min(BITS)(v_load(&m->a[TILE - 1 - y][x]), v_max(BITS)(ou, u));
				zu = v_note(zu, ou, u);
				v_store(ju, u);
			}
			risen.strips[b] |= v_lanes(zd) << k * LANE;
			risen.strips[N(NV) - 1 - b] |= v_lanes(zu) << k * LANE;
		}
	}
	return risen;
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
static inline TARGET void
N(row)(T *restrict j, const T *restrict m, V c[N(NV)], V z[N(NV)], bool diagonal, int steps)
{
	V w[N(NV)];

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
		z[k] = v_note(z[k], v_load(j + k * N(PER_V)), c[k]);
		v_store(j + k * N(PER_V), c[k]);
	}
}

/* As sweep, by rows. A pixel raised going up may still owe one below or beside it: not a fixpoint by itself. */
static inline TARGET struct N(risen)
    N(sweep_rows)(struct N(tile) *restrict j, const struct N(tile) *restrict m, bool diagonal,
		  int steps)
{
	struct N(risen) risen = {{0}};
	V d[N(NV)], u[N(NV)];

	for (int k = 0; k < N(NV); k++)
		d[k] = u[k] = v_zero();
	for (int b = 0; b < N(NV); b++) {
		V zd[N(NV)], zu[N(NV)];
		for (int k = 0; k < N(NV); k++)
			zd[k] = zu[k] = v_zero();
		for (int y = b * N(PER_V); y < (b + 1) * N(PER_V); y++) {
			N(row)(j->a[y], m->a[y], d, zd, diagonal, steps);
			N(row)(j->a[TILE - 1 - y], m->a[TILE - 1 - y], u, zu, diagonal, steps);
		}
		for (int k = 0; k < N(NV); k++) {
			risen.strips[b] |= v_lanes(zd[k]) << k * LANE;
			risen.strips[N(NV) - 1 - b] |= v_lanes(zu[k]) << k * LANE;
		}
	}
	return risen;
}

static TARGET struct N(risen)
    N(sweep_diagonal)(struct N(tile) *restrict j, const struct N(tile) *restrict m)
{
	return N(sweep_rows)(j, m, true, 0);
}

static TARGET struct N(risen)
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
N(keys_out)(T *restrict to, const T *restrict from, int n, struct key_map map)
{
	const struct key_map real = {map.flip, true}, integer = {map.flip, false};

	for (int i = 0; map.real && i < n; i++)
		to[i] = CAT(CAT(key, BITS), _out)(from[i], real);
	for (int i = 0; !map.real && i < n; i++)
		to[i] = CAT(CAT(key, BITS), _out)(from[i], integer);
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

/* The tile's own pixels back into J. */
static TARGET void
N(save)(const struct tile_job *job, const struct N(place) * p, const struct N(tile) *restrict j)
{
	const int n = (p->r < TILE ? p->r : TILE - 1) - 1;

	for (int y = 1; y < TILE - 1 && y < p->b; y++) {
		T *row = (T *)job->J + (size_t)(p->y + y) * job->w + (size_t)(p->x + 1);
		if (n == TILE_OWN)
			N(keys_out)(row, &j->a[y][1], TILE_OWN, job->map);
		else
			N(keys_out)(row, &j->a[y][1], n, job->map);
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
 * Sweeps to the fixpoint, of j and its transpose jt: the latter, and that of m, are made here, and current at the end if
 * anything rose. Along the rows a sweep leaves a fixpoint; a sweep across them that then changes nothing ends it, and, when
 * that one was of columns alone, so does one along the rows after it. Stairs rise by a step a round: where four rounds were
 * not enough, sweeps across take a step aside too.
 */
static TARGET bool
N(fixpoint)(struct N(tile) *restrict j, const struct N(tile) *restrict m,
	    struct N(tile) *restrict jt, struct N(tile) *restrict mt, bool diagonal)
{
	struct N(risen) all, along, across;
	bool any;

	for (int k = 0; k < N(NV); k++)
		all.strips[k] = UINT32_MAX >> (32 - N(NV) * LANE);
	across = diagonal ? N(sweep_diagonal)(j, m) : N(sweep)(j, m, &all);
	any = N(any)(&across);
	N(transpose)(jt, j, &all);
	N(transpose)(mt, m, &all);
	across = all;
	for (int round = 0;; round++) {
		const bool stairs = round >= 4;
		along = N(sweep)(jt, mt, &across);
		if (N(any)(&along))
			N(transpose)(j, jt, &along);
		else if (!diagonal && !stairs)
			return any;
		across = stairs	    ? N(sweep_stairs)(j, m, diagonal)
			 : diagonal ? N(sweep_diagonal)(j, m)
				    : N(sweep)(j, m, &along);
		any |= N(any)(&along) || N(any)(&across);
		if (!N(any)(&across))
			return any;
		N(transpose)(jt, j, &across);
	}
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
