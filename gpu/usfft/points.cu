/*
 * Points to tile order: keys, a stable sort (gpu/prim.h), places.
 *
 *	turn	thread = point: its value by a phase, for type 3
 *	locate	thread = point: its tile; the first point that is not finite is found by atomicMin
 *	place	thread = sorted point: cells and offsets from its coordinates, taken once more
 *	carry	thread = sorted point: its value
 *	starts	thread = tile: its first point, by bisection
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

constexpr unsigned THREADS = 256;

/*
 * A coordinate in cycles. The product is rounded by itself: merged with a later sum in one kernel and not in the other, it
 * would give locate and place different cells.
 */
template <class T>
__device__ double
coordinate(const given<T> &in, int axis, size_t j)
{
	return __dmul_rn(raw_coordinate(in, axis, j) - in.frame.mid[axis], in.frame.scale[axis]);
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
__global__ void
turn(const given<T> in, unsigned m, int dim)
{
	const unsigned j = blockIdx.x * THREADS + threadIdx.x;
	double x[3];

	if (j >= m)
		return;
#pragma unroll
	for (int a = 0; a < 3; a++)
		x[a] = a < dim ? raw_coordinate(in, a, j) - in.frame.mid[a] : 0;
	turn_value(in.c + j * in.cstride, turns_of(dim, in.turn, x), 1);
}

template <class T>
__global__ void
locate(const given<T> in, const work<T> k, int dim, unsigned *key, unsigned *bad)
{
	const unsigned j = blockIdx.x * THREADS + threadIdx.x;
	unsigned tile = 0;
	double finite = 0, rest;

	if (j >= k.m)
		return;
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
__global__ void
place(const given<T> in, const work<T> k, int dim)
{
	const unsigned i = blockIdx.x * THREADS + threadIdx.x;
	double rest;

	if (i >= k.m)
		return;
	for (int a = 0; a < dim; a++) {
		k.cell[a][i] = find_cell(coordinate(in, a, k.index[i]), k.n[a], in.shift, &rest);
		k.rest[a][i] = (T)(2 * rest - 1);
	}
}

template <class T>
__global__ void
carry(const work<T> k, const T *c, size_t stride)
{
	const unsigned i = blockIdx.x * THREADS + threadIdx.x;

	if (i < k.m)
		k.value[i] = {c[k.index[i] * stride], c[k.index[i] * stride + 1]};
}

template <class T>
__global__ void
find_starts(const work<T> k, const unsigned *key)
{
	const unsigned t = blockIdx.x * THREADS + threadIdx.x;

	if (t <= k.ntiles)
		k.start[t] = lower_bound(key, k.m, t);
}

/* Subproblems of tiles with more points than one takes. */
template <class T>
__global__ void
find_heavy(const work<T> k)
{
	const unsigned t = blockIdx.x * THREADS + threadIdx.x;
	const unsigned n = t < k.ntiles ? k.start[t + 1] - k.start[t] : 0;

	if (t <= k.ntiles)
		k.heavy[t] = n > SUBPROBLEM ? (n + SUBPROBLEM - 1) / SUBPROBLEM : 0;
}

/* --- points -------------------------------------------------------------------------------------------------------- */

/* n reals at host, to slot; NULL when there are none. */
template <class R>
int
send(struct gpu *g, int slot, const R *host, size_t n, R **device)
{
	void *at = NULL;
	int err = 0;

	if (n && !(err = gpu_hold(g, slot, n * sizeof(R), &at)))
		err = gpu_up(g, at, host, n * sizeof(R));
	*device = static_cast<R *>(at);
	return err;
}

/* The coordinates: once when they lie within one record, else axis after axis. */
template <class R, class T>
int
send_coordinates(struct gpu *g, const struct usfft_points *pt, int dim, given<T> *in)
{
	const R *x[3] = {static_cast<const R *>(pt->x[0]), static_cast<const R *>(pt->x[1]),
			 static_cast<const R *>(pt->x[2])};
	const R *lo = x[0], *hi = x[0];
	const size_t each = pt->m ? (pt->m - 1) * pt->stride + 1 : 0;
	void *at;
	int err;

	for (int a = 1; a < dim; a++) {
		lo = x[a] < lo ? x[a] : lo;
		hi = x[a] > hi ? x[a] : hi;
	}
	const bool together = (size_t)(hi - lo) < pt->stride;
	const size_t all = together && each ? each + (size_t)(hi - lo) : each * (size_t)dim;
	if ((err = gpu_hold(g, HOLD_RAW, (all + 1) * sizeof(R), &at)))
		return err;
	R *to = static_cast<R *>(at);
	for (int a = 0; a < dim; a++)
		in->x[a] = together ? to + (x[a] - lo) : to + (size_t)a * each;
	if (together)
		return gpu_up(g, to, lo, all * sizeof(R));
	for (int a = 0; a < dim && !err; a++)
		err = gpu_up(g, to + (size_t)a * each, x[a], each * sizeof(R));
	return err;
}

/* What of m and tiles fits into a launch of a thread each. */
unsigned
blocks_of(unsigned n)
{
	return (n + THREADS - 1) / THREADS;
}

template <class T>
int
sort_points(struct gpu *g, const given<T> &in, const work<T> &k, int dim, unsigned *work_room,
	    unsigned *bad)
{
	unsigned *key = work_room + 1, *rest = key + k.m;
	int err;

	GPU_TRY(g, cudaMemsetAsync(work_room, 0xff, sizeof *work_room, g->stream[0]));
	if (k.m)
		GPU_LAUNCH(g, locate<T>, blocks_of(k.m), THREADS, 0, in, k, dim, key, work_room);
	if ((err = prim_sort(g, key, k.index, k.m, k.ntiles, rest)))
		return err;
	if (k.m)
		GPU_LAUNCH(g, place<T>, blocks_of(k.m), THREADS, 0, in, k, dim);
	if (in.c && in.turned)
		GPU_LAUNCH(g, turn<T>, blocks_of(k.m), THREADS, 0, in, k.m, dim);
	if (in.c && (err = usfft_carry(g, k, in.c, in.cstride)))
		return err;
	GPU_LAUNCH(g, find_starts<T>, blocks_of(k.ntiles + 1), THREADS, 0, k, key);
	GPU_LAUNCH(g, find_heavy<T>, blocks_of(k.ntiles + 1), THREADS, 0, k);
	if ((err = prim_scan(g, k.heavy, k.ntiles + 1, rest)) || (err = gpu_end(g)))
		return err;
	return gpu_down(g, bad, work_room, sizeof *bad);
}

template <class T>
int
take_points(struct gpu *g, struct usfft_plan *p, const struct usfft_points *pt, const void *c,
	    size_t cstride, size_t *bad)
{
	given<T> in = {};

	in.frame = {{0, 0, 0}, {1, 1, 1}};
	return usfft_take(g, p, pt, static_cast<const T *>(c), cstride, &in, bad);
}

} // namespace

template <class T>
int
usfft_take(struct gpu *g, struct usfft_plan *p, const struct usfft_points *pt, const T *c,
	   size_t cstride, given<T> *in, size_t *bad)
{
	const size_t m = pt->m;
	work<T> k = {};
	unsigned first;
	void *room;
	int err;

	p->points.m = m;
	p->points.indexed = !c;
	in->stride = pt->stride;
	in->cstride = cstride;
	in->single = pt->single;
	in->shift = p->win[0].w % 2 ? 0.5 : 0;
	const size_t sort = prim_sort_words(m), scan = prim_scan_words(p->ntiles + 1);
	if ((err = usfft_work(g, p, &k)) || (err = usfft_tables(g, p, k)) ||
	    (err = pt->single ? send_coordinates<float>(g, pt, p->o.dim, in)
			      : send_coordinates<double>(g, pt, p->o.dim, in)) ||
	    (c && (err = send(g, HOLD_VALUES, c, m ? (m - 1) * cstride + 2 : 0, &in->c))) ||
	    (err = gpu_hold(g, HOLD_SORT, (1 + m + (sort > scan ? sort : scan)) * sizeof(unsigned),
			    &room)) ||
	    (err = gpu_begin(g)) ||
	    (err = sort_points(g, *in, k, p->o.dim, static_cast<unsigned *>(room), &first)))
		return err;
	*bad = first;
	if (first >= m)
		return 0;
	p->points.m = 0;
	return -EINVAL;
}

template <class T>
int
usfft_carry(struct gpu *g, const work<T> &k, const T *c, size_t stride)
{
	if (k.m)
		GPU_LAUNCH(g, carry<T>, blocks_of(k.m), THREADS, 0, k, c, stride);
	return 0;
}

template int usfft_carry(struct gpu *, const work<float> &, const float *, size_t);
template int usfft_carry(struct gpu *, const work<double> &, const double *, size_t);
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
	return p->o.single ? take_points<float>(g, p, pt, c, cstride, bad)
			   : take_points<double>(g, p, pt, c, cstride, bad);
}
