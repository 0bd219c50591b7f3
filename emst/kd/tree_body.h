/*
 * The kd-tree is balanced and split at the median of the widest side of the box. Its nodes are in heap order (root 1,
 * children 2i and 2i+1). It has 2^height leaves of at most LEAF points.
 *
 *	x       [n][k]            points in the order of the leaves
 *	lane    [leaf][k][LEAF]   the same by coordinate, missing points at infinity: the distances from a point to all
 *	                          points of a leaf take one vector operation per coordinate
 *	box     [node][2][k]      least and largest coordinates
 *
 * Bounds are computed by the same operations, in the same order, as distances. So they remain bounds after rounding.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/cpu.h"
#include "common/mem.h"
#include "common/par.h"
#include "emst/kd/kd.h"
#include "emst/lock.h"
#include "emst/roots.h"
#include "emst/sort.h"

static const double LISTED = 1. / 3;

enum {
	LEAF = 16,
	SERIAL = 8192,
	SMALL = 8192,
	MAXHEIGHT = 40,
	SAMPLED = 600,
	MAXGROUP = 64,
	CROWD = 4
};

typedef REAL lanes __attribute__((vector_size(LEAF * sizeof(REAL))));

/* One number for each point of a leaf. */
union block {
	lanes v;
	REAL x[LEAF];
};

struct kd {
	const struct kd_input *in;
	size_t n, nleaves;
	unsigned k;
	int height, threads;
	REAL *x;	  /* owned */
	uint32_t *vertex; /* [n]: vertex index of a point; owned */
	/* [n]: the number of a point in the rule for equal lengths. It is vertex or own_number. */
	const uint32_t *number;
	uint32_t *own_number; /* owned */
	lanes *lane;	      /* owned */
	REAL *box;	      /* owned */
	uint32_t *leaf;	      /* [n]: the leaf of a point; owned */
	bool equal;	      /* two points are equal; threads read and write it atomically */
	REAL *core;	      /* [n]: squared core radii, or NULL; owned */
	lanes *core_lane;     /* [leaf]; owned */

	unsigned nnear; /* length of the lists of nearest points; 0: none are kept */
	uint32_t *near; /* [n][nnear], the nearest first; NONE: there are no more; owned */

	size_t ntrees;
	uint32_t largest;
	uint32_t *tree;	     /* [n]: the tree of a point; owned */
	uint32_t *size;	     /* [ntrees]; owned */
	uint32_t *node_tree; /* [node]: the tree of all its points, or MIXED; owned */
	/* [n]: no point of another tree is nearer (squared), except those in the list while it is in use; owned. */
	REAL *bound;
	/* [n]: the leading entries of the list that are in the point's own tree; nnear: the list is used up; owned. */
	uint8_t *used;
	struct kd_edge *best; /* [ntrees]: the first edge of a tree in this round; owned */
	unsigned char locks[LOCKS];
};

/* An edge in the order of the rule, between the points p and q. */
struct kd_edge {
	REAL d2;
	uint32_t span, lo, p, q;
};

#define MIXED 0xffffffffu
#define NONE  0xffffffffu

/* Reports the share that is done. Lists or core radii are the first third, Boruvka's algorithm is the rest. */
static inline void
step(const struct kd *t, double done)
{
	if (t->in->s->step && !omp_get_thread_num())
		t->in->s->step(t->in->s->step_of, done);
}

static inline size_t
leaf_begin(const struct kd *t, size_t leaf)
{
	return t->n * leaf >> t->height;
}

static void
swap_points(struct kd *t, size_t i, size_t j)
{
	REAL *a = t->x + i * t->k, *b = t->x + j * t->k;
	uint32_t v = t->vertex[i];

	t->vertex[i] = t->vertex[j];
	t->vertex[j] = v;
	for (unsigned c = 0; c < t->k; c++) {
		REAL x = a[c];
		a[c] = b[c];
		b[c] = x;
	}
}

/* Makes one step of quickselect around the value of point m. Returns the place j in lo..hi where that point ends. */
static size_t
partition(struct kd *t, size_t lo, size_t hi, size_t m, unsigned axis)
{
	const REAL *x = t->x + axis, v = x[m * t->k];
	size_t i = lo, j = hi, k = t->k;

	swap_points(t, lo, m);
	if (x[hi * k] > v)
		swap_points(t, hi, lo);
	while (i < j) {
		swap_points(t, i++, j--);
		while (x[i * k] < v)
			i++;
		while (x[j * k] > v)
			j--;
	}
	if (x[lo * k] == v)
		swap_points(t, lo, j);
	else
		swap_points(t, ++j, hi);
	return j;
}

/*
 * Floyd and Rivest 1975: reorders points lo..hi along the axis. Place m gets the point that sorting would put there; smaller
 * points end before it, larger ones after it.
 */
static void
select_point(struct kd *t, size_t lo, size_t hi, size_t m, unsigned axis)
{
	while (hi > lo) {
		if (hi - lo > SAMPLED) {
			double n = (double)(hi - lo + 1), i = (double)(m - lo + 1), z = log(n),
			       s = .5 * exp(2 * z / 3),
			       d = .5 * sqrt(z * s * (n - s) / n) * (i < n / 2 ? -1 : 1);
			double from = (double)m - i * s / n + d,
			       to = (double)m + (n - i) * s / n + d;
			select_point(t, from > (double)lo ? (size_t)from : lo,
				     to < (double)hi ? (size_t)to : hi, m, axis);
		}
		size_t j = partition(t, lo, hi, m, axis);
		if (j <= m)
			lo = j + 1;
		if (m <= j)
			hi = j ? j - 1 : 0;
	}
}

static unsigned
fill_box(struct kd *t, size_t node, size_t lo, size_t hi)
{
	REAL *least = t->box + node * 2 * t->k, *most = least + t->k;
	const REAL *x = t->x + lo * t->k;
	unsigned widest = 0;

	for (unsigned a = 0; a < t->k; a++)
		least[a] = most[a] = x[a];
	for (size_t i = lo; i < hi; i++, x += t->k)
		for (unsigned a = 0; a < t->k; a++) {
			least[a] = x[a] < least[a] ? x[a] : least[a];
			most[a] = x[a] > most[a] ? x[a] : most[a];
		}
	for (unsigned a = 1; a < t->k; a++)
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
fill_leaf(struct kd *t, size_t leaf, size_t lo, size_t hi)
{
	lanes *lane = t->lane + leaf * t->k;

	for (unsigned a = 0; a < t->k; a++)
		for (size_t j = 0; j < LEAF; j++)
			lane[a][j] = lo + j < hi ? t->x[(lo + j) * t->k + a] : (REAL)INFINITY;
	for (size_t i = lo; i < hi; i++)
		t->leaf[i] = (uint32_t)leaf;
	if (leaf % 8 == 0 && leaf_has_equal(t, lo, hi))
		note_equal(t);
}

static void
build_node(struct kd *t, size_t node, int level, size_t lo, size_t hi)
{
	if (found_equal(t))
		return;
	unsigned axis = fill_box(t, node, lo, hi);
	if (level == t->height) {
		fill_leaf(t, node - t->nleaves, lo, hi);
		return;
	}
	size_t middle = ((2 * node + 1) << (t->height - level - 1)) - t->nleaves;
	size_t m = leaf_begin(t, middle);
	select_point(t, lo, hi - 1, m, axis);
	if (hi - lo > SERIAL) {
#pragma omp task
		build_node(t, 2 * node, level + 1, lo, m);
		build_node(t, 2 * node + 1, level + 1, m, hi);
#pragma omp taskwait
		return;
	}
	build_node(t, 2 * node, level + 1, lo, m);
	build_node(t, 2 * node + 1, level + 1, m, hi);
}

static int
build(struct kd *t)
{
	const struct emst_set *s = t->in->s;

	while ((t->n >> t->height) + 1 > LEAF)
		t->height++;
	t->nleaves = (size_t)1 << t->height;
	t->x = weir_alloc_large(t->n * t->k, sizeof *t->x);
	t->vertex = weir_alloc_large(t->n, sizeof *t->vertex);
	t->lane = weir_alloc_large(t->nleaves * t->k, sizeof *t->lane);
	t->box = weir_alloc_large(2 * t->nleaves * 2 * t->k, sizeof *t->box);
	t->leaf = weir_alloc_large(t->n, sizeof *t->leaf);
	t->bound = weir_alloc_large(t->n, sizeof *t->bound);
	if (s->id)
		t->number = t->own_number = weir_alloc_large(t->n, sizeof *t->number);
	else
		t->number = t->vertex;
	if (!t->x || !t->vertex || !t->lane || !t->box || !t->leaf || !t->bound || !t->number)
		return -ENOMEM;
	memcpy(t->x, s->x, t->n * t->k * sizeof *t->x);
	for (size_t i = 0; i < t->n; i++)
		t->vertex[i] = (uint32_t)i;
#pragma omp parallel num_threads(t->threads)
#pragma omp single
	build_node(t, 1, 0, 0, t->n);
	for (size_t i = 0; s->id && i < t->n; i++)
		t->own_number[i] = s->id[t->vertex[i]];
	return t->equal ? -EEXIST : 0;
}

/* Returns the squared distance from a point to a box. */
CPU_INLINE REAL
box_d2(const struct kd *t, const REAL *x, size_t node, unsigned k)
{
	const REAL *least = t->box + node * 2 * t->k, *most = least + t->k;
	REAL sum = 0;

	for (unsigned a = 0; a < k; a++) {
		REAL below = least[a] - x[a], above = x[a] - most[a],
		     d = below > above ? below : above;
		d = d > 0 ? d : 0;
		sum += d * d;
	}
	return sum;
}

/* Computes the squared distances from a point to the points of a leaf. */
CPU_INLINE void
leaf_d2(const struct kd *t, const REAL *x, size_t leaf, unsigned k, union block *d2)
{
	const lanes *lane = t->lane + leaf * t->k;
	lanes sum = {0};

	for (unsigned a = 0; a < k; a++) {
		lanes d = x[a] - lane[a];
		sum += d * d;
	}
	d2->v = sum;
}

/* Returns a mask whose bit j tells whether d[j] <= limit. */
CPU_INLINE unsigned
at_most(const REAL d[LEAF], REAL limit)
{
	unsigned mask = 0;

	for (unsigned j = 0; j < LEAF; j++)
		mask |= (unsigned)(d[j] <= limit) << j;
	return mask;
}
