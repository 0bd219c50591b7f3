/*
 * The windows of wconv's tiles.
 *
 *	gather	rows of the windows, each less its mean; the rest of nx x ny zeros	block = row
 *	see	which windows have a pixel that is not known, along x alone		thread = pixel
 *
 * Bound: a sample read, and written, read and written again, 6 bytes a pixel of marks: 18 bytes a pixel in single precision.
 */
#include "gpu/reduce.h"
#include "gpu/wconv/pixel.h"
#include "gpu/wconv/tiles.h"

namespace
{

/* Row y of the window of tile number n: all rows along one axis of the grid, since small tiles are more than 65535. */
template <class T>
__global__ void
__launch_bounds__(WC_THREADS) gather(const wc_work<T> w, const wc_tiles<T> b)
{
	const unsigned n = blockIdx.x / b.ny, y = blockIdx.x % b.ny;
	const wc_tile t = b.list[n];
	const unsigned wide = t.w + w.kw - 1;
	const bool in = y < t.h + w.kh - 1;
	const T *const line = in ? line_of(w, t.plane, w.row[t.y + y]) : NULL;
	const size_t row = blockIdx.x;
	T sum = 0;
	bool odd = false;

	for (unsigned x = threadIdx.x; x < b.nx; x += WC_THREADS) {
		enum wc_state state = KNOWN;
		T v = 0;
		if (in && x < wide)
			v = pixel_of(w, line, w.column[t.x + x], &state);
		b.real[row * b.nx + x] = v;
		b.odd[row * b.nx + x] = state != KNOWN;
		odd |= state != KNOWN;
		sum += v;
	}
	if (odd)
		atomicOr(&b.any[n], 1u);
	const T mean = block_sum<WC_THREADS>(sum) / (T)wide;
	for (unsigned x = threadIdx.x; in && x < wide; x += WC_THREADS)
		b.real[row * b.nx + x] -= mean;
	if (threadIdx.x == 0)
		b.mean[row] = in ? mean : 0;
}

/* Which windows, along x alone, have a pixel that is not known: thread = pixel. */
template <class T>
__global__ void
see(const wc_work<T> w, const wc_tiles<T> b)
{
	const size_t i = wc_element();
	size_t t = i;
	const unsigned x = take_index(&t, b.nx);
	unsigned seen = 0;

	take_index(&t, b.ny);
	if (t >= b.n || !b.any[t])
		return;
	for (unsigned k = 0; k < w.kw && x + k < b.nx; k++)
		seen |= b.odd[i + k];
	b.seen[i] = seen != 0;
}

} // namespace

template <class T>
int
wc_windows(struct gpu *g, const wc_work<T> &w, const wc_tiles<T> &b)
{
	const size_t all = (size_t)b.n * b.ny * b.nx;

	GPU_TRY(g, cudaMemsetAsync(b.any, 0, b.n * sizeof *b.any, g->stream[0]));
	GPU_LAUNCH(g, gather<T>, b.ny * b.n, WC_THREADS, 0, w, b);
	GPU_LAUNCH(g, see<T>, wc_blocks(all), WC_THREADS, 0, w, b);
	return 0;
}

template int wc_windows<float>(struct gpu *g, const wc_work<float> &w, const wc_tiles<float> &b);
template int wc_windows<double>(struct gpu *g, const wc_work<double> &w, const wc_tiles<double> &b);
