/*
 * Type 1 in 1-D and 3-D: points to grid, without an atomic addition of floats, so that a result is the same in every run. In 2-D,
 * spread_plane.cu does it.
 *
 *	block	= a subproblem, at most 1024 points of one tile; its part of the grid, the tile and the window's overhang, in shared
 *		memory. In 3-D as many planes of it as fit twice into a multiprocessor, slab after slab
 *	batch	32 points: the threads work out the taps of all three axes and leave them in shared memory; then all of them
 *		take one point after the other ("output driven")
 *	thread	owns the cells whose coordinates modulo P are its own: P x P threads in 3-D (4 planes at a time while
 *		P = 8), P = 8 up to 8 taps, else 16. A point's window meets each residue once at most, so nobody waits
 *		between points and no cell has two writers. In 1-D 4 groups of P threads each own a copy
 *
 * Then the part goes to the grid. Tiles in one launch are so far from each other that their parts do not touch: 2 or 3
 * colours an axis, as on the CPU (usfft/spread.c). A tile with more points than one subproblem, or with a crowd of points in
 * one cell, has its parts made first, by blocks of their own, and added in double precision in their order. Where float values
 * crowd, a part is a sum of parts of 64 points. Where an axis is shorter than a part, the thread that owns the grid's
 * cell adds all that falls on it.
 *
 * Shared: a part, rows padded to 8 modulo 16 columns for float and P = 8 (4 rows of 8 cells are then in 32 banks), and a
 * batch: 3-D at 7 taps in float 22 planes of 24 x 22 x 8 bytes and 6.6 KB, at 16 in double 31 planes of 15 KB, some 7 at a
 * time, and 13 KB.
 *
 * Bytes: records (4 + real) dim + 2 reals a point, once a slab; parts in 3-D (1 + (W-1)/16)^3 cells read and written for
 * each cell of the grid. Operations: 2 W^dim (complex by real, added) and 2 dim W ncoef a point; shared memory moves 32
 * bytes (float: 16) a tap, which is the floor.
 */
#include "gpu/usfft/work.h"

namespace
{

constexpr unsigned THREADS = 256, BATCH = 32, COPIES = 4;

/* How parts lie in shared memory. */
struct shape {
	unsigned pad, stride;	     /* cells along an axis; a row's */
	unsigned high, planes, deep; /* rows of a plane, planes of a slab; of all slabs */
	unsigned cells;		     /* of a slab */
	unsigned p, q, threads, copies;
	size_t bytes;
};

/* Tiles of one colour: first, first + step .. along each axis. */
struct colour {
	unsigned first[3], count[3], step;
};

/* A batch of points in shared memory. */
template <class T> struct batch {
	T tap[3][BATCH][WINDOW_MAXW];
	cplx<T> value[BATCH];
	unsigned at[3][BATCH]; /* first tap's cell in the part */
};

template <class T, int DIM>
__device__ void
stage(const work<T> &k, batch<T> &b, unsigned from, unsigned n)
{
	const unsigned inside = (1u << k.span_log) - 1;

	for (unsigned i = threadIdx.x; i < n * k.w; i += blockDim.x)
		for (int a = 0; a < DIM; a++)
			b.tap[a][i / k.w][i % k.w] =
			    window_tap(k, a, i % k.w, k.rest[a][from + i / k.w]);
	for (unsigned i = threadIdx.x; i < n; i += blockDim.x) {
		b.value[i] = k.value[from + i];
		for (int a = 0; a < DIM; a++)
			b.at[a][i] = k.cell[a][from + i] & inside;
	}
}

template <class T>
__device__ void
add(cplx<T> &cell, const cplx<T> &c, T weight)
{
	cell.re += c.re * weight;
	cell.im += c.im * weight;
}

/* Point i of the batch: this thread's cells of its window, in 3-D one in each q planes. */
template <class T, int DIM>
__device__ void
add_point(const work<T> &k, const shape &s, const batch<T> &b, unsigned i, unsigned z0,
	  cplx<T> *part)
{
	const unsigned t = threadIdx.x, p = s.p;
	const unsigned u = (t - b.at[0][i]) & (p - 1);

	if (u >= k.w)
		return;
	cplx<T> *const row = part + b.at[0][i] + u;
	if constexpr (DIM == 1) {
		add(*row, b.value[i], b.tap[0][i][u]);
	} else {
		const unsigned v = (t / p - b.at[1][i]) & (p - 1), own = t / (p * p);
		if (v >= k.w)
			return;
		cplx<T> *const column = row + (size_t)(b.at[1][i] + v) * s.stride;
		const T weight = b.tap[0][i][u] * b.tap[1][i][v];
		for (unsigned z = (own - b.at[2][i]) & (s.q - 1); z < k.w; z += s.q) {
			const unsigned plane = b.at[2][i] + z - z0;
			if (plane < s.planes)
				add(column[(size_t)plane * s.high * s.stride], b.value[i],
				    weight * b.tap[2][i][z]);
		}
	}
}

/* The part of points from..to-1: planes z0 .. of it, `copies` of them. */
template <class T, int DIM>
__device__ void
make_part(const work<T> &k, const shape &s, unsigned from, unsigned to, unsigned z0, cplx<T> *part,
	  batch<T> &b)
{
	const unsigned group = DIM == 1 ? threadIdx.x / s.p : 0;

	for (unsigned i = threadIdx.x; i < s.copies * s.cells; i += blockDim.x)
		part[i] = {0, 0};
	for (; from < to; from += BATCH) {
		const unsigned n = min(BATCH, to - from);
		__syncthreads();
		stage<T, DIM>(k, b, from, n);
		__syncthreads();
		for (unsigned i = group; i < n; i += s.copies)
			add_point<T, DIM>(k, s, b, i, z0, part + group * s.cells);
	}
	__syncthreads();
}

/* Adds cell i of `n` parts, in their order. */
template <class T>
__device__ void
add_parts(const cplx<T> *part, unsigned n, size_t cells, size_t i, cplx<double> *sum)
{
	for (unsigned c = 0; c < n; c++) {
		sum->re += (double)part[c * cells + i].re;
		sum->im += (double)part[c * cells + i].im;
	}
}

/* Cell `at` of an axis of n, around its end; at is below 2 n. */
__device__ unsigned
around(unsigned at, unsigned n)
{
	return at < n ? at : at - n;
}

/*
 * n parts of a tile to the grid: warp = row, in 1-D block = row; thread = cell of the grid, which may meet a part more than once.
 */
template <class T>
__device__ void
flush(const work<T> &k, const shape &s, const unsigned tile[3], unsigned z0, const cplx<T> *part,
      unsigned n)
{
	const unsigned extent[3] = {s.pad, s.high, s.planes}, ahead[3] = {0, 0, z0};
	const unsigned lanes = s.high > 1 ? 32 : blockDim.x;
	unsigned first[3], size[3];

	for (int a = 0; a < 3; a++) {
		const unsigned lead = k.n[a] > 1 ? k.lead : 0;
		first[a] = ((tile[a] << k.span_log) + k.n[a] - lead + ahead[a]) % k.n[a];
		size[a] = min(extent[a], k.n[a]);
	}
	for (unsigned row = threadIdx.x / lanes; row < size[1] * size[2];
	     row += blockDim.x / lanes) {
		const unsigned z = row / size[1], y = row % size[1];
		cplx<T> *const to = k.grid + ((size_t)around(first[2] + z, k.n[2]) * k.n[1] +
					      around(first[1] + y, k.n[1])) *
						 k.n[0];
		for (unsigned x = threadIdx.x % lanes; x < size[0]; x += lanes) {
			cplx<double> sum = {0, 0};
			for (unsigned c = z; c < extent[2]; c += k.n[2])
				for (unsigned b = y; b < extent[1]; b += k.n[1])
					for (unsigned a = x; a < extent[0]; a += k.n[0])
						add_parts(part, n, s.cells,
							  (c * s.high + b) * s.stride + a, &sum);
			cplx<T> &cell = to[around(first[0] + x, k.n[0])];
			cell.re += (T)sum.re;
			cell.im += (T)sum.im;
		}
	}
}

/* Block = subproblem of a heavy tile; its part to `parts`. */
template <class T, int DIM>
__global__ void
spread_heavy(const work<T> k, const shape s, unsigned z0, cplx<T> *parts)
{
	WEIR_SHARED(cplx<double>, shared);
	batch<T> &b = *reinterpret_cast<batch<T> *>(shared);
	cplx<T> *part = reinterpret_cast<cplx<T> *>(&b + 1);
	const unsigned t = lower_bound(k.heavy, k.ntiles + 1, blockIdx.x + 1) - 1;
	const unsigned first = k.start[t] + (blockIdx.x - k.heavy[t]) * SUBPROBLEM,
		       end = min(first + SUBPROBLEM, k.start[t + 1]);
	cplx<T> *const to = parts + (size_t)blockIdx.x * s.cells;
	const bool crowd = is_crowded(k, DIM, first, end, reinterpret_cast<unsigned *>(part));
	const unsigned step = crowd ? (unsigned)CROWD : (unsigned)SUBPROBLEM;

	for (unsigned from = first; from < end; from += step) {
		make_part<T, DIM>(k, s, from, min(from + step, end), z0, part, b);
		for (unsigned i = threadIdx.x; i < s.cells; i += blockDim.x) {
			cplx<double> sum = {0, 0};
			add_parts(part, s.copies, s.cells, i, &sum);
			to[i] = {(T)((from > first ? to[i].re : 0) + sum.re),
				 (T)((from > first ? to[i].im : 0) + sum.im)};
		}
		__syncthreads();
	}
}

/* Block = tile of one colour. */
template <class T, int DIM>
__global__ void
spread_tiles(const work<T> k, const shape s, const colour c, unsigned z0, const cplx<T> *parts)
{
	WEIR_SHARED(cplx<double>, shared);
	batch<T> &b = *reinterpret_cast<batch<T> *>(shared);
	cplx<T> *part = reinterpret_cast<cplx<T> *>(&b + 1);
	const unsigned i = blockIdx.x;
	const unsigned tile[3] = {c.first[0] + i % c.count[0] * c.step,
				  c.first[1] + i / c.count[0] % c.count[1] * c.step,
				  c.first[2] + i / c.count[0] / c.count[1] * c.step};
	const unsigned t = (tile[2] * k.tiles[1] + tile[1]) * k.tiles[0] + tile[0];
	const unsigned n = k.heavy[t + 1] - k.heavy[t];

	if (k.start[t] == k.start[t + 1])
		return;
	if (n)
		return flush(k, s, tile, z0, parts + (size_t)k.heavy[t] * s.cells, n);
	make_part<T, DIM>(k, s, k.start[t], k.start[t + 1], z0, part, b);
	flush(k, s, tile, z0, part, s.copies);
}

/* --- launches ------------------------------------------------------------------------------------------------------ */

/* A block gets as much shared memory as leaves room for two blocks, since in 3-D each slab takes all points once more. */
template <class T>
shape
shape_of(const cudaDeviceProp &p, const work<T> &k, int dim)
{
	const size_t half = p.sharedMemPerMultiprocessor / 2 - p.reservedSharedMemPerBlock;
	const size_t most = max(p.sharedMemPerBlock, min(p.sharedMemPerBlockOptin, half));
	const size_t room = most - sizeof(batch<T>);
	shape s = {};

	s.pad = (1u << k.span_log) + k.w - 1;
	s.p = k.w <= 8 ? 8 : 16;
	s.stride = s.pad;
	while (dim > 1 && s.p == 8 && sizeof(T) == sizeof(float) && s.stride % 16 != 8)
		s.stride++;
	s.high = dim > 1 ? s.pad : 1;
	s.deep = dim > 2 ? s.pad : 1;
	const unsigned fit = (unsigned)(room / (s.stride * s.high * sizeof(cplx<T>)));
	const unsigned slabs = (s.deep + fit - 1) / fit;
	s.planes = (s.deep + slabs - 1) / slabs;
	s.cells = s.planes * s.high * s.stride;
	s.copies = dim == 1 ? COPIES : 1;
	s.q = dim == 3 ? THREADS / (s.p * s.p) : 1;
	s.threads = dim == 1 ? COPIES * s.p : s.p * s.p * s.q;
	s.bytes = sizeof(batch<T>) + s.copies * s.cells * sizeof(cplx<T>);
	return s;
}

/* Colours of an axis: steps, and the tiles that are left over at its end alone. */
unsigned
colours_of(unsigned tiles, unsigned step)
{
	return tiles < step ? tiles : step + tiles % step;
}

void
take_colour(colour *c, int axis, unsigned number, unsigned tiles)
{
	const unsigned whole = tiles / c->step * c->step;
	const bool alone = number >= c->step || tiles < c->step;

	c->first[axis] = alone && tiles >= c->step ? whole + number - c->step : number;
	c->count[axis] = alone ? 1 : whole / c->step;
}

template <class T, int DIM>
int
spread(struct gpu *g, const work<T> &k)
{
	shape s = shape_of(g->prop, k, DIM);
	colour c = {{0, 0, 0}, {1, 1, 1}, (k.w - 2) / (1u << k.span_log) + 2};
	unsigned n[3] = {1, 1, 1};
	cplx<T> *parts = NULL;

	for (int a = 0; a < DIM; a++)
		n[a] = colours_of(k.tiles[a], c.step);
	GPU_TRY(g, cudaFuncSetAttribute((spread_heavy<T, DIM>),
					cudaFuncAttributeMaxDynamicSharedMemorySize, (int)s.bytes));
	GPU_TRY(g, cudaFuncSetAttribute((spread_tiles<T, DIM>),
					cudaFuncAttributeMaxDynamicSharedMemorySize, (int)s.bytes));
	if (k.heavies)
		GPU_DO(gpu_array(g, HOLD_HEAVY, (size_t)k.heavies * s.cells, &parts));
	for (unsigned z0 = 0; z0 < s.deep; z0 += s.planes) {
		s.planes = min(s.planes, s.deep - z0);
		if (k.heavies)
			GPU_LAUNCH(g, (spread_heavy<T, DIM>), k.heavies, s.threads, s.bytes, k, s,
				   z0, parts);
		for (unsigned i = 0; i < n[0] * n[1] * n[2]; i++) {
			const unsigned number[3] = {i % n[0], i / n[0] % n[1], i / n[0] / n[1]};
			for (int a = 0; a < DIM; a++)
				take_colour(&c, a, number[a], k.tiles[a]);
			GPU_LAUNCH(g, (spread_tiles<T, DIM>), c.count[0] * c.count[1] * c.count[2],
				   s.threads, s.bytes, k, s, c, z0, parts);
		}
	}
	return 0;
}

} // namespace

template <class T>
int
usfft_spread(struct gpu *g, const work<T> &k, int dim)
{
	if (dim == 2)
		return usfft_spread_plane(g, k);
	GPU_TRY(g, cudaMemsetAsync(k.grid, 0, count_cells(k) * sizeof *k.grid, g->stream[0]));
	return dim == 1 ? spread<T, 1>(g, k) : spread<T, 3>(g, k);
}

template int usfft_spread(struct gpu *, const work<float> &, int);
template int usfft_spread(struct gpu *, const work<double> &, int);
