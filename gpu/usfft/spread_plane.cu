/*
 * Type 1 in 2-D: points to grid, without an atomic addition of floats, so that a result is the same in every run.
 *
 *	block	= a warp, which owns a tile: no other block writes the tile's cells. It walks through the points of its own tile and of
 *		the neighbours, and takes those whose windows meet the tile, (1 + (W-1)/16)^2 times as many as lie in it
 *	batch	32 points, lane = point: it works out the taps of both axes and writes them to shared memory as rows of 16 numbers,
 *		with zeros outside the window: y, and x times the point's value
 *	lane	= R x 4 cells of the tile, in registers; 16 / R x 4 lanes have the tile, and a warp has 2 (double: R = 4) or 4 (float: R = 8)
 *		copies of it. A copy takes every second or fourth point of a batch: the outer product of its two rows is added to all
 *		of the tile's cells. Thus a point needs no address, no test and no addition in shared memory
 *
 * When each copy has taken MOST points, copies are added to each other and to the grid. More equal values are never added up one by
 * one, because they would round in one direction (usfft/grid/grid.h).
 *
 * A tile with more than CHUNK points to look at has several blocks. Each makes a part of 16 x 16 cells, and the tile's own block
 * adds them in double precision in their order.
 *
 * Shared: a batch, 7 KB (float) or 13 KB, and a queue of 1 KB. Bytes: a point's cell 9 times, (1 + (W-1)/16)^2 times 4 reals a point,
 * mostly from the caches; each cell of the grid is written once. Operations for each point that is taken: 512 multiplications and
 * additions for the tile's cells, 2 W ncoef for its taps. So at W = 9 a point is taken 2.25 times, and each time costs a warp 16
 * instructions for the cells.
 *
 * The walk of a tile through points in 2-D: those of the tile itself and of its neighbours, whose windows may meet it. Points are sorted
 * by tile, so those of neighbours in a row follow each other. Where an axis is shorter than a tile and the windows beside it, a point
 * can meet the tile several times: it comes once for each image of the axis.
 *
 * The window's taps at one point, for kernels that are compiled for each number W of taps.
 *
 * A window is symmetric: tap t at x is tap W-1-t at -x. So with E of the even and O of the odd powers, both are E(x^2) +- x O(x^2),
 * and half of the polynomials is enough. They are an argument of the kernel, so that multiplications take them from the constant bank.
 */
#include "gpu/usfft/work.h"

namespace
{

constexpr unsigned SIDE = 16; /* cells of a tile along an axis: tile_span(2) */

/*
 * Along an axis of n cells, a tile has the cells origin .. origin + length - 1. The windows of points in the cells from .. to meet them.
 * from and to may lie beyond the ends of the axis: image s of the axis has the cells s n .. s n + n - 1.
 */
struct reach {
	long long from, to;
	unsigned n, origin, length;
	int first, last; /* images that from .. to meets */
};

template <class T>
__device__ reach
reach_of(const work<T> &k, int axis, unsigned tile)
{
	reach r;

	r.n = k.n[axis];
	r.origin = tile * SIDE;
	r.length = min(SIDE, r.n - r.origin);
	r.from = (long long)r.origin + k.lead - (k.w - 1);
	r.to = (long long)r.origin + r.length - 1 + k.lead;
	r.first = r.from < 0 ? -(int)(((unsigned)-r.from + r.n - 1) / r.n) : 0;
	r.last = (int)((unsigned)r.to / r.n);
	return r;
}

/* The tiles of an axis that hold the cells from .. to in an image. */
__device__ void
tiles_of(const reach &r, int image, unsigned *first, unsigned *last)
{
	const long long ahead = (long long)image * r.n;

	*first = (unsigned)max(r.from - ahead, 0ll) / SIDE;
	*last = (unsigned)min(r.to - ahead, (long long)r.n - 1) / SIDE;
}

/* Goes through images of y, rows of tiles and images of x, slowest first. Points at .. to - 1 come next. */
struct walk {
	reach x, y;
	int image_x, image_y;
	unsigned row, last_row;
	unsigned at, to;
};

template <class T>
__device__ walk
begin_walk(const work<T> &k, unsigned tile)
{
	walk v = {};

	v.x = reach_of(k, 0, tile % k.tiles[0]);
	v.y = reach_of(k, 1, tile / k.tiles[0]);
	v.image_x = v.x.last;
	v.image_y = v.y.first - 1;
	return v;
}

/* Goes to the next tiles of a row. False: there are none. */
template <class T>
__device__ bool
next_tiles(const work<T> &k, walk *v)
{
	unsigned first, last;

	if (v->image_x < v->x.last) {
		v->image_x++;
	} else if (v->row < v->last_row) {
		v->row++;
		v->image_x = v->x.first;
	} else if (v->image_y < v->y.last) {
		tiles_of(v->y, ++v->image_y, &v->row, &v->last_row);
		v->image_x = v->x.first;
	} else {
		return false;
	}
	tiles_of(v->x, v->image_x, &first, &last);
	v->at = k.start[v->row * k.tiles[0] + first];
	v->to = k.start[v->row * k.tiles[0] + last + 1];
	return true;
}

constexpr unsigned HALF = WINDOW_MAXCOEF / 2;
static_assert(WINDOW_MAXCOEF % 2 == 0);

/* Coefficients [axis][power of x^2, lowest first][tap of the first half], of E and of O. terms: the powers that are there. */
template <class T, unsigned W> struct polynomials {
	unsigned terms;
	T even[2][HALF][(W + 1) / 2], odd[2][HALF][(W + 1) / 2];
};

/* Splits a window's polynomials into powers of x^2. */
template <class T, unsigned W>
void
split_window(const struct window *win, polynomials<T, W> *c)
{
	c->terms = ((unsigned)max(win[0].ncoef, win[1].ncoef) + 1) / 2;
	for (int a = 0; a < 2; a++)
		for (unsigned d = 0; d < c->terms; d++)
			for (unsigned t = 0; t < (W + 1) / 2; t++) {
				const unsigned n = (unsigned)win[a].ncoef;
				c->even[a][d][t] = 2 * d < n ? (T)win[a].coef[2 * d][t] : 0;
				c->odd[a][d][t] = 2 * d + 1 < n ? (T)win[a].coef[2 * d + 1][t] : 0;
			}
}

/* Works out the taps of an axis at the offset x of work.rest. */
template <class T, unsigned W>
__device__ void
make_taps(const polynomials<T, W> &c, int axis, T x, T tap[W])
{
	constexpr unsigned M = (W + 1) / 2;
	const T square = x * x;
	T even[M] = {}, odd[M] = {};

#pragma unroll
	for (int d = HALF - 1; d >= 0; d--)
		if ((unsigned)d < c.terms) {
#pragma unroll
			for (unsigned t = 0; t < M; t++) {
				even[t] = even[t] * square + c.even[axis][d][t];
				odd[t] = odd[t] * square + c.odd[axis][d][t];
			}
		}
#pragma unroll
	for (unsigned t = 0; t < W; t++)
		tap[t] = t < M ? even[t] + x * odd[t] : even[W - 1 - t] - x * odd[W - 1 - t];
}

constexpr unsigned WARP = 32, QUEUE = 4 * WARP, AHEAD = 2 * WARP;
constexpr unsigned CHUNK = 4096, MOST = 128;

/* --- a batch of points ---------------------------------------------------------------------------------------------- */

/* N numbers, and 16 bytes more so that lanes which write a row each meet different banks. */
template <class T, unsigned N> struct alignas(16) row {
	T v[N + 16 / sizeof(T)];
};

/* N numbers that are copied 16 bytes at a time. */
template <class T, unsigned N> struct alignas(16) wide {
	T v[N];
};

/* The N numbers from `at` on, a multiple of 16 bytes. */
template <unsigned N, class T>
__device__ wide<T, N> &
wide_at(T *at)
{
	return *reinterpret_cast<wide<T, N> *>(at);
}

/* A point that was taken. Its first tap lies at (x, y) of the tile; place is 256 (y + W-1) + x + W-1. */
struct taken {
	unsigned point, place;
};

/* A batch's rows, and the points that wait for a batch: queue[(head + i) % QUEUE], i < count. */
template <class T> struct batch {
	row<T, SIDE> y[WARP];
	row<T, 2 * SIDE> x[WARP];
	taken queue[QUEUE];
};

/* Looks at the next AHEAD points of the walk. Those whose windows meet the tile join the queue. Returns its new count. */
template <class T, unsigned W>
__device__ unsigned
take_points(const work<T> &k, walk *v, batch<T> &b, unsigned head, unsigned count)
{
	const unsigned before_x = k.lead + v->x.origin - (unsigned)v->image_x * v->x.n - (W - 1);
	const unsigned before_y = k.lead + v->y.origin - (unsigned)v->image_y * v->y.n - (W - 1);
	unsigned at[2], x[2], y[2];

	for (unsigned i = 0; i < 2; i++) {
		at[i] = v->at + i * WARP + threadIdx.x;
		x[i] = at[i] < v->to ? __ldg(k.cell[0] + at[i]) - before_x : ~0u;
		y[i] = at[i] < v->to ? __ldg(k.cell[1] + at[i]) - before_y : ~0u;
	}
	for (unsigned i = 0; i < 2; i++) {
		const bool meets = x[i] < v->x.length + W - 1 && y[i] < v->y.length + W - 1;
		const unsigned all = __ballot_sync(~0u, meets);
		const unsigned before = (unsigned)__popc(all & ((1u << threadIdx.x) - 1));
		if (meets)
			b.queue[(head + count + before) % QUEUE] = {at[i], y[i] << 8 | x[i]};
		count += (unsigned)__popc(all);
	}
	v->at = min(v->at + AHEAD, v->to);
	return count;
}

/* Fills the lane's rows of the batch: those of its point in the queue, or zeros where here is false. */
template <class T, unsigned W>
__device__ void
stage_point(const work<T> &k, const polynomials<T, W> &c, batch<T> &b, bool here, unsigned head)
{
	const unsigned lane = threadIdx.x;
	T tap[W];

	wide_at<SIDE>(b.y[lane].v) = {};
	wide_at<2 * SIDE>(b.x[lane].v) = {};
	if (!here)
		return;
	const taken p = b.queue[(head + lane) % QUEUE];
	const unsigned x = (p.place & 255) - (W - 1), y = (p.place >> 8) - (W - 1);
	const T rest_x = __ldg(k.rest[0] + p.point), rest_y = __ldg(k.rest[1] + p.point);
	const cplx<T> value = k.value[p.point];
	make_taps<T, W>(c, 1, rest_y, tap);
#pragma unroll
	for (unsigned t = 0; t < W; t++)
		if (y + t < SIDE)
			b.y[lane].v[y + t] = tap[t];
	make_taps<T, W>(c, 0, rest_x, tap);
#pragma unroll
	for (unsigned t = 0; t < W; t++)
		if (x + t < SIDE)
			reinterpret_cast<cplx<T> *>(b.x[lane].v)[x + t] = {value.re * tap[t],
									   value.im * tap[t]};
}

/* --- a tile's cells in registers ------------------------------------------------------------------------------------ */

/* How a warp's lanes share the tile: a lane has R rows of 4 cells, LANES lanes have the tile, and a warp has COPIES of it. */
template <class T> struct share {
	static constexpr unsigned R = sizeof(T) == sizeof(float) ? 8 : 4;
	static constexpr unsigned LANES = SIDE / R * (SIDE / 4), COPIES = WARP / LANES;
	wide<T, 8> sum[R]; /* 4 complex numbers each */
};

/* Adds the first n points of the batch; rows up to a multiple of COPIES are zeros. */
template <class T>
__device__ void
add_batch(batch<T> &b, unsigned n, share<T> &s)
{
	constexpr unsigned R = share<T>::R, LANES = share<T>::LANES, COPIES = share<T>::COPIES;
	const unsigned lane = threadIdx.x % LANES, copy = threadIdx.x / LANES;

	for (unsigned i = copy; i - copy < n; i += COPIES) {
		const wide<T, R> wy = wide_at<R>(b.y[i].v + lane / 4 * R);
		const wide<T, 8> v = wide_at<8>(b.x[i].v + lane % 4 * 8);
#pragma unroll
		for (unsigned r = 0; r < R; r++)
#pragma unroll
			for (unsigned c = 0; c < 8; c++)
				s.sum[r].v[c] += wy.v[r] * v.v[c];
	}
}

/*
 * Adds up the copies: first those that lie D lanes apart, then those that lie nearer. Each time a lane keeps one half of its rows and
 * gives the other away, until it has two, in sum[0] and sum[1]. Returns the first one's row of the tile.
 */
template <class T, unsigned ROWS, unsigned D>
__device__ unsigned
add_copies(share<T> &s)
{
	if constexpr (D < share<T>::LANES) {
		static_assert(ROWS == 2);
		return threadIdx.x % share<T>::LANES / 4 * share<T>::R;
	} else {
		const bool second = threadIdx.x & D;
#pragma unroll
		for (unsigned i = 0; i < ROWS / 2; i++)
#pragma unroll
			for (unsigned j = 0; j < 8; j++) {
				const T front = s.sum[i].v[j], back = s.sum[i + ROWS / 2].v[j];
				const T came = __shfl_xor_sync(~0u, second ? front : back, (int)D);
				s.sum[i].v[j] = (second ? back : front) + came;
			}
		return (second ? ROWS / 2 : 0) + add_copies<T, ROWS / 2, D / 2>(s);
	}
}

/* A tile's cells in memory: width x height of them, rows `stride` cells apart. */
template <class T> struct cells {
	cplx<T> *at;
	size_t stride;
	unsigned width, height;
};

/*
 * Adds the sums to the cells, or the first time sets the cells to them, and clears the sums. They go by way of the batch's rows, so that
 * neighbours write neighbours.
 */
template <class T>
__device__ void
put_sums(share<T> &s, batch<T> &b, const cells<T> &to, bool first)
{
	const unsigned row = add_copies<T, share<T>::R, WARP / 2>(s), column = threadIdx.x % 4 * 8;

	__syncwarp();
#pragma unroll
	for (unsigned i = 0; i < 2; i++)
		wide_at<8>(b.x[row + i].v + column) = s.sum[i];
	__syncwarp();
	for (unsigned i = threadIdx.x; i < SIDE * SIDE; i += WARP) {
		const unsigned x = i % SIDE, y = i / SIDE;
		if (x >= to.width || y >= to.height)
			continue;
		const cplx<T> own = reinterpret_cast<const cplx<T> *>(b.x[y].v)[x];
		cplx<T> *const cell = to.at + y * to.stride + x;
		const cplx<T> old = first ? cplx<T>{0, 0} : *cell;
		*cell = {old.re + own.re, old.im + own.im};
	}
	s = {};
}

/* --- a tile --------------------------------------------------------------------------------------------------------- */

/* Adds points skip .. skip + CHUNK - 1 of a tile's walk to its cells. */
template <class T, unsigned W>
__device__ void
spread_points(const work<T> &k, const polynomials<T, W> &c, unsigned tile, size_t skip,
	      const cells<T> &to, batch<T> &b)
{
	unsigned head = 0, count = 0, left = CHUNK, batches = 0;
	constexpr unsigned FLUSH = MOST * share<T>::COPIES / WARP; /* batches */
	bool more = true;
	walk v = begin_walk(k, tile);
	share<T> s = {};

	do {
		while (count < WARP && more) {
			while (v.at == v.to && (more = next_tiles(k, &v))) {
				const unsigned over = (unsigned)min(skip, (size_t)(v.to - v.at));
				skip -= over;
				v.at += over;
				v.to = v.at + min(v.to - v.at, left);
				left -= v.to - v.at;
			}
			if (more)
				count = take_points<T, W>(k, &v, b, head, count);
		}
		__syncwarp();
		const unsigned n = min(count, WARP);
		stage_point<T, W>(k, c, b, threadIdx.x < n, head);
		__syncwarp();
		add_batch(b, n, s);
		head += n;
		count -= n;
		if (++batches % FLUSH == 0 || (!more && !count))
			put_sums(s, b, to, batches <= FLUSH);
	} while (more || count);
}

/* Adds a tile's parts in their order. */
template <class T>
__device__ void
add_parts(const cplx<T> *part, unsigned n, const cells<T> &to)
{
	for (unsigned i = threadIdx.x; i < SIDE * SIDE; i += WARP) {
		const unsigned x = i % SIDE, y = i / SIDE;
		cplx<double> sum = {0, 0};
		for (unsigned c = 0; c < n; c++) {
			const cplx<T> v = part[c * (size_t)(SIDE * SIDE) + i];
			sum.re += (double)v.re;
			sum.im += (double)v.im;
		}
		if (x < to.width && y < to.height)
			to.at[y * to.stride + x] = {(T)sum.re, (T)sum.im};
	}
}

/* Block = tile of the grid, or with `chunks` a part of a tile that has several. */
template <class T, unsigned W>
__global__ void
__launch_bounds__(WARP, sizeof(T) == sizeof(float) ? 16 : 12)
    spread_plane(const work<T> k, const polynomials<T, W> c, cplx<T> *parts, bool chunks)
{
	__shared__ batch<T> b;
	const unsigned tile =
	    chunks ? lower_bound(k.heavy, k.ntiles + 1, blockIdx.x + 1) - 1 : blockIdx.x;
	const unsigned x = tile % k.tiles[0] * SIDE, y = tile / k.tiles[0] * SIDE;
	const unsigned first = k.heavy[tile], n = k.heavy[tile + 1] - first;
	cells<T> to = {k.grid + (size_t)y * k.n[0] + x, k.n[0], min(SIDE, k.n[0] - x),
		       min(SIDE, k.n[1] - y)};

	if (n && !chunks)
		return add_parts(parts + (size_t)first * (SIDE * SIDE), n, to);
	if (chunks)
		to = {parts + (size_t)blockIdx.x * (SIDE * SIDE), SIDE, SIDE, SIDE};
	spread_points<T, W>(k, c, tile, chunks ? (size_t)(blockIdx.x - first) * CHUNK : 0, to, b);
}

/* --- launches ------------------------------------------------------------------------------------------------------- */

/* Counts the parts that a tile's points are cut into: none, if its block takes them all. Thread = tile. */
template <class T>
__device__ void
count_chunks(size_t t, const work<T> &k)
{
	size_t points = 0;
	if (t < k.ntiles)
		for (walk v = begin_walk(k, (unsigned)t); next_tiles(k, &v);)
			points += v.to - v.at;
	k.heavy[t] = points > CHUNK ? (unsigned)((points + CHUNK - 1) / CHUNK) : 0;
}

/* Launches the kernel for the window's W taps. */
template <class T, unsigned W>
int
spread(struct gpu *g, const work<T> &k)
{
	polynomials<T, W> c = {};
	cplx<T> *parts = NULL;

	if (k.w != W) {
		if constexpr (W < WINDOW_MAXW)
			return spread<T, W + 1>(g, k);
		return -EINVAL;
	}
	split_window(k.win, &c);
	if (k.heavies) {
		GPU_DO(gpu_array(g, HOLD_HEAVY, (size_t)k.heavies * (SIDE * SIDE), &parts));
		GPU_LAUNCH(g, (spread_plane<T, W>), k.heavies, WARP, 0, k, c, parts, true);
	}
	GPU_LAUNCH(g, (spread_plane<T, W>), k.ntiles, WARP, 0, k, c, parts, false);
	return 0;
}

} // namespace

template <class T>
int
usfft_count_plane(struct gpu *g, const work<T> &k)
{
	GPU_EACH(g, count_chunks<T>, k.ntiles + 1, k);
	return 0;
}

template <class T>
int
usfft_spread_plane(struct gpu *g, const work<T> &k)
{
	return spread<T, WINDOW_MINW>(g, k);
}

template int usfft_count_plane(struct gpu *, const work<float> &);
template int usfft_count_plane(struct gpu *, const work<double> &);
template int usfft_spread_plane(struct gpu *, const work<float> &);
template int usfft_spread_plane(struct gpu *, const work<double> &);
