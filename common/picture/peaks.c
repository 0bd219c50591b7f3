#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/neighbours.h"
#include "common/base/roots.h"
#include "common/picture/peaks.h"

struct order_entry {
	uint64_t key;
	uint32_t at; /* the number of the sample */
};

/* ---- ascending order ---- */

static uint64_t
key_of(double v)
{
	uint64_t u;

	v += 0; /* -0 becomes 0 */
	memcpy(&u, &v, sizeof u);
	return u >> 63 ? u : ~u & INT64_MAX;
}

/* Lists the chosen samples with keys that ascend where values descend. No chosen sample is NaN. Returns their number. */
static size_t
order_list(const double *v, const uint8_t *chosen, size_t n, struct order_entry *e)
{
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		e[k] = (struct order_entry){key_of(v[i]), (uint32_t)i};
		k += chosen[i] != 0;
	}
	return k;
}

/* Sorts by key; entries of equal keys keep their order. Returns the array with the result: e or other. */
static struct order_entry *
order_sort(struct order_entry *e, struct order_entry *other, size_t n)
{
	for (int shift = 0; shift < 64; shift += 8) {
		size_t start[257] = {0};
		bool alike = false;

		for (size_t i = 0; i < n; i++)
			start[(e[i].key >> shift & 255) + 1]++;
		for (int d = 0; d < 256; d++) {
			alike |= start[d + 1] == n;
			start[d + 1] += start[d];
		}
		if (alike)
			continue;
		for (size_t i = 0; i < n; i++)
			other[start[e[i].key >> shift & 255]++] = e[i];
		struct order_entry *t = e;
		e = other;
		other = t;
	}
	return e;
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
	if (a == b)
		return;
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
		if (f->part[near[k]] && f->part[near[k]] != QUEUED)
			meet(f, f->part[i], f->part[near[k]], f->v[i]);
}

static bool
is_reached(const struct flood *f, uint32_t i)
{
	uint32_t near[NEIGHBOURS];
	const size_t n = grid_near(&f->grid, i, near);

	for (size_t k = 0; k < n; k++)
		if (f->part[near[k]] && f->part[near[k]] != QUEUED)
			return true;
	return false;
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
take_level(struct flood *f, const struct order_entry *e, size_t n, const uint8_t *chosen)
{
	if (n == 1) {
		take(f, e->at);
		return;
	}
	for (size_t i = 0; i < n; i++)
		if (is_reached(f, e[i].at))
			push(f, e[i].at);
	drain(f, chosen);
	for (size_t i = 0; i < n; i++)
		if (!f->part[e[i].at]) {
			push(f, e[i].at);
			drain(f, chosen);
		}
}

/* Numbers the parts that are left in the order of their first samples. */
static void
number(struct flood *f, size_t n)
{
	uint32_t *name = f->queue, names = 0;

	memset(name, 0, (f->n + (size_t)1) * sizeof *name);
	for (size_t i = 0; i < n; i++) {
		if (!f->part[i])
			continue;
		const uint32_t root = roots_find(f->up, f->part[i]);

		if (!name[root])
			name[root] = ++names;
		f->part[i] = name[root];
	}
}

int
split(const struct order_shape *s, const double *v, const uint8_t *chosen, double rise,
      uint32_t *part)
{
	const size_t n = s->w * s->h * s->depth;
	struct order_entry *e = weir_alloc(n, sizeof *e), *other = weir_alloc(n, sizeof *other);
	struct flood f = {.grid = grid_of(s), .v = v, .rise = rise, .part = part};
	int r = n < UINT32_MAX - 1 ? -ENOMEM : -EOVERFLOW;

	f.up = weir_alloc(n + 1, sizeof *f.up);
	f.queue = weir_alloc(n + 1, sizeof *f.queue);
	f.peak = weir_alloc(n + 1, sizeof *f.peak);
	if (r == -ENOMEM && e && other && f.up && f.queue && f.peak) {
		const size_t m = order_list(v, chosen, n, e);
		const struct order_entry *by = order_sort(e, other, m);

		memset(part, 0, n * sizeof *part);
		for (size_t i = 0, to; i < m; i = to) {
			for (to = i + 1; to < m && by[to].key == by[i].key;)
				to++;
			take_level(&f, by + i, to - i, chosen);
		}
		number(&f, n);
		r = 0;
	}
	weir_free(e);
	weir_free(other);
	weir_free(f.up);
	weir_free(f.queue);
	weir_free(f.peak);
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

static bool
open_floors(struct waiting *q, size_t levels)
{
	do {
		levels = (levels + 63) / 64;
		q->floor[q->floors] = weir_calloc(levels, sizeof(uint64_t));
		if (!q->floor[q->floors++])
			return false;
	} while (levels > 1);
	return true;
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

/* Gives each chosen sample its level. Returns how many levels there are. */
static size_t
find_levels(uint32_t *level, const struct order_entry *by, size_t n)
{
	uint32_t at = 0;

	for (size_t i = 0; i < n; i++) {
		at += i && by[i].key != by[i - 1].key;
		level[by[i].at] = at;
	}
	return at + (size_t)1;
}

/*
 * Replaces the numbers of markers by 1, 2 .., in ascending order, and lists the numbers. Samples that are not chosen become
 * OUTSIDE. Returns how many numbers there are.
 */
static uint32_t
list_markers(uint32_t *part, const uint8_t *chosen, size_t n, struct order_entry *e,
	     struct order_entry *other, uint32_t *number)
{
	size_t k = 0;
	uint32_t markers = 0;

	for (size_t i = 0; i < n; i++) {
		if (part[i] && chosen[i])
			e[k++] = (struct order_entry){part[i], (uint32_t)i};
		part[i] = chosen[i] ? 0 : OUTSIDE;
	}
	const struct order_entry *by = order_sort(e, other, k);

	for (size_t i = 0; i < k; i++) {
		if (!i || by[i].key != by[i - 1].key)
			number[markers++] = (uint32_t)by[i].key;
		part[by[i].at] = markers;
	}
	return markers;
}

/* Puts the neighbours that differ along one axis first, then those along two and three. */
static void
sort_steps(struct grid *g)
{
	struct neighbour from[NEIGHBOURS];
	int n = 0;

	memcpy(from, g->step, sizeof from);
	for (int axes = 1; axes <= 3; axes++)
		for (int k = 0; k < g->steps; k++)
			if (abs(from[k].x) + abs(from[k].y) + abs(from[k].z) == axes)
				g->step[n++] = from[k];
}

/* Spreads the markers. part[i] is OUTSIDE where i is not chosen. */
static void
flood(const struct order_shape *s, struct waiting *q, uint32_t *part)
{
	const uint32_t n = (uint32_t)(s->w * s->h * s->depth);
	struct grid grid = grid_of(s);
	uint32_t i, near[NEIGHBOURS];

	sort_steps(&grid);
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

/* Numbers the parts of at least `least` samples in the order of first samples; the others become 0. size[markers + 1]. */
static void
number_parts(uint32_t *part, size_t n, uint64_t least, const uint32_t *number, uint32_t markers,
	     uint32_t *size, uint32_t *name)
{
	uint32_t *new = size, parts = 0;

	memset(size, 0, (markers + (size_t)1) * sizeof *size);
	for (size_t i = 0; i < n; i++) {
		part[i] = part[i] == OUTSIDE ? 0 : part[i];
		size[part[i]]++;
	}
	for (uint32_t k = 1; k <= markers; k++)
		new[k] = size[k] < least ? 0 : UINT32_MAX;
	new[0] = 0;
	for (size_t i = 0; i < n; i++) {
		if (new[part[i]] == UINT32_MAX) {
			name[parts] = number[part[i] - 1];
			new[part[i]] = ++parts;
		}
		part[i] = new[part[i]];
	}
}

static bool
open_waiting(struct waiting *q, size_t n, size_t levels)
{
	q->ends = weir_alloc(levels, sizeof *q->ends);
	q->next = weir_alloc(n, sizeof *q->next);
	return q->ends && q->next && open_floors(q, levels);
}

static void
close_waiting(struct waiting *q)
{
	for (int f = 0; f < q->floors; f++)
		weir_free(q->floor[f]);
	weir_free(q->ends);
	weir_free(q->next);
	weir_free(q->level);
}

int
watershed(const struct order_shape *s, const double *v, const uint8_t *chosen, uint64_t least,
	  uint32_t *part, uint32_t **name)
{
	const size_t n = s->w * s->h * s->depth;
	struct order_entry *e = weir_alloc(n, sizeof *e), *other = weir_alloc(n, sizeof *other);
	uint32_t *number = weir_alloc(n, sizeof *number), *size = NULL, markers = 0;
	struct waiting q = {.level = weir_alloc(n, sizeof *q.level)};
	int r = n < UINT32_MAX - 1 ? -ENOMEM : -EOVERFLOW;
	size_t levels = 0;

	*name = NULL;
	if (r == -ENOMEM && e && other && number && q.level) {
		const size_t m = order_list(v, chosen, n, e);

		levels = find_levels(q.level, order_sort(e, other, m), m);
		markers = list_markers(part, chosen, n, e, other, number);
	}
	weir_free(e);
	weir_free(other);
	if (levels && open_waiting(&q, n, levels)) {
		flood(s, &q, part);
		size = weir_alloc(markers + (size_t)1, sizeof *size);
		*name = weir_alloc(markers + (size_t)1, sizeof **name);
		r = size && *name ? 0 : -ENOMEM;
	}
	close_waiting(&q);
	if (!r) {
		number_parts(part, n, least, number, markers, size, *name);
	} else {
		weir_free(*name);
		*name = NULL;
	}
	weir_free(size);
	weir_free(number);
	return r;
}
