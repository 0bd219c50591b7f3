/*
 * Points to tile order: keys, a stable sort (gpu/prim.h), places.
 *
 *	turn	thread = point: its value by a phase, for type 3
 *	locate	thread = point: its tile; the first point that is not finite is found by atomicMin
 *	place	thread = sorted point: cells and offsets from its coordinates, taken once more, and its value
 *	starts	thread = tile: its first point, by bisection
 *	heavy	warp = tile: how many parts it has, if they are made before they are added to the grid
 *
 * Cells are found in double as on the CPU (usfft/sort.c), so that nothing is lost for single values or far points.
 *
 * Bytes for m points: the coordinates twice, 20 m a pass of the sort (2 passes to 65536 tiles), 4 m + (4 + real) dim m
 * written; values once in and once out.
 */
#include "gpu/usfft/work.h"

#include "gpu/prim.h"

extern "C" {
#include "gpu/usfft/usfft.h"
}

namespace
{

/*
 * A coordinate in cycles. The product is rounded by itself: merged with a later sum in one kernel and not in the other, it
 * would give locate and place different cells.
 */
template <class T>
__device__ double
coordinate(const given<T> &in, int axis, size_t j)
{
	return __dmul_rn(raw_coordinate(in, axis, j) - in.mid[axis], in.scale[axis]);
}

/* The cell that holds x, and x in cells relative to it: usfft/sort.c. */
__device__ unsigned
find_cell(double x, double n, double shift, double *rest)
{
	const double folded = x - rint(x), at = floor(fma(folded, n, shift));

	*rest = fma(folded, n, shift - at);
	return (unsigned)(at < 0 ? at + n : at < n ? at : 0);
}

template <class T>
__device__ void
turn(unsigned j, const given<T> &in, int dim)
{
	double x[3];

#pragma unroll
	for (int a = 0; a < 3; a++)
		x[a] = a < dim ? raw_coordinate(in, a, j) - in.mid[a] : 0;
	turn_value(in.c + j * in.cstride, turns_of(dim, in.turn, x), 1);
}

template <class T>
__device__ void
locate(unsigned j, const given<T> &in, const work<T> &k, int dim, unsigned *key, unsigned *bad)
{
	unsigned tile = 0;
	double finite = 0, rest;

	for (int a = dim - 1; a >= 0; a--) {
		const double x = coordinate(in, a, j);
		finite += 0 * x;
		const unsigned cell = x - x == 0 ? find_cell(x, k.n[a], in.shift, &rest) : 0;
		tile = tile * k.tiles[a] + (cell >> k.span_log);
	}
	for (unsigned i = 0; in.c && i < 2; i++)
		finite += 0 * (double)in.c[j * in.cstride + i];
	key[j] = tile;
	if (!(finite == 0))
		atomicMin(bad, j);
}

template <class T>
__device__ void
place(unsigned i, const given<T> &in, const work<T> &k, int dim)
{
	double rest;

	const size_t j = k.index[i];
	if (in.c)
		k.value[i] = {in.c[j * in.cstride], in.c[j * in.cstride + 1]};
	for (int a = 0; a < dim; a++) {
		k.cell[a][i] = find_cell(coordinate(in, a, j), k.n[a], in.shift, &rest);
		k.rest[a][i] = (T)(2 * rest - 1);
	}
}

template <class T>
__device__ void
find_starts(unsigned t, const work<T> &k, const unsigned *key)
{
	k.start[t] = lower_bound(key, k.m, t);
}

/* Subproblems of tiles with more points than one takes, or with a crowd. */
template <class T>
__global__ void
find_heavy(const work<T> k, int dim)
{
	__shared__ unsigned count[CROWD_CELLS];
	const unsigned t = blockIdx.x, from = t < k.ntiles ? k.start[t] : 0;
	const unsigned to = t < k.ntiles ? k.start[t + 1] : 0, n = to - from;
	const bool heavy = n > SUBPROBLEM || is_crowded(k, dim, from, to, count);

	if (threadIdx.x == 0)
		k.heavy[t] = heavy ? (n + SUBPROBLEM - 1) / SUBPROBLEM : 0;
}

/* --- points -------------------------------------------------------------------------------------------------------- */

/* The first and the last of the columns of a record of points. */
template <class R> struct columns {
	const R *first, *last;

	void
	add(const R *from, const R *to)
	{
		first = from < first ? from : first;
		last = to > last ? to : last;
	}
	size_t
	width() const
	{
		return (size_t)(last - first) + 1;
	}
};

/* Coordinates that lie within one record go up once, and with them values that lie there too; others, array after array. */
template <class R, class T>
int
send_points(struct gpu *g, const struct usfft_points *pt, int dim, const T *c, given<T> *in)
{
	const R *const v = sizeof(R) == sizeof(T) ? reinterpret_cast<const R *>(c) : NULL;
	const size_t before = pt->m ? (pt->m - 1) * pt->stride : 0, each = pt->m ? before + 1 : 0;
	const R *const x0 = static_cast<const R *>(pt->x[0]);
	columns<R> used = {x0, x0};

	for (int a = 1; a < dim; a++)
		used.add(static_cast<const R *>(pt->x[a]), static_cast<const R *>(pt->x[a]));
	columns<R> all = used;
	if (v)
		all.add(v, v + 1);
	const bool whole = pt->m && v && in->cstride == pt->stride && all.width() <= pt->stride;
	used = whole ? all : used;
	const bool record = used.width() <= pt->stride;
	const size_t n = record && pt->m ? before + used.width() : each * (size_t)dim;
	R *to;

	GPU_DO(gpu_array(g, HOLD_RAW, n + 1, &to));
	for (int a = 0; a < dim; a++) {
		const R *const x = static_cast<const R *>(pt->x[a]);
		in->x[a] = record ? to + (x - used.first) : to + (size_t)a * each;
		if (!record)
			GPU_DO(gpu_up(g, to + (size_t)a * each, x, each * sizeof(R)));
	}
	if (record)
		GPU_DO(gpu_up(g, to, used.first, n * sizeof(R)));
	if (whole)
		in->c = reinterpret_cast<T *>(to + (v - used.first));
	if (whole || !c)
		return 0;
	return gpu_send(g, HOLD_VALUES, c, pt->m ? (pt->m - 1) * in->cstride + 2 : 0, &in->c);
}

/* found: the first point that is not finite, and how many parts heavy tiles have. */
enum { BAD, HEAVIES, FOUND };

} // namespace

template <class T>
int
usfft_take(struct gpu *g, struct usfft_plan *p, const struct usfft_points *pt, const T *c,
	   size_t cstride, given<T> *in, size_t *bad)
{
	const size_t m = pt->m;
	const int dim = p->o.dim;
	work<T> k = {};
	unsigned found[FOUND], *room;

	p->points.m = m;
	p->points.indexed = !c;
	in->stride = pt->stride;
	in->cstride = cstride;
	in->single = pt->single;
	in->shift = p->win[0].w % 2 ? 0.5 : 0;
	const size_t sort = prim_sort_words(m), scan = prim_scan_words(p->ntiles + 1);
	GPU_DO(usfft_work(g, p, &k));
	GPU_DO(usfft_tables(g, p, k));
	GPU_DO(pt->single ? send_points<float>(g, pt, dim, c, in)
			  : send_points<double>(g, pt, dim, c, in));
	GPU_DO(gpu_array(g, HOLD_SORT, FOUND + m + (sort > scan ? sort : scan), &room));
	GPU_DO(gpu_begin(g));
	unsigned *key = room + FOUND, *rest = key + m;
	GPU_TRY(g, cudaMemsetAsync(room, 0xff, sizeof *room, g->stream[0]));
	GPU_EACH(g, locate<T>, k.m, *in, k, dim, key, room);
	GPU_DO(prim_sort(g, key, k.index, k.m, k.ntiles, rest, false));
	if (in->c && in->turned)
		GPU_EACH(g, turn<T>, k.m, *in, dim);
	GPU_EACH(g, place<T>, k.m, *in, k, dim);
	GPU_EACH(g, find_starts<T>, k.ntiles + 1, k, key);
	if (dim != 2)
		GPU_LAUNCH(g, find_heavy<T>, k.ntiles + 1, 32, 0, k, dim);
	else
		GPU_DO(usfft_count_plane(g, k));
	GPU_DO(prim_scan(g, k.heavy, k.ntiles + 1, rest));
	GPU_TRY(g, cudaMemcpyAsync(room + HEAVIES, k.heavy + k.ntiles, sizeof *k.heavy,
				   cudaMemcpyDeviceToDevice, g->stream[0]));
	GPU_DO(gpu_end(g));
	GPU_DO(gpu_look(g, found, room, sizeof found));
	p->nheavy = found[HEAVIES];
	*bad = found[BAD];
	if (found[BAD] >= m)
		return 0;
	p->points.m = 0;
	return -EINVAL;
}

template int usfft_take(struct gpu *, struct usfft_plan *, const struct usfft_points *,
			const float *, size_t, given<float> *, size_t *);
template int usfft_take(struct gpu *, struct usfft_plan *, const struct usfft_points *,
			const double *, size_t, given<double> *, size_t *);

int
gpu_usfft_points(struct gpu *g, struct usfft_plan *p, const struct usfft_points *pt, const void *c,
		 size_t cstride, size_t *bad)
{
	if (pt->m > USFFT_MAXPOINTS)
		return -EOVERFLOW;
	const auto take = [=](auto zero) {
		given<decltype(zero)> in = {};
		for (double &scale : in.scale)
			scale = 1;
		return usfft_take(g, p, pt, static_cast<const decltype(zero) *>(c), cstride, &in,
				  bad);
	};
	return p->o.single ? take(0.f) : take(0.);
}
