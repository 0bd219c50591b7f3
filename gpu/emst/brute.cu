/*
 * The tree by brute force, as Barsuk and Ivanov computed it on a GPU: in every round of Boruvka's each point looks at all
 * points of other trees, tile by tile.
 *
 *	nearest	block = 256 threads, a thread 4 points (1 where they have more than 4 coordinates), grid = points x parts of
 *		all points, so that few points fill the device too; tiles of 256 points in shared memory, read by all
 *		threads at once
 *	others	thread = point or tree: a tree's first edge by atomic minima of its length and then of its rank, trees hooked
 *		to trees, points relabelled
 *
 * The order of edges (d2, hi - lo, lo) is strict, so two trees that choose each other chose the same edge and no longer
 * ring can close; the tree is the only one, whatever the schedule. Distances are summed as the CPU does it, every operation
 * rounded.
 *
 * Bound: operations. A pair costs 3 k + 3 (k coordinates: a difference, a product, a sum each; the tree, the length, the
 * choice), n^2 pairs a round, and a round at least halves the trees. Bytes: n^2 / 1024 x 4 (k + 2) from the second-level
 * cache.
 */
#include <stdlib.h>

#include "gpu/emst/brute.h"

extern "C" {
#include "common/mem.h"
}

namespace
{

/* --- the host ------------------------------------------------------------------------------------------------------ */

/* A round; the grid is points by parts. */
template <class T, unsigned K>
int
round_of(struct gpu *g, const work &w)
{
	constexpr unsigned PER = K > 4 ? 1 : 4;
	const unsigned all = (w.n + THREADS - 1) / THREADS;

	GPU_TRY(g, cudaMemsetAsync(w.length, 0xff, w.n * sizeof *w.length, g->stream[0]));
	GPU_TRY(g, cudaMemsetAsync(w.rank, 0xff, w.n * sizeof *w.rank, g->stream[0]));
	GPU_LAUNCH(g, (nearest<T, K>), dim3((all + PER - 1) / PER, w.parts), THREADS, 0, w);
	GPU_LAUNCH(g, choose_length<T>, all, THREADS, 0, w);
	GPU_LAUNCH(g, choose_rank<T>, all, THREADS, 0, w);
	GPU_LAUNCH(g, choose_edge<T>, all, THREADS, 0, w);
	GPU_LAUNCH(g, hook<T>, all, THREADS, 0, w, K);
	GPU_LAUNCH(g, relabel, all, THREADS, 0, w);
	return 0;
}

/* Rounds until one tree is left. -EEXIST: two points are equal. */
template <class T, unsigned K>
int
rounds(struct gpu *g, const work &w, bool distinct)
{
	counts c = {0, 0};
	unsigned before;
	int err;

	GPU_TRY(g, cudaMemsetAsync(w.count, 0, sizeof *w.count, g->stream[0]));
	GPU_LAUNCH(g, single, (w.n + THREADS - 1) / THREADS, THREADS, 0, w);
	do {
		before = c.edges;
		if ((err = gpu_begin(g)) || (err = round_of<T, K>(g, w)) || (err = gpu_end(g)))
			return err;
		GPU_TRY(g, cudaMemcpy(&c, w.count, sizeof c, cudaMemcpyDeviceToHost));
		if (c.equal && !distinct)
			return -EEXIST;
	} while (c.edges + 1 < w.n && c.edges > before);
	return c.edges + 1 < w.n ? -ERANGE : 0; /* distances that are infinite */
}

/* The points as the kernels want them, K coordinates each, those beyond the set's 0; numbers and coordinates of colours. */
struct points {
	void *x;
	unsigned *number;
};

template <class T>
void
pad(T *to, const T *from, size_t n, unsigned k, unsigned K)
{
	for (size_t i = 0; i < n; i++)
		for (unsigned a = 0; a < K; a++)
			to[i * K + a] = a < k ? from[i * k + a] : 0;
}

void
paint(float *to, const unsigned *code, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (unsigned a = 0; a < 3; a++)
			to[3 * i + a] = (float)(code[i] >> 8 * (2 - a) & 255);
}

size_t
size_of(const emst_set *s)
{
	return s->type == EMST_F64 ? sizeof(double) : sizeof(float);
}

int
make_points(points *p, const emst_set *s, unsigned K)
{
	p->x = weir_alloc(s->n * K, size_of(s));
	p->number = static_cast<unsigned *>(weir_alloc(s->n, sizeof *p->number));
	if (!p->x || !p->number)
		return -ENOMEM;
	if (s->type == EMST_CODE) {
		lattice_codes(s->lattice, p->number, 1);
		paint(static_cast<float *>(p->x), p->number, s->n);
		return 0;
	}
	for (size_t i = 0; i < s->n; i++)
		p->number[i] = s->id ? s->id[i] : (unsigned)i;
	if (s->type == EMST_F32)
		pad(static_cast<float *>(p->x), static_cast<const float *>(s->x), s->n, s->k, K);
	else
		pad(static_cast<double *>(p->x), static_cast<const double *>(s->x), s->n, s->k, K);
	return 0;
}

/* Coordinates that kernels exist for. */
unsigned
padded(const emst_set *s)
{
	const unsigned k = s->type == EMST_CODE ? 3 : s->k;

	return k <= 4 ? k : k <= 8 ? 8 : 16;
}

enum { HOLD_X, HOLD_NUMBER, HOLD_D2, HOLD_TO, HOLD_LABELS, HOLD_CHOICE, HOLD_EDGES };

/* Room on the device, and the points there. */
int
place(struct gpu *g, const emst_set *s, unsigned K, const points *p, work *w)
{
	const size_t n = s->n, x_bytes = n * K * size_of(s);
	const unsigned blocks = (unsigned)((n + 4 * THREADS - 1) / (4 * THREADS));
	const unsigned want = 8 * (unsigned)g->prop.multiProcessorCount;
	void *x, *number, *to, *labels, *choice, *edges;
	int err;

	w->n = (unsigned)n;
	w->parts = blocks < want ? min((want + blocks - 1) / blocks, MOST_PARTS) : 1;
	if ((err = gpu_hold(g, HOLD_X, x_bytes, &x)) ||
	    (err = gpu_hold(g, HOLD_NUMBER, n * 4, &number)) ||
	    (err = gpu_hold(g, HOLD_D2, w->parts * n * size_of(s), &w->d2)) ||
	    (err = gpu_hold(g, HOLD_TO, w->parts * n * 4, &to)) ||
	    (err = gpu_hold(g, HOLD_LABELS, n * 8, &labels)) ||
	    (err = gpu_hold(g, HOLD_CHOICE, n * 24, &choice)) ||
	    (err = gpu_hold(g, HOLD_EDGES, n * sizeof(edge) + sizeof(counts), &edges)))
		return err;
	w->x = x;
	w->number = static_cast<unsigned *>(number);
	w->to = static_cast<unsigned *>(to);
	w->tree = static_cast<unsigned *>(labels);
	w->parent = w->tree + n;
	w->length = static_cast<u64 *>(choice);
	w->rank = w->length + n;
	w->chosen = reinterpret_cast<uint2 *>(w->rank + n);
	w->edges = static_cast<edge *>(edges);
	w->count = reinterpret_cast<counts *>(w->edges + n);
	err = gpu_up(g, x, p->x, x_bytes);
	return err ? err : gpu_up(g, number, p->number, n * 4);
}

template <class T>
int
run(struct gpu *g, const work &w, unsigned K, bool distinct)
{
	switch (K) {
	case 1:
		return rounds<T, 1>(g, w, distinct);
	case 2:
		return rounds<T, 2>(g, w, distinct);
	case 3:
		return rounds<T, 3>(g, w, distinct);
	case 4:
		return rounds<T, 4>(g, w, distinct);
	case 8:
		return rounds<T, 8>(g, w, distinct);
	default:
		return rounds<T, 16>(g, w, distinct);
	}
}

/* An edge with what it is sorted by. */
struct ranked {
	double d2;
	u64 rank;
	emst_edge e;
};

int
by_rule(const void *pa, const void *pb)
{
	const ranked *a = static_cast<const ranked *>(pa), *b = static_cast<const ranked *>(pb);

	if (a->d2 != b->d2)
		return a->d2 < b->d2 ? -1 : 1;
	return (a->rank > b->rank) - (a->rank < b->rank);
}

/* The edges, in their order, as the tree. */
int
finish(const edge *e, const points *p, size_t n, emst_tree *t)
{
	ranked *r = static_cast<ranked *>(weir_alloc(n, sizeof *r));

	t->n = n;
	t->edge = static_cast<emst_edge *>(weir_alloc(n, sizeof *t->edge));
	t->length = static_cast<double *>(weir_alloc(n, sizeof *t->length));
	for (size_t i = 0; r && i + 1 < n; i++) {
		const u64 lo = p->number[e[i].u], hi = p->number[e[i].v];
		r[i] = {e[i].d2, (hi - lo) << 32 | lo, {e[i].u, e[i].v}};
	}
	if (r)
		qsort(r, n - 1, sizeof *r, by_rule);
	for (size_t i = 0; r && t->edge && t->length && i + 1 < n; i++) {
		t->edge[i] = r[i].e;
		t->length[i] = sqrt(r[i].d2);
	}
	weir_free(r);
	return r && t->edge && t->length ? 0 : -ENOMEM;
}

int
grow(struct gpu *g, const emst_set *s, points *p, emst_tree *t)
{
	const unsigned K = padded(s);
	const bool distinct = s->type == EMST_CODE;
	work w = {};
	int err = make_points(p, s, K);

	if (err || (err = place(g, s, K, p, &w)))
		return err;
	err = s->type == EMST_F64 ? run<double>(g, w, K, distinct) : run<float>(g, w, K, distinct);
	edge *e = static_cast<edge *>(weir_alloc(s->n, sizeof *e));
	if (!err && !e)
		err = -ENOMEM;
	if (!err)
		err = gpu_down(g, e, w.edges, (s->n - 1) * sizeof *e);
	if (!err)
		err = finish(e, p, s->n, t);
	weir_free(e);
	return err;
}

} // namespace

int
emst_by_brute(struct gpu *g, const struct emst_set *s, struct emst_tree *t)
{
	points p = {};
	const int err = grow(g, s, &p, t);

	weir_free(p.x);
	weir_free(p.number);
	return err;
}
