/* variants: f32_generic f32_avx2 f32_avx512 f64_generic f64_avx2 f64_avx512 */
/* Builds the kd-tree, and lists the nearest points of every point. */
#include "emst/kd/kd_body.h"

TARGET_BEGIN

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
static unsigned
fill_box(struct kd *restrict t, size_t node, size_t lo, size_t hi)
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

/*
 * Lists the nearest points of every point, leaf by leaf. The leaves around a leaf are found once for all its points, by the
 * distances between boxes. The points of the leaf are lanes, in groups that fit a vector. A point of a leaf around it is
 * offered to all lists of a group at once, if it enters one of them.
 */

enum { MAXNEAR = 8 };

/* Lists of the points of a group of lanes: entry i of all lists, the nearest first. */
struct near_lists {
	union {
		wide v;
		REAL x[WIDE];
	} d2[MAXNEAR]; /* squared distances; -1 where the leaf has no such point */
	wide_ints point[MAXNEAR];
};

struct near_job {
	struct kd *t;
	size_t first, n; /* the points of the leaf */
	struct near_lists list[GROUPS];
	union block limit; /* the squared distance of the last of each list so far */
	REAL worst;	   /* the largest of limit */
	size_t looks;	   /* looks at leaves: those for all points and those for one point */
};

/* Returns the number of nearest points that is fastest. In more dimensions a longer list costs more to find than it saves. */
static inline unsigned
list_length(unsigned k)
{
	return k > 3 ? 5 : k == 3 ? 6 : k == 2 ? MAXNEAR : 3;
}

/* Computes the squared distances from the points of a leaf to the box of a node. */
CPU_INLINE void
points_box_d2(const struct kd *t, size_t leaf, size_t node, unsigned k, union block *d2)
{
	const union block *at = t->lane + leaf * t->k;
	const REAL *least = t->box + node * 2 * t->k, *most = least + t->k;

	for (unsigned g = 0; g < GROUPS; g++) {
		wide sum = {0};
		for (unsigned a = 0; a < k; a++) {
			const wide below = least[a] - at[a].v[g], above = at[a].v[g] - most[a],
				   d = (wide)(((wide_ints)below & (below > 0)) |
					      ((wide_ints)above & (above > 0)));
			sum += d * d;
		}
		d2->v[g] = sum;
	}
}

/* Returns a mask of the points of a leaf that enter a list of the lanes that `close` names. */
CPU_INLINE unsigned
near_candidates(struct near_job *job, size_t leaf, unsigned close, unsigned k)
{
	const struct kd *t = job->t;
	union block d;
	wide_ints enters[GROUPS] = {{0}};

	for (; close; close &= close - 1) {
		const size_t j = (size_t)__builtin_ctz(close);
		leaf_d2(t, t->x + (job->first + j) * t->k, leaf, k, &d);
		job->looks++;
		for (unsigned g = 0; g < GROUPS; g++)
			enters[g] |= d.v[g] < job->limit.x[j];
	}
	return pack(enters);
}

/*
 * Offers the points of a leaf that the mask names to the lists of the group whose lanes begin at `from`. A point that comes
 * before entry i of a list takes its place, and that entry is offered to place i + 1. There is no branch in this loop.
 */
CPU_INLINE void
near_group(struct near_job *job, size_t leaf, unsigned mask, size_t from, unsigned k, unsigned m)
{
	const struct kd *t = job->t;
	const REAL *x = t->x + leaf * LEAF * t->k;
	struct near_lists *l = &job->list[from / WIDE];
	wide at[EMST_MAXDIM], d2[MAXNEAR];
	wide_ints point[MAXNEAR];

	for (unsigned a = 0; a < k; a++)
		at[a] = t->lane[job->first / LEAF * t->k + a].v[from / WIDE];
	for (unsigned i = 0; i < m; i++) {
		d2[i] = l->d2[i].v;
		point[i] = l->point[i];
	}
	for (; mask; mask &= mask - 1) {
		const size_t h = (size_t)__builtin_ctz(mask), q = leaf * LEAF + h;
		wide_ints id = (wide_ints){0} + (REAL_INT)q;
		union {
			wide v;
			REAL x[WIDE];
			wide_ints bits;
		} d = {{0}};
		for (unsigned a = 0; a < k; a++) {
			wide e = at[a] - x[h * t->k + a];
			d.v += e * e;
		}
		if (leaf * LEAF == job->first && h - from < WIDE)
			d.x[h - from] = (REAL)INFINITY;
		for (unsigned i = 0; i < m; i++) {
			const wide_ints first = d.v < d2[i], was = (wide_ints)d2[i],
					was_id = point[i];
			d2[i] = (wide)((d.bits & first) | (was & ~first));
			d.bits = (was & first) | (d.bits & ~first);
			point[i] = (id & first) | (was_id & ~first);
			id = (was_id & first) | (id & ~first);
		}
	}
	for (unsigned i = 0; i < m; i++) {
		l->d2[i].v = d2[i];
		l->point[i] = point[i];
	}
	job->limit.v[from / WIDE] = d2[m - 1];
}

/* Offers the points of a leaf to the lists of all points that they may enter. */
CPU_INLINE void
near_leaf(struct near_job *job, size_t leaf, unsigned k, unsigned m)
{
	const struct kd *t = job->t;
	const bool own = leaf * LEAF == job->first;
	wide_ints near[GROUPS];
	union block d;

	points_box_d2(t, job->first / LEAF, node_of_leaf(t, leaf), k, &d);
	job->looks++;
	for (unsigned g = 0; g < GROUPS; g++)
		near[g] = d.v[g] < job->limit.v[g];
	const unsigned close = pack(near);
	if (!close)
		return;
	for (size_t from = 0; from < LEAF; from += WIDE) {
		const unsigned some = close & ((1u << WIDE) - 1) << from,
			       mask =
				   own ? (1u << job->n) - 1 : near_candidates(job, leaf, some, k);
		if (mask)
			near_group(job, leaf, mask, from, k, m);
	}
	job->worst = 0;
	for (size_t j = 0; j < LEAF; j++)
		job->worst = job->limit.x[j] > job->worst ? job->limit.x[j] : job->worst;
}

/* Looks at all leaves below a node, the nearer child first. */
CPU_INLINE void
near_below(struct near_job *job, size_t own, size_t top, unsigned k, unsigned m)
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
			near_leaf(job, leaf_of_node(t, node), k, m);
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
	const struct near_lists *l = &job->list[j / WIDE];

	for (unsigned i = 0; i < t->nnear && l->d2[i].x[j % WIDE] == 0; i++)
		if (!memcmp(t->x + p * t->k, t->x + (size_t)l->point[i][j % WIDE] * t->k,
			    t->k * sizeof *t->x))
			return true;
	return false;
}

/* Fills the lists and the bounds of the points of a leaf. Returns the number of looks at leaves. */
CPU_INLINE size_t
near_of_leaf(struct kd *t, size_t leaf, unsigned k, unsigned m)
{
	struct near_job job = {.t = t, .first = leaf * LEAF, .worst = (REAL)INFINITY};
	size_t own = node_of_leaf(t, leaf);

	job.n = leaf_end(t, leaf) - job.first;
	for (size_t j = 0; j < LEAF; j++) {
		job.limit.x[j] = j < job.n ? (REAL)INFINITY : -1;
		for (unsigned i = 0; i < m; i++) {
			job.list[j / WIDE].d2[i].x[j % WIDE] = job.limit.x[j];
			job.list[j / WIDE].point[i][j % WIDE] = -1;
		}
	}
	near_leaf(&job, leaf, k, m);
	for (size_t node = own; node > 1; node /= 2)
		near_below(&job, own, node ^ 1, k, m);
	for (size_t j = 0; j < job.n; j++) {
		const struct near_lists *l = &job.list[j / WIDE];
		t->bound[job.first + j] = l->d2[m - 1].x[j % WIDE];
		for (unsigned i = 0; i < m; i++)
			t->near[(job.first + j) * m + i] = (uint32_t)l->point[i][j % WIDE];
		if (has_equal(&job, j))
			note_equal(t);
	}
	return job.looks;
}

static size_t
near_leaves(struct kd *t, size_t from, size_t to)
{
	size_t looks = 0;

	for (size_t leaf = from; leaf < to; leaf++)
		switch (t->k) {
		case 1:
			looks += near_of_leaf(t, leaf, 1, list_length(1));
			break;
		case 2:
			looks += near_of_leaf(t, leaf, 2, list_length(2));
			break;
		case 3:
			looks += near_of_leaf(t, leaf, 3, list_length(3));
			break;
		default:
			looks += near_of_leaf(t, leaf, t->k, list_length(EMST_MAXDIM));
		}
	return looks;
}

TARGET_END

/* Returns how many of the leaves below a node are below its first child. */
static size_t
left_leaves(size_t leaves)
{
	size_t row = 1;

	while (row <= leaves / 2)
		row *= 2;
	return leaves - row >= row / 2 ? row : leaves - row / 2;
}

/*
 * Narrows the points lo..hi-1 to those of the clump along the axis that point m is in: an eighth of the side beside it is empty.
 * Returns whether that leaves some out.
 */
static bool
narrow(struct kd *t, size_t *lo, size_t *hi, size_t m, unsigned axis, REAL least, REAL side)
{
	enum { BINS = 64, GAP = 8, FEW = 64 };
	const size_t n = *hi - *lo;
	size_t count[BINS] = {0}, before = 0;
	int own = 0;

	for (size_t i = *lo; i < *hi; i++)
		count[(int)((t->x[i * t->k + axis] - least) / side * (REAL)(BINS - .01))]++;
	while ((before += count[own]) <= m - *lo)
		own++;
	for (int step = -1; step <= 1; step += 2) {
		size_t beyond = step < 0 ? before - count[own] : n - before;
		int i = own, run = 0;
		while (run < GAP && i + step >= 0 && i + step < BINS) {
			i += step;
			run = count[i] ? 0 : run + 1;
			beyond -= count[i];
		}
		if (run < GAP || beyond < n / FEW)
			continue;
		const REAL v = least + side / BINS * (REAL)(i + .5 - step * (GAP - 1) / 2.);
		const size_t j = partition(t, *lo, *hi, axis, v, false);
		*(m < j ? hi : lo) = j;
	}
	return *hi - *lo < n;
}

/*
 * Splits a node before point m across that axis, the widest of its box. Of groups far apart, many may have the place of the split
 * along the axis: then whole groups go to either side until the group of point m alone is left to be cut.
 */
static void
split(struct kd *t, size_t node, size_t lo, size_t hi, size_t m, unsigned axis)
{
	enum { SOME = 32, CLOSE = 64 };
	const REAL *least = t->box + node * 2 * t->k;
	REAL side = least[t->k + axis] - least[axis];
	int close = 0;

	select_point(t, lo, hi, m, axis);
	const REAL at = t->x[m * t->k + axis], reach = side / CLOSE;
	for (size_t i = 0; i < SOME; i++) {
		const REAL x = t->x[(lo + i * (hi - lo) / SOME) * t->k + axis];
		close += x > at - reach && x < at + reach;
	}
	while (close > SOME / 5 && side > 0 && isfinite(side) &&
	       narrow(t, &lo, &hi, m, axis, least[axis], side)) {
		least = t->box + 4 * node * t->k; /* of a child, which is not filled yet */
		axis = fill_box(t, 2 * node, lo, hi);
		side = least[t->k + axis] - least[axis];
		select_point(t, lo, hi, m, axis);
	}
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
	split(t, node, lo, hi, (leaf + left) * LEAF, axis);
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

int
SIMD_NAME(kd_build)(struct kd *t)
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

/*
 * Estimates from a sample of leaves whether all pairs take less time than the lists and the searches after them. A look
 * costs as much as LEAF pairs. The factor also stands for the searches; it was measured with AVX-512 on uniform points of 6 to
 * 16 dimensions.
 */
static bool
prunes_little(struct kd *t)
{
	enum { LEAVES = 32, FACTOR = 8 };
	size_t looks = 0;

	if (t->nleaves < 4 * LEAVES)
		return false;
	for (size_t i = 0; i < LEAVES; i++)
		looks += near_leaves(t, t->nleaves * i / LEAVES, t->nleaves * i / LEAVES + 1);
	return FACTOR * looks / LEAVES > t->n;
}

int
SIMD_NAME(kd_list_near)(struct kd *t)
{
	size_t chunks = (t->nleaves + 63) / 64;

	t->nnear = list_length(t->k);
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
