/*
 * The transforms: spread (usfft_spread.cu), cuFFT over the grid, the window divided out; type 2 the same backwards.
 *
 *	get	thread = mode: its cell times the factors of all axes
 *	put	thread = cell of the grid: its mode times the factors, or 0
 *	interp	P lanes = point, in tile order, P = 8 up to 8 taps, else 16; lane = column: it works out one tap of each axis, reads its
 *		column of each row of the window, side by side, with the row's tap by a shuffle, and the lanes' sums are added
 *
 * Bytes: get and put each read or write the grid and the modes once; the FFT 2 passes an axis at least over the grid
 * of 2 reals a cell; interp W^dim cells a point from the caches, the grid once from memory if the points are dense.
 * Operations of interp: 2 P W^(dim-1) fused multiplications and additions and 2 dim P ncoef a point.
 */
#include "gpu/usfft_work.h"

#include "gpu/fft.h"

extern "C" {
#include "gpu/usfft.h"
}

namespace
{

constexpr unsigned THREADS = 256, BLOCKS = 1u << 16;

/* --- the window divided out ---------------------------------------------------------------------------------------- */

/* The mode in place i of an axis: its cell, and |k|. */
template <class T>
__device__ unsigned
cell_of_mode(const work<T> &k, int axis, unsigned i, unsigned *mode)
{
	const unsigned n = k.modes[axis], neg = n / 2;
	const unsigned at = k.fft_order ? (i < n - neg ? i + neg : i - (n - neg)) : i;

	*mode = at < neg ? neg - at : at - neg;
	return at < neg ? k.n[axis] - *mode : *mode;
}

/* The place of the mode that lies in a cell, and |k|; false: there is none. */
template <class T>
__device__ bool
mode_of_cell(const work<T> &k, int axis, unsigned cell, unsigned *place, unsigned *mode)
{
	const unsigned n = k.modes[axis], neg = n / 2, pos = n - neg, back = k.n[axis] - cell;

	if (cell < pos) {
		*mode = cell;
		*place = k.fft_order ? cell : neg + cell;
		return true;
	}
	*mode = back;
	*place = k.fft_order ? n - back : neg - back;
	return back <= neg;
}

template <class T>
__global__ void
get_modes(const work<T> k, int dim, cplx<T> *modes, size_t n)
{
	for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < n;
	     i += (size_t)gridDim.x * THREADS) {
		size_t rest = i, at = 0, step = 1;
		T factor = 1;
		for (int a = 0; a < dim; a++) {
			unsigned mode;
			at += step * cell_of_mode(k, a, (unsigned)(rest % k.modes[a]), &mode);
			factor *= k.undo[a][mode];
			rest /= k.modes[a];
			step *= k.n[a];
		}
		const cplx<T> v = k.grid[at];
		modes[i] = {v.re * factor, v.im * factor};
	}
}

template <class T>
__global__ void
put_modes(const work<T> k, int dim, const cplx<T> *modes, size_t cells)
{
	for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < cells;
	     i += (size_t)gridDim.x * THREADS) {
		size_t rest = i, at = 0, step = 1;
		bool here = true;
		T factor = 1;
		for (int a = 0; a < dim && here; a++) {
			unsigned place, mode;
			here = mode_of_cell(k, a, (unsigned)(rest % k.n[a]), &place, &mode);
			at += step * place;
			factor *= here ? k.undo[a][mode] : 0;
			rest /= k.n[a];
			step *= k.modes[a];
		}
		const cplx<T> v = here ? modes[at] : cplx<T>{0, 0};
		k.grid[i] = {v.re * factor, v.im * factor};
	}
}

/* --- type 2's points ----------------------------------------------------------------------------------------------- */

/* Cell `first + t` of an axis, around its end. */
__device__ unsigned
wrap(unsigned first, unsigned t, unsigned n)
{
	unsigned at = first + t;

	while (at >= n)
		at -= n;
	return at;
}

template <class T, int DIM>
__global__ void
interp(const work<T> k, unsigned p, cplx<T> *out)
{
	const unsigned lane = threadIdx.x % p;
	const size_t group = ((size_t)blockIdx.x * THREADS + threadIdx.x) / p;
	const unsigned i = (unsigned)min(group, (size_t)k.m - 1);
	unsigned first[3] = {0, 0, 0};
	T tap[3] = {1, 1, 1};
	cplx<T> sum = {0, 0};

	for (int a = 0; a < DIM; a++) {
		const unsigned cell = k.cell[a][i];
		first[a] = cell < k.lead ? cell + k.n[a] - k.lead : cell - k.lead;
		tap[a] = lane < k.w ? window_tap(k, a, lane, k.rest[a][i]) : 0;
	}
	const unsigned x = wrap(first[0], lane, k.n[0]);
	for (unsigned c = 0; c < (DIM > 2 ? k.w : 1); c++) {
		const T wz = DIM > 2 ? __shfl_sync(~0u, tap[2], (int)c, (int)p) : 1;
		const size_t plane = DIM > 2 ? (size_t)wrap(first[2], c, k.n[2]) * k.n[1] : 0;
		for (unsigned b = 0; b < (DIM > 1 ? k.w : 1); b++) {
			const T wy = DIM > 1 ? __shfl_sync(~0u, tap[1], (int)b, (int)p) * wz : wz;
			const size_t row = plane + (DIM > 1 ? wrap(first[1], b, k.n[1]) : 0);
			if (lane >= k.w)
				continue;
			const cplx<T> v = k.grid[row * k.n[0] + x];
			sum.re += v.re * wy;
			sum.im += v.im * wy;
		}
	}
	sum.re *= tap[0];
	sum.im *= tap[0];
	for (unsigned d = p / 2; d > 0; d /= 2) {
		sum.re += __shfl_xor_sync(~0u, sum.re, (int)d);
		sum.im += __shfl_xor_sync(~0u, sum.im, (int)d);
	}
	if (lane == 0 && group < k.m)
		out[k.index[i]] = sum;
}

template <class T>
int
interp_points(struct gpu *g, const work<T> &k, int dim, cplx<T> *out)
{
	const unsigned p = k.w <= 8 ? 8 : 16;
	const unsigned blocks = (unsigned)(((size_t)k.m * p + THREADS - 1) / THREADS);

	if (!k.m)
		return 0;
	if (dim == 1)
		GPU_LAUNCH(g, (interp<T, 1>), blocks, THREADS, 0, k, p, out);
	else if (dim == 2)
		GPU_LAUNCH(g, (interp<T, 2>), blocks, THREADS, 0, k, p, out);
	else
		GPU_LAUNCH(g, (interp<T, 3>), blocks, THREADS, 0, k, p, out);
	return 0;
}

/* --- the transforms ------------------------------------------------------------------------------------------------ */

/* The FFT of the whole grid, in place. */
template <class T>
struct gpu_fft
fft_of(const work<T> &k, int dim)
{
	struct gpu_fft f = {};

	f.kind = GPU_FFT_C2C;
	f.is_double = sizeof(T) == sizeof(double);
	f.rank = dim;
	f.batch = 1;
	for (int a = 0; a < dim; a++)
		f.n[dim - 1 - a] = f.in.embed[dim - 1 - a] = k.n[a];
	f.in.stride = 1;
	f.in.dist = (long long)k.n[0] * k.n[1] * k.n[2];
	f.out = f.in;
	return f;
}

unsigned
blocks_of(size_t n)
{
	const size_t blocks = (n + THREADS - 1) / THREADS;

	return (unsigned)(blocks < BLOCKS ? blocks : BLOCKS);
}

/* What both types begin with: where all lies, room for the grid and the modes, the FFT. */
template <class T> struct start {
	work<T> k;
	struct gpu_fft fft;
	size_t cells, modes;
	cplx<T> *room;
};

template <class T>
int
begin(struct gpu *g, const struct usfft_plan *p, start<T> *s)
{
	void *grid, *raw;
	int err = usfft_work(g, p, &s->k);

	s->cells = s->modes = 1;
	for (int a = 0; a < p->o.dim; a++) {
		s->cells *= s->k.n[a];
		s->modes *= s->k.modes[a];
	}
	s->fft = fft_of(s->k, p->o.dim);
	if (err || (err = gpu_hold(g, HOLD_GRID, s->cells * sizeof(cplx<T>), &grid)) ||
	    (err = gpu_hold(g, HOLD_RAW, s->modes * sizeof(cplx<T>), &raw)) ||
	    (err = gpu_fft_prepare(g, &s->fft)))
		return err;
	s->k.grid = static_cast<cplx<T> *>(grid);
	s->room = static_cast<cplx<T> *>(raw);
	return 0;
}

/* The values of type 1 when they come now. */
template <class T>
int
send_values(struct gpu *g, const work<T> &k, const void *c, void **at)
{
	const size_t bytes = k.m * sizeof(cplx<T>);
	int err = 0;

	*at = NULL;
	if (c && bytes && !(err = gpu_hold(g, HOLD_VALUES, bytes, at)))
		err = gpu_up(g, *at, c, bytes);
	return err;
}

template <class T>
int
to_modes(struct gpu *g, const struct usfft_plan *p, int sign, const void *c, void *modes)
{
	start<T> s = {};
	const int dim = p->o.dim;
	void *at;
	int err;

	if ((err = begin(g, p, &s)) || (err = send_values(g, s.k, c, &at)) ||
	    (err = gpu_begin(g)) ||
	    (at && (err = usfft_carry(g, s.k, static_cast<const T *>(at), 2))) ||
	    (err = usfft_spread(g, s.k, dim)) ||
	    (err = gpu_fft(g, &s.fft, sign, s.k.grid, s.k.grid)))
		return err;
	GPU_LAUNCH(g, get_modes<T>, blocks_of(s.modes), THREADS, 0, s.k, dim, s.room, s.modes);
	if ((err = gpu_end(g)))
		return err;
	return gpu_down(g, modes, s.room, s.modes * sizeof *s.room);
}

template <class T>
int
to_points(struct gpu *g, const struct usfft_plan *p, int sign, const void *modes, void *c)
{
	start<T> s = {};
	const int dim = p->o.dim;
	void *out;
	int err;

	if ((err = begin(g, p, &s)) ||
	    (err = gpu_hold(g, HOLD_VALUES, (s.k.m + 1) * sizeof(cplx<T>), &out)) ||
	    (err = gpu_up(g, s.room, modes, s.modes * sizeof *s.room)) || (err = gpu_begin(g)))
		return err;
	GPU_LAUNCH(g, put_modes<T>, blocks_of(s.cells), THREADS, 0, s.k, dim, s.room, s.cells);
	if ((err = gpu_fft(g, &s.fft, sign, s.k.grid, s.k.grid)) ||
	    (err = interp_points(g, s.k, dim, static_cast<cplx<T> *>(out))) || (err = gpu_end(g)))
		return err;
	return gpu_down(g, c, out, s.k.m * sizeof(cplx<T>));
}

} // namespace

int
gpu_usfft_type1(struct gpu *g, const struct usfft_plan *p, int sign, const void *c, void *modes)
{
	return p->o.single ? to_modes<float>(g, p, sign, c, modes)
			   : to_modes<double>(g, p, sign, c, modes);
}

int
gpu_usfft_type2(struct gpu *g, const struct usfft_plan *p, int sign, const void *modes, void *c)
{
	return p->o.single ? to_points<float>(g, p, sign, modes, c)
			   : to_points<double>(g, p, sign, modes, c);
}
