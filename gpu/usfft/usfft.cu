/*
 * Types 1 and 2: spread (spread.cu), grid to modes; type 2 the same backwards, its points here. And weights.
 *
 *	interp	P lanes = point, in tile order, P = 8 up to 8 taps, else 16; lane = column: it works out one tap of each axis, reads its
 *		column of each row of the window, side by side, with the row's tap by a shuffle, and the lanes' sums are added
 *
 * Bytes: W^dim cells a point from the caches, the grid once from memory if the points are dense. Operations: 2 P W^(dim-1) fused
 * multiplications and additions and 2 dim P ncoef a point.
 *
 * Grid to modes and back: cuFFT along the axes, the window divided out.
 *
 *	get	thread = mode: its cell times the factors of all axes
 *	put	thread = cell of the grid: its mode times the factors, or 0
 *
 * Bytes: get reads the cells of the modes and writes the modes; put reads the modes and writes the grid, of 2 reals a cell; the
 * FFT takes a pass over the grid along its slowest axis, and one an axis over the slices that hold modes: fft.cu.
 *
 * Weights for the density of points: usfft_pipe() of usfft/inverse.c, each round of it on the device.
 *
 *	level	thread = point: w / (K w), which is also its next value
 *
 * K is spreading and interpolation, so a round takes the bytes and operations of both, and 24 bytes a
 * point.
 */
#include "gpu/usfft/work.h"

#include <stdio.h>
#include <string.h>

#include "gpu/fft.h"

extern "C" {
#include "gpu/usfft/usfft.h"
#include "usfft/inverse.h"
}

namespace
{

template <class T>
void
lay_tables(gpu_block *b, work<T> *k, int dim)
{
	k->coef = gpu_take<T>(b, (size_t)dim * k->ncoef * WINDOW_MAXW);
	for (int a = 0; a < dim; a++)
		k->undo[a] = gpu_take<T>(b, k->modes[a] / 2 + 1);
}

/* --- grid to modes and back ------------------------------------------------------------------------------------------- */

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
__device__ void
get_modes(size_t i, const work<T> &k, int dim, cplx<T> *modes)
{
	size_t at = 0, step = 1;
	unsigned rest = (unsigned)i; /* below 2^31: usfft_too_large() */
	T factor = 1;
	for (int a = 0; a < dim; a++) {
		unsigned mode;
		at += step * cell_of_mode(k, a, rest % k.modes[a], &mode);
		factor *= k.undo[a][mode];
		rest /= k.modes[a];
		step *= k.n[a];
	}
	const cplx<T> v = k.grid[at];
	modes[i] = {v.re * factor, v.im * factor};
}

template <class T>
__device__ void
put_modes(size_t i, const work<T> &k, int dim, const cplx<T> *modes)
{
	size_t at = 0, step = 1;
	unsigned rest = (unsigned)i;
	bool here = true;
	T factor = 1;
	for (int a = 0; a < dim && here; a++) {
		unsigned place, mode;
		here = mode_of_cell(k, a, rest % k.n[a], &place, &mode);
		at += step * place;
		factor *= here ? k.undo[a][mode] : 0;
		rest /= k.n[a];
		step *= k.modes[a];
	}
	const cplx<T> v = here ? modes[at] : cplx<T>{0, 0};
	k.grid[i] = {v.re * factor, v.im * factor};
}

/* Modes 0 .. lie in the first slices, -1, -2 .. in the last. */
template <class T>
struct gpu_fft_slices
fft_of(const work<T> &k, int dim)
{
	const size_t n[3] = {k.n[0], k.n[1], k.n[2]}, modes = k.modes[dim - 1];

	return gpu_fft_slices(sizeof(T) == sizeof(double), dim, n, modes - modes / 2, modes / 2);
}

/* --- points from the grid --------------------------------------------------------------------------------------------- */

constexpr unsigned THREADS = 256;

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
	/* A lane without a column reads that of the last one, and its tap is 0. */
	const cplx<T> *const column = k.grid + wrap(first[0], min(lane, k.w - 1), k.n[0]);
	unsigned z = first[2];
	for (unsigned c = 0; c < (DIM > 2 ? k.w : 1); c++) {
		const T wz = DIM > 2 ? __shfl_sync(~0u, tap[2], (int)c, (int)p) : 1;
		unsigned y = first[1];
#pragma unroll 4
		for (unsigned b = 0; b < (DIM > 1 ? k.w : 1); b++) {
			const T wy = DIM > 1 ? __shfl_sync(~0u, tap[1], (int)b, (int)p) * wz : wz;
			const cplx<T> v = column[(z * k.n[1] + y) * k.n[0]];
			sum.re += v.re * wy;
			sum.im += v.im * wy;
			y = y + 1 < k.n[1] ? y + 1 : 0;
		}
		z = z + 1 < k.n[2] ? z + 1 : 0;
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

/* --- the transforms ------------------------------------------------------------------------------------------------ */

/* Values in the order of the points to tile order: thread = sorted point. */
template <class T>
__device__ void
carry(unsigned i, const work<T> &k, const cplx<T> *c)
{
	k.value[i] = c[k.index[i]];
}

template <class T>
int
to_modes(struct gpu *g, const struct usfft_plan *p, int sign, const void *c, void *modes)
{
	const int dim = p->o.dim;
	work<T> k = {};
	cplx<T> *room, *at;

	GPU_DO(usfft_grid(g, p, &k));
	GPU_DO(gpu_array(g, HOLD_RAW, count_modes(k), &room));
	GPU_DO(gpu_send(g, HOLD_VALUES, static_cast<const cplx<T> *>(c), k.m, &at));
	GPU_DO(gpu_begin(g));
	if (at)
		GPU_EACH(g, carry<T>, k.m, k, at);
	GPU_DO(usfft_spread(g, k, dim));
	GPU_DO(usfft_get_modes(g, k, dim, sign, room));
	GPU_DO(gpu_end(g));
	const gpu_result made = {modes, room, count_modes(k) * sizeof *room};
	return gpu_later(g, &made, 1);
}

template <class T>
int
to_points(struct gpu *g, const struct usfft_plan *p, int sign, const void *modes, void *c)
{
	const int dim = p->o.dim;
	work<T> k = {};
	cplx<T> *room, *out;

	GPU_DO(usfft_grid(g, p, &k));
	GPU_DO(gpu_array(g, HOLD_RAW, count_modes(k), &room));
	GPU_DO(gpu_array(g, HOLD_VALUES, k.m + 1, &out));
	GPU_DO(gpu_up(g, room, modes, count_modes(k) * sizeof *room));
	GPU_DO(gpu_begin(g));
	GPU_DO(usfft_put_modes(g, k, dim, sign, room));
	GPU_DO(usfft_interp(g, k, dim, out));
	GPU_DO(gpu_end(g));
	const gpu_result made = {c, out, k.m * sizeof(cplx<T>)};
	return k.m ? gpu_later(g, &made, 1) : 0;
}

/* --- weights ---------------------------------------------------------------------------------------------------------- */

/* v: K w; at first, ones. */
__device__ void
level(unsigned j, double *w, cplx<double> *v, bool first)
{
	if (first)
		w[j] = 1;
	else if (v[j].re > 0)
		w[j] /= v[j].re;
	v[j] = {w[j], 0};
}

int
run_rounds(struct gpu *g, const struct usfft_plan *p, int rounds, double *w)
{
	const int dim = p->o.dim;
	const unsigned m = (unsigned)p->points.m;
	work<double> k = {};
	cplx<double> *v;
	double *weights;

	GPU_DO(usfft_work(g, p, &k));
	GPU_DO(gpu_array(g, HOLD_GRID, count_cells(k), &k.grid));
	GPU_DO(gpu_array(g, HOLD_VALUES, m, &v));
	GPU_DO(gpu_array(g, HOLD_WEIGHTS, m, &weights));
	GPU_DO(gpu_begin(g));
	GPU_EACH(g, level, m, weights, v, true);
	for (int i = 0; i < rounds; i++) {
		GPU_EACH(g, carry<double>, m, k, v);
		GPU_DO(usfft_spread(g, k, dim));
		GPU_DO(usfft_interp(g, k, dim, v));
		GPU_EACH(g, level, m, weights, v, false);
	}
	GPU_DO(gpu_end(g));
	return gpu_down(g, w, weights, m * sizeof *w);
}

} // namespace

int
usfft_too_large(struct gpu *g, const size_t n[3])
{
	size_t cells = 1;

	for (int a = 0; a < 3; a++)
		cells = cells > 0x7fffffff ? cells : cells * n[a];
	if (cells <= 0x7fffffff)
		return 0;
	snprintf(g->why, sizeof g->why, "a grid of %zu x %zu x %zu cells is too large", n[0], n[1],
		 n[2]);
	return -EIO;
}

template <class T>
int
usfft_work(struct gpu *g, const struct usfft_plan *p, work<T> *k)
{
	const int dim = p->o.dim;

	GPU_DO(usfft_too_large(g, p->grid.n));
	k->m = (unsigned)p->points.m;
	k->ntiles = (unsigned)p->ntiles;
	k->heavies = (unsigned)p->nheavy;
	for (int a = 0; a < 3; a++) {
		k->n[a] = (unsigned)p->grid.n[a];
		k->modes[a] = (unsigned)p->o.n[a];
		k->tiles[a] = (unsigned)p->tiles[a];
	}
	k->win = p->win;
	k->w = (unsigned)p->win[0].w;
	k->lead = (unsigned)tile_lead(p->win[0].w);
	k->ncoef = (unsigned)p->taps.ncoef;
	k->span_log = (unsigned)tile_span_log(dim);
	k->fft_order = p->o.fft_order;
	GPU_DO(gpu_place(g, HOLD_POINTS, [&](gpu_block *b) {
		k->index = gpu_take<unsigned>(b, k->m);
		gpu_take_all(b, k->ntiles + 1, &k->start, &k->heavy);
		for (int a = 0; a < dim; a++) {
			gpu_take_all(b, k->m, &k->cell[a], &k->rest[a]);
		}
		k->value = gpu_take<cplx<T>>(b, k->m);
	}));
	return gpu_place(g, HOLD_TABLES, [&](gpu_block *b) { lay_tables(b, k, dim); });
}

template <class T>
int
usfft_tables(struct gpu *g, const struct usfft_plan *p, const work<T> &on)
{
	work<T> k = on;

	const auto lay = [&](gpu_block *b) { lay_tables(b, &k, p->o.dim); };
	return gpu_place_filled(g, HOLD_TABLES, lay, [&] {
		for (int a = 0; a < p->o.dim; a++) {
			T *c = const_cast<T *>(k.coef) + (size_t)a * k.ncoef * WINDOW_MAXW;
			for (unsigned d = 0; d < k.ncoef; d++)
				for (unsigned t = 0; t < k.w; t++)
					c[d * WINDOW_MAXW + t] =
					    (T)p->win[a].coef[k.ncoef - 1 - d][t];
			memcpy(const_cast<T *>(k.undo[a]), p->grid.undo[a],
			       (k.modes[a] / 2 + 1) * sizeof(T));
		}
	});
}

template <class T>
int
usfft_grid(struct gpu *g, const struct usfft_plan *p, work<T> *k)
{
	GPU_DO(usfft_work(g, p, k));
	GPU_DO(gpu_array(g, HOLD_GRID, count_cells(*k), &k->grid));
	const struct gpu_fft_slices f = fft_of(*k, p->o.dim);
	return gpu_fft_slices_prepare(g, &f);
}

template <class T>
int
usfft_get_modes(struct gpu *g, const work<T> &k, int dim, int sign, cplx<T> *modes)
{
	const struct gpu_fft_slices f = fft_of(k, dim);

	GPU_DO(gpu_fft_gather_slices(g, &f, sign, k.grid));
	GPU_EACH(g, get_modes<T>, count_modes(k), k, dim, modes);
	return 0;
}

template <class T>
int
usfft_put_modes(struct gpu *g, const work<T> &k, int dim, int sign, const cplx<T> *modes)
{
	const struct gpu_fft_slices f = fft_of(k, dim);

	GPU_EACH(g, put_modes<T>, count_cells(k), k, dim, modes);
	return gpu_fft_spread_slices(g, &f, sign, k.grid);
}

template <class T>
int
usfft_interp(struct gpu *g, const work<T> &k, int dim, cplx<T> *out)
{
	const unsigned p = k.w <= 8 ? 8 : 16;
	const unsigned blocks = gpu_blocks((size_t)k.m * p, THREADS);

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

int
gpu_usfft_pipe(struct gpu *g, const struct usfft_options *given, const struct usfft_points *pt,
	       int rounds, double *w, size_t *bad)
{
	const struct usfft_options o = usfft_pipe_options(given);
	struct usfft_plan *p;
	double area = 1;

	GPU_DO(usfft_plan(&p, &o));
	const gpu_at_end done{[=] { usfft_free(p); }};
	GPU_DO(gpu_usfft_points(g, p, pt, NULL, 0, bad));
	if (pt->m)
		GPU_DO(run_rounds(g, p, rounds, w));
	for (int a = 0; a < o.dim; a++) {
		const double h = window_hat(&p->win[a], 0);
		area *= h * h / (double)p->grid.n[a];
	}
	for (size_t j = 0; j < pt->m; j++)
		w[j] *= area;
	return 0;
}

#define INSTANCES(T)                                                                         \
	template int usfft_work(struct gpu *, const struct usfft_plan *, work<T> *);         \
	template int usfft_tables(struct gpu *, const struct usfft_plan *, const work<T> &); \
	template int usfft_interp(struct gpu *, const work<T> &, int, cplx<T> *);            \
	template int usfft_grid(struct gpu *, const struct usfft_plan *, work<T> *);         \
	template int usfft_get_modes(struct gpu *, const work<T> &, int, int, cplx<T> *);    \
	template int usfft_put_modes(struct gpu *, const work<T> &, int, int, const cplx<T> *);
INSTANCES(float)
INSTANCES(double)
