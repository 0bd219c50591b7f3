/*
 * Lists the nearest points of every point, leaf by leaf. The leaves around a leaf are found once for all its points, by the
 * distances between boxes. One vector operation per coordinate then tells which of the points are near enough to the box of
 * such a leaf. For each of those points, one more operation per coordinate gives the distances to the points of that leaf.
 */

enum { MAXNEAR = 8 };

typedef REAL near_lanes __attribute__((vector_size(MAXNEAR * sizeof(REAL))));
typedef uint32_t near_points __attribute__((vector_size(MAXNEAR * sizeof(uint32_t))));

/* The nearest points of a point so far, the nearest first. Of the entries, the first nnear are wanted. */
struct near_list {
	union {
		near_lanes v;
		REAL x[MAXNEAR];
	} d2; /* squared distances */
	union {
		near_points v;
		uint32_t x[MAXNEAR];
	} point;
};

struct near_job {
	struct kd *t;
	size_t first, n;       /* the points of the leaf */
	lanes at[EMST_MAXDIM]; /* their coordinates */
	struct near_list list[LEAF];
	/* The squared distance of the last of each list so far; -1 where the leaf has no such point. */
	REAL limit[LEAF];
	REAL worst;   /* the largest of limit[] */
	size_t looks; /* looks at leaves: those for all points and those for one point */
};

/* Returns the squared distance between the boxes of two nodes. */
CPU_INLINE REAL
boxes_d2(const struct kd *t, size_t a, size_t b, unsigned k)
{
	const REAL *p = t->box + a * 2 * t->k, *q = t->box + b * 2 * t->k;
	REAL sum = 0;

	for (unsigned i = 0; i < k; i++) {
		REAL below = p[i] - q[t->k + i], above = q[i] - p[t->k + i],
		     d = below > above ? below : above;
		d = d > 0 ? d : 0;
		sum += d * d;
	}
	return sum;
}

/* Computes the squared distances from the points of the leaf to the box of a node. */
CPU_INLINE void
points_box_d2(const struct near_job *job, size_t node, unsigned k, union block *d2)
{
	const REAL *least = job->t->box + node * 2 * job->t->k, *most = least + job->t->k;
	lanes sum = {0};

	for (unsigned a = 0; a < k; a++) {
		union block below = {least[a] - job->at[a]}, above = {job->at[a] - most[a]};
		for (unsigned j = 0; j < LEAF; j++) {
			REAL d = below.x[j] > above.x[j] ? below.x[j] : above.x[j];
			below.x[j] = d > 0 ? d : 0;
		}
		sum += below.v * below.v;
	}
	d2->v = sum;
}

/* Inserts point i at its place; the last entry falls out. There is no branch, since nobody could predict it. */
CPU_INLINE void
keep_nearest(struct near_list *l, REAL d, uint32_t i)
{
	const near_lanes d2 = l->d2.v, all = d - (near_lanes){0}, less = {-1};
	const near_points point = l->point.v;
	const near_lanes d2_before = __builtin_shufflevector(less, d2, 0, 8, 9, 10, 11, 12, 13, 14);
	const near_points before = __builtin_shufflevector(point, point, 0, 0, 1, 2, 3, 4, 5, 6);
	const __typeof__(d2 > all) moves = d2_before > all, ends = d2 > all;
	const near_points moved = __builtin_convertvector(moves, near_points),
			  ended = __builtin_convertvector(ends, near_points);

	l->point.v = (before & moved) | (i & ended & ~moved) | (point & ~ended);
	for (unsigned j = 0; j < MAXNEAR; j++) {
		const REAL last = d2_before[j] > d ? d2_before[j] : d;
		l->d2.x[j] = d2[j] < last ? d2[j] : last;
	}
}

CPU_INLINE void
near_leaf(struct near_job *job, size_t leaf, unsigned k)
{
	const struct kd *t = job->t;
	const unsigned m = t->nnear;
	union block d;
	unsigned close = 0;
	size_t other = leaf * LEAF;

	points_box_d2(job, node_of_leaf(t, leaf), k, &d);
	job->looks++;
	for (unsigned j = 0; j < LEAF; j++)
		close |= (unsigned)(d.x[j] < job->limit[j]) << j;
	for (; close; close &= close - 1) {
		size_t j = (size_t)__builtin_ctz(close), p = job->first + j;
		struct near_list *l = &job->list[j];
		leaf_d2(t, t->x + p * t->k, leaf, k, &d);
		job->looks++;
		unsigned hits = at_most(d.x, job->limit[j]);
		if (other == job->first)
			hits &= ~(1u << j);
		for (; hits; hits &= hits - 1) {
			size_t h = (size_t)__builtin_ctz(hits);
			if (d.x[h] < l->d2.x[m - 1])
				keep_nearest(l, d.x[h], (uint32_t)(other + h));
		}
		job->limit[j] = l->d2.x[m - 1];
	}
	job->worst = 0;
	for (size_t j = 0; j < LEAF; j++)
		job->worst = job->limit[j] > job->worst ? job->limit[j] : job->worst;
}

/* Looks at all leaves below a node, the nearer child first. */
CPU_INLINE void
near_below(struct near_job *job, size_t own, size_t top, unsigned k)
{
	const struct kd *t = job->t;
	struct {
		REAL d2;
		size_t node;
	} stack[MAXHEIGHT];
	int n = 0;

	stack[n].d2 = boxes_d2(t, own, top, k);
	stack[n++].node = top;
	while (n) {
		size_t node = stack[--n].node;
		if (stack[n].d2 >= job->worst)
			continue;
		while (node < t->nleaves) {
			size_t a = 2 * node, b = a + 1;
			REAL da = boxes_d2(t, own, a, k), db = boxes_d2(t, own, b, k);
			node = da <= db ? a : b;
			stack[n].d2 = da <= db ? db : da;
			stack[n++].node = da <= db ? b : a;
			if ((da <= db ? da : db) >= job->worst)
				node = SIZE_MAX;
		}
		if (node != SIZE_MAX)
			near_leaf(job, leaf_of_node(t, node), k);
	}
}

/*
 * Tells whether point j of the leaf equals one in its list. Equal points are in each other's lists, unless these are full of
 * points so near that d2 is rounded to 0.
 */
static bool
has_equal(const struct near_job *job, size_t j)
{
	const struct kd *t = job->t;
	const size_t p = job->first + j;
	const struct near_list *l = &job->list[j];

	for (unsigned i = 0; i < t->nnear && l->d2.x[i] == 0; i++)
		if (!memcmp(t->x + p * t->k, t->x + l->point.x[i] * t->k, t->k * sizeof *t->x))
			return true;
	return false;
}

/* Fills the lists and the bounds of the points of a leaf. Returns the number of looks at leaves. */
CPU_INLINE size_t
near_of_leaf(struct kd *t, size_t leaf, unsigned k)
{
	struct near_job job = {.t = t, .first = leaf * LEAF};
	size_t own = node_of_leaf(t, leaf);

	job.n = leaf_end(t, leaf) - job.first;
	for (size_t j = 0; j < job.n; j++)
		for (unsigned i = 0; i < MAXNEAR; i++) {
			job.list[j].d2.x[i] = (REAL)INFINITY;
			job.list[j].point.x[i] = NONE;
		}
	for (unsigned a = 0; a < k; a++)
		job.at[a] = t->lane[leaf * t->k + a];
	for (size_t j = 0; j < LEAF; j++)
		job.limit[j] = j < job.n ? (REAL)INFINITY : -1;
	near_leaf(&job, leaf, k);
	for (size_t node = own; node > 1; node /= 2)
		near_below(&job, own, node ^ 1, k);
	for (size_t j = 0; j < job.n; j++) {
		t->bound[job.first + j] = job.limit[j];
		memcpy(t->near + (job.first + j) * t->nnear, job.list[j].point.x,
		       t->nnear * sizeof *t->near);
		if (has_equal(&job, j))
			note_equal(t);
	}
	return job.looks;
}

WEIR_CLONES_OF(size_t, near_leaves, (struct kd * t, size_t from, size_t to), (t, from, to))
{
	size_t looks = 0;

	for (size_t leaf = from; leaf < to; leaf++)
		switch (t->k) {
		case 2:
			looks += near_of_leaf(t, leaf, 2);
			break;
		case 3:
			looks += near_of_leaf(t, leaf, 3);
			break;
		default:
			looks += near_of_leaf(t, leaf, t->k);
		}
	return looks;
}

/*
 * Estimates from a sample of leaves whether all pairs take less time than the lists and the searches after them. A look
 * costs as much as LEAF pairs, and the lists are a third of the work. The factor was measured on uniform points of 10 to 16
 * dimensions.
 */
static bool
prunes_little(struct kd *t)
{
	enum { SAMPLE = 32, FACTOR = 9 };
	size_t looks = 0;

	if (t->nleaves < 4 * SAMPLE)
		return false;
	for (size_t i = 0; i < SAMPLE; i++)
		looks += near_leaves(t, t->nleaves * i / SAMPLE, t->nleaves * i / SAMPLE + 1);
	return FACTOR * looks / SAMPLE > t->n;
}

/* Returns 0, -errno, or PRUNES_LITTLE when Prim's algorithm over all pairs is faster. */
enum { PRUNES_LITTLE = 1 };
static int
list_near(struct kd *t)
{
	size_t chunks = (t->nleaves + 63) / 64;

	t->near = weir_alloc_large(t->n * t->nnear, sizeof *t->near);
	if (!t->near)
		return -ENOMEM;
	if (prunes_little(t))
		return PRUNES_LITTLE;
#pragma omp parallel for schedule(dynamic, 1) num_threads(t->threads)
	for (size_t c = 0; c < chunks; c++) {
		if (found_equal(t))
			continue;
		near_leaves(t, c * 64, (c + 1) * 64 < t->nleaves ? (c + 1) * 64 : t->nleaves);
		step(t, LISTED * (double)c / (double)chunks);
	}
	return t->equal ? -EEXIST : 0;
}
