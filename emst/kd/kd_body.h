/*
 * The nodes of the kd-tree are in heap order (root 1, children 2i and 2i+1). Its leaves have LEAF points, the last one has the
 * rest. Leaves count from left to right: those in the deepest row of nodes come first.
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

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/roots.h"
#include "common/base/simd.h"
#include "emst/emst.h"
#include "emst/sort.h"

TARGET_BEGIN

static const double LISTED = 1. / 3;

enum { LEAF = 16, SMALL = 8192, MAXHEIGHT = 40, MAXGROUP = 64, CROWD = 4, FLAT_K = 4 };

/*
 * VECTOR is the number of bytes in a vector. The tree of 300000 points of 2 floats takes 133 ms with AVX-512 and vectors of 32
 * bytes, 134 with 64 bytes. REAL_INT is an integer as large as REAL.
 */
#define VECTOR (BYTES < 32 ? BYTES : 32)
#ifdef FOR_f64
#define REAL_INT       int64_t
#define REAL_KEY(x)    sort_key_double(x)
#define REAL_OF_KEY(k) sort_double(k)
#else
#define REAL_INT       int32_t
#define REAL_KEY(x)    sort_key_float(x)
#define REAL_OF_KEY(k) sort_float(k)
#endif
enum { WIDE = VECTOR / sizeof(REAL), GROUPS = LEAF / WIDE };

typedef REAL wide __attribute__((vector_size(VECTOR)));
typedef REAL_INT wide_ints __attribute__((vector_size(VECTOR)));

/* One number for each point of a leaf. */
union block {
	wide v[GROUPS];
	REAL x[LEAF];
};

struct kd {
	const struct kd_input *in;
	size_t n, nleaves;
	unsigned k;
	size_t row; /* the first node of the deepest row */
	int threads;
	REAL *x;	  /* owned */
	uint32_t *vertex; /* [n]: vertex index of a point; owned */
	/* [n]: the number of a point in the rule for equal lengths. It is vertex or own_number. */
	const uint32_t *number;
	uint32_t *own_number;	/* owned */
	union block *lane;	/* owned */
	REAL *box;		/* owned */
	bool equal;		/* two points are equal; threads read and write it atomically */
	REAL *core;		/* [n]: squared core radii, or NULL; owned */
	union block *core_lane; /* [leaf]; owned */

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

	/*
	 * When two trees are left, and all points of the one that searches are equal along the first axes, this is the number of
	 * these axes, else 0. A node has the least squared distance along them to a point of the other tree.
	 */
	unsigned flat;
	REAL *flat_d2; /* [node]; owned */

	size_t nowing; /* points that owe in this round; threads add atomically */
	bool *
	    owes; /* [n]: its search passed over nodes that were as far as its edge is long; owned */
	/* The vertices in blocks of LEAF, in the order of their numbers, and nodes over the blocks: root 1, children 2i and 2i+1. */
	struct {
		uint32_t *point; /* [n]: of a vertex; owned; NULL: no point has owed yet */
		uint32_t *tree;	 /* [2 row]: as node_tree; owned */
		REAL *box;	 /* [2 row][2][k]; owned */
	} by_number;
};

/* An edge in the order of the rule, between the points p and q. */
struct kd_edge {
	REAL d2;
	uint32_t span, lo, p, q;
};

#define MIXED 0xffffffffu
#define NONE  0xffffffffu

CPU_INLINE bool
edge_before(const struct kd_edge *a, const struct kd_edge *b)
{
	if (a->d2 != b->d2)
		return a->d2 < b->d2;
	return a->span != b->span ? a->span < b->span : a->lo < b->lo;
}

/* Returns the edge between the points p and q, whose numbers are a and b. */
static inline struct kd_edge
edge_between(REAL d2, size_t p, size_t q, uint32_t a, uint32_t b)
{
	return (struct kd_edge){d2, a < b ? b - a : a - b, a < b ? a : b, (uint32_t)p, (uint32_t)q};
}

/* Reports the share that is done. Lists or core radii are the first third, Boruvka's algorithm is the rest. */
static inline void
step(const struct kd *t, double done)
{
	if (t->in->s->step && !omp_get_thread_num())
		t->in->s->step(t->in->s->step_of, done);
}

static inline size_t
leaf_end(const struct kd *t, size_t leaf)
{
	const size_t end = (leaf + 1) * LEAF;

	return end < t->n ? end : t->n;
}

static inline size_t
node_of_leaf(const struct kd *t, size_t leaf)
{
	const size_t node = t->row + leaf;

	return node < 2 * t->nleaves ? node : node - t->nleaves;
}

static inline size_t
leaf_of_node(const struct kd *t, size_t node)
{
	return node >= t->row ? node - t->row : node + t->nleaves - t->row;
}

/* Adds the squared distance from a point to a box along the axes a..k-1 to the sum. */
CPU_INLINE REAL
to_box_d2(REAL sum, const REAL *x, const REAL *least, const REAL *most, unsigned a, unsigned k)
{
	for (; a < k; a++) {
		REAL below = least[a] - x[a], above = x[a] - most[a],
		     d = below > above ? below : above;
		d = d > 0 ? d : 0;
		sum += d * d;
	}
	return sum;
}

/* Returns the squared distance from a point to the box of a node. */
CPU_INLINE REAL
box_d2(const struct kd *t, const REAL *x, size_t node, unsigned k)
{
	const REAL *least = t->box + node * 2 * t->k;

	if (k >= FLAT_K && t->flat)
		return to_box_d2(t->flat_d2[node], x, least, least + t->k, t->flat, k);
	return to_box_d2(0, x, least, least + t->k, 0, k);
}

/* Computes the squared distances from a point to the points of a leaf. */
CPU_INLINE void
leaf_d2(const struct kd *t, const REAL *x, size_t leaf, unsigned k, union block *d2)
{
	const union block *lane = t->lane + leaf * t->k;

	for (unsigned g = 0; g < GROUPS; g++) {
		wide sum = {0};
		for (unsigned a = 0; a < k; a++) {
			const wide d = x[a] - lane[a].v[g];
			sum += d * d;
		}
		d2->v[g] = sum;
	}
}

/* Packs the results of comparisons, -1 or 0: bit j of the mask is lane j. */
CPU_INLINE unsigned
pack(const wide_ints results[GROUPS])
{
	union {
		wide_ints v;
		REAL_INT x[WIDE];
		uint64_t word[VECTOR / 8];
	} bit, hits = {{0}};
	uint64_t all = 0;

	for (unsigned g = 0; g < GROUPS; g++) {
		for (unsigned j = 0; j < WIDE; j++)
			bit.x[j] = 1 << (g * WIDE + j);
		hits.v |= bit.v & results[g];
	}
	for (unsigned i = 0; i < VECTOR / 8; i++)
		all |= hits.word[i];
	return (unsigned)(all | all >> 32);
}

/* Returns a mask whose bit j tells whether d[j] <= limit. */
CPU_INLINE unsigned
at_most(const union block *d, REAL limit)
{
	wide_ints results[GROUPS];

	for (unsigned g = 0; g < GROUPS; g++)
		results[g] = d->v[g] <= limit;
	return pack(results);
}

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

/* --- core radii --------------------------------------------------------------------------------------------------- */

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

static inline void
heap_push(struct heap *h, struct reached x)
{
	size_t i = h->n++;

	for (; i && h->v[(i - 1) / 2].d2 < x.d2; i = (i - 1) / 2)
		h->v[i] = h->v[(i - 1) / 2];
	h->v[i] = x;
	h->weight += x.weight;
}

static inline void
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
static inline void
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
static inline struct heap
heap_new(uint64_t min_weight, size_t n)
{
	const size_t room = (min_weight < n ? (size_t)min_weight : n) + 1;

	return (struct heap){.v = weir_alloc_large(room, sizeof(struct reached)),
			     .min_weight = min_weight};
}

TARGET_END

/* --- the files of the engine ----------------------------------------------------------------------------------------- */

/* Build the tree of t->in, and then the lists of nearest points. 0, -errno, or PRUNES_LITTLE when all pairs are faster. */
enum { PRUNES_LITTLE = 1 };
int SIMD_NAME(kd_build)(struct kd *t);
int SIMD_NAME(kd_list_near)(struct kd *t);

/*
 * Writes the edges between all tree->n points in the order of the rule. An edge has the key of its d2 and two points; tmp [n] is
 * scratch. number[] and vertex[] are those of the points; NULL: the points themselves. 0 or -ENOMEM.
 */
int SIMD_NAME(kd_write)(struct sorted *edge, struct sorted *tmp, const uint32_t *number,
			const uint32_t *vertex, int threads, struct emst_tree *tree);

/* The engines. */
kd_engine SIMD_NAME(emst_kd), SIMD_NAME(emst_prim), SIMD_NAME(emst_brute);
