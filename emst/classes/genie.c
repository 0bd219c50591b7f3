/*
 * Genie in O(n log n). Every part keeps a heap of the edges that may leave it. While the weights are too unequal, a heap of
 * all parts, ordered by weight and then by first edge, gives the next edge.
 */
#include <errno.h>
#include <math.h>

#include "common/base/mem.h"
#include "emst/classes/classes.h"
#include "emst/roots.h"

#define NONE 0xffffffffu

/* The weights of all parts, arranged to sum the differences of one weight from all of them. */
struct weights {
	uint32_t small; /* weights below it are counted by value, the others are listed */
	/* Fenwick trees over the weights below small: the number of parts, and the sum of their weights [small + 1]; owned. */
	uint64_t *count;
	uint64_t *sum;
	uint64_t few, total; /* the number of parts below small, and the sum of their weights */
	uint64_t *large;     /* [nlarge]; owned */
	size_t nlarge;
};

/* Leftist heaps of edges. Nodes 2e and 2e + 1 stand for edge e in the parts at its two ends. */
struct leaving {
	uint32_t (*child)[2]; /* [2n] ; owned */
	uint8_t *rank;	      /* [2n]: the shortest way to a free place below; owned */
	uint8_t *done;	      /* [n]: the edge has joined two parts */
};

/* A part by its weight and the first edge that leaves it. */
struct light {
	uint64_t weight;
	uint32_t edge;
};

struct genie {
	const struct emst_tree *t;
	uint32_t *up, *top; /* [n]: union-find; of a root, the first node of its heap; owned */
	uint64_t *weight;   /* [n] of roots; owned */
	struct leaving leaving;
	struct light *part; /* heap, outdated ones included; owned */
	size_t nparts;
	struct weights w;
	uint64_t spread; /* the sum over all pairs of parts of the difference of their weights */
};

/* --- weights ------------------------------------------------------------------------------------------------------ */

static int
make_weights(struct weights *w, uint64_t total, size_t parts)
{
	*w = (struct weights){.small = 1024};
	while (w->small < 1u << 20 && (double)w->small < 4 * sqrt((double)total))
		w->small *= 2;
	const size_t most = (size_t)(total / w->small) + 1;
	w->count = weir_calloc((size_t)w->small + 1, sizeof *w->count);
	w->sum = weir_calloc((size_t)w->small + 1, sizeof *w->sum);
	w->large = weir_alloc(most < parts ? most : parts, sizeof *w->large);
	return w->count && w->sum && w->large ? 0 : -ENOMEM;
}

static void
change_small(struct weights *w, uint64_t x, bool add)
{
	const uint64_t one = add ? 1 : (uint64_t)-1, more = add ? x : (uint64_t)0 - x;

	w->few += one;
	w->total += more;
	for (uint64_t i = x; i <= w->small; i += i & -i) {
		w->count[i] += one;
		w->sum[i] += more;
	}
}

static void
add_weight(struct weights *w, uint64_t x)
{
	if (x < w->small)
		change_small(w, x, true);
	else
		w->large[w->nlarge++] = x;
}

static void
remove_weight(struct weights *w, uint64_t x)
{
	size_t i = 0;

	if (x < w->small) {
		change_small(w, x, false);
		return;
	}
	while (w->large[i] != x)
		i++;
	w->large[i] = w->large[--w->nlarge];
}

/* Returns the sum over all weights of their difference from x. */
static uint64_t
difference(const struct weights *w, uint64_t x)
{
	uint64_t below = 0, sum = 0, d = 0;

	for (uint64_t i = x < w->small ? x : w->small; i; i &= i - 1) {
		below += w->count[i];
		sum += w->sum[i];
	}
	d = below * x - sum + (w->total - sum) - (w->few - below) * x;
	for (size_t i = 0; i < w->nlarge; i++)
		d += w->large[i] > x ? w->large[i] - x : x - w->large[i];
	return d;
}

/* --- edges that leave a part ---------------------------------------------------------------------------------------- */

/* Melds two heaps, both of which may be empty. */
static uint32_t
meld(struct leaving *l, uint32_t a, uint32_t b)
{
	uint32_t path = NONE, x;

	/* Goes down the right sides and takes the smaller node; its right child keeps the way back. */
	while (a != NONE && b != NONE) {
		if (b < a) {
			x = a;
			a = b;
			b = x;
		}
		x = l->child[a][1];
		l->child[a][1] = path;
		path = a;
		a = x;
	}
	x = a != NONE ? a : b;
	while (path != NONE) {
		uint32_t above = l->child[path][1], left = l->child[path][0];
		const int rx = x == NONE ? 0 : l->rank[x], rl = left == NONE ? 0 : l->rank[left];
		l->child[path][0] = rl >= rx ? left : x;
		l->child[path][1] = rl >= rx ? x : left;
		l->rank[path] = (uint8_t)((rl >= rx ? rx : rl) + 1);
		x = path;
		path = above;
	}
	return x;
}

/* Removes edges that have already joined two parts from the top of a heap. */
static uint32_t
drop_done(struct leaving *l, uint32_t top)
{
	while (top != NONE && l->done[top / 2])
		top = meld(l, l->child[top][0], l->child[top][1]);
	return top;
}

/* --- parts by weight ------------------------------------------------------------------------------------------------ */

static inline bool
lighter(struct light a, struct light b)
{
	return a.weight < b.weight || (a.weight == b.weight && a.edge < b.edge);
}

static void
push_part(struct genie *g, uint32_t root)
{
	const struct light x = {g->weight[root], g->top[root] / 2};
	size_t i = g->nparts;

	if (g->top[root] == NONE)
		return;
	for (g->nparts++; i && lighter(x, g->part[(i - 1) / 2]); i = (i - 1) / 2)
		g->part[i] = g->part[(i - 1) / 2];
	g->part[i] = x;
}

static void
pop_part(struct genie *g)
{
	const struct light x = g->part[--g->nparts];
	size_t i = 0, child;

	for (; (child = 2 * i + 1) < g->nparts; i = child) {
		if (child + 1 < g->nparts && lighter(g->part[child + 1], g->part[child]))
			child++;
		if (!lighter(g->part[child], x))
			break;
		g->part[i] = g->part[child];
	}
	g->part[i] = x;
}

/* Returns the first edge that leaves a lightest part. */
static uint32_t
lightest_edge(struct genie *g)
{
	for (;; pop_part(g)) {
		const uint32_t e = g->part[0].edge;
		const uint64_t w = g->part[0].weight;
		if (!g->leaving.done[e] && (g->weight[roots_find(g->up, g->t->edge[e].u)] == w ||
					    g->weight[roots_find(g->up, g->t->edge[e].v)] == w))
			return e;
	}
}

/* --- the run --------------------------------------------------------------------------------------------------------- */

static void
join(struct genie *g, uint32_t e)
{
	const uint32_t a = roots_find(g->up, g->t->edge[e].u),
		       b = roots_find(g->up, g->t->edge[e].v), to = a < b ? a : b;
	const uint64_t sum = g->weight[a] + g->weight[b];

	g->spread -= difference(&g->w, g->weight[a]);
	remove_weight(&g->w, g->weight[a]);
	g->spread -= difference(&g->w, g->weight[b]);
	remove_weight(&g->w, g->weight[b]);
	g->spread += difference(&g->w, sum);
	add_weight(&g->w, sum);
	g->leaving.done[e] = 1;
	g->top[to] = drop_done(&g->leaving, meld(&g->leaving, g->top[a], g->top[b]));
	roots_join(g->up, a, b);
	g->weight[to] = sum;
	push_part(g, to);
}

static int
start(struct genie *g, const struct emst_tree *t, const uint64_t *weight, uint64_t *total)
{
	const size_t n = t->n;

	*g = (struct genie){.t = t,
			    .up = roots_new(n),
			    .top = weir_alloc(n, sizeof *g->top),
			    .weight = weir_alloc(n, sizeof *g->weight),
			    .leaving = {weir_alloc(2 * n, sizeof *g->leaving.child),
					weir_alloc(2 * n, 1), weir_calloc(n, 1)},
			    .part = weir_alloc(2 * n, sizeof *g->part)};
	if (!g->up || !g->top || !g->weight || !g->leaving.child || !g->leaving.rank ||
	    !g->leaving.done || !g->part)
		return -ENOMEM;
	*total = 0;
	for (size_t v = 0; v < n; v++) {
		*total += g->weight[v] = weight ? weight[v] : 1;
		g->top[v] = NONE;
	}
	if (*total > (uint64_t)INT64_MAX / n)
		return -EOVERFLOW;
	int err = make_weights(&g->w, *total, n);
	if (err)
		return err;
	for (size_t v = 0; v < n; v++) {
		g->spread += difference(&g->w, g->weight[v]);
		add_weight(&g->w, g->weight[v]);
	}
	for (uint32_t e = 0; e + 1 < n; e++)
		for (uint32_t end = 0; end < 2; end++) {
			uint32_t *top = &g->top[end ? t->edge[e].v : t->edge[e].u], i = 2 * e + end;
			g->leaving.child[i][0] = g->leaving.child[i][1] = NONE;
			g->leaving.rank[i] = 1;
			*top = meld(&g->leaving, *top, i);
		}
	for (uint32_t v = 0; v < n; v++)
		push_part(g, v);
	return 0;
}

static void
end(struct genie *g)
{
	weir_free(g->up);
	weir_free(g->top);
	weir_free(g->weight);
	weir_free(g->leaving.child);
	weir_free(g->leaving.rank);
	weir_free(g->leaving.done);
	weir_free(g->part);
	weir_free(g->w.count);
	weir_free(g->w.sum);
	weir_free(g->w.large);
}

int
cut_genie(const struct emst_tree *t, const uint64_t *weight, double gini, size_t classes,
	  uint8_t *cut)
{
	struct genie g;
	uint64_t total;
	uint32_t next = 0;
	int err = start(&g, t, weight, &total);

	for (size_t parts = t->n; !err && parts > classes; parts--) {
		const bool unequal = (double)g.spread > gini * (double)(parts - 1) * (double)total;
		while (g.leaving.done[next])
			next++;
		join(&g, unequal ? lightest_edge(&g) : next);
	}
	for (size_t e = 0; !err && e + 1 < t->n; e++)
		cut[e] = !g.leaving.done[e];
	end(&g);
	return err;
}
