/*
 * Builds the kd-tree: points are reordered in place until those of every leaf stand together. It splits a node across the
 * widest side of its box.
 */

enum { SERIAL = 8192, SAMPLED = 600 };

/*
 * Moves the points lo..hi-1 that are below v along the axis, or at most v, before the others. Returns where the others
 * begin. It swaps every point, so there is no branch that nobody could predict.
 */
CPU_INLINE size_t
partition_by(struct kd *t, size_t lo, size_t hi, unsigned axis, REAL v, bool or_equal, unsigned k)
{
	REAL *x = t->x;
	uint32_t *vertex = t->vertex;
	size_t j = lo;

	for (size_t i = lo; i < hi; i++) {
		const REAL at = x[i * k + axis];
		const uint32_t u = vertex[i];
		for (unsigned a = 0; a < k; a++) {
			const REAL y = x[i * k + a];
			x[i * k + a] = x[j * k + a];
			x[j * k + a] = y;
		}
		vertex[i] = vertex[j];
		vertex[j] = u;
		j += (size_t)((at < v) | (or_equal & (at == v)));
	}
	return j;
}

static size_t
partition(struct kd *t, size_t lo, size_t hi, unsigned axis, REAL v, bool or_equal)
{
	switch (t->k) {
	case 2:
		return partition_by(t, lo, hi, axis, v, or_equal, 2);
	case 3:
		return partition_by(t, lo, hi, axis, v, or_equal, 3);
	default:
		return partition_by(t, lo, hi, axis, v, or_equal, t->k);
	}
}

/*
 * Floyd and Rivest 1975: reorders points lo..hi-1 along the axis. Place m gets the point that sorting would put there; no
 * point before it is larger, and none after it is smaller.
 */
static void
select_point(struct kd *t, size_t lo, size_t hi, size_t m, unsigned axis)
{
	while (hi - lo > 1) {
		if (hi - lo > SAMPLED) {
			double n = (double)(hi - lo), i = (double)(m - lo + 1), z = log(n),
			       s = .5 * exp(2 * z / 3),
			       d = .5 * sqrt(z * s * (n - s) / n) * (i < n / 2 ? -1 : 1);
			double from = (double)m - i * s / n + d,
			       to = (double)m + (n - i) * s / n + d + 1;
			select_point(t, from > (double)lo ? (size_t)from : lo,
				     to < (double)hi ? (size_t)to : hi, m, axis);
		}
		const REAL v = t->x[m * t->k + axis];
		size_t j = partition(t, lo, hi, axis, v, false);
		if (m < j) {
			hi = j;
		} else if (j > lo) {
			lo = j;
		} else {
			lo = partition(t, lo, hi, axis, v, true);
			if (m < lo)
				return;
		}
	}
}

/* Fills the box of the points lo..hi-1 and returns its widest axis. LEAF points are k vectors, which begin with axis 0. */
WEIR_CLONES_OF(unsigned, fill_box, (struct kd *restrict t, size_t node, size_t lo, size_t hi),
	       (t, node, lo, hi))
{
	const unsigned k = t->k;
	REAL *least = t->box + node * 2 * k, *most = least + k;
	REAL low[EMST_MAXDIM * LEAF], high[EMST_MAXDIM * LEAF];
	size_t i = lo;
	unsigned widest = 0;

	for (unsigned a = 0; a < k; a++)
		least[a] = most[a] = t->x[lo * k + a];
	if (hi - lo >= LEAF) {
		memcpy(low, t->x + lo * k, k * LEAF * sizeof *low);
		memcpy(high, low, k * LEAF * sizeof *low);
		for (i = lo + LEAF; i + LEAF <= hi; i += LEAF)
			for (unsigned e = 0; e < k * LEAF; e++) {
				const REAL x = t->x[i * k + e];
				low[e] = x < low[e] ? x : low[e];
				high[e] = x > high[e] ? x : high[e];
			}
		for (unsigned e = 0; e < k * LEAF; e++) {
			least[e % k] = low[e] < least[e % k] ? low[e] : least[e % k];
			most[e % k] = high[e] > most[e % k] ? high[e] : most[e % k];
		}
	}
	for (; i < hi; i++)
		for (unsigned a = 0; a < k; a++) {
			const REAL x = t->x[i * k + a];
			least[a] = x < least[a] ? x : least[a];
			most[a] = x > most[a] ? x : most[a];
		}
	for (unsigned a = 1; a < k; a++)
		if (most[a] - least[a] > most[widest] - least[widest])
			widest = a;
	return widest;
}

static inline bool
found_equal(const struct kd *t)
{
	return __atomic_load_n(&t->equal, __ATOMIC_RELAXED);
}

static inline void
note_equal(struct kd *t)
{
	__atomic_store_n(&t->equal, true, __ATOMIC_RELAXED);
}

static bool
leaf_has_equal(const struct kd *t, size_t lo, size_t hi)
{
	const size_t bytes = t->k * sizeof *t->x;

	for (size_t i = lo; i < hi; i++)
		for (size_t j = lo; j < i; j++)
			if (t->x[i * t->k] == t->x[j * t->k] &&
			    !memcmp(t->x + i * t->k, t->x + j * t->k, bytes))
				return true;
	return false;
}

/*
 * One leaf of eight looks for equal points, since these usually meet in a leaf. A run that must begin again, with distinct
 * points, thus ends while the tree is built.
 */
static void
fill_leaf(struct kd *t, size_t leaf)
{
	const size_t lo = leaf * LEAF, hi = leaf_end(t, leaf);
	union block *lane = t->lane + leaf * t->k;

	for (unsigned a = 0; a < t->k; a++)
		for (size_t j = 0; j < LEAF; j++)
			lane[a].x[j] = lo + j < hi ? t->x[(lo + j) * t->k + a] : (REAL)INFINITY;
	if (leaf % 8 == 0 && leaf_has_equal(t, lo, hi))
		note_equal(t);
}

/* Returns how many of the leaves below a node are below its first child. */
static size_t
left_leaves(size_t leaves)
{
	size_t row = 1;

	while (row <= leaves / 2)
		row *= 2;
	return leaves - row >= row / 2 ? row : leaves - row / 2;
}

static void
build_node(struct kd *t, size_t node, size_t leaf, size_t leaves)
{
	if (found_equal(t))
		return;
	const size_t lo = leaf * LEAF, hi = leaf_end(t, leaf + leaves - 1);
	const unsigned axis = fill_box(t, node, lo, hi);
	if (leaves == 1) {
		fill_leaf(t, leaf);
		return;
	}
	const size_t left = left_leaves(leaves);
	select_point(t, lo, hi, (leaf + left) * LEAF, axis);
	if (hi - lo > SERIAL) {
#pragma omp task
		build_node(t, 2 * node, leaf, left);
		build_node(t, 2 * node + 1, leaf + left, leaves - left);
#pragma omp taskwait
		return;
	}
	build_node(t, 2 * node, leaf, left);
	build_node(t, 2 * node + 1, leaf + left, leaves - left);
}

static int
build(struct kd *t)
{
	const struct emst_set *s = t->in->s;

	t->nleaves = (t->n + LEAF - 1) / LEAF;
	for (t->row = 1; t->row < t->nleaves;)
		t->row *= 2;
	t->x = weir_alloc_large(t->n * t->k, sizeof *t->x);
	t->vertex = weir_alloc_large(t->n, sizeof *t->vertex);
	t->lane = weir_alloc_large(t->nleaves * t->k, sizeof *t->lane);
	t->box = weir_alloc_large(2 * t->nleaves * 2 * t->k, sizeof *t->box);
	t->bound = weir_alloc_large(t->n, sizeof *t->bound);
	if (s->id)
		t->number = t->own_number = weir_alloc_large(t->n, sizeof *t->number);
	else
		t->number = t->vertex;
	if (!t->x || !t->vertex || !t->lane || !t->box || !t->bound || !t->number)
		return -ENOMEM;
	memcpy(t->x, s->x, t->n * t->k * sizeof *t->x);
	for (size_t i = 0; i < t->n; i++)
		t->vertex[i] = (uint32_t)i;
#pragma omp parallel num_threads(t->threads)
#pragma omp single
	build_node(t, 1, 0, t->nleaves);
	for (size_t i = 0; s->id && i < t->n; i++)
		t->own_number[i] = s->id[t->vertex[i]];
	return t->equal ? -EEXIST : 0;
}
