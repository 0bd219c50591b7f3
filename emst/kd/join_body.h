/*
 * Boruvka's algorithm. A foreign point is one of another tree. The list of a point serves as long as its first foreign point
 * is certainly the nearest one: nearer than the last point of the list. After that the kd-tree is searched, but only when
 * the bound of the point allows a shorter edge than its tree already has.
 */

CPU_INLINE bool
edge_before(const struct kd_edge *a, const struct kd_edge *b)
{
	if (a->d2 != b->d2)
		return a->d2 < b->d2;
	return a->span != b->span ? a->span < b->span : a->lo < b->lo;
}

CPU_INLINE struct kd_edge
edge_make(const struct kd *t, REAL d2, size_t p, size_t q)
{
	uint32_t a = t->number[p], b = t->number[q];

	return (struct kd_edge){d2, a < b ? b - a : a - b, a < b ? a : b, (uint32_t)p, (uint32_t)q};
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
	size_t first = leaf_begin(t, leaf), n = leaf_begin(t, leaf + 1) - first;
	union block d;

	leaf_d2(t, t->x + p * t->k, leaf, k, &d);
	if (t->core) {
		const REAL *core = (const REAL *)(t->core_lane + leaf);
		for (unsigned j = 0; j < LEAF; j++) {
			REAL c = core[j] > t->core[p] ? core[j] : t->core[p];
			d.x[j] = d.x[j] > c ? d.x[j] : c;
		}
	}
	for (unsigned hits = at_most(d.x, best->d2) & ((1u << n) - 1); hits; hits &= hits - 1) {
		size_t j = (size_t)__builtin_ctz(hits);
		if (t->tree[first + j] == tree)
			continue;
		struct kd_edge e = edge_make(t, d.x[j], p, first + j);
		if (edge_before(&e, best))
			*best = e;
	}
}

CPU_INLINE void
search_below(const struct kd *t, size_t p, uint32_t tree, size_t top, struct kd_edge *best,
	     unsigned k)
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
		if (stack[n].d2 > best->d2 || t->node_tree[node] == tree)
			continue;
		while (node < t->nleaves) {
			size_t a = 2 * node, b = a + 1;
			REAL da = t->node_tree[a] == tree ? (REAL)INFINITY : box_d2(t, x, a, k),
			     db = t->node_tree[b] == tree ? (REAL)INFINITY : box_d2(t, x, b, k);
			node = da <= db ? a : b;
			stack[n].d2 = da <= db ? db : da;
			stack[n++].node = da <= db ? b : a;
			if ((da <= db ? da : db) > best->d2 || t->node_tree[node] == tree)
				node = SIZE_MAX;
		}
		if (node != SIZE_MAX)
			search_leaf(t, p, tree, node - t->nleaves, best, k);
	}
}

CPU_INLINE void
search_from(struct kd *t, size_t p, uint32_t tree, unsigned k)
{
	size_t own = t->nleaves + t->leaf[p];
	struct kd_edge best = {best_d2(t, tree), NONE, NONE, 0, 0};

	if (t->node_tree[own] != tree)
		search_leaf(t, p, tree, t->leaf[p], &best, k);
	for (size_t node = own; node > 1; node /= 2)
		if (t->node_tree[node ^ 1] != tree)
			search_below(t, p, tree, node ^ 1, &best, k);
	t->bound[p] = best.d2;
	if (best.span != NONE)
		offer(t, tree, best);
}

/*
 * Those of the points from..to-1 that need it search the kd-tree. With rest false these are every 64th point, which go first;
 * with rest true the others.
 */
WEIR_CLONES(search_some, (struct kd *restrict t, size_t from, size_t to, bool rest),
	    (t, from, to, rest))
{
	for (size_t p = from; p < to; p++) {
		uint32_t tree = t->tree[p];
		if ((p % 64 == 0) == rest || tree == t->largest || t->used[p] < t->nnear ||
		    t->bound[p] > best_d2(t, tree))
			continue;
		switch (t->k) {
		case 2:
			search_from(t, p, tree, 2);
			break;
		case 3:
			search_from(t, p, tree, 3);
			break;
		default:
			search_from(t, p, tree, t->k);
		}
	}
}

/* Offers the first foreign point of the list, if it is certainly the nearest; else marks the list as used up. */
CPU_INLINE void
ask_list(struct kd *t, size_t p)
{
	const unsigned m = t->nnear;
	const REAL *d2 = t->near_d2 + p * m;
	const uint32_t *near = t->near + p * m;
	uint32_t tree = t->tree[p];
	unsigned j = t->used[p];

	while (j < m && near[j] != NONE && t->tree[near[j]] == tree)
		j++;
	t->used[p] = (uint8_t)j;
	if (j == m) {
		t->bound[p] = d2[m - 1];
		return;
	}
	t->bound[p] = d2[j];
	if (d2[j] >= d2[m - 1])
		t->used[p] = (uint8_t)m;
	if (near[j] == NONE || d2[j] > best_d2(t, tree))
		return;
	struct kd_edge best = edge_make(t, d2[j], p, near[j]);
	for (unsigned i = j + 1; i < m && d2[i] == d2[j]; i++) {
		struct kd_edge e = edge_make(t, d2[i], p, near[i]);
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

/* Labels the nodes whose points lie in one tree. */
static void
label_nodes(struct kd *t)
{
#pragma omp parallel for schedule(static) num_threads(t->threads) if (t->n > SMALL)
	for (size_t leaf = 0; leaf < t->nleaves; leaf++) {
		size_t from = leaf_begin(t, leaf), to = leaf_begin(t, leaf + 1);
		uint32_t tree = t->tree[from];
		for (size_t p = from + 1; p < to; p++)
			if (t->tree[p] != tree)
				tree = MIXED;
		t->node_tree[t->nleaves + leaf] = tree;
	}
	for (size_t node = t->nleaves - 1; node; node--)
		t->node_tree[node] = t->node_tree[2 * node] == t->node_tree[2 * node + 1]
					 ? t->node_tree[2 * node]
					 : MIXED;
}

static void
search_all(struct kd *t)
{
	const size_t share = t->n / (16 * (size_t)t->threads),
		     chunk = share > 4096 ? 4096 : (share + 64) / 64 * 64,
		     chunks = (t->n + chunk - 1) / chunk;

	for (size_t c = 0; c < t->ntrees; c++)
		t->best[c] = (struct kd_edge){(REAL)INFINITY, NONE, NONE, 0, 0};
	if (t->nnear)
#pragma omp parallel for schedule(dynamic, 1) num_threads(t->threads) if (t->n > SMALL)
		for (size_t c = 0; c < chunks; c++)
			ask_lists(t, c * chunk, (c + 1) * chunk < t->n ? (c + 1) * chunk : t->n);
	label_nodes(t);
	for (int rest = 0; rest < 2; rest++)
#pragma omp parallel for schedule(dynamic, 1) num_threads(t->threads) if (t->n > SMALL)
		for (size_t c = 0; c < chunks; c++)
			search_some(t, c * chunk, (c + 1) * chunk < t->n ? (c + 1) * chunk : t->n,
				    rest);
}

/* Every tree takes its edge. An edge that two trees chose is taken once. Returns the number of edges so far. */
static size_t
take_edges(struct kd *t, uint32_t *up, struct sorted *out, size_t n)
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
