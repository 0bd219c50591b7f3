#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/neighbours.h"
#include "common/base/roots.h"
#include "common/picture/peaks.h"

/* ---- ascending order ---- */

static uint64_t
key_of(double v)
{
	uint64_t u;

	v += 0; /* -0 becomes 0 */
	memcpy(&u, &v, sizeof u);
	return u >> 63 ? u : ~u & INT64_MAX;
}

/* Sample at[i] of v is needed soon: those in the order of values lie anywhere in memory. */
static void
soon(const double *v, const uint32_t *at, size_t i, size_t n)
{
	if (i + 16 < n)
		__builtin_prefetch(v + at[i + 16]);
}

/* Lists the chosen samples. Returns their number. */
static size_t
order_list(const uint8_t *chosen, size_t n, uint32_t *at)
{
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		at[k] = (uint32_t)i;
		k += chosen[i] != 0;
	}
	return k;
}

/*
 * Sorts the numbers of samples by value, the greatest first; equal ones keep their order. The keys are computed from v again
 * in each pass, since entries with a key take 16 bytes and not 4. Puts the result into *at and lets *other be the other array.
 * Returns 0 or -ENOMEM.
 */
static int
order_sort(const double *v, uint32_t **at, uint32_t **other, size_t n)
{
	enum { DIGITS = 1 << 16 };
	uint32_t *start = weir_alloc(DIGITS + 1, sizeof *start);

	for (int shift = 0; start && shift < 64; shift += 16) {
		bool alike = false;
		memset(start, 0, (DIGITS + 1) * sizeof *start);
		for (size_t i = 0; i < n; soon(v, *at, i++, n))
			start[(key_of(v[(*at)[i]]) >> shift & (DIGITS - 1)) + 1]++;
		for (int d = 0; d < DIGITS; d++) {
			alike |= start[d + 1] == n;
			start[d + 1] += start[d];
		}
		if (alike)
			continue;
		for (size_t i = 0; i < n; soon(v, *at, i++, n))
			(*other)[start[key_of(v[(*at)[i]]) >> shift & (DIGITS - 1)]++] = (*at)[i];
		uint32_t *t = *at;
		*at = *other;
		*other = t;
	}
	weir_free(start);
	return start ? 0 : -ENOMEM;
}

/* The samples, and the steps to the neighbours of each. */
struct grid {
	uint32_t w, h, depth;
	struct neighbour step[NEIGHBOURS];
	int steps;
};

static struct grid
grid_of(const struct order_shape *s)
{
	struct grid g = {(uint32_t)s->w, (uint32_t)s->h, (uint32_t)s->depth, .steps = 0};

	g.steps = neighbours_list(s->connectivity, s->w, s->h, g.step);
	return g;
}

/* Lists the neighbours of sample i, in the order of the steps. Returns their number. */
static size_t
grid_near(const struct grid *g, uint32_t i, uint32_t near[NEIGHBOURS])
{
	const uint32_t x = i % g->w, y = i / g->w % g->h, z = i / g->w / g->h;
	size_t n = 0;

	for (const struct neighbour *to = g->step; to < g->step + g->steps; to++)
		/* Below 0 they are huge. */
		if (x + (uint32_t)to->x < g->w && y + (uint32_t)to->y < g->h &&
		    z + (uint32_t)to->z < g->depth)
			near[n++] = (uint32_t)(i + to->at);
	return n;
}

/* ---- peaks ---- */

static const uint32_t QUEUED = UINT32_MAX;

struct flood {
	struct grid grid;
	const double *v;
	double rise;
	uint32_t *part;	 /* of each sample; 0: not taken yet, QUEUED: about to be */
	uint32_t *up;	 /* of each part: a part that it was joined to, or itself */
	double *peak;	 /* of each part */
	uint32_t n;	 /* parts begun, from 1 */
	uint32_t *queue; /* of equal samples */
	size_t first, last;
};

/* Parts a and b meet at height v. The one with the lower peak is joined to the other unless it stands high enough. */
static void
meet(struct flood *f, uint32_t a, uint32_t b, double v)
{
	a = roots_find(f->up, a);
	b = roots_find(f->up, b);
	const bool higher = f->peak[a] > f->peak[b] || (f->peak[a] == f->peak[b] && a < b);
	const uint32_t high = higher ? a : b, low = higher ? b : a;

	if (f->peak[low] - v < f->rise)
		f->up[low] = high;
}

/* Takes sample i: it joins the part of its highest neighbour, or begins one. */
static void
take(struct flood *f, uint32_t i)
{
	uint32_t near[NEIGHBOURS];
	const size_t n = grid_near(&f->grid, i, near);
	size_t best = n;

	for (size_t k = 0; k < n; k++)
		if (f->part[near[k]] && f->part[near[k]] != QUEUED &&
		    (best == n || f->v[near[k]] > f->v[near[best]]))
			best = k;
	if (best == n) {
		f->part[i] = ++f->n;
		f->up[f->n] = f->n;
		f->peak[f->n] = f->v[i];
		return;
	}
	f->part[i] = f->part[near[best]];
	for (size_t k = 0; k < n; k++)
		if (f->part[near[k]] && f->part[near[k]] != QUEUED &&
		    f->part[near[k]] != f->part[i])
			meet(f, f->part[i], f->part[near[k]], f->v[i]);
}

static void
push(struct flood *f, uint32_t i)
{
	f->part[i] = QUEUED;
	f->queue[f->last++] = i;
}

/* Takes the samples of the queue, and then those of the same plateau that they touch. */
static void
drain(struct flood *f, const uint8_t *chosen)
{
	uint32_t near[NEIGHBOURS];

	while (f->first < f->last) {
		const uint32_t i = f->queue[f->first++];
		const size_t n = grid_near(&f->grid, i, near);
		take(f, i);
		for (size_t k = 0; k < n; k++)
			if (chosen[near[k]] && !f->part[near[k]] && f->v[near[k]] == f->v[i])
				push(f, near[k]);
	}
	f->first = f->last = 0;
}

/* Takes samples of one value: plateaus that touch a part grow from there, and then the others begin parts. */
static void
take_level(struct flood *f, const uint32_t *at, size_t n, const uint8_t *chosen)
{
	uint32_t near[NEIGHBOURS];

	if (n == 1) {
		take(f, *at);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		const size_t nears = grid_near(&f->grid, at[i], near);
		bool reached = false;
		for (size_t k = 0; k < nears; k++)
			reached |= f->part[near[k]] && f->part[near[k]] != QUEUED;
		if (reached)
			push(f, at[i]);
	}
	drain(f, chosen);
	for (size_t i = 0; i < n; i++)
		if (!f->part[at[i]]) {
			push(f, at[i]);
			drain(f, chosen);
		}
}

int
split(const struct order_shape *s, const double *v, const uint8_t *chosen, double rise,
      uint32_t *part)
{
	const size_t n = s->w * s->h * s->depth;
	uint32_t *at = weir_alloc(n, sizeof *at), *other = weir_alloc(n, sizeof *other);
	struct flood f = {.grid = grid_of(s), .v = v, .rise = rise, .part = part};
	int r = n < UINT32_MAX - 1 ? -ENOMEM : -EOVERFLOW;
	size_t m = 0;

	/* Only the beginning of these is touched: there are far fewer parts than samples. */
	f.up = weir_alloc(n + 1, sizeof *f.up);
	f.peak = weir_alloc(n + 1, sizeof *f.peak);
	if (r == -ENOMEM && at && other && f.up && f.peak) {
		m = order_list(chosen, n, at);
		r = order_sort(v, &at, &other, m);
	}
	f.queue = other;
	if (!r)
		memset(part, 0, n * sizeof *part);
	for (size_t i = 0, to; !r && i < m; i = to) {
		const size_t next = at[i + 8 < m ? i + 8 : i],
			     near[3] = {next, next < s->w ? next : next - s->w,
					next + s->w < n ? next + s->w : next};
		for (int k = 0; k < 6; k++) /* its neighbours, too */
			__builtin_prefetch(k % 2 ? (void *)(v + near[k / 2]) : part + near[k / 2]);
		for (to = i + 1; to < m && v[at[to]] == v[at[i]];)
			to++;
		take_level(&f, at + i, to - i, chosen);
	}
	for (size_t i = 0; !r && i < n; i++)
		part[i] = part[i] ? roots_find(f.up, part[i]) : 0;
	weir_free_all(at, other, f.up, f.peak);
	return r;
}

/* ---- watersheds ---- */

/* --- levels at which samples wait ----------------------------------------------------------------------------------------- */

enum { FLOORS = 6 };

static const uint32_t OUTSIDE = UINT32_MAX;

/*
 * The samples that wait, by levels: the ranks of their values, the highest value first. Bit i of floor[0] says that samples
 * wait at level i. Bit i of floor[f + 1] says that word i of floor[f] is not 0.
 */
struct waiting {
	uint64_t *floor[FLOORS];
	int floors;
	struct ends {
		uint32_t first, last;
	} * ends;	 /* of each level that has some */
	uint32_t *next;	 /* of each sample that is not the last one */
	uint32_t *level; /* of each chosen sample */
};

/* For n samples. Returns false where there is no memory. */
static bool
open_waiting(struct waiting *q, size_t n, size_t levels)
{
	bool good = true;

	q->ends = weir_alloc(levels, sizeof *q->ends);
	q->next = weir_alloc(n, sizeof *q->next);
	do {
		levels = (levels + 63) / 64;
		q->floor[q->floors] = weir_calloc(levels, sizeof(uint64_t));
		good &= q->floor[q->floors++] != NULL;
	} while (levels > 1);
	return good && q->ends && q->next;
}

static void
push_sample(struct waiting *q, uint32_t i)
{
	size_t at = q->level[i];

	if (q->floor[0][at / 64] >> at % 64 & 1) {
		q->next[q->ends[at].last] = i;
		q->ends[at].last = i;
		return;
	}
	q->ends[at] = (struct ends){i, i};
	for (int f = 0; f < q->floors; f++, at /= 64) {
		const bool known = q->floor[f][at / 64] != 0;
		q->floor[f][at / 64] |= (uint64_t)1 << at % 64;
		if (known)
			return;
	}
}

/* Removes the first sample of the first level. Returns false when none waits. */
static bool
pop(struct waiting *q, uint32_t *i)
{
	size_t at = 0;

	if (!q->floor[q->floors - 1][0])
		return false;
	for (int f = q->floors; f-- > 0;)
		at = at * 64 + (size_t)__builtin_ctzll(q->floor[f][at]);
	*i = q->ends[at].first;
	if (*i != q->ends[at].last) {
		q->ends[at].first = q->next[*i];
		return true;
	}
	for (int f = 0; f < q->floors; f++, at /= 64) {
		q->floor[f][at / 64] &= ~((uint64_t)1 << at % 64);
		if (q->floor[f][at / 64])
			break;
	}
	return true;
}

/* --- the flood ------------------------------------------------------------------------------------------------------------ */

/* Spreads the markers. part[i] is OUTSIDE where i is not chosen. */
static void
flood(const struct order_shape *s, struct waiting *q, uint32_t *part)
{
	const uint32_t n = (uint32_t)(s->w * s->h * s->depth);
	const struct grid any = grid_of(s);
	struct grid grid = any;
	uint32_t i, near[NEIGHBOURS];

	/* The neighbours that differ along one axis come first, then those along two and three. */
	grid.steps = 0;
	for (int axes = 1; axes <= 3; axes++)
		for (int k = 0; k < any.steps; k++)
			if (abs(any.step[k].x) + abs(any.step[k].y) + abs(any.step[k].z) == axes)
				grid.step[grid.steps++] = any.step[k];
	for (uint32_t k = 0; k < n; k++)
		if (part[k] && part[k] != OUTSIDE)
			push_sample(q, k);
	while (pop(q, &i)) {
		const size_t nears = grid_near(&grid, i, near);
		for (size_t k = 0; k < nears; k++)
			if (!part[near[k]]) {
				part[near[k]] = part[i];
				push_sample(q, near[k]);
			}
	}
}

int
watershed(const struct order_shape *s, const double *v, const uint8_t *chosen, uint32_t *part)
{
	const size_t n = s->w * s->h * s->depth;
	uint32_t *at = weir_alloc(n, sizeof *at), *other = weir_alloc(n, sizeof *other);
	struct waiting q = {.level = weir_alloc(n, sizeof *q.level)};
	int r = n >= UINT32_MAX - 1 ? -EOVERFLOW : at && other && q.level ? 0 : -ENOMEM;
	const size_t m = r ? 0 : order_list(chosen, n, at);
	size_t levels = 0;

	r = r ? r : order_sort(v, &at, &other, m);
	for (size_t i = 0; !r && i < m; i++) {
		levels += i && v[at[i]] != v[at[i - 1]];
		q.level[at[i]] = (uint32_t)levels;
	}
	weir_free_all(at, other);
	if (!r && !open_waiting(&q, n, levels + 1))
		r = -ENOMEM;
	for (size_t i = 0; !r && i < n; i++)
		part[i] = chosen[i] ? part[i] : OUTSIDE;
	if (!r)
		flood(s, &q, part);
	for (size_t i = 0; !r && i < n; i++)
		part[i] = part[i] == OUTSIDE ? 0 : part[i];
	for (int f = 0; f < q.floors; f++)
		weir_free(q.floor[f]);
	weir_free_all(q.ends, q.next, q.level);
	return r;
}
