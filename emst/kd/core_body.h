/* Finds core radii: the core radius of a point is the least distance within which points weigh min_weight, itself included. */

struct reached {
	REAL d2;
	uint32_t weight;
};

/* The points reached so far, the furthest on top. Without any one of them the weight is less than min_weight. */
struct heap {
	struct reached *v; /* owned */
	size_t n;
	uint64_t weight, min_weight;
};

static void
heap_push(struct heap *h, struct reached x)
{
	size_t i = h->n++;

	for (; i && h->v[(i - 1) / 2].d2 < x.d2; i = (i - 1) / 2)
		h->v[i] = h->v[(i - 1) / 2];
	h->v[i] = x;
	h->weight += x.weight;
}

static void
heap_pop(struct heap *h)
{
	struct reached x = h->v[--h->n];
	size_t i = 0, child;

	h->weight -= h->v[0].weight;
	for (; (child = 2 * i + 1) < h->n; i = child) {
		if (child + 1 < h->n && h->v[child + 1].d2 > h->v[child].d2)
			child++;
		if (h->v[child].d2 <= x.d2)
			break;
		h->v[i] = h->v[child];
	}
	h->v[i] = x;
}

static inline REAL
heap_limit(const struct heap *h)
{
	return h->weight >= h->min_weight ? h->v[0].d2 : (REAL)INFINITY;
}

/* Adds a point unless the points that are nearer weigh enough. */
static void
heap_reach(struct heap *h, REAL d2, uint64_t weight)
{
	if (d2 >= heap_limit(h))
		return;
	/* A weight above min_weight decides what min_weight itself decides. */
	heap_push(
	    h, (struct reached){d2, (uint32_t)(weight < h->min_weight ? weight : h->min_weight)});
	while (h->weight - h->v[0].weight >= h->min_weight)
		heap_pop(h);
}

/* Makes a heap for the points around one of n. Its v is NULL when there is no memory. */
static struct heap
heap_new(uint64_t min_weight, size_t n)
{
	const size_t room = (min_weight < n ? (size_t)min_weight : n) + 1;

	return (struct heap){.v = weir_alloc_large(room, sizeof(struct reached)),
			     .min_weight = min_weight};
}

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
