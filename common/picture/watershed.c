#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/picture/watershed.h"

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
push(struct waiting *q, uint32_t i)
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

struct step {
	int x, y, z;
};

/* Lists the steps from a sample to its neighbours: to those that differ along one axis first, then along two and three. */
static size_t
list_steps(int connectivity, struct step step[ORDER_NEIGHBOURS])
{
	const struct order_shape cube = {3, 3, 3, connectivity};
	size_t near[ORDER_NEIGHBOURS], n = 0;
	const size_t all = order_neighbours(&cube, 13, near); /* of its centre */

	for (int axes = 1; axes <= 3; axes++)
		for (size_t k = 0; k < all; k++) {
			const struct step to = {(int)(near[k] % 3) - 1, (int)(near[k] / 3 % 3) - 1,
						(int)(near[k] / 9) - 1};

			if (abs(to.x) + abs(to.y) + abs(to.z) == axes)
				step[n++] = to;
		}
	return n;
}

/* Spreads the markers. part[i] is OUTSIDE where i is not chosen. */
static void
flood(const struct order_shape *s, struct waiting *q, uint32_t *part)
{
	const uint32_t w = (uint32_t)s->w, h = (uint32_t)s->h, n = (uint32_t)(w * h * s->depth);
	struct step step[ORDER_NEIGHBOURS];
	const size_t steps = list_steps(s->connectivity, step);
	uint32_t i;

	for (uint32_t k = 0; k < n; k++)
		if (part[k] && part[k] != OUTSIDE)
			push(q, k);
	while (pop(q, &i)) {
		const size_t x = i % w, y = i / w % h, z = i / w / h;

		for (size_t k = 0; k < steps; k++) {
			/* Below 0 they are huge. */
			const size_t X = x + (size_t)step[k].x, Y = y + (size_t)step[k].y,
				     Z = z + (size_t)step[k].z, to = (Z * h + Y) * w + X;

			if (X < w && Y < h && Z < s->depth && !part[to]) {
				part[to] = part[i];
				push(q, (uint32_t)to);
			}
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
