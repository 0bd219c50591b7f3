/*
 * The edges of the lattice's tree in the order of the rule, by d2, span and lo, and the numbers of their ends.
 *
 *	take_key	thread = edge in the order so far: its next key, for three stable sorts (prim.cu), by lo, span, d2
 *	number_ends	thread = edge in its order: the ranks of its two colours
 *
 * Bytes: 9 passes of a sort at 20 an edge, 3 x 16 for the keys, 40 for the ranks: some 270 an edge, 1 ms for 2^24 colours at 4.3
 * TB/s. The host, which did this before, takes as many passes over 16 bytes a record.
 */
#include <math.h>

#include "gpu/emst/lattice.h"
#include "gpu/prim.h"

extern "C" {
#include "common/mem.h"
}

namespace
{

constexpr unsigned THREADS = 256, CODES = 1u << 24;

/* The largest d2 and one more. */
constexpr unsigned FAR = 3 * 255 * 255 + 1;

/* What has an edge's place in the order, all on the device. */
struct order {
	const code_edge *edge;
	unsigned *key, *index, *scratch;
	emst_edge *ends;
	unsigned *d2;
	unsigned n;
};

enum which { LO, SPAN, D2 };

__global__ void
take_key(const order o, which k, bool sorted)
{
	const unsigned i = blockIdx.x * THREADS + threadIdx.x;

	if (i >= o.n)
		return;
	const code_edge e = o.edge[sorted ? o.index[i] : i];
	o.key[i] = k == LO ? e.lo : k == SPAN ? e.span : e.d2;
}

__global__ void
number_ends(const grid w, const order o)
{
	const unsigned i = blockIdx.x * THREADS + threadIdx.x;

	if (i >= o.n)
		return;
	const code_edge e = o.edge[o.index[i]];
	o.ends[i] = {grid_rank(w, e.lo), grid_rank(w, e.lo + e.span)};
	o.d2[i] = e.d2;
}

/* The trees' labels are not needed any more, nor the nodes: their memory holds the sort's and the result. */
int
place(struct gpu *g, const grid &w, order *o)
{
	const size_t n = w.n - 1;
	void *at;
	int err;

	o->n = (unsigned)n;
	o->edge = w.edges;
	if ((err = gpu_hold(g, HOLD_TREES, (2 * n + prim_sort_words(n)) * sizeof(unsigned), &at)))
		return err;
	o->key = static_cast<unsigned *>(at);
	o->index = o->key + n;
	o->scratch = o->index + n;
	if ((err = gpu_hold(g, HOLD_NODES, n * (sizeof *o->ends + sizeof *o->d2) + 1, &at)))
		return err;
	o->ends = static_cast<emst_edge *>(at);
	o->d2 = reinterpret_cast<unsigned *>(o->ends + n);
	return 0;
}

int
sort(struct gpu *g, const order &o)
{
	const unsigned blocks = (o.n + THREADS - 1) / THREADS;
	int err;

	GPU_LAUNCH(g, take_key, blocks, THREADS, 0, o, LO, false);
	if ((err = prim_sort(g, o.key, o.index, o.n, CODES, o.scratch)))
		return err;
	GPU_LAUNCH(g, take_key, blocks, THREADS, 0, o, SPAN, true);
	if ((err = prim_sort_again(g, o.key, o.index, o.n, CODES, o.scratch)))
		return err;
	GPU_LAUNCH(g, take_key, blocks, THREADS, 0, o, D2, true);
	return prim_sort_again(g, o.key, o.index, o.n, FAR, o.scratch);
}

int
number(struct gpu *g, const grid &w, const order &o)
{
	GPU_LAUNCH(g, number_ends, (o.n + THREADS - 1) / THREADS, THREADS, 0, w, o);
	return gpu_end(g);
}

} // namespace

int
emst_order(struct gpu *g, const grid &w, double step2, struct emst_tree *t)
{
	unsigned *d2 = static_cast<unsigned *>(weir_alloc(w.n, sizeof *d2));
	order o = {};
	int err;

	t->n = w.n;
	t->edge = static_cast<struct emst_edge *>(weir_alloc(w.n, sizeof *t->edge));
	t->length = static_cast<double *>(weir_alloc(w.n, sizeof *t->length));
	err = d2 && t->edge && t->length ? place(g, w, &o) : -ENOMEM;
	if (!err && o.n && !(err = gpu_begin(g)) && !(err = sort(g, o)))
		err = number(g, w, o);
	if (!err && !(err = gpu_down(g, t->edge, o.ends, o.n * sizeof *t->edge)))
		err = gpu_down(g, d2, o.d2, o.n * sizeof *d2);
	for (unsigned i = 0; i < o.n && !err; i++)
		t->length[i] = sqrt(step2 * d2[i]);
	weir_free(d2);
	return err;
}
