/*
 * Grid to modes and back: cuFFT along the axes, the window divided out.
 *
 *	get	thread = mode: its cell times the factors of all axes
 *	put	thread = cell of the grid: its mode times the factors, or 0
 *
 * Bytes: get reads the cells of the modes and writes the modes; put reads the modes and writes the grid, of 2 reals a cell; the
 * FFT takes a pass over the grid along its slowest axis, and one an axis over the slices that hold modes: fft.cu.
 */
#include "gpu/usfft/work.h"

#include "gpu/fft.h"

namespace
{

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
	for (size_t i = first_of_all(); i < n; i += all_threads()) {
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
}

template <class T>
__global__ void
put_modes(const work<T> k, int dim, const cplx<T> *modes, size_t cells)
{
	for (size_t i = first_of_all(); i < cells; i += all_threads()) {
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
}

/* Modes 0 .. lie in the first slices, -1, -2 .. in the last. */
template <class T>
struct gpu_fft_slices
fft_of(const work<T> &k, int dim)
{
	const size_t n[3] = {k.n[0], k.n[1], k.n[2]}, modes = k.modes[dim - 1];

	return gpu_fft_slices(sizeof(T) == sizeof(double), dim, n, modes - modes / 2, modes / 2);
}

template <class T>
size_t
cells_of(const work<T> &k)
{
	return (size_t)k.n[0] * k.n[1] * k.n[2];
}

} // namespace

template <class T>
int
usfft_grid(struct gpu *g, const struct usfft_plan *p, work<T> *k)
{
	void *grid;
	int err = usfft_work(g, p, k);

	if (err || (err = gpu_hold(g, HOLD_GRID, cells_of(*k) * sizeof(cplx<T>), &grid)))
		return err;
	k->grid = static_cast<cplx<T> *>(grid);
	const struct gpu_fft_slices f = fft_of(*k, p->o.dim);
	return gpu_fft_slices_prepare(g, &f);
}

template <class T>
int
usfft_get_modes(struct gpu *g, const work<T> &k, int dim, int sign, cplx<T> *modes)
{
	const struct gpu_fft_slices f = fft_of(k, dim);
	const size_t n = count_modes(k);
	const int err = gpu_fft_gather_slices(g, &f, sign, k.grid);

	if (err)
		return err;
	GPU_LAUNCH(g, get_modes<T>, blocks_for_all(n), ALL_THREADS, 0, k, dim, modes, n);
	return 0;
}

template <class T>
int
usfft_put_modes(struct gpu *g, const work<T> &k, int dim, int sign, const cplx<T> *modes)
{
	const struct gpu_fft_slices f = fft_of(k, dim);

	GPU_LAUNCH(g, put_modes<T>, blocks_for_all(cells_of(k)), ALL_THREADS, 0, k, dim, modes,
		   cells_of(k));
	return gpu_fft_spread_slices(g, &f, sign, k.grid);
}

#define INSTANCES(T)                                                                      \
	template int usfft_grid(struct gpu *, const struct usfft_plan *, work<T> *);      \
	template int usfft_get_modes(struct gpu *, const work<T> &, int, int, cplx<T> *); \
	template int usfft_put_modes(struct gpu *, const work<T> &, int, int, const cplx<T> *);
INSTANCES(float)
INSTANCES(double)
