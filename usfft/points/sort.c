/*
 * Sorts points, as records (records.c), by their keys: by tile, and in 3-D by part of the tile. Records arrive in the
 * memory that will be the grid, and are moved from there to their sorted places. Each thread counts the keys of its own
 * share of the points. So the points of a key stay in the caller's order, for any number of threads.
 */
#include <errno.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/par.h"
#include "usfft/plan.h"

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

void
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

/*
 * Is the problem so small that barriers take longer than a second thread saves? 100 points and 64 modes take 17 us of CPU on
 * one thread; on two they took 32 us.
 */
static bool
is_small(const struct usfft_plan *p, size_t m)
{
	size_t cells = 1;

	for (int a = 0; a < p->o.dim; a++)
		cells *= p->grid.n[a];
	return m < 4096 && cells <= 8192;
}

int
usfft_expect(struct usfft_plan *p, size_t m, bool values)
{
	struct points *q = &p->points;

	if (m > USFFT_MAXPOINTS)
		return -EOVERFLOW;
	p->o.threads = p->grid.threads = is_small(p, m) ? 1 : p->threads;
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
