/*
 * The edges of a tree in the order of the rule, by length, hi - lo and lo of their ends' numbers, and then as the result: for
 * lattice.cu and for brute.cu. The edges are of a class E, which knows how they are kept:
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
#ifndef WEIR_GPU_EMST_ORDER_H
#define WEIR_GPU_EMST_ORDER_H

#include "gpu/block.h"
#include "gpu/device.h"
#include "gpu/prim.h"

extern "C" {
#include "common/base/mem.h"
#include "gpu/emst/emst.h"
}

namespace
{

/* What has an edge's place in the order, all on the device. length lies over scratch, which the sorts leave by then. */
struct order {
	unsigned *key, *index, *scratch;
	emst_edge *ends;
	double *length;
	unsigned n;
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

/* The slots are those of memory that is not needed any more. */
int
place_order(struct gpu *g, size_t n, int sort_slot, int ends_slot, order *o)
{
	GPU_DO(gpu_place(g, sort_slot, [&](gpu_block *at) {
		o->key = gpu_take<unsigned>(at, n);
		o->index = gpu_take<unsigned>(at, n);
		o->scratch = gpu_take<unsigned>(at, prim_sort_words(n));
	}));
	o->n = (unsigned)n;
	o->length = reinterpret_cast<double *>(o->scratch);
	return gpu_array(g, ends_slot, n, &o->ends);
}

template <class E>
int
sort_edges(struct gpu *g, const E &e, const order &o)
{
	GPU_DO(gpu_begin(g));
	for (unsigned k = 0; k < E::KEYS; k++) {
		GPU_EACH(g, take_key<E>, o.n, e, o, k, k > 0);
		GPU_DO(k ? prim_sort_again(g, o.key, o.index, o.n, e.limit[k], o.scratch)
			 : prim_sort(g, o.key, o.index, o.n, e.limit[k], o.scratch));
	}
	GPU_EACH(g, write_edges<E>, o.n, e, o);
	return gpu_end(g);
}

/*
 * Sorts the n - 1 edges of a tree of n vertices, and makes them *t. The result's pages are large, since they are touched only
 * once or twice, and copy.cu fills them by several threads.
 */
template <class E>
int
order_edges(struct gpu *g, const E &e, size_t n, int sort_slot, int ends_slot, struct emst_tree *t)
{
	order o = {};

	t->n = n;
	t->edge = static_cast<struct emst_edge *>(weir_alloc_large(n, sizeof *t->edge));
	t->length = static_cast<double *>(weir_alloc_large(n, sizeof *t->length));
	if (!t->edge || !t->length)
		return -ENOMEM;
	if (n < 2)
		return 0;
	GPU_DO(place_order(g, n - 1, sort_slot, ends_slot, &o));
	GPU_DO(sort_edges(g, e, o));
	GPU_DO(gpu_down(g, t->edge, o.ends, o.n * sizeof *t->edge));
	return gpu_down(g, t->length, o.length, o.n * sizeof *t->length);
}

} // namespace

#endif
