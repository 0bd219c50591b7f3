#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/roots.h"
#include "emst/classes/classes.h"
#include "emst/sort.h"

/* Returns the weight of the lighter part that edge e joins. The minimum-size forests of all m up to this weight cut e. */
static inline uint64_t
dendrogram_lighter(const struct dendrogram *d, size_t e)
{
	const uint64_t a = d->weight[d->part[e][0]], b = d->weight[d->part[e][1]];

	return a < b ? a : b;
}

/* ---- labels ---- */

struct ranked {
	uint64_t weight;
	uint32_t first, label;
};

static int
heavier(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return (a->first > b->first) - (a->first < b->first);
}

int
classes_rank(struct classes *c, size_t vertices, size_t n, const uint64_t *weight)
{
	struct ranked *r = weir_calloc(n, sizeof *r);
	uint32_t *name = weir_alloc(n, sizeof *name);

	c->weight = weir_calloc(n + 1, sizeof *c->weight);
	bool ok = r && name && c->weight;
	for (uint32_t i = 0; ok && i < n; i++)
		r[i] = (struct ranked){0, CLASSES_NONE, i};
	for (uint32_t v = 0; ok && v < vertices; v++) {
		const uint32_t label = c->label[v];
		const uint64_t w = weight ? weight[v] : 1;
		if (label == CLASSES_NONE) {
			c->weight[0] += w;
			continue;
		}
		r[label].weight += w;
		r[label].first = v < r[label].first ? v : r[label].first;
	}
	if (ok) {
		qsort(r, n, sizeof *r, heavier);
		for (c->n = 0; c->n < n && r[c->n].weight; c->n++) {
			name[r[c->n].label] = (uint32_t)c->n + 1;
			c->weight[c->n + 1] = r[c->n].weight;
		}
		for (size_t v = 0; v < vertices; v++)
			c->label[v] = c->label[v] == CLASSES_NONE ? 0 : name[c->label[v]];
	}
	weir_free_all(name, r);
	return ok ? 0 : -ENOMEM;
}

int
classes_make(struct classes *c, const struct emst_tree *t, const uint8_t *cut,
	     const uint64_t *weight)
{
	uint32_t *up = weir_alloc(t->n, sizeof *up), n = 0;
	int err = -ENOMEM;

	*c = (struct classes){.label = weir_alloc(t->n, sizeof *c->label)};
	if (up && c->label) {
		roots_single(up, t->n);
		for (size_t e = 0; e + 1 < t->n; e++) {
			uint32_t a = roots_find(up, t->edge[e].u), b = roots_find(up, t->edge[e].v);
			if (!cut[e])
				roots_join(up, a, b);
		}
		for (uint32_t i = 0; i < t->n; i++)
			c->label[i] = up[i] == i ? n++ : c->label[roots_find(up, i)];
		err = classes_rank(c, t->n, n, weight);
	}
	weir_free(up);
	if (err)
		classes_free(c);
	return err;
}

double *
classes_means(const struct classes *c, const struct vertices *v)
{
	const size_t k = v->set.k;
	double *mean = weir_calloc((c->n + 1) * k, sizeof *mean), x[EMST_MOSTDIM];

	for (size_t i = 0; mean && i < v->set.n; i++) {
		const uint32_t label = c->label[i];
		vertices_get(v, i, x);
		for (size_t a = 0; label && a < k; a++)
			mean[label * k + a] += (double)v->weight[i] * x[a];
	}
	for (size_t label = 1; mean && label <= c->n; label++)
		for (size_t a = 0; a < k; a++)
			mean[label * k + a] =
			    mean[label * k + a] / (double)c->weight[label] * v->scale;
	return mean;
}

void
classes_free(struct classes *c)
{
	weir_free_all(c->label, c->weight);
	*c = (struct classes){0};
}

/* ---- the dendrogram ---- */

/* Single linkage. name[root]: the part that stands for the union-find set with this root. */
int
dendrogram_make(struct dendrogram *d, const struct emst_tree *t, const uint64_t *weight)
{
	uint32_t *up = roots_new(t->n), *name = roots_new(t->n);

	*d = (struct dendrogram){t->n, weir_alloc(t->n, sizeof *d->part),
				 weir_alloc(2 * t->n, sizeof *d->weight)};
	const bool ok = up && name && d->part && d->weight;
	for (size_t i = 0; ok && i < t->n; i++)
		d->weight[i] = weight ? weight[i] : 1;
	for (size_t e = 0; ok && e + 1 < t->n; e++) {
		const uint32_t a = roots_find(up, t->edge[e].u), b = roots_find(up, t->edge[e].v);
		const bool keep = d->weight[name[a]] >= d->weight[name[b]];
		d->part[e][0] = name[a];
		d->part[e][1] = name[b];
		d->weight[t->n + e] = d->weight[name[a]] + d->weight[name[b]];
		up[keep ? b : a] = keep ? a : b;
		name[keep ? a : b] = (uint32_t)(t->n + e);
	}
	if (!ok)
		dendrogram_free(d);
	weir_free_all(name, up);
	return ok ? 0 : -ENOMEM;
}

void
dendrogram_free(struct dendrogram *d)
{
	weir_free_all(d->part, d->weight);
	*d = (struct dendrogram){0};
}

/* ---- cuts ---- */

void
cut_size(const struct dendrogram *d, uint64_t min_weight, uint8_t *cut)
{
	for (size_t e = 0; e + 1 < d->n; e++)
		cut[e] = dendrogram_lighter(d, e) >= min_weight;
}

void
cut_length(const struct emst_tree *t, double longest, uint8_t *cut)
{
	for (size_t e = 0; e + 1 < t->n; e++)
		cut[e] = t->length[e] > longest;
}

/* Returns the largest number that at least `rank` of the keys of cut edges reach; 0 when fewer edges are cut. */
static uint64_t
find_rank(const uint64_t *key, const uint8_t *cut, size_t n, size_t rank)
{
	enum { DIGIT = 12, BITS = 48 };
	const uint64_t mask = (1 << DIGIT) - 1;
	uint64_t found = 0; /* the digits that are known, from the highest on */

	for (int shift = BITS - DIGIT; shift >= 0; shift -= DIGIT) {
		size_t count[1 << DIGIT] = {0};
		uint64_t digit = mask;
		for (size_t e = 0; e < n; e++)
			if (key[e] >> shift >> DIGIT == found)
				count[key[e] >> shift & mask] += cut[e];
		for (; digit && count[digit] < rank; digit--)
			rank -= count[digit];
		found = found << DIGIT | digit;
	}
	return found;
}

int
cut_at_most(const struct dendrogram *d, size_t classes, uint8_t *cut)
{
	const size_t n = d->n - 1;
	uint64_t *key = weir_alloc(n + 1, sizeof *key);
	size_t kept = 0;

	if (!key)
		return -ENOMEM;
	for (size_t e = 0; e < n; e++)
		key[e] = dendrogram_lighter(d, e);
	const uint64_t least = find_rank(key, cut, n, classes - 1);

	for (size_t e = 0; e < n; e++) {
		cut[e] = cut[e] && classes > 1 && key[e] >= least;
		kept += cut[e];
	}
	for (size_t e = 0; kept >= classes; e++) {
		kept -= cut[e];
		cut[e] = 0;
	}
	weir_free(key);
	return 0;
}

/* ---- cuts by variance ---- */

#define NONE 0xffffffffu

/*
 * The tree hangs from its last vertex. The places 0..n-1 hold the vertices: those that hang on one follow it without a gap. Each
 * place knows the sums of what hangs there, so one walk over a part judges all its cuts.
 */
struct hanging {
	size_t n, k;
	/* [n]: who stands here; the place above; how many hang here, itself included; the edge up, NONE when it is cut. */
	uint32_t *vertex, *up, *hung, *edge; /* vertex owns all four */
	/* [n][k + 1]: the weight and the weighted coordinates of what hangs here; owned. */
	double *sum;
	double squares; /* about the mean of all */
};

/*
 * Takes leaf after leaf from the tree; the exclusive or of a vertex's edges names the last one that it has. Then gives out the
 * places, the last leaf first: it gets the next free place below the one that it hung on.
 */
static int
find_places(const struct hanging *h, const struct emst_tree *t)
{
	const size_t n = h->n;
	uint32_t *degree = weir_calloc_large(5 * n, sizeof *degree), *last = degree + n,
		 *hung = last + n, *list = hung + n, *place = list + n, at = 0;
	size_t taken = 0;

	if (!degree)
		return -ENOMEM;
	for (uint32_t e = 0; e + 1 < n; e++)
		for (int end = 0; end < 2; end++) {
			degree[end ? t->edge[e].v : t->edge[e].u]++;
			last[end ? t->edge[e].v : t->edge[e].u] ^= e;
		}
	for (uint32_t i = 0; i + 1 < n; i++)
		for (uint32_t v = i, to; v <= i && degree[v] == 1; v = to) {
			to = t->edge[last[v]].u ^ t->edge[last[v]].v ^ v;
			list[taken++] = v;
			degree[v] = 0;
			degree[to]--;
			last[to] ^= last[v];
			hung[to] += ++hung[v];
		}
	list[taken] = (uint32_t)n - 1;
	hung[n - 1]++;
	for (size_t i = n; i-- > 0;) {
		const uint32_t v = list[i], e = i + 1 < n ? last[v] : NONE;
		if (e != NONE) {
			const uint32_t to = t->edge[e].u ^ t->edge[e].v ^ v;
			at = degree[to];
			degree[to] += hung[v];
			h->up[at] = place[to];
		}
		place[v] = at;
		degree[v] = at + 1;
		h->vertex[at] = v;
		h->edge[at] = e;
		h->hung[at] = hung[v];
	}
	weir_free(degree);
	return 0;
}

/* Fills the sums, of coordinates less those of the first vertex. */
static void
add_up(struct hanging *h, const struct vertices *v)
{
	const size_t k = h->k;
	double x[EMST_MOSTDIM], zero[EMST_MOSTDIM];

	vertices_get(v, 0, zero);
	for (size_t i = 0; i < h->n; i++) {
		double *s = h->sum + i * (k + 1);
		vertices_get(v, h->vertex[i], x);
		s[0] = v->weight ? (double)v->weight[h->vertex[i]] : 1;
		for (size_t a = 0; a < k; a++) {
			s[a + 1] = s[0] * (x[a] - zero[a]);
			h->squares += s[a + 1] * (x[a] - zero[a]);
		}
	}
	for (size_t i = h->n; i-- > 1;)
		for (size_t a = 0; a <= k; a++)
			h->sum[h->up[i] * (k + 1) + a] += h->sum[i * (k + 1) + a];
	for (size_t a = 1; a <= k; a++)
		h->squares -= h->sum[a] * h->sum[a] / h->sum[0];
}

/* A part, by the place that it hangs from, and its best cut. */
struct part {
	double gain; /* of squares; 0: no cut */
	uint32_t root, at, edge;
	uint32_t from; /* the cut edge above it */
};

/* Finds the best cut of a part. Both sides together have |W S - w T|^2 / (W w (W - w)) fewer squares than the part. */
CPU_INLINE struct part
look(const struct hanging *h, uint32_t root, uint32_t from, double least, size_t k)
{
	const double *all = h->sum + root * (k + 1), whole = all[0];
	struct part best = {0, root, root, 0, from};

	for (uint32_t i = root + 1; i < root + h->hung[root]; i++) {
		const double *s = h->sum + i * (k + 1), w = s[0], both = w * (whole - w),
			     inverse = 1 / both;
		double d2 = 0;
		if (h->edge[i] == NONE) {
			i += h->hung[i] - 1;
			continue;
		}
		for (size_t a = 1; a <= k; a++) {
			const double d = (whole * s[a] - w * all[a]) * inverse;
			d2 += d * d;
		}
		const double gain = d2 * both / whole;
		if (gain >= best.gain && gain > 0 && w >= least && whole - w >= least &&
		    (gain > best.gain || h->edge[i] > best.edge)) {
			best.gain = gain;
			best.at = i;
			best.edge = h->edge[i];
		}
	}
	return best;
}

static struct part
find_cut(const struct hanging *h, uint32_t root, uint32_t from, uint64_t least)
{
	return h->k == 3 ? look(h, root, from, (double)least, 3)
			 : look(h, root, from, (double)least, h->k);
}

/* What classes cost, as a part of SST or of its root. */
static double
cost(const struct variance *how, double squares, size_t classes)
{
	return how->lambda > 0 ? squares + how->lambda * (double)classes
			       : sqrt(squares) + how->price * pow((double)classes, how->power);
}

/* Cuts into `most` parts, or until no cut could lower the cost, even if it left no squares. Returns how many parts cost least. */
static size_t
cut_parts(const struct hanging *h, const struct variance *how, size_t most, struct part *part)
{
	const size_t k = h->k + 1;
	const bool plain = how->classes && how->lambda == 0;
	double squares = h->squares, least = cost(how, 1, 1);
	size_t n = 1, best = 1;

	part[0] = find_cut(h, 0, NONE, how->min_weight);
	for (; n < most && (plain || cost(how, 0, n + 1) < least); n++) {
		size_t p = 0;
		for (size_t i = 1; i < n; i++)
			if (part[i].gain > part[p].gain ||
			    (part[i].gain == part[p].gain && part[i].edge > part[p].edge))
				p = i;
		const struct part x = part[p];
		if (x.gain == 0)
			break;
		h->edge[x.at] = NONE;
		for (uint32_t i = x.at; i != x.root;) {
			i = h->up[i];
			for (size_t a = 0; a < k; a++)
				h->sum[i * k + a] -= h->sum[x.at * k + a];
		}
		part[p] = find_cut(h, x.root, x.from, how->min_weight);
		part[n] = find_cut(h, x.at, x.edge, how->min_weight);
		squares = fmax(squares - x.gain, 0);
		if (plain || cost(how, squares / h->squares, n + 1) < least) {
			least = cost(how, squares / h->squares, n + 1);
			best = n + 1;
		}
	}
	return best;
}

int
cut_variance(const struct emst_tree *t, const struct vertices *v, struct variance how, uint8_t *cut)
{
	const size_t n = t->n, k = v->set.k;
	const double pay = how.lambda > 0 ? 2 + 1 / how.lambda
					  : pow(1 + 1 / how.price, 1 / how.power) + 1,
		     most = how.classes ? (double)how.classes : pay;
	const size_t parts = most < (double)n ? (size_t)most : n;
	uint32_t *all = weir_alloc_large(4 * n, sizeof *all);
	struct part *part = weir_alloc(parts, sizeof *part);
	struct hanging h = {n, k, all, all + n, all + 2 * n, all + 3 * n, NULL, 0};
	int err = all && part ? find_places(&h, t) : -ENOMEM;

	if (!err && !(h.sum = weir_alloc_large(n * (k + 1), sizeof *h.sum)))
		err = -ENOMEM;
	if (!err) {
		add_up(&h, v);
		memset(cut, 0, n);
		for (size_t i = cut_parts(&h, &how, parts, part); i-- > 1;)
			cut[part[i].from] = 1;
	}
	weir_free_all(h.sum, part, all);
	return err;
}

/* ---- Genie ---- */

/*
 * Genie in O(n log n). Every part keeps a heap of the edges that may leave it. While the weights are too unequal, a heap of
 * all parts, ordered by weight and then by first edge, gives the next edge.
 */

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
	struct leaving *l = &g->leaving;

	g->spread -= difference(&g->w, g->weight[a]);
	remove_weight(&g->w, g->weight[a]);
	g->spread -= difference(&g->w, g->weight[b]);
	remove_weight(&g->w, g->weight[b]);
	g->spread += difference(&g->w, sum);
	add_weight(&g->w, sum);
	l->done[e] = 1;
	uint32_t top = meld(l, g->top[a], g->top[b]);
	while (top != NONE && l->done[top / 2])
		top = meld(l, l->child[top][0], l->child[top][1]);
	g->top[to] = top;
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
	struct weights *w = &g->w;
	for (w->small = 1024; w->small < 1u << 20 && (double)w->small < 4 * sqrt((double)*total);)
		w->small *= 2;
	const size_t most = (size_t)(*total / w->small) + 1;
	w->count = weir_calloc((size_t)w->small + 1, sizeof *w->count);
	w->sum = weir_calloc((size_t)w->small + 1, sizeof *w->sum);
	w->large = weir_alloc(most < n ? most : n, sizeof *w->large);
	if (!w->count || !w->sum || !w->large)
		return -ENOMEM;
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
	weir_free_all(g.up, g.top, g.weight, g.leaving.child, g.leaving.rank, g.leaving.done,
		      g.part, g.w.count, g.w.sum, g.w.large);
	return err;
}

/* ---- density ---- */

/* HDBSCAN*: finds the classes that last while edges are cut. */

/* A class that lasts for a while when edges are cut, longest first. */
struct lasting {
	double birth; /* 1/length at which it began */
	/*
	 * stability is the class's own; choose() replaces it by the total stability of the classes chosen from it. within is the
	 * sum of these totals over the classes that it falls into.
	 */
	double stability, within;
	uint32_t parent; /* CLASSES_NONE: it is the class of all vertices */
	bool splits;	 /* it falls into two classes */
};

struct condensed {
	const struct dendrogram *d;
	const struct emst_tree *t;
	struct density how;
	struct lasting *l; /* owned */
	size_t n;
	uint32_t *of;	 /* [2n-1]: the last class that a part is or was in; owned */
	uint8_t *fallen; /* [2n-1]: the part has dropped out of that class; owned */
	/*
	 * [n-1]: the parts of at least min_weight into which a part falls when the edges of one length are cut at once; 2 stands
	 * for more, too. A part that itself falls apart at that cut has the number of the part around it. Owned.
	 */
	uint8_t *large;
};

/* Returns 1/length, which is finite even where a length was rounded to 0. */
static double
end_of(double length)
{
	return 1 / fmax(length, 0x1p-500);
}

static uint32_t
begin_class(struct condensed *y, uint32_t parent, double birth)
{
	y->l[y->n] = (struct lasting){.birth = birth, .parent = parent};
	return (uint32_t)y->n++;
}

/* Tells whether the cut of edge e also cuts the edge that joined part p, since both have one length. */
static bool
falls_too(const struct condensed *y, size_t e, uint32_t p)
{
	const size_t n = y->t->n;

	return p >= n && y->t->length[p - n] == y->t->length[e];
}

static bool
is_large(const struct condensed *y, uint32_t p)
{
	return y->d->weight[p] >= y->how.min_weight;
}

/* Cuts edge e: its two parts become classes, stay in their class, drop out, or fall apart at the same cut. */
static void
split(struct condensed *y, size_t e)
{
	const size_t n = y->t->n, part = n + e;
	const uint32_t class = y->of[part];
	const double at = end_of(y->t->length[e]);
	const bool splits = !y->fallen[part] && y->large[e] == 2;

	y->l[class].splits |= splits;
	for (int i = 0; i < 2; i++) {
		const uint32_t p = y->d->part[e][i];
		const bool stays = !y->fallen[part] && is_large(y, p);
		y->of[p] = class;
		if (falls_too(y, e, p)) {
			y->fallen[p] = y->fallen[part];
			y->large[p - n] = y->large[e];
			continue;
		}
		y->fallen[p] = !stays;
		if (!y->fallen[part] && (splits || !stays || p < n))
			y->l[class].stability += (double)y->d->weight[p] * (at - y->l[class].birth);
		if (splits && stays)
			y->of[p] = begin_class(y, class, at);
	}
}

/* Sets chosen[i] to the chosen class that contains class i: itself, a class around it, or CLASSES_NONE. */
static void
choose(struct condensed *y, uint32_t *chosen)
{
	for (size_t i = y->n; i-- > 0;) {
		struct lasting *l = &y->l[i];
		const bool take =
		    !l->splits || (l->parent != CLASSES_NONE && l->stability >= l->within);
		chosen[i] = take ? (uint32_t)i : CLASSES_NONE;
		if (!take)
			l->stability = l->within;
		if (l->parent != CLASSES_NONE)
			y->l[l->parent].within += l->stability;
	}
	for (size_t i = 0; i < y->n; i++)
		if (y->l[i].parent != CLASSES_NONE && chosen[y->l[i].parent] != CLASSES_NONE)
			chosen[i] = chosen[y->l[i].parent];
}

static int
condense(struct condensed *y)
{
	size_t n = y->t->n, parts = 2 * n - 1;

	y->l = weir_alloc(2 * n, sizeof *y->l);
	y->of = weir_alloc(parts, sizeof *y->of);
	y->fallen = weir_calloc(parts, sizeof *y->fallen);
	y->large = weir_alloc(n, sizeof *y->large);
	if (!y->l || !y->of || !y->fallen || !y->large)
		return -ENOMEM;
	for (size_t e = 0; e + 1 < n; e++) {
		unsigned large = 0;
		for (int i = 0; i < 2; i++) {
			const uint32_t p = y->d->part[e][i];
			large += falls_too(y, e, p) ? y->large[p - n] : is_large(y, p);
		}
		y->large[e] = large < 2 ? (uint8_t)large : 2;
	}
	y->of[parts - 1] = begin_class(y, CLASSES_NONE, n > 1 ? end_of(y->t->length[n - 2]) : 0);
	for (size_t e = n - 1; e-- > 0;)
		split(y, e);
	return 0;
}

/* Labels the vertices without a class: edges join parts in order, unless both have a class. */
static int
fill(const struct emst_tree *t, uint32_t *label)
{
	uint32_t *up = roots_new(t->n);

	if (!up)
		return -ENOMEM;
	for (size_t e = 0; e + 1 < t->n; e++) {
		uint32_t a = roots_find(up, t->edge[e].u), b = roots_find(up, t->edge[e].v);
		if (label[a] != CLASSES_NONE && label[b] != CLASSES_NONE)
			continue;
		label[a] = label[b] = label[a] != CLASSES_NONE ? label[a] : label[b];
		roots_join(up, a, b);
	}
	for (uint32_t v = 0; v < t->n; v++)
		label[v] = label[roots_find(up, v)];
	weir_free(up);
	return 0;
}

int
classes_density(struct classes *c, const struct dendrogram *d, const struct emst_tree *t,
		struct density how)
{
	struct condensed y = {.d = d, .t = t, .how = how};
	int err = condense(&y);
	uint32_t *chosen = err ? NULL : weir_alloc(y.n, sizeof *chosen);

	*c = (struct classes){.label = weir_alloc(t->n, sizeof *c->label)};
	if (!chosen || !c->label) {
		err = -ENOMEM;
	} else {
		choose(&y, chosen);
		for (size_t v = 0; v < t->n; v++)
			c->label[v] = chosen[y.of[v]];
		err = how.fill ? fill(t, c->label) : 0;
		if (!err)
			err = classes_rank(c, t->n, y.n, d->weight);
	}
	weir_free_all(chosen, y.l, y.of, y.fallen, y.large);
	if (err)
		classes_free(c);
	return err;
}
