/*
 * Spreads points to the grid and interpolates back, tile by tile. A thread takes a band of tiles along x. Bands whose
 * accumulators overlap have different colours, and bands of different colours never run at the same time. So no addition
 * is atomic, and their order is fixed:
 *
 *	y  0 1 0 1 0 1 ...	Two colours suffice where a tile is at least as wide as the overhang. In 3-D a colour has
 *				one digit per axis. The bands that are left over at the end of an axis lie next to band 0
 *				and get colours of their own.
 *
 * A tile with more than TILE_HEAVY points would keep one thread busy while others wait. Such tiles come last, in pieces
 * that all threads share. The accumulators of the pieces are added in the pieces' order.
 */
#include <errno.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/par.h"
#include "usfft/plan.h"

enum { TILE_HEAVY = 8192 }; /* points of a tile that one thread takes at a time */

/* Bytes of an accumulator of reals of that size, for the loops with so many lanes. */
static size_t
spread_acc_bytes(const struct usfft_plan *p, int lanes, size_t real)
{
	const int dim = p->o.dim, w = p->win[0].w;
	const int cells = tile_rows(dim, w) * tile_stride(dim, (int)p->span, w, lanes);

	return ((size_t)cells * 2 * real + 64 + 63) / 64 * 64;
}

/* ---- crowds ---- */

/* Prepares for m points. Returns 0 or -ENOMEM. */
static int
crowd_make(struct usfft_plan *p, size_t m)
{
	struct crowds *q = &p->crowds;
	struct usfft_options o = p->o;

	if (q->acc || !p->o.single || p->o.type == 2 || m <= CROWD)
		return 0;
	o.single = false;
	q->ops = &usfft_loops_for(&o)->tile;
	q->taps.ncoef = p->taps.ncoef;
	const int lanes = q->ops->lanes;
	if (window_tables(p->win, o.dim, q->taps.ncoef, lanes, lanes / 2, false, q->taps.coef))
		return -ENOMEM;
	q->accs = p->accs;
	q->acc_bytes = spread_acc_bytes(p, lanes, sizeof(double));
	q->acc = weir_take(q->accs, q->acc_bytes);
	return q->acc ? 0 : -ENOMEM;
}

void
crowd_free(struct crowds *q)
{
	weir_give(q->acc, q->accs, q->acc_bytes);
	weir_free_list(q->taps.coef, 3);
}

/*
 * Counts RUN points of each GROUP that follow each other, which are few lines of the cache. Which points these are varies, so
 * that no order hides a place. There is one instance for each dimension.
 */
static inline __attribute__((always_inline)) bool
fills_a_cell(const char *records, size_t bytes, size_t n, int dim)
{
	enum { CELLS = 1 << 12, RUN = 4, GROUP = 16, LIMIT = CROWD * RUN / GROUP };
	const int log = tile_span_log(dim), bits = tile_bits(dim, false);
	uint8_t count[CELLS];

	memset(count, 0, (size_t)1 << dim * log);
	for (uint32_t i = 0; i < n / GROUP; i++) {
		const size_t any = i * 0x9e3779b1u >> 30;
		const char *record = records + (i * GROUP + any * RUN) * bytes;
		for (int j = 0; j < RUN; j++, record += bytes) {
			const uint32_t *place = (const uint32_t *)record;
			size_t cell = 0;
			for (int a = 0; a < dim; a++)
				cell = cell << log | place[a] >> bits;
			if (count[cell]++ == LIMIT)
				return true;
		}
	}
	return false;
}

/* Is a tile crowded? Looking just before its points are spread reads their records into the cache. */
static bool
crowd_in(const struct usfft_plan *p, size_t tile)
{
	const size_t from = p->points.start[tile], n = p->points.start[tile + 1] - from;
	const size_t bytes = p->points.bytes;
	const char *record = (const char *)p->points.record + from * bytes;

	if (n <= 2 * CROWD || !p->crowds.acc)
		return false;
	if (p->o.dim == 1)
		return fills_a_cell(record, bytes, n, 1);
	return p->o.dim == 2 ? fills_a_cell(record, bytes, n, 2)
			     : fills_a_cell(record, bytes, n, 3);
}

bool
crowd_anywhere(const struct usfft_plan *p)
{
	for (size_t t = 0; t < p->ntiles; t++)
		if (crowd_in(p, t))
			return true;
	return false;
}

/*
 * Adds points to an accumulator in double precision.
 * The records become records in double precision, which carry their values, a block at a time.
 */
static void
crowd_spread(const struct usfft_plan *p, const struct tile_points *pt, const float *c, void *acc)
{
	enum { CROWD_POINTS = 64, MOST = 4 };
	const int dim = p->o.dim;
	const size_t bytes = tile_record(dim, sizeof(double), false, false);
	const size_t behind = pt->bytes - tile_value(sizeof(float), pt->indexed);
	const char *record = pt->record;
	double room[CROWD_POINTS * MOST] = {0};
	struct tile_points some = *pt;

	some.record = room;
	some.bytes = bytes;
	some.indexed = false;
	for (size_t left = pt->n; left; left -= some.n) {
		char *to = (char *)room;
		some.n = left < CROWD_POINTS ? left : CROWD_POINTS;
		for (size_t i = 0; i < some.n; i++, record += pt->bytes, to += bytes) {
			const float *value = (const float *)(record + behind);
			uint64_t j;
			if (pt->indexed) {
				memcpy(&j, value, sizeof j);
				value = c + 2 * j;
			}
			memcpy(to, record, (size_t)dim * sizeof(int32_t));
			memcpy(to + bytes - 2 * sizeof(double), (double[]){value[0], value[1]},
			       2 * sizeof(double));
		}
		p->crowds.ops->spread[dim - 1][p->win[0].w](&p->crowds.taps, acc, &some, NULL);
	}
}

/* ---- sorting ---- */

/*
 * Sorts points, as records (points.c), by their keys: by tile, and in 3-D by part of the tile. Records arrive in the
 * memory that will be the grid, and are moved from there to their sorted places. Each thread counts the keys of its own
 * share of the points. So the points of a key stay in the caller's order, for any number of threads.
 */

/* Threads share a piece of at least so many points. With fewer points, one thread ends before the others wake. */
enum { SHARED_FROM = 1 << 15 };
enum { BLOCK = 256 }; /* records that are moved at a time */

static size_t
parts_of(const struct usfft_plan *p)
{
	return p->o.dim == 3 ? TILE_PARTS : 1;
}

/*
 * Moves records from..to-1 to their tiles; next[key] is where the next record of a key goes. It prefetches all places of a
 * block before it writes the first one, because stores that miss the cache wait for each other (1024^2 points in the plane,
 * the whole sort: 40 -> 22 ms).
 */
static inline __attribute__((always_inline)) void
move_sized(const struct points *q, size_t bytes, size_t from, size_t to, uint32_t *next)
{
	char *records = q->record, *place[BLOCK];

	for (size_t j = from; j < to; j += BLOCK) {
		const size_t n = to - j < BLOCK ? to - j : BLOCK;
		const char *record = q->arrived + j * bytes;
		for (size_t i = 0; i < n; i++) {
			place[i] = records + next[q->key[j + i]]++ * bytes;
			__builtin_prefetch(place[i], 1);
			__builtin_prefetch(place[i] + bytes - 1, 1);
		}
		for (size_t i = 0; i < n; i++)
			memcpy(place[i], record + i * bytes, bytes);
	}
}

static void
move_records(const struct points *q, size_t from, size_t to, uint32_t *next)
{
#define MOVE(size)            \
	if (q->bytes == size) \
	move_sized(q, size, from, to, next)
	MOVE(12); /* float, 1-D to 3-D */
	MOVE(16);
	MOVE(20);
	MOVE(24); /* double */
	MOVE(32);
	MOVE(40);
#undef MOVE
}

/* Replaces the count of each thread and key by the index of its first record. Lists the heavy tiles. */
static void
add_up(struct usfft_plan *p, uint32_t *count, size_t shares)
{
	const size_t parts = parts_of(p), keys = p->ntiles * parts;
	uint32_t sum = 0;

	p->nheavy = 0;
	for (size_t t = 0; t < p->ntiles; t++) {
		p->points.start[t] = sum;
		for (size_t k = t * parts; k < (t + 1) * parts; k++)
			for (size_t i = 0; i < shares; i++) {
				const uint32_t n = count[i * keys + k];
				count[i * keys + k] = sum;
				sum += n;
			}
		if (sum - p->points.start[t] > TILE_HEAVY)
			p->heavy[p->nheavy++] = (uint32_t)t;
	}
	p->points.start[p->ntiles] = sum;
}

/* Frees the members that serve while points arrive. */
static void
end_arrival(struct points *q)
{
	weir_unmap(q->key, q->room, sizeof *q->key);
	weir_unmap(q->spare, q->room, q->bytes);
	weir_free(q->count);
	q->key = q->count = NULL;
	q->spare = q->arrived = NULL;
}

void
sort_free(struct points *q)
{
	end_arrival(q);
	weir_give(q->record, q->room + TILE_AHEAD, q->bytes);
	q->record = NULL;
	q->room = q->m = 0;
}

/* Frees the plan's points and empties its tiles. */
static void
sort_drop(struct usfft_plan *p)
{
	sort_free(&p->points);
	memset(p->points.start, 0, (p->ntiles + 1) * sizeof *p->points.start);
	p->nheavy = 0;
}

/* The number of shares of the points. A thread counts and moves the points of one share. */
static size_t
shares_of(const struct usfft_plan *p)
{
	return p->points.m < 4096 ? 1 : (size_t)p->o.threads;
}

static size_t
share(size_t m, size_t i, size_t shares)
{
	return m / shares * i + (i < m % shares ? i : m % shares);
}

/*
 * Chooses the memory for arriving records. With a single key, they arrive in order. Else it is the grid's if they fit, since
 * the grid is unused until they are sorted.
 */
static void
find_place(struct usfft_plan *p, size_t m)
{
	struct points *q = &p->points;
	struct grid *g = &p->grid;

	if (p->ntiles * parts_of(p) == 1) {
		q->arrived = q->record;
	} else if (m * q->bytes <= g->room * 2 * p->real) {
		q->arrived = g->data;
	} else {
		q->arrived = q->spare = weir_take(q->room, q->bytes);
	}
}

int
usfft_expect(struct usfft_plan *p, size_t m, bool values)
{
	struct points *q = &p->points;
	/*
	 * Where the problem is small, barriers take longer than a second thread saves: 100 points and 64 modes take 17 us of CPU
	 * on one thread; on two they took 32 us.
	 */
	const bool small = m < 4096 && p->grid.n[0] * p->grid.n[1] * p->grid.n[2] <= 8192;

	if (m > USFFT_MAXPOINTS)
		return -EOVERFLOW;
	p->o.threads = p->grid.threads = small ? 1 : p->threads;
	end_arrival(q);
	if (m > q->room || !q->record || q->indexed == values) {
		sort_free(q);
		q->indexed = !values;
		q->wide = p->o.single ? p->bits < tile_bits(p->o.dim, true)
				      : p->o.dim == 1 || p->o.tol < TILE_NARROW;
		q->bytes = tile_record(p->o.dim, p->real, q->wide, q->indexed);
		q->record = weir_take(m + TILE_AHEAD, q->bytes);
		q->room = q->record ? m : 0;
	}
	q->m = m;
	q->arrivals = 0;
	q->key = weir_take(q->room, sizeof *q->key);
	q->count = weir_calloc(shares_of(p) * p->ntiles * parts_of(p), sizeof *q->count);
	find_place(p, m);
	if (q->record && q->key && q->count && q->arrived && !crowd_make(p, m))
		return 0;
	sort_free(q);
	return -ENOMEM;
}

int
usfft_add(struct usfft_plan *p, const struct usfft_points *pt, const void *c, size_t cstride,
	  size_t *bad)
{
	struct points *q = &p->points;
	const struct piece s = {p, pt, c, cstride, q->arrivals};
	const size_t shares = shares_of(p), keys = p->ntiles * parts_of(p);
	double t = clock_now();
	bool finite = true;

#pragma omp parallel for num_threads((int)shares) if (pt->m >= SHARED_FROM) schedule(static, 1) reduction(&& : finite)
	for (size_t i = 0; i < shares; i++) {
		const size_t lo = share(q->m, i, shares), hi = share(q->m, i + 1, shares);
		const size_t from = lo > s.first ? lo - s.first : 0;
		const size_t to = hi > s.first ? hi - s.first : 0;
		finite =
		    records_take(&s, from, to < pt->m ? to : pt->m, q->count + i * keys) && finite;
	}
	clock_charge(&t, &p->took->sort);
	if (finite) {
		q->arrivals += pt->m;
		return 0;
	}
	*bad = q->arrivals + records_find_bad(&s);
	sort_drop(p);
	return -EINVAL;
}

void
usfft_sort(struct usfft_plan *p)
{
	struct points *q = &p->points;
	const size_t shares = shares_of(p), keys = p->ntiles * parts_of(p);
	double t = clock_now();

	memset((char *)q->record + q->m * q->bytes, 0, TILE_AHEAD * q->bytes);
	add_up(p, q->count, shares);
	/* With a single key, the records have arrived in their places. */
	const size_t moving = keys > 1 ? shares : 0;
#pragma omp parallel for num_threads((int)shares) schedule(static, 1)
	for (size_t i = 0; i < moving; i++)
		move_records(q, share(q->m, i, shares), share(q->m, i + 1, shares),
			     q->count + i * keys);
	end_arrival(q);
	clock_charge(&t, &p->took->sort);
}

int
usfft_points(struct usfft_plan *p, const struct usfft_points *pt, const void *c, size_t cstride,
	     size_t *bad)
{
	int err = usfft_expect(p, pt->m, c != NULL);

	if (!err)
		err = usfft_add(p, pt, c, cstride, bad);
	if (!err)
		usfft_sort(p);
	return err;
}

/* ---- spreading ---- */

static size_t
colours_of(size_t tiles, size_t step)
{
	return tiles < step ? tiles : step + tiles % step;
}

static size_t
colour_of(size_t tile, size_t tiles, size_t step)
{
	const size_t whole = tiles / step * step;

	return tile < whole ? tile % step : (whole ? step : 0) + tile - whole;
}

int
spread_make(struct usfft_plan *p)
{
	const int dim = p->o.dim, w = p->win[0].w;
	const size_t step = (size_t)(w - 2) / p->span + 2;
	const size_t ny = dim == 1 ? p->tiles[0] : p->tiles[1], nz = p->tiles[2];
	const size_t cy = colours_of(ny, step), cz = colours_of(nz, step);

	p->nbands = ny * nz;
	p->ncolours = cy * cz;
	p->acc_bytes = spread_acc_bytes(p, p->ops->lanes, p->real);
	p->accs = p->span > (size_t)tile_span(dim) ? 1 : (size_t)p->o.threads;
	p->acc = weir_take(p->accs, p->acc_bytes);
	p->band = weir_alloc(p->nbands, sizeof *p->band);
	p->colour = weir_calloc(p->ncolours + 1, sizeof *p->colour);
	p->heavy = weir_alloc(p->ntiles, sizeof *p->heavy);
	if (!p->acc || !p->band || !p->colour || !p->heavy)
		return -ENOMEM;
	/* Unaligned loads read up to 64 bytes beyond the last row and multiply them by 0, so they must be finite. */
	for (size_t i = 1; i <= p->accs; i++)
		memset(p->acc + i * p->acc_bytes - 128, 0, 128);
	for (size_t c = 0, b = 0; c < p->ncolours; c++) {
		for (size_t z = 0; z < nz; z++)
			for (size_t y = 0; y < ny; y++)
				if (colour_of(z, nz, step) * cy + colour_of(y, ny, step) == c)
					p->band[b++] = (struct band){(uint32_t)y, (uint32_t)z};
		p->colour[c + 1] = b;
	}
	return 0;
}

/*
 * How an accumulator meets the grid: it is loaded from there, or added to it. That happens for each piece of it that is contiguous
 * in the grid, wrapping around the grid's edges.
 */
struct visitor {
	bool load, crowded; /* crowded: it is in double precision, and the grid in single */
	size_t cell;	    /* bytes of a cell of the accumulator */
	int lanes;	    /* of the loops that it is for */
};

static struct visitor
visitor_of(const struct usfft_plan *p, bool load, bool crowded)
{
	return (struct visitor){load, crowded, 2 * (crowded ? sizeof(double) : p->real),
				crowded ? p->crowds.ops->lanes : p->ops->lanes};
}

/* Takes n reals of both. */
static void
visit(const struct usfft_plan *p, const struct visitor *v, void *acc, void *grid, size_t n)
{
	if (v->load)
		memcpy(acc, grid, n * p->real);
	else if (!v->crowded)
		p->ops->add(grid, acc, n);
	for (size_t i = 0; v->crowded && i < n; i++)
		((float *)grid)[i] += (float)((const double *)acc)[i];
}

static void
visit_row(const struct usfft_plan *p, size_t row, size_t x, char *acc, size_t len,
	  const struct visitor *v)
{
	const struct grid *g = &p->grid;

	while (len > 0) {
		size_t piece = g->rowlen - x % g->rowlen;
		if (piece > len)
			piece = len;
		visit(p, v, acc, (char *)g->data + grid_cell(g, row, x) * 2 * p->real, 2 * piece);
		acc += piece * v->cell;
		len -= piece;
		x += piece;
		if (x == g->n[0])
			x = 0;
	}
}

static size_t
first_cell(size_t tile, size_t span, size_t before, size_t n)
{
	return (tile * span + n - before % n) % n;
}

static void
visit_tile(const struct usfft_plan *p, size_t tile, char *acc, const struct visitor *v)
{
	const int dim = p->o.dim, w = p->win[0].w;
	const size_t span = (size_t)tile_span(dim), lead = (size_t)tile_lead(w);
	const size_t len = (size_t)tile_stride(dim, (int)p->span, w, v->lanes);
	const size_t high = dim > 1 ? span + (size_t)w - 1 : 1, deep = dim > 2 ? high : 1;
	const size_t *n = p->grid.n, tx = tile % p->tiles[0];
	const size_t ty = tile / p->tiles[0] % p->tiles[1], tz = tile / p->tiles[0] / p->tiles[1];
	const size_t x = first_cell(tx, p->span, lead + (size_t)tile_slack(w, v->lanes), n[0]);
	size_t z = dim > 2 ? first_cell(tz, span, lead, n[2]) : 0;

	for (size_t k = 0; k < deep; k++, z = z + 1 < n[2] ? z + 1 : 0) {
		size_t y = dim > 1 ? first_cell(ty, span, lead, n[1]) : 0;
		for (size_t j = 0; j < high; j++, y = y + 1 < n[1] ? y + 1 : 0) {
			visit_row(p, z * p->grid.plane + y, x, acc, len, v);
			acc += len * v->cell;
		}
	}
}

struct tile_points
tile_points_of(const struct usfft_plan *p, int sign, size_t from, size_t to)
{
	return (struct tile_points){.record = (char *)p->points.record + from * p->points.bytes,
				    .n = to - from,
				    .bytes = p->points.bytes,
				    .wide = p->points.wide,
				    .bits = p->bits,
				    .indexed = p->points.indexed,
				    .sign = sign};
}

/* Spreads records from..to-1, which lie in one tile, to accumulator i. */
static void
spread_part(const struct usfft_plan *p, int sign, bool crowded, size_t from, size_t to,
	    const void *c, size_t i)
{
	const struct tile_points pt = tile_points_of(p, sign, from, to);
	const struct crowds *q = &p->crowds;

	if (crowded) {
		memset(q->acc + i * q->acc_bytes, 0, q->acc_bytes);
		crowd_spread(p, &pt, c, q->acc + i * q->acc_bytes);
	} else {
		memset(p->acc + i * p->acc_bytes, 0, p->acc_bytes);
		p->ops->spread[p->o.dim - 1][p->win[0].w](&p->taps, p->acc + i * p->acc_bytes, &pt,
							  c);
	}
}

/* Adds accumulator i to the grid. */
static void
add_part(const struct usfft_plan *p, bool crowded, size_t tile, size_t i)
{
	const struct crowds *q = &p->crowds;
	const struct visitor v = visitor_of(p, false, crowded);

	visit_tile(p, tile, crowded ? q->acc + i * q->acc_bytes : p->acc + i * p->acc_bytes, &v);
}

static void
spread_band(const struct usfft_plan *p, int sign, struct band b, const void *c, size_t acc)
{
	const size_t tiles = p->o.dim == 1 ? 1 : p->tiles[0];
	const size_t first = (b.z * p->tiles[1] + b.y) * tiles;

	for (size_t t = first; t < first + tiles; t++) {
		const size_t from = p->points.start[t], to = p->points.start[t + 1];
		if (from == to || to - from > TILE_HEAVY)
			continue;
		const bool crowded = crowd_in(p, t);
		spread_part(p, sign, crowded, from, to, c, acc);
		add_part(p, crowded, t, acc);
	}
}

/*
 * Threads share the records of a heavy tile. If it is crowded, it has 64 parts at most, because parts are rounded when they
 * are added.
 */
static void
spread_heavy(const struct usfft_plan *p, int sign, size_t tile, const void *c)
{
	const size_t first = p->points.start[tile], end = p->points.start[tile + 1];
	const bool crowded = crowd_in(p, tile);
	const size_t most = crowded ? (end - first) / CROWD + 1 : 0, group = p->accs;
	const size_t part = most > TILE_HEAVY ? most : TILE_HEAVY;

	for (size_t at = first; at < end; at += group * part) {
		const size_t left = (end - at + part - 1) / part;
		const size_t parts = left < group ? left : group;
#pragma omp parallel for num_threads(p->o.threads) schedule(static, 1)
		for (size_t i = 0; i < parts; i++) {
			const size_t from = at + i * part;
			spread_part(p, sign, crowded, from, from + part < end ? from + part : end,
				    c, i);
		}
		for (size_t i = 0; i < parts; i++)
			add_part(p, crowded, tile, i);
	}
}

static void
clear_grid(const struct usfft_plan *p)
{
	const struct grid *g = &p->grid;
	const size_t row = g->ld * 2 * p->real;

#pragma omp parallel for num_threads(p->o.threads) schedule(static)
	for (size_t r = 0; r < g->rows; r++)
		memset((char *)g->data + r * row, 0, row);
}

void
spread_points(struct usfft_plan *p, int sign, const void *c)
{
	const int threads = p->points.m < 2048 ? 1 : (int)p->accs;

	clear_grid(p);
#pragma omp parallel num_threads(threads)
	{
		const size_t acc = (size_t)omp_get_thread_num();
		for (size_t q = 0; q < p->ncolours; q++) {
			const struct band *band = p->band + p->colour[q];
			const size_t n = p->colour[q + 1] - p->colour[q];
			/*
			 * They come from both halves in turn, so that two threads seldom are the first to touch the same page of
			 * 2 MiB, which both would clear (1024^2, two threads: 22.2 -> 21.1 ms).
			 */
#pragma omp for schedule(dynamic, 1)
			for (size_t i = 0; i < n; i++)
				spread_band(p, sign, band[i / 2 + (i % 2 ? (n + 1) / 2 : 0)], c,
					    acc);
		}
	}
	for (size_t i = 0; i < p->nheavy; i++)
		spread_heavy(p, sign, p->heavy[i], c);
	if (!c)
		sort_drop(p);
}

/* Interpolation writes no cell of the grid, so tiles need no order. */
static void
interp_tile(const struct usfft_plan *p, int sign, size_t tile, void *c, char *acc)
{
	const size_t from = p->points.start[tile], to = p->points.start[tile + 1];
	const struct tile_points pt = tile_points_of(p, sign, from, to);
	const struct visitor load = visitor_of(p, true, false);

	if (from == to || to - from > TILE_HEAVY)
		return;
	visit_tile(p, tile, acc, &load);
	p->ops->interp[p->o.dim - 1][p->win[0].w](&p->taps, acc, &pt, c);
}

static void
interp_heavy(const struct usfft_plan *p, int sign, size_t tile, void *c)
{
	const size_t first = p->points.start[tile], end = p->points.start[tile + 1];
	const struct visitor load = visitor_of(p, true, false);

	visit_tile(p, tile, p->acc, &load);
#pragma omp parallel for num_threads(p->o.threads) schedule(dynamic, 1)
	for (size_t from = first; from < end; from += TILE_HEAVY) {
		const size_t to = from + TILE_HEAVY < end ? from + TILE_HEAVY : end;
		const struct tile_points pt = tile_points_of(p, sign, from, to);
		p->ops->interp[p->o.dim - 1][p->win[0].w](&p->taps, p->acc, &pt, c);
	}
}

/* Interpolates where the grid is one tile in one dimension: the threads copy it to one accumulator, and share the points. */
static void
interp_line(const struct usfft_plan *p, int sign, void *c)
{
	const int threads = p->points.m < 2048 ? 1 : p->o.threads;
	const int w = p->win[0].w, lanes = p->ops->lanes;
	const size_t len = (size_t)tile_stride(1, (int)p->span, w, lanes);
	const size_t n = p->grid.n[0], m = p->points.m;
	const struct visitor load = visitor_of(p, true, false);
	const size_t first = first_cell(0, n, (size_t)(tile_lead(w) + tile_slack(w, lanes)), n);

#pragma omp parallel num_threads(threads)
	{
#pragma omp for schedule(static)
		for (size_t x = 0; x < len; x += TILE_HEAVY)
			visit_row(p, 0, (first + x) % n, p->acc + x * load.cell,
				  len - x < TILE_HEAVY ? len - x : TILE_HEAVY, &load);
#pragma omp for schedule(static)
		for (size_t j = 0; j < m; j += TILE_HEAVY) {
			const size_t to = m - j < TILE_HEAVY ? m : j + TILE_HEAVY;
			const struct tile_points pt = tile_points_of(p, sign, j, to);
			p->ops->interp[0][w](&p->taps, p->acc, &pt, c);
		}
	}
}

void
interp_points(struct usfft_plan *p, int sign, void *c)
{
	const int threads = p->points.m < 2048 ? 1 : p->o.threads;

	if (p->o.dim == 1 && p->ntiles == 1) {
		interp_line(p, sign, c);
		return;
	}
#pragma omp parallel num_threads(threads)
	{
		char *acc = p->acc + (size_t)omp_get_thread_num() * p->acc_bytes;
#pragma omp for schedule(dynamic, 4)
		for (size_t t = 0; t < p->ntiles; t++)
			interp_tile(p, sign, t, c, acc);
	}
	for (size_t i = 0; i < p->nheavy; i++)
		interp_heavy(p, sign, p->heavy[i], c);
}
