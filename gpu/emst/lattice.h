/*
 * The growing tree of 8-bit colours on the device, for lattice.cu, which joins near colours by shells, and for blocks.cu, which
 * joins the rest. The lattice is that of emst/lattice/lattice.h, whose arrays are copied as they are. And the order of a tree's
 * edges, for lattice.cu and brute.cu.
 *
 * A round of Boruvka's method finds every tree's first edge by atomic minima, then hooks trees to trees (emst_hook()). The
 * ends of an edge are the codes lo and lo + span.
 */
#ifndef WEIR_GPU_EMST_LATTICE_H
#define WEIR_GPU_EMST_LATTICE_H

#include <stdint.h>

#include "gpu/device.h"
#include "gpu/prim.h"

extern "C" {
#include "emst/lattice/lattice.h"
#include "gpu/emst/emst.h"
}

typedef unsigned long long u64;

struct code_edge {
	unsigned d2, span, lo;
};

/* The blocks of gpu_hold() that lattice.cu and blocks.cu use. */
enum { HOLD_LATTICE, HOLD_TREES, HOLD_CODE_EDGES, HOLD_NODES, HOLD_ACTIVE };

struct grid {
	const uint64_t *bits; /* emst/lattice/lattice.h */
	const unsigned *before;
	const unsigned *row; /* [rows]: the rows (r << 8 | g) that hold a colour */
	unsigned rows, n;
	unsigned *tree;	  /* [n]: the colour that names the tree of a colour */
	unsigned *parent; /* [n], by tree: the tree it hooks to */
	u64 *best;	  /* [n], by tree: its first edge, or ~0: edge_of() of lattice.cu */
	unsigned *lo;	  /* [n], by tree */
	code_edge *edges; /* [n] */
	unsigned *count;  /* edges found so far */
	unsigned shell;	  /* the d2 of the edges that are searched; 0: any */
};

/* Returns the number of a colour of the set. */
__device__ __forceinline__ unsigned
grid_rank(const grid &w, unsigned code)
{
	const size_t row = lattice_row(code_r(code), code_g(code));
	const unsigned k = (code & 255) >> 6;
	const u64 below = ((u64)1 << (code & 63)) - 1;

	return w.before[row * 4 + k] +
	       (unsigned)__popcll(w.bits[row * LATTICE_WORDS + 1 + k] & below);
}

/*
 * Returns what most of the n threads of a block have as `mine`, or ~0 if that is less than a quarter. Among the trees of a
 * sample, that is the tree which does not search in this round. Any tree may be left out. A large one has the most and the
 * longest searches, and a small one left out may cost a round more.
 */
template <unsigned n>
__device__ unsigned
most_common(unsigned mine)
{
	__shared__ unsigned all[n], most;
	unsigned same = 0;

	all[threadIdx.x] = mine;
	if (threadIdx.x == 0)
		most = 0;
	__syncthreads();
	for (unsigned i = 0; i < n; i++)
		same += all[i] == mine;
	atomicMax(&most, same << 16 | threadIdx.x);
	__syncthreads();
	return (most >> 16) * 4 >= n ? all[most & 0xffff] : ~0u;
}

/* Lowers what several threads lower at once. */
__device__ __forceinline__ void
lower(u64 *at, u64 to)
{
	if (to < __ldcg(at))
		atomicMin(at, to);
}

/* Two kernels on trees that are named after one of their vertices. W has n, tree and parent, as grid. */
template <class W>
__device__ void
single(unsigned i, const W &w)
{
	w.tree[i] = i;
}

/* Chains are halved on the way, by all that walk them: whatever one sees leads to the same end. */
template <class W>
__device__ void
relabel(unsigned i, const W &w)
{
	unsigned t, up;

	t = w.tree[i];
	while ((up = __ldcg(&w.parent[t])) != t) {
		const unsigned over = __ldcg(&w.parent[up]);
		if (over != up)
			__stcg(&w.parent[t], over);
		t = over;
	}
	w.tree[i] = t;
}

/* Hooks the trees, after the first edges of all were found. Sets *edges to the edges found so far. */
int emst_hook(struct gpu *g, const grid &w, unsigned *edges);

/* Forgets the first edges. */
int emst_forget(struct gpu *g, const grid &w);

/* Runs rounds until one tree is left: blocks.cu. edges: those found so far. */
int emst_blocks(struct gpu *g, const grid &w, unsigned edges);

/* Finds the tree of any set: brute.cu. brute: each point looks at all points in each round. */
int emst_by_points(struct gpu *g, const struct emst_set *s, bool brute, struct emst_tree *t);

/* --- the order of edges ----------------------------------------------------------------------------------------------- */

/*
 * The edges of a tree in the order of the rule, by length, hi - lo and lo of their ends' numbers, and then as the result.
 * The edges are of a class E, which knows how they are kept:
 *
 *	E::KEYS				by how many keys they are sorted; the last one counts most
 *	unsigned limit[KEYS]		the keys are below it; 0: any
 *	unsigned key(i, k)		on the device: key k of edge i
 *	emst_edge ends(i)		its ends
 *	double length(i)		its length
 *
 *	take_key	thread = edge in the order so far: its next key, for a stable sort (prim.cu)
 *	write_edges	thread = edge in its order: its ends and its length
 *
 * Bound: 20 bytes an edge for each 8 bits of the keys, 4 + E's for each key, 16 + E's for the result.
 */
/* What has an edge's place in the order, all on the device. length lies over scratch, which the sorts leave by then. */
struct order {
	unsigned *key, *index, *scratch;
	emst_edge *ends;
	double *length;
};

template <class E>
__device__ void
take_key(unsigned i, const E &e, const order &o, unsigned k, bool sorted)
{
	o.key[i] = e.key(sorted ? o.index[i] : i, k);
}

template <class E>
__device__ void
write_edges(unsigned i, const E &e, const order &o)
{
	o.ends[i] = e.ends(o.index[i]);
	o.length[i] = e.length(o.index[i]);
}

/*
 * Sorts the n - 1 edges of a tree of n vertices, and makes them *t. The slots are those of memory that is not needed any more. The
 * result's pages are large, since they are touched only once or twice, and copy.cu fills them by several threads.
 */
template <class E>
int
order_edges(struct gpu *g, const E &e, size_t n, int sort_slot, int ends_slot, struct emst_tree *t)
{
	const unsigned edges = (unsigned)n - 1;
	order o = {};

	t->n = n;
	t->edge = static_cast<struct emst_edge *>(weir_alloc_large(n, sizeof *t->edge));
	t->length = static_cast<double *>(weir_alloc_large(n, sizeof *t->length));
	if (!t->edge || !t->length)
		return -ENOMEM;
	if (!edges)
		return 0;
	GPU_DO(gpu_place(g, sort_slot, [&](gpu_block *at) {
		gpu_take_all(at, edges, &o.key, &o.index);
		o.scratch = gpu_take<unsigned>(at, prim_sort_words(edges));
	}));
	o.length = reinterpret_cast<double *>(o.scratch);
	GPU_DO(gpu_array(g, ends_slot, edges, &o.ends));
	GPU_DO(gpu_begin(g));
	for (unsigned k = 0; k < E::KEYS; k++) {
		GPU_EACH(g, take_key<E>, edges, e, o, k, k > 0);
		GPU_DO(prim_sort(g, o.key, o.index, edges, e.limit[k], o.scratch, k > 0));
	}
	GPU_EACH(g, write_edges<E>, edges, e, o);
	GPU_DO(gpu_end(g));
	GPU_DO(gpu_down(g, t->edge, o.ends, edges * sizeof *t->edge));
	return gpu_down(g, t->length, o.length, edges * sizeof *t->length);
}

#endif
