/*
 * Products with the matrix of the normal equations: gpu/usfft/toeplitz.h.
 *
 *	lay_column	thread = cell: the matrix's column around the end of each axis, or 0; its FFT is the symbol
 *	pad, crop	thread = cell, mode: modes into an array of twice their length, at its beginning or at both ends, and back
 *	times_symbol	thread = cell
 *
 * Bytes a product, c cells of 16 bytes: the FFTs read and write 2 (1 + (d-1) / 2) c cells (gpu/fft.h: half of the slices are empty,
 * or not wanted), pad, symbol and crop 4.5 c.
 */
#include "gpu/usfft/toeplitz.h"

#include "gpu/fft.h"

extern "C" {
#include "common/base/fft.h"
}

namespace
{

typedef cplx<double> sample;

constexpr int AXES =
    3; /* of length 1 beyond t.dim: an index known to the compiler needs no local memory */

/* column: 2 n - 1 modes an axis, in FFT order. */
__global__ void
lay_column(const toeplitz t, const sample *column)
{
	for (size_t i = first_of_all(); i < t.cells; i += all_threads()) {
		unsigned rest = (unsigned)i;
		size_t at = 0, step = 1;
		bool here = true;
#pragma unroll
		for (int a = 0; a < AXES; a++) {
			const unsigned x = rest % t.len[a], back = t.len[a] - x, n = t.n[a];
			here = here && (x < n || back < n);
			at += step * (x < n ? x : 2 * n - 1 - back);
			rest /= t.len[a];
			step *= 2 * n - 1;
		}
		t.work[i] = here ? column[at] : sample{0, 0};
	}
}

__global__ void
take_symbol(const toeplitz t)
{
	for (size_t i = first_of_all(); i < t.cells; i += all_threads()) {
		t.symbol[i] = t.work[i].re / (double)t.cells;
	}
}

__global__ void
pad(const toeplitz t, const sample *in)
{
	for (size_t i = first_of_all(); i < t.cells; i += all_threads()) {
		unsigned rest = (unsigned)i;
		size_t at = 0, step = 1;
		bool here = true;
#pragma unroll
		for (int a = 0; a < AXES; a++) {
			const unsigned x = rest % t.len[a], gap = t.len[a] - t.n[a];
			const bool low = x < t.n[a] - t.tail[a];
			here = here && (low || x >= t.len[a] - t.tail[a]);
			at += step * (low ? x : x - gap);
			rest /= t.len[a];
			step *= t.n[a];
		}
		t.work[i] = here ? in[at] : sample{0, 0};
	}
}

__global__ void
crop(const toeplitz t, sample *out)
{
	for (size_t i = first_of_all(); i < t.modes; i += all_threads()) {
		unsigned rest = (unsigned)i;
		size_t at = 0, step = 1;
#pragma unroll
		for (int a = 0; a < AXES; a++) {
			const unsigned x = rest % t.n[a];
			at += step * (x < t.n[a] - t.tail[a] ? x : x + t.len[a] - t.n[a]);
			rest /= t.n[a];
			step *= t.len[a];
		}
		out[i] = t.work[at];
	}
}

__global__ void
times_symbol(const toeplitz t)
{
	for (size_t i = first_of_all(); i < t.cells; i += all_threads()) {
		t.work[i] = {t.work[i].re * t.symbol[i], t.work[i].im * t.symbol[i]};
	}
}

/* Of an array whose first and last slices along the slowest axis hold something. */
struct gpu_fft_slices
fft_of(const toeplitz &t, unsigned head, unsigned tail)
{
	const size_t len[3] = {t.len[0], t.len[1], t.len[2]};

	return gpu_fft_slices(true, t.dim, len, head, tail);
}

struct gpu_fft_slices
fft_of_modes(const toeplitz &t)
{
	const unsigned tail = t.tail[t.dim - 1];

	return fft_of(t, t.n[t.dim - 1] - tail, tail);
}

} // namespace

int
toeplitz_shape(struct gpu *g, const struct usfft_options *o, toeplitz *t)
{
	size_t len[3] = {1, 1, 1};

	*t = {};
	t->dim = o->dim;
	for (int a = 0; a < o->dim; a++)
		len[a] = fft_size(2 * o->n[a] - 1);
	if (usfft_too_large(g, len))
		return -EIO;
	t->modes = t->cells = 1;
	for (int a = 0; a < 3; a++) {
		t->n[a] = a < o->dim ? (unsigned)o->n[a] : 1;
		t->len[a] = (unsigned)len[a];
		t->tail[a] = o->fft_order ? t->n[a] / 2 : 0;
		t->modes *= t->n[a];
		t->cells *= t->len[a];
	}
	return 0;
}

int
toeplitz_make(struct gpu *g, struct toeplitz *t, const sample *column)
{
	const unsigned last = t->n[t->dim - 1];
	const struct gpu_fft_slices whole = fft_of(*t, last, last - 1), part = fft_of_modes(*t);
	void *at;
	int err;

	if ((err = gpu_hold(g, HOLD_GRID, t->cells * sizeof *t->work, &at)))
		return err;
	t->work = static_cast<sample *>(at);
	if ((err = gpu_hold(g, HOLD_OUTER, t->cells * sizeof *t->symbol, &at)))
		return err;
	t->symbol = static_cast<double *>(at);
	if ((err = gpu_fft_slices_prepare(g, &whole)) || (err = gpu_fft_slices_prepare(g, &part)) ||
	    (err = gpu_begin(g)))
		return err;
	GPU_LAUNCH(g, lay_column, blocks_for_all(t->cells), ALL_THREADS, 0, *t, column);
	if ((err = gpu_fft_spread_slices(g, &whole, -1, t->work)))
		return err;
	GPU_LAUNCH(g, take_symbol, blocks_for_all(t->cells), ALL_THREADS, 0, *t);
	return gpu_end(g);
}

int
toeplitz_apply(struct gpu *g, const toeplitz &t, const sample *in, sample *out)
{
	const struct gpu_fft_slices f = fft_of_modes(t);
	int err;

	GPU_LAUNCH(g, pad, blocks_for_all(t.cells), ALL_THREADS, 0, t, in);
	if ((err = gpu_fft_spread_slices(g, &f, -1, t.work)))
		return err;
	GPU_LAUNCH(g, times_symbol, blocks_for_all(t.cells), ALL_THREADS, 0, t);
	if ((err = gpu_fft_gather_slices(g, &f, 1, t.work)))
		return err;
	GPU_LAUNCH(g, crop, blocks_for_all(t.modes), ALL_THREADS, 0, t, out);
	return 0;
}
