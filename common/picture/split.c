#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/picture/split.h"

static const uint32_t QUEUED = UINT32_MAX;

struct flood {
	const struct order_shape *s;
	const double *v;
	double rise;
	uint32_t *part;	 /* of each sample; 0: not taken yet, QUEUED: about to be */
	uint32_t *up;	 /* of each part: a part that it was joined to, or itself */
	double *peak;	 /* of each part */
	uint32_t n;	 /* parts begun, from 1 */
	uint32_t *queue; /* of equal samples */
	size_t first, last;
};

static uint32_t
find(uint32_t *up, uint32_t i)
{
	while (up[i] != i) {
		up[i] = up[up[i]];
		i = up[i];
	}
	return i;
}

/* Parts a and b meet at height v. The one with the lower peak is joined to the other unless it stands high enough. */
static void
meet(struct flood *f, uint32_t a, uint32_t b, double v)
{
	a = find(f->up, a);
	b = find(f->up, b);
	if (a == b)
		return;
	const bool higher = f->peak[a] > f->peak[b] || (f->peak[a] == f->peak[b] && a < b);
	const uint32_t high = higher ? a : b, low = higher ? b : a;

	if (f->peak[low] - v < f->rise)
		f->up[low] = high;
}

/* Takes sample i: it joins the part of its highest neighbour, or begins one. */
static void
take(struct flood *f, size_t i)
{
	size_t near[ORDER_NEIGHBOURS];
	const size_t n = order_neighbours(f->s, i, near);
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
is_reached(const struct flood *f, size_t i)
{
	size_t near[ORDER_NEIGHBOURS];
	const size_t n = order_neighbours(f->s, i, near);

	for (size_t k = 0; k < n; k++)
		if (f->part[near[k]] && f->part[near[k]] != QUEUED)
			return true;
	return false;
}

static void
push(struct flood *f, size_t i)
{
	f->part[i] = QUEUED;
	f->queue[f->last++] = (uint32_t)i;
}

/* Takes the samples of the queue, and then those of the same plateau that they touch. */
static void
drain(struct flood *f, const uint8_t *chosen)
{
	size_t near[ORDER_NEIGHBOURS];

	while (f->first < f->last) {
		const size_t i = f->queue[f->first++], n = order_neighbours(f->s, i, near);

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
		const uint32_t root = find(f->up, f->part[i]);

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
	struct flood f = {.s = s, .v = v, .rise = rise, .part = part};
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
