/* variants: f32_generic f32_avx2 f32_avx512 f64_generic f64_avx2 f64_avx512 */
/* Finds the core radii of points, and the tree by Boruvka's algorithm on the kd-tree. */
#include "emst/kd/kd_body.h"

TARGET_BEGIN

CPU_INLINE void
core_leaf(const struct kd *t, size_t p, size_t leaf, struct heap *h)
{
	size_t first = leaf * LEAF, n = leaf_end(t, leaf) - first;
	union block d;

	leaf_d2(t, t->x + p * t->k, leaf, t->k, &d);
	for (unsigned hits = at_most(&d, heap_limit(h)) & ((1u << n) - 1); hits; hits &= hits - 1) {
		size_t j = (size_t)__builtin_ctz(hits);
		heap_reach(h, d.x[j], t->in->weight[t->vertex[first + j]]);
	}
}

static void
core_below(const struct kd *t, size_t p, size_t node, struct heap *h)
{
	if (box_d2(t, t->x + p * t->k, node, t->k) >= heap_limit(h))
		return;
	if (node >= t->nleaves) {
		core_leaf(t, p, leaf_of_node(t, node), h);
		return;
	}
	size_t a = 2 * node;
	bool swap = box_d2(t, t->x + p * t->k, a + 1, t->k) < box_d2(t, t->x + p * t->k, a, t->k);
	core_below(t, p, a + swap, h);
	core_below(t, p, a + !swap, h);
}

static REAL
core_of(const struct kd *t, size_t p, struct heap *h)
{
	size_t own = node_of_leaf(t, p / LEAF);

	h->n = 0;
	h->weight = 0;
	core_leaf(t, p, p / LEAF, h);
	for (size_t node = own; node > 1; node /= 2)
		core_below(t, p, node ^ 1, h);
	return heap_limit(h);
}

/*
 * Boruvka's algorithm. A foreign point is one of another tree. The list of a point serves as long as its first foreign point
 * is certainly the nearest one: nearer than the last point of the list. After that the kd-tree is searched, but only when
 * the bound of the point allows a shorter edge than its tree already has.
 */

CPU_INLINE struct kd_edge
edge_make(const struct kd *t, REAL d2, size_t p, size_t q)
{
	return edge_between(d2, p, q, t->number[p], t->number[q]);
}

CPU_INLINE REAL
best_d2(const struct kd *t, uint32_t tree)
{
	REAL d2;

	__atomic_load(&t->best[tree].d2, &d2, __ATOMIC_RELAXED);
	return d2;
}

static void
offer(struct kd *t, uint32_t tree, struct kd_edge e)
{
	struct kd_edge *best = &t->best[tree];

	lock_take(t->locks, tree);
	if (edge_before(&e, best)) {
		best->span = e.span;
		best->lo = e.lo;
		best->p = e.p;
		best->q = e.q;
		__atomic_store(&best->d2, &e.d2, __ATOMIC_RELAXED);
	}
	lock_give(t->locks, tree);
}

/* Compares the edges from p to the foreign points of a leaf with *best, and keeps the first. */
CPU_INLINE void
search_leaf(const struct kd *t, size_t p, uint32_t tree, size_t leaf, struct kd_edge *best,
	    unsigned k)
{
	size_t first = leaf * LEAF, n = leaf_end(t, leaf) - first;
	union block d;

	leaf_d2(t, t->x + p * t->k, leaf, k, &d);
	if (t->core) {
		const REAL *core = t->core_lane[leaf].x;
		for (unsigned j = 0; j < LEAF; j++) {
			REAL c = core[j] > t->core[p] ? core[j] : t->core[p];
			d.x[j] = d.x[j] > c ? d.x[j] : c;
		}
	}
	for (unsigned hits = at_most(&d, best->d2) & ((1u << n) - 1); hits; hits &= hits - 1) {
		size_t j = (size_t)__builtin_ctz(hits);
		if (t->tree[first + j] == tree)
			continue;
		struct kd_edge e = edge_make(t, d.x[j], p, first + j);
		if (edge_before(&e, best))
			*best = e;
	}
}

/*
 * The search of one point. Where very many nodes are as far as its edge is long, all of them could have an edge of equal length
 * whose numbers come first. The search looks at TIES of them and passes over the others; pay() looks at these.
 */
enum { TIES = 64, OWING = 64 };
struct search {
	struct kd_edge best;
	unsigned ties; /* nodes that may still be looked at */
	unsigned looks;
	bool owes;
};

static inline void
count_looks(const struct kd *t, size_t looks)
{
	if (t->in->looks)
		__atomic_add_fetch(t->in->looks, looks, __ATOMIC_RELAXED);
}

/* Tells whether to look into a node. d2 is its squared distance. */
CPU_INLINE bool
may_win(struct search *s, REAL d2)
{
	if (d2 != s->best.d2)
		return d2 < s->best.d2;
	if (s->ties) {
		s->ties--;
		return true;
	}
	s->owes = true;
	return false;
}

CPU_INLINE void
search_below(const struct kd *t, size_t p, uint32_t tree, size_t top, struct search *s, unsigned k)
{
	const REAL *x = t->x + p * t->k;
	struct {
		REAL d2;
		size_t node;
	} stack[MAXHEIGHT];
	int n = 0;

	stack[n].d2 = box_d2(t, x, top, k);
	stack[n++].node = top;
	while (n) {
		size_t node = stack[--n].node;
		if (t->node_tree[node] == tree || !may_win(s, stack[n].d2))
			continue;
		while (node < t->nleaves) {
			size_t a = 2 * node, b = a + 1;
			REAL da = t->node_tree[a] == tree ? (REAL)INFINITY : box_d2(t, x, a, k),
			     db = t->node_tree[b] == tree ? (REAL)INFINITY : box_d2(t, x, b, k);
			node = da <= db ? a : b;
			stack[n].d2 = da <= db ? db : da;
			stack[n++].node = da <= db ? b : a;
			if (t->node_tree[node] == tree || !may_win(s, da <= db ? da : db))
				node = SIZE_MAX;
		}
		if (node == SIZE_MAX)
			continue;
		search_leaf(t, p, tree, leaf_of_node(t, node), &s->best, k);
		s->looks++;
	}
}

CPU_INLINE void
search_from(struct kd *t, size_t p, uint32_t tree, unsigned k)
{
	size_t own = node_of_leaf(t, p / LEAF);
	struct search s = {.best = {best_d2(t, tree), NONE, NONE, 0, 0}};

	s.ties = __atomic_load_n(&t->nowing, __ATOMIC_RELAXED) < OWING ? TIES : 0;
	if (t->node_tree[own] != tree)
		search_leaf(t, p, tree, p / LEAF, &s.best, k);
	for (size_t node = own; node > 1; node /= 2)
		if (t->node_tree[node ^ 1] != tree)
			search_below(t, p, tree, node ^ 1, &s, k);
	count_looks(t, s.looks);
	t->bound[p] = s.best.d2;
	t->owes[p] = s.owes;
	if (s.owes)
		__atomic_add_fetch(&t->nowing, 1, __ATOMIC_RELAXED);
	if (s.best.span != NONE)
		offer(t, tree, s.best);
}

/* Tells whether a point may have an edge that its tree wants, and whether its list cannot tell. */
CPU_INLINE bool
must_search(const struct kd *t, size_t p, REAL limit)
{
	return t->used[p] == t->nnear && t->bound[p] <= limit;
}

/* The leaves that the points of one leaf search together. */
struct group {
	size_t n;
	uint32_t leaf[MAXGROUP];
	bool full;   /* there are more */
	REAL beyond; /* foreign points of all other leaves have at least this squared distance */
};

/* Lists the leaves below `top` that may have foreign points within the limit of the box of the node `own`. */
CPU_INLINE void
group_below(const struct kd *t, size_t own, size_t top, uint32_t tree, REAL limit, struct group *g,
	    unsigned k)
{
	size_t stack[MAXHEIGHT];
	int n = 0;

	stack[n++] = top;
	while (n) {
		const size_t node = stack[--n];
		if (t->node_tree[node] == tree)
			continue;
		const REAL d2 = boxes_d2(t, own, node, k);
		if (d2 > limit) {
			g->beyond = d2 < g->beyond ? d2 : g->beyond;
		} else if (node < t->nleaves) {
			stack[n++] = 2 * node + 1;
			stack[n++] = 2 * node;
		} else if (g->n < MAXGROUP) {
			g->leaf[g->n++] = (uint32_t)leaf_of_node(t, node);
		} else {
			g->full = true;
			return;
		}
	}
}

/* Point p searches the leaves of its group. */
CPU_INLINE void
search_group(struct kd *t, size_t p, uint32_t tree, const struct group *g, unsigned k)
{
	struct kd_edge best = {best_d2(t, tree), NONE, NONE, 0, 0};
	REAL beyond = g->beyond;
	bool looked = false;

	for (size_t i = 0; i < g->n; i++) {
		const REAL d2 = box_d2(t, t->x + p * t->k, node_of_leaf(t, g->leaf[i]), k);
		if (d2 > best.d2) {
			beyond = d2 < beyond ? d2 : beyond;
			continue;
		}
		search_leaf(t, p, tree, g->leaf[i], &best, k);
		looked = true;
	}
	t->bound[p] = looked ? best.d2 : beyond;
	t->owes[p] = false;
	if (best.span != NONE)
		offer(t, tree, best);
}

/*
 * The points of a leaf search. If all are in one tree that has an edge, they search as a group: in late rounds most of them
 * are so far from other trees that one look at the boxes serves all. Otherwise each searches the kd-tree.
 */
CPU_INLINE void
search_of_leaf(struct kd *t, size_t leaf, unsigned k)
{
	const size_t own = node_of_leaf(t, leaf), from = leaf * LEAF, to = leaf_end(t, leaf);
	const uint32_t tree = t->node_tree[own];
	const REAL limit = tree == MIXED ? (REAL)INFINITY : best_d2(t, tree);
	struct group g = {.beyond = (REAL)INFINITY};
	size_t searching = 0;

	if (tree == t->largest)
		return;
	for (size_t p = from; p < to; p++)
		searching += must_search(t, p, limit);
	if (!searching)
		return;
	g.full = searching < CROWD || limit == (REAL)INFINITY;
	for (size_t node = own; node > 1 && !g.full; node /= 2)
		group_below(t, own, node ^ 1, tree, limit, &g, k);
	for (size_t p = from; p < to; p++)
		if (t->tree[p] == t->largest || !must_search(t, p, best_d2(t, t->tree[p])))
			continue;
		else if (g.full)
			search_from(t, p, t->tree[p], k);
		else
			search_group(t, p, tree, &g, k);
}

static void
search_leaves(struct kd *restrict t, size_t from, size_t to)
{
	for (size_t leaf = from; leaf < to; leaf++)
		switch (t->k) {
		case 2:
			search_of_leaf(t, leaf, 2);
			break;
		case 3:
			search_of_leaf(t, leaf, 3);
			break;
		default:
			search_of_leaf(t, leaf, t->k);
		}
}

/* A few points search first. Then every large tree has a short edge. */
static void
search_few(struct kd *restrict t, size_t from, size_t to)
{
	for (size_t p = (from + 63) / 64 * 64; p < to; p += 64)
		if (t->tree[p] != t->largest && must_search(t, p, best_d2(t, t->tree[p])))
			search_from(t, p, t->tree[p], t->k);
}

/* Returns the squared distance of two points along the first k axes, as leaf_d2() computes it. */
CPU_INLINE REAL
axes_d2(const REAL *x, const REAL *y, unsigned k)
{
	REAL sum = 0;

	for (unsigned a = 0; a < k; a++)
		sum += (x[a] - y[a]) * (x[a] - y[a]);
	return sum;
}

/* Returns the squared distance of two points, or infinity for NONE. */
CPU_INLINE REAL
pair_d2(const struct kd *t, size_t p, uint32_t q)
{
	return q == NONE ? (REAL)INFINITY : axes_d2(t->x + p * t->k, t->x + q * t->k, t->k);
}

/* Offers the first foreign point of the list, if it is certainly the nearest; else marks the list as used up. */
CPU_INLINE void
ask_list(struct kd *t, size_t p)
{
	const unsigned m = t->nnear;
	const uint32_t *near = t->near + p * m;
	uint32_t tree = t->tree[p];
	unsigned j = t->used[p];

	while (j < m && near[j] != NONE && t->tree[near[j]] == tree)
		j++;
	t->used[p] = (uint8_t)j;
	if (j == m)
		return;
	const REAL d2 = pair_d2(t, p, near[j]);
	if (d2 >= t->bound[p])
		t->used[p] = (uint8_t)m;
	if (near[j] == NONE || d2 > best_d2(t, tree))
		return;
	struct kd_edge best = edge_make(t, d2, p, near[j]);
	for (unsigned i = j + 1; i < m && pair_d2(t, p, near[i]) == d2; i++) {
		struct kd_edge e = edge_make(t, d2, p, near[i]);
		if (t->tree[near[i]] != tree && edge_before(&e, &best))
			best = e;
	}
	offer(t, tree, best);
}

static void
ask_lists(struct kd *t, size_t from, size_t to)
{
	for (size_t p = from; p < to; p++)
		if (t->tree[p] != t->largest && t->used[p] < t->nnear)
			ask_list(t, p);
}

/* --- equal lengths ------------------------------------------------------------------------------------------------- */

static inline uint32_t
number_of(const struct kd *t, size_t vertex)
{
	return t->in->s->id ? t->in->s->id[vertex] : (uint32_t)vertex;
}

/* Compares the edges from p to the foreign vertices from..end-1 with *best, and keeps the first. */
static void
search_block(const struct kd *t, size_t p, size_t from, size_t end, struct kd_edge *best)
{
	for (size_t v = from; v < end; v++) {
		const uint32_t q = t->by_number.point[v];
		if (t->tree[q] == t->tree[p])
			continue;
		REAL d2 = pair_d2(t, p, q);
		if (t->core) {
			const REAL c = t->core[p] > t->core[q] ? t->core[p] : t->core[q];
			d2 = d2 > c ? d2 : c;
		}
		const struct kd_edge e = edge_make(t, d2, p, q);
		if (edge_before(&e, best))
			*best = e;
	}
	count_looks(t, 1);
}

/* Point p looks for an edge that comes before *best, among the vertices from `from` on that a node has. Near numbers are first. */
static void
search_numbers(const struct kd *t, size_t p, size_t node, size_t from, size_t leaves,
	       struct kd_edge *best)
{
	const size_t half = leaves / 2, middle = from + half * LEAF,
		     end = from + leaves * LEAF < t->n ? from + leaves * LEAF : t->n;
	const REAL *box = t->by_number.box + node * 2 * t->k;

	if (from >= end || t->by_number.tree[node] == t->tree[p])
		return;
	const uint32_t number = t->number[p], low = number_of(t, from),
		       high = number_of(t, end - 1),
		       nearest = number < low	 ? low
				 : number > high ? high
				 : number > low	 ? number - 1
						 : number + 1;
	const struct kd_edge e = edge_between(best->d2, 0, 0, number, nearest);
	if (!edge_before(&e, best) ||
	    to_box_d2(0, t->x + p * t->k, box, box + t->k, 0, t->k) > best->d2)
		return;
	if (!half) {
		search_block(t, p, from, end, best);
		return;
	}
	const bool right = middle < t->n && number >= number_of(t, middle);
	search_numbers(t, p, 2 * node + right, right ? middle : from, half, best);
	search_numbers(t, p, 2 * node + !right, right ? from : middle, half, best);
}

/* Where the edge of its tree is as long as its own, a point that owes looks for one as long that comes first. */
static void
pay(struct kd *restrict t, size_t from, size_t to)
{
	for (size_t p = from; p < to; p++) {
		const uint32_t tree = t->tree[p];
		if (!t->owes[p] || tree == t->largest || t->bound[p] != best_d2(t, tree))
			continue;
		lock_take(t->locks, tree);
		struct kd_edge best = t->best[tree];
		lock_give(t->locks, tree);
		search_numbers(t, p, 1, 0, t->row, &best);
		offer(t, tree, best);
	}
}

static inline void
widen(REAL *box, const REAL *least, const REAL *most, size_t k)
{
	for (size_t a = 0; a < k; a++) {
		box[a] = least[a] < box[a] ? least[a] : box[a];
		box[k + a] = most[a] > box[k + a] ? most[a] : box[k + a];
	}
}

/* Fills a node of by_number and those below it, which have so many leaves, the first of them at the vertex `from`. */
static void
fill_numbers(struct kd *t, size_t node, size_t from, size_t leaves)
{
	const size_t k = t->k, half = leaves / 2;
	const REAL *x = t->in->s->x;
	REAL *box = t->by_number.box + node * 2 * k;
	uint32_t *tree = t->by_number.tree;

	for (size_t a = 0; a < 2 * k; a++)
		box[a] = a < k ? (REAL)INFINITY : (REAL)-INFINITY;
	tree[node] = MIXED;
	for (size_t v = from; !half && v < from + LEAF && v < t->n; v++) {
		const uint32_t own = t->tree[t->by_number.point[v]];
		widen(box, x + v * k, x + v * k, k);
		tree[node] = v == from || own == tree[node] ? own : MIXED;
	}
	for (size_t i = 0, child = 2 * node; half && i < 2; i++, child++) {
		fill_numbers(t, child, from + i * half * LEAF, half);
		const REAL *least = t->by_number.box + child * 2 * k;
		widen(box, least, least + k, k);
		tree[node] = !i || tree[child] == tree[node] ? tree[child] : MIXED;
	}
}

/*
 * Boxes around a curve exclude little: between two circles whose planes have one point in common, all distances are nearly
 * equal. Where the planes are along the axes, flat_d2 tells them apart.
 */
static void
fill_flat(struct kd *t, const REAL *x)
{
	for (size_t node = 2 * t->nleaves; --node;) {
		REAL *const d2 = t->flat_d2, least = (REAL)INFINITY;
		const size_t leaf = leaf_of_node(t, node);
		for (size_t p = leaf * LEAF; node >= t->nleaves && p < leaf_end(t, leaf); p++) {
			const REAL d = axes_d2(x, t->x + p * t->k, t->flat);
			least = t->tree[p] == t->largest && d < least ? d : least;
		}
		if (node < t->nleaves)
			least = d2[2 * node] < d2[2 * node + 1] ? d2[2 * node] : d2[2 * node + 1];
		d2[node] = least;
	}
}

TARGET_END

/* Sets flat, and then flat_d2 and which tree does not search. 0 or -ENOMEM. */
static int
find_flat(struct kd *t)
{
	enum { SOME = 256 };
	size_t first[2] = {NONE, NONE};
	unsigned flat[2] = {t->k, t->k};

	t->flat = 0;
	if (t->k < FLAT_K || t->ntrees != 2)
		return 0;
	for (size_t p = 0; p < t->n && (flat[0] || flat[1]); p++) {
		const uint32_t c = t->tree[p];
		first[c] = first[c] == NONE ? p : first[c];
		while (flat[c] &&
		       memcmp(t->x + p * t->k, t->x + first[c] * t->k, flat[c] * sizeof *t->x))
			flat[c]--;
	}
	const bool c = flat[1] > flat[0];
	if (!flat[c] || t->size[c] < SOME)
		return 0;
	t->flat_d2 = weir_alloc_large(2 * t->nleaves, sizeof *t->flat_d2);
	if (!t->flat_d2)
		return -ENOMEM;
	t->flat = flat[c];
	t->largest = !c;
	fill_flat(t, t->x + first[c] * t->k);
	return 0;
}

/* Makes by_number with the trees of this round. 0 or -ENOMEM. */
static int
order_by_number(struct kd *t)
{
	if (!t->by_number.point) {
		t->by_number.point = weir_alloc_large(t->n, sizeof *t->by_number.point);
		t->by_number.tree = weir_alloc_large(2 * t->row, sizeof *t->by_number.tree);
		t->by_number.box = weir_alloc_large(4 * t->row * t->k, sizeof *t->by_number.box);
		if (!t->by_number.point || !t->by_number.tree || !t->by_number.box)
			return -ENOMEM;
		for (size_t p = 0; p < t->n; p++)
			t->by_number.point[t->vertex[p]] = (uint32_t)p;
	}
	fill_numbers(t, 1, 0, t->row);
	return 0;
}

static int
find_cores(struct kd *t)
{
	bool failed = false;

	t->core = weir_alloc_large(t->n, sizeof *t->core);
	t->core_lane = weir_alloc_large(t->nleaves, sizeof *t->core_lane);
	if (!t->core || !t->core_lane)
		return -ENOMEM;
#pragma omp parallel num_threads(t->threads) reduction(|| : failed)
	{
		struct heap h = heap_new(t->in->min_weight, t->n);
		failed = !h.v;
#pragma omp for schedule(dynamic, 256)
		for (size_t p = 0; p < t->n; p++) {
			if (h.v)
				t->core[p] = core_of(t, p, &h);
			if (p % 256 == 0)
				step(t, LISTED * (double)p / (double)t->n);
		}
		weir_free(h.v);
	}
	if (failed)
		return -ENOMEM;
	for (size_t leaf = 0; leaf < t->nleaves; leaf++) {
		size_t first = leaf * LEAF, n = leaf_end(t, leaf) - first;
		for (size_t j = 0; j < LEAF; j++)
			t->core_lane[leaf].x[j] = j < n ? t->core[first + j] : (REAL)INFINITY;
	}
	for (size_t p = 0; p < t->n; p++) {
		t->bound[p] = t->core[p];
		t->in->core[t->vertex[p]] = (double)t->core[p];
	}
	return 0;
}

/* Labels the nodes whose points lie in one tree. */
static void
label_nodes(struct kd *t)
{
#pragma omp parallel for schedule(static) num_threads(t->threads) if (t->n > SMALL)
	for (size_t leaf = 0; leaf < t->nleaves; leaf++) {
		size_t from = leaf * LEAF, to = leaf_end(t, leaf);
		uint32_t tree = t->tree[from];
		for (size_t p = from + 1; p < to; p++)
			if (t->tree[p] != tree)
				tree = MIXED;
		t->node_tree[node_of_leaf(t, leaf)] = tree;
	}
	for (size_t node = t->nleaves - 1; node; node--)
		t->node_tree[node] = t->node_tree[2 * node] == t->node_tree[2 * node + 1]
					 ? t->node_tree[2 * node]
					 : MIXED;
}

/* Finds the edge of each tree. 0 or -ENOMEM. */
static int
search_all(struct kd *t)
{
	enum { LISTS, FEW, LEAVES, DEBTS, PASSES };
	const size_t share = t->nleaves / (16 * (size_t)t->threads),
		     chunk = share > 256 ? 256 : share + 1,
		     chunks = (t->nleaves + chunk - 1) / chunk;

	for (size_t c = 0; c < t->ntrees; c++)
		t->best[c] = (struct kd_edge){(REAL)INFINITY, NONE, NONE, 0, 0};
	label_nodes(t);
	t->nowing = 0;
	if (find_flat(t))
		return -ENOMEM;
	for (int pass = t->nnear ? LISTS : FEW; pass < PASSES; pass++) {
		if (pass == DEBTS && !t->nowing)
			break;
		if (pass == DEBTS && order_by_number(t))
			return -ENOMEM;
#pragma omp parallel for schedule(dynamic, 1) num_threads(t->threads) if (t->n > SMALL)
		for (size_t c = 0; c < chunks; c++) {
			const size_t leaf = c * chunk,
				     to = leaf + chunk < t->nleaves ? leaf + chunk : t->nleaves;
			if (pass == LISTS)
				ask_lists(t, leaf * LEAF, leaf_end(t, to - 1));
			else if (pass == FEW)
				search_few(t, leaf * LEAF, leaf_end(t, to - 1));
			else if (pass == LEAVES)
				search_leaves(t, leaf, to);
			else
				pay(t, leaf * LEAF, leaf_end(t, to - 1));
		}
	}
	return 0;
}

/* Every tree takes its edge. An edge that two trees chose is taken once. Returns the number of edges so far. */
static size_t
add_edges(struct kd *t, uint32_t *up, struct sorted *out, size_t n)
{
	roots_single(up, t->ntrees);
	for (size_t c = 0; c < t->ntrees; c++) {
		const struct kd_edge *e = &t->best[c];
		if (e->span == NONE)
			continue;
		uint32_t a = roots_find(up, t->tree[e->p]), b = roots_find(up, t->tree[e->q]);
		if (a == b)
			continue;
		roots_join(up, a, b);
		out[n++] = (struct sorted){REAL_KEY(e->d2), e->p, e->q};
	}
	return n;
}

/* Numbers the trees from 0 again, with up[] as scratch, and finds the largest one. */
static void
number_trees(struct kd *t, uint32_t *up)
{
	uint32_t n = 0;

	for (size_t c = 0; c < t->ntrees; c++) {
		if (up[c] == c) {
			up[c] = n;
			t->size[n++] = t->size[c];
		} else {
			up[c] = up[up[c]];
			t->size[up[c]] += t->size[c];
		}
	}
#pragma omp parallel for schedule(static) num_threads(t->threads) if (t->n > SMALL)
	for (size_t p = 0; p < t->n; p++)
		t->tree[p] = up[t->tree[p]];
	t->ntrees = n;
	t->largest = 0;
	for (uint32_t c = 1; c < n; c++)
		if (t->size[c] > t->size[t->largest])
			t->largest = c;
}

static int
start_trees(struct kd *t)
{
	t->ntrees = t->n;
	t->tree = weir_alloc_large(t->n, sizeof *t->tree);
	t->size = weir_alloc_large(t->n, sizeof *t->size);
	t->node_tree = weir_alloc_large(2 * t->nleaves, sizeof *t->node_tree);
	t->used = weir_calloc_large(t->n, sizeof *t->used);
	t->best = weir_alloc_large(t->n, sizeof *t->best);
	t->owes = weir_calloc_large(t->n, sizeof *t->owes);
	if (!t->tree || !t->size || !t->node_tree || !t->used || !t->best || !t->owes)
		return -ENOMEM;
#pragma omp parallel for schedule(static) num_threads(t->threads) if (t->n > SMALL)
	for (size_t p = 0; p < t->n; p++) {
		t->tree[p] = (uint32_t)p;
		t->size[p] = 1;
	}
	return 0;
}

static int
boruvka(struct kd *t, struct emst_tree *tree)
{
	struct sorted *edge = weir_alloc_large(t->n, sizeof *edge);
	uint32_t *up = weir_alloc_large(t->n, sizeof *up);
	size_t n = 0;
	int err = edge && up ? start_trees(t) : -ENOMEM;

	while (!err && t->ntrees > 1) {
		err = search_all(t);
		if (err)
			break;
		n = add_edges(t, up, edge, n);
		step(t, 1 - (1 - LISTED) * log((double)(t->n - n)) / log((double)t->n));
		number_trees(t, up);
	}
	weir_free(up);
	/* The lists have served. Their memory is scratch where it suffices: new pages have to be cleared. */
	const bool room = t->nnear * sizeof *t->near >= sizeof *edge;
	struct sorted *tmp = room || err ? (void *)t->near : weir_alloc_large(t->n, sizeof *tmp);
	if (!err)
		err = tmp ? SIMD_NAME(kd_write)(edge, tmp, t->number, t->vertex, t->threads, tree)
			  : -ENOMEM;
	weir_free_all(edge, tmp == (void *)t->near ? NULL : tmp);
	return err;
}

int
SIMD_NAME(emst_kd)(const struct kd_input *in, struct emst_tree *tree)
{
	struct kd *t = weir_calloc(1, sizeof *t);
	int err;

	*tree = (struct emst_tree){.n = in->s->n};
	if (!t)
		return -ENOMEM;
	t->in = in;
	t->n = in->s->n;
	t->k = in->s->k;
	t->threads = in->threads;
	err = SIMD_NAME(kd_build)(t);
	if (!err)
		err = in->min_weight ? find_cores(t) : SIMD_NAME(kd_list_near)(t);
	if (!err)
		err = boruvka(t, tree);
	weir_free_all(t->x, t->vertex, t->own_number, t->lane, t->box, t->core, t->core_lane,
		      t->near, t->tree, t->size, t->node_tree, t->bound, t->used, t->best, t->owes,
		      t->flat_d2, t->by_number.point, t->by_number.tree, t->by_number.box, t);
	if (err == PRUNES_LITTLE)
		return SIMD_NAME(emst_prim)(in, tree);
	if (err)
		emst_tree_free(tree);
	return err;
}
