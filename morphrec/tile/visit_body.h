/* A visit for one element type: see engine.h. This file is a template and follows row_body.h. */

/* The current tile: its rows, and flags of rows. Bit y of word z + 1 is for row y of slice z. */
struct N(tile) {
	struct tile_job *job;
	V *j, *m; /* row y of slice z stands at ((z + 1) * pitch + y + 1) * 4 */
	ptrdiff_t pitch;
	size_t width, height; /* of the array: J[(z * height + y) * width + x] */
	uint64_t rows;	      /* rows that lie in the array */
	uint64_t whole; /* those whose WIDTH samples can all be read; some may be of the next row */
	V inside[4];	/* bits of the samples of a row that lie in it, in the order of the array */
	uint64_t ahead[TILE_DEPTH + 2], back[TILE_DEPTH + 2]; /* due in a sweep down, up */
	uint64_t loaded[TILE_DEPTH + 2], rose[TILE_DEPTH + 2];
};

INLINE ptrdiff_t
N(row_at)(const struct N(tile) * t, int z, int y)
{
	return ((z + 1) * t->pitch + y + 1) * TILE_VECTORS;
}

/* Returns the pixel of the array at x = 0 of row y, slice z of the tile. It may lie outside the array. */
INLINE ptrdiff_t
N(pixel_at)(const struct N(tile) * t, int z, int y)
{
	const struct tile_job *o = t->job;

	return ((o->sz.at + z) * (ptrdiff_t)t->height + o->sy.at + y) * (ptrdiff_t)t->width +
	       o->sx.at;
}

/* Map n samples to keys, and back. Floats and integers have loops of their own, without branches, which are vectorised. */
INLINE void
N(keys_in)(T *restrict to, const T *restrict from, int n, struct key_map map)
{
	const struct key_map real = {map.flip, true}, integer = {map.flip, false};

	for (int i = 0; map.real && i < n; i++)
		to[i] = CAT(CAT(key, BITS), _in)(from[i], real);
	for (int i = 0; !map.real && i < n; i++)
		to[i] = CAT(CAT(key, BITS), _in)(from[i], integer);
}

INLINE void
N(keys_out)(T *a, int n, struct key_map map)
{
	const struct key_map real = {map.flip, true}, integer = {map.flip, false};

	for (int i = 0; map.real && i < n; i++)
		a[i] = CAT(CAT(key, BITS), _out)(a[i], real);
	for (int i = 0; !map.real && i < n; i++)
		a[i] = CAT(CAT(key, BITS), _out)(a[i], integer);
}

/*
 * Loads a row of the array from x = 0 of the tile on, as keys. Keys outside the array are 0. whole: WIDTH samples can be read.
 * The loop that zeroes a row stands for a memset(): gcc 12 turns that into "rep stos", which takes longer than all the rest.
 */
INLINE void
N(load_keys)(const struct N(tile) * t, V to[4], const T *from, bool whole)
{
	const struct tile_job *o = t->job;
	const struct key_map real = {o->map.flip, true}, integer = {o->map.flip, false};
	const int begin = o->sx.begin, n = o->sx.end - begin;
	_Alignas(64) T row[N(WIDTH)];

	if (__builtin_expect(!whole, 0)) {
		for (int k = 0; k < 4; k++)
			((V *)row)[k] = v_zero();
		memcpy(row + begin, from + begin, (size_t)n * sizeof *row);
		from = row;
	}
	for (int k = 0; k < 4; k++)
		to[k] = v_load_lanes((const char *)from + 16 * k, 64);
	if (o->map.real)
		for (int k = 0; k < 4; k++)
			to[k] = CAT(keys, BITS)(to[k], real);
	else if (o->map.flip)
		for (int k = 0; k < 4; k++)
			to[k] = CAT(keys, BITS)(to[k], integer);
	if (n < N(WIDTH))
		for (int k = 0; k < 4; k++)
			to[k] &= t->inside[k];
	N(stripe)(to);
}

/*
 * Loads a row. Rows lie far apart, so the row four further on is prefetched, which saves 9 to 18 % of a run. It seldom begins
 * with a cache line, so that it has one line more than its bytes fill.
 */
static TARGET void
N(load_row)(struct N(tile) * t, int z, int y)
{
	enum { AHEAD = 4, LINE = 64 };
	const ptrdiff_t at = N(pixel_at)(t, z, y), r = N(row_at)(t, z, y),
			ahead = at + AHEAD * (ptrdiff_t)t->width;
	const T *J = (const T *)t->job->J + at, *I = (const T *)t->job->I + at;
	const bool whole = (t->whole >> y) & 1;

	t->loaded[z + 1] |= UINT64_C(1) << y;
	for (size_t i = 0; i <= N(WIDTH) * sizeof(T); i += LINE) {
		__builtin_prefetch(
		    (const char *)((uintptr_t)t->job->J + (uintptr_t)ahead * sizeof(T) + i));
		__builtin_prefetch(
		    (const char *)((uintptr_t)t->job->I + (uintptr_t)ahead * sizeof(T) + i));
	}
	N(load_keys)(t, t->j + r, J, whole);
	N(load_keys)(t, t->m + r, I, whole);
}

INLINE uint64_t
N(beside)(uint64_t bit, int conn)
{
	return conn == 6 ? bit : bit | bit << 1 | bit >> 1;
}

/* Notes that row y of slice z rose: rows after it and before it are due. */
INLINE void
N(mark)(struct N(tile) * t, int z, uint64_t bit, int conn)
{
	t->rose[z + 1] |= bit;
	t->ahead[z + 1] |= bit << 1;
	t->back[z + 1] |= bit >> 1;
	if (conn == 4 || conn == 8)
		return;
	t->ahead[z + 2] |= N(beside)(bit, conn);
	t->back[z] |= N(beside)(bit, conn);
}

/* Loads the rows that row y of slice z takes from on side s: -1 before it, 1 after it. */
INLINE void
N(need)(struct N(tile) * t, int z, int y, int s, int conn)
{
	const uint64_t bit = UINT64_C(1) << y, own = bit | (s < 0 ? bit >> 1 : bit << 1);

	for (uint64_t b = own & ~t->loaded[z + 1]; __builtin_expect(b != 0, 0); b &= b - 1)
		N(load_row)(t, z, __builtin_ctzll(b));
	if (conn == 4 || conn == 8)
		return;
	for (uint64_t b = N(beside)(bit, conn) & ~t->loaded[z + 1 + s]; __builtin_expect(b != 0, 0);
	     b &= b - 1)
		N(load_row)(t, z + s, __builtin_ctzll(b));
}

/*
 * Sweeps the due rows down and up until none is due. always: rows are not at their own fixpoints yet, and all are due in the
 * first sweep down.
 */
INLINE void
N(fixpoint)(struct N(tile) * t, int conn, bool always)
{
	const int begin = t->job->sz.begin, end = t->job->sz.end;
	const ptrdiff_t y_step = TILE_VECTORS, z_step = t->pitch * TILE_VECTORS;

	for (bool any = true; any; always = false) {
		any = false;
		for (int z = begin; z < end; z++)
			while (t->ahead[z + 1] &= t->rows) {
				const int y = __builtin_ctzll(t->ahead[z + 1]);
				const ptrdiff_t r = N(row_at)(t, z, y);
				t->ahead[z + 1] &= t->ahead[z + 1] - 1;
				N(need)(t, z, y, -1, conn);
				if (N(row)(t->j + r, t->m + r, -y_step, -z_step, conn, always))
					N(mark)(t, z, UINT64_C(1) << y, conn);
			}
		for (int z = end - 1; z >= begin; z--)
			while (t->back[z + 1] &= t->rows) {
				const int y = 63 - __builtin_clzll(t->back[z + 1]);
				const ptrdiff_t r = N(row_at)(t, z, y);
				t->back[z + 1] &= ~(UINT64_C(1) << y);
				N(need)(t, z, y, 1, conn);
				if (N(row)(t->j + r, t->m + r, y_step, z_step, conn, false)) {
					N(mark)(t, z, UINT64_C(1) << y, conn);
					any = true;
				}
			}
	}
}

static TARGET void
N(solve)(struct N(tile) * t, bool always)
{
	switch (t->job->conn) {
	case 4:
		N(fixpoint)(t, 4, always);
		break;
	case 8:
		N(fixpoint)(t, 8, always);
		break;
	case 6:
		N(fixpoint)(t, 6, always);
		break;
	case 18:
		N(fixpoint)(t, 18, always);
		break;
	default:
		N(fixpoint)(t, 26, always);
	}
}

/* Zeroes the rows beyond the array that others take from. They still hold rows of another tile. */
static TARGET void
N(clear_beyond)(struct N(tile) * t)
{
	const struct tile_span *y = &t->job->sy, *z = &t->job->sz;
	const size_t row = TILE_VECTORS * sizeof(V);

	for (int i = z->begin; i < z->end; i++) {
		memset(t->j + N(row_at)(t, i, y->begin - 1), 0, row);
		memset(t->j + N(row_at)(t, i, y->end), 0, row);
	}
	if (t->job->z.rim) {
		memset(t->j + N(row_at)(t, z->begin - 1, -1), 0, row * (size_t)t->pitch);
		memset(t->j + N(row_at)(t, z->end, -1), 0, row * (size_t)t->pitch);
	}
}

/*
 * Fills in inside and whole. Where a row of the array begins or ends within the tile, a load may take samples of the row
 * before or after it in the same slice. It takes none of another slice, where another thread may write.
 */
INLINE void
N(find_inside)(struct N(tile) * t)
{
	const struct tile_job *o = t->job;
	const ptrdiff_t w = (ptrdiff_t)t->width, h = (ptrdiff_t)t->height;
	_Alignas(64) T row[N(WIDTH)];

	for (int i = 0; i < N(WIDTH); i++)
		row[i] = i >= o->sx.begin && i < o->sx.end ? (T)-1 : 0;
	for (int k = 0; k < 4; k++)
		t->inside[k] = v_load_lanes((const char *)row + 16 * k, 64);
	t->whole = t->rows;
	if (o->sx.at < 0 && o->sy.at + o->sy.begin == 0)
		t->whole &= ~(UINT64_C(1) << o->sy.begin);
	if (o->sx.at + N(WIDTH) > w && o->sy.at + o->sy.end == h)
		t->whole &= ~(UINT64_C(1) << (o->sy.end - 1));
	if (w < N(WIDTH))
		t->whole = 0;
}

/* Loads all rows and makes all due. Returns whether any key of J is above 0. */
static TARGET bool
N(begin)(struct N(tile) * t)
{
	V any = v_zero();

	for (int z = t->job->sz.begin; z < t->job->sz.end; z++) {
		for (int y = t->job->sy.begin; y < t->job->sy.end; y++) {
			const V *j = t->j + N(row_at)(t, z, y);
			N(load_row)(t, z, y);
			any = v_or(any, v_or(v_or(j[0], j[1]), v_or(j[2], j[3])));
		}
		t->ahead[z + 1] = t->back[z + 1] = t->rows;
	}
	return v_any(any);
}

/* Rows rose[z] were raised from outside: they spread along themselves, and the rows around them become due. */
static TARGET void
N(resume)(struct N(tile) * t, const uint64_t *rose)
{
	for (int z = t->job->sz.begin; z < t->job->sz.end; z++)
		for (uint64_t b = rose[z]; b; b &= b - 1) {
			const int y = __builtin_ctzll(b);
			V *j = t->j + N(row_at)(t, z, y), c[4];
			bool more = false;
			N(load_row)(t, z, y);
			memcpy(c, j, sizeof c);
			N(along)(c, t->m + N(row_at)(t, z, y));
			for (int i = 0; i < 4; i++)
				more |= !N(same)(c[i], j[i]);
			memcpy(j, c, sizeof c);
			N(mark)(t, z, b & -b, t->job->conn);
			if (!more)
				t->rose[z + 1] &= ~(b & -b);
		}
}

/* Tells job->owe what rose in row y of slice z of the rim of neighbour k. keys is the row now, `was` the row before. */
static TARGET void
N(owe_row)(const struct tile_job *o, const T *keys, const T *was, int k, int z, int y)
{
	const int first = o->sx.first, after = o->sx.after;
	T top = 0, n = 0;

	for (int x = first; x < after; x++) {
		const T v = keys[x] > was[x] ? keys[x] : 0;
		top = v > top ? v : top;
		n = (T)(n + (v > 0));
	}
	if (!top)
		return;
	if (n > TILE_FEW) {
		o->owe(o->with, k, z, y, -1, tile_level(o, top));
		return;
	}
	for (int x = first; x < after; x++)
		if (keys[x] > was[x])
			o->owe(o->with, k, z, y, x, tile_level(o, keys[x]));
}

/* Writes row y of slice z, which rose, back to the array, and tells job->owe about pixels of other tiles. */
static TARGET void
N(save_row)(struct N(tile) * t, int z, int y)
{
	const struct tile_job *o = t->job;
	const int begin = o->sx.begin, end = o->sx.end, n = end - begin, dy = tile_side(&o->sy, y),
		  dz = tile_side(&o->sz, z), k = 9 * (dz + 1) + 3 * (dy + 1) + 1,
		  ny = y - dy * (int)o->y.own, nz = z - dz * (int)o->z.own;
	T *to = (T *)o->J + N(pixel_at)(t, z, y);
	_Alignas(64) T keys[N(WIDTH)], was[N(WIDTH)];

	N(unstripe)(keys, t->j + N(row_at)(t, z, y));
	if (dy | dz) {
		N(keys_in)(was + begin, to + begin, n, o->map);
		N(owe_row)(o, keys, was, k, nz, ny);
	}
	if (begin < o->sx.first) {
		N(keys_in)(was, to, 1, o->map);
		if (keys[0] > was[0])
			o->owe(o->with, k - 1, nz, ny, (int)o->x.own, tile_level(o, keys[0]));
	}
	if (end > o->sx.after) {
		N(keys_in)(was, to + end - 1, 1, o->map);
		if (keys[end - 1] > was[0])
			o->owe(o->with, k + 1, nz, ny, 1, tile_level(o, keys[end - 1]));
	}
	if (o->map.real || o->map.flip)
		N(keys_out)(keys, N(WIDTH), o->map);
	if (n == N(WIDTH))
		memcpy(to, keys, sizeof keys);
	else
		memcpy(to + begin, keys + begin, (size_t)n * sizeof *to);
}

static TARGET void
N(visit)(struct tile_job *job, const uint64_t *rose)
{
	const int begin = job->sy.begin, end = job->sy.end;
	struct N(tile) t = {.job = job,
			    .pitch = (ptrdiff_t)(job->y.own + 2 * job->y.rim) + 2,
			    .width = job->x.n,
			    .height = job->y.n};

	t.rows = UINT64_MAX >> (64 - (end - begin)) << begin;
	t.j = job->rows;
	t.m = t.j + TILE_VECTORS * t.pitch * ((ptrdiff_t)(job->z.own + 2 * job->z.rim) + 2);
	for (int z = 0; z < TILE_DEPTH + 2; z++)
		t.loaded[z] = z > job->sz.begin && z <= job->sz.end ? ~t.rows : UINT64_MAX;
	N(find_inside)(&t);
	N(clear_beyond)(&t);
	if (!rose && !N(begin)(&t))
		return;
	if (rose)
		N(resume)(&t, rose);
	N(solve)(&t, !rose);
	for (int z = job->sz.begin; z < job->sz.end; z++)
		for (uint64_t b = t.rose[z + 1]; b; b &= b - 1) {
			N(save_row)(&t, z, __builtin_ctzll(b));
		}
}

#undef T
#undef BITS
#undef N
