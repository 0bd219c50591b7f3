/*
 * The adjoint by transforms, many tiles at once: fft.cu in reverse order, as wconv/core/scatter_body.h states it.
 *
 *	for each function of x that a tile needs:
 *		results times wx, kw - 1 zeros before them		thread = sample
 *		rows, written turned					r2c, batch = tiles x rows
 *		for each function of y:
 *			times wy, kh - 1 zeros before them		thread = coefficient
 *			columns forward					batch = columns x tiles
 *			times the conjugate of the kernel's spectrum, summed	thread = coefficient
 *	inverse columns, inverse rows of the sum
 *	windows added to the item with its edges			thread = pixel, tiles in their order
 *
 *	rows' spectra: blend [column][tile][row]	sum: image [column][tile][ny]	windows: real [tile][ny][nx]
 *
 * The order of a pixel's sum does not depend on how many tiles the memory takes at once.
 *
 * Bound, for the bilinear grid, a pixel of the padded tiles in single precision: 5 column passes and 3 row passes of 8 bytes,
 * 4 products of 12 to 20 and 4 of 8 to 12: some 190 bytes of device memory.
 */
#include "gpu/wconv/whole.h"

namespace
{

/* Stores function number i of x times the results of the tiles in b.real, [tile][high][nx]. */
template <class T>
__global__ void
weigh_x(const wc_work<T> w, const wc_tiles<T> b, const T *in, unsigned i)
{
	const size_t at = wc_element();
	size_t rest = at;
	const unsigned x = take_index(&rest, b.nx) - (w.kw - 1), y = take_index(&rest, b.high),
		       n = (unsigned)rest;

	if (n >= b.n)
		return;
	const wc_tile t = b.list[n];
	const bool is_in = i < t.nfx && x < t.w && y < t.h; /* x is huge before the first result */
	b.real[at] =
	    is_in ? wc_weight_x(w, t.fx + i, t.x + x) * in[(size_t)(t.y + y) * w.width + t.x + x]
		  : 0;
}

template <class T>
__global__ void
weigh_y(const wc_work<T> w, const wc_tiles<T> b, unsigned j)
{
	const size_t at = wc_element();
	size_t rest = at;
	const unsigned y = take_index(&rest, b.ny) - (w.kh - 1), n = take_index(&rest, b.n),
		       c = (unsigned)rest;
	wc_cx<T> v = {0, 0};

	if (c >= b.columns)
		return;
	const wc_tile t = b.list[n];
	if (y < t.h) {
		const T weight = wc_weight_y(w, t, j, y);
		v = b.blend[((size_t)c * b.n + n) * b.high + y];
		v = {weight * v.re, weight * v.im};
	}
	b.product[at] = v;
}

/* Adds the products with the conjugate spectra to b.image. first: sets it to them. */
template <class T>
__global__ void
correlate(const wc_work<T> w, const wc_tiles<T> b, unsigned i, unsigned j, bool first)
{
	const size_t at = wc_element();
	size_t rest = at;
	const unsigned y = take_index(&rest, b.ny), n = take_index(&rest, b.n), c = (unsigned)rest;
	wc_cx<T> sum = {0, 0};

	if (c >= b.columns)
		return;
	const wc_tile t = b.list[n];
	if (!first)
		sum = b.image[at];
	if (wc_kernel_of(w, t, i, j) != WC_NONE) {
		const size_t slot = (t.fy + j) % b.slots;
		const wc_cx<T> a = b.product[at],
			       k = b.kernel[((slot * b.columns + c) * w.nfx + t.fx + i) * b.ny + y];
		sum.re += a.re * k.re + a.im * k.im;
		sum.im += a.im * k.re - a.re * k.im;
	}
	b.image[at] = sum;
}

/* Adds the windows of tiles first .. first + b.n - 1 to the padded rows from `top` on. across: tiles in x. */
template <class T>
__global__ void
add_windows(const wc_tiles<T> b, const wc_adjoint<T> a, unsigned first, unsigned across,
	    unsigned top, unsigned rows, T scale)
{
	size_t rest = wc_element();
	const unsigned q = take_index(&rest, a.wide), r = top + (unsigned)rest;

	if (rest >= rows)
		return;
	T sum = a.padded[(size_t)r * a.wide + q];
	for (unsigned ty = a.tile_y[2 * r]; ty < a.tile_y[2 * r + 1]; ty++)
		for (unsigned tx = a.tile_x[2 * q]; tx < a.tile_x[2 * q + 1]; tx++) {
			const unsigned n = ty * across + tx - first; /* huge before the first */
			if (n < b.n)
				sum += scale * b.real[((size_t)n * b.ny + r - b.list[n].y) * b.nx +
						      q - b.list[n].x];
		}
	a.padded[(size_t)r * a.wide + q] = sum;
}

/* --- the host's part ----------------------------------------------------------------------------------------------- */

/* Transforms the rows of b.real, [tile][high][nx], to b.blend. */
template <class T>
int
transform_rows(struct gpu *g, const wc_tiles<T> &b)
{
	const size_t rows = (size_t)b.n * b.high;
	const struct gpu_fft f =
	    gpu_fft_lines(GPU_FFT_R2C, sizeof(T) == 8, b.nx, rows, 1, b.nx, rows, 1);

	return gpu_fft(g, &f, -1, b.real, b.blend);
}

/* Makes the windows of the tiles of b. host: the same tiles on the host. *any: whether they have any kernel. */
template <class T>
int
make_windows(struct gpu *g, const struct wconv_plan *p, const wc_work<T> &w, const wc_tiles<T> &b,
	     const wc_tile *host, const T *in, bool *any)
{
	const size_t spectrum = (size_t)b.columns * b.n * b.ny;
	int err;

	*any = false;
	for (unsigned i = 0; i < p->x.most; i++) {
		GPU_LAUNCH(g, weigh_x<T>, wc_blocks((size_t)b.n * b.high * b.nx), WC_THREADS, 0, w,
			   b, in, i);
		if ((err = transform_rows(g, b)))
			return err;
		for (unsigned j = 0; j < p->y.most; j++) {
			if (!wc_is_needed(p, host, b.n, i, j))
				continue;
			GPU_LAUNCH(g, weigh_y<T>, wc_blocks(spectrum), WC_THREADS, 0, w, b, j);
			if ((err = wc_columns(g, b, b.n, -1, b.product)))
				return err;
			GPU_LAUNCH(g, correlate<T>, wc_blocks(spectrum), WC_THREADS, 0, w, b, i, j,
				   !*any);
			*any = true;
		}
	}
	if (!*any)
		return 0;
	if ((err = wc_columns(g, b, b.n, 1, b.image)))
		return err;
	return wc_rows_back(g, b, b.ny, b.image);
}

/* Scatters the tiles of b: number `first` of the list, and those after it. */
template <class T>
int
scatter_some(struct gpu *g, const wc_whole<T> &o, const wc_tiles<T> &b, size_t first)
{
	const wc_tile *const host = o.list + first, &last = host[b.n - 1];
	const unsigned top = host->y, rows = last.y + last.h + o.w.kh - 1 - top;
	const T scale = (T)(1 / ((double)b.nx * (double)b.ny));
	bool any;
	const int err = make_windows(g, o.p, o.w, b, host, o.a.in, &any);

	if (!err && any)
		GPU_LAUNCH(g, add_windows<T>, wc_blocks((size_t)rows * o.a.wide), WC_THREADS, 0, b,
			   o.a, (unsigned)first, (unsigned)o.p->x.ntile, top, rows, scale);
	return err;
}

} // namespace

template <class T>
int
wc_scatter_tiles(struct gpu *g, wc_whole<T> *o)
{
	GPU_TRY(g, cudaMemsetAsync(o->a.padded, 0, (size_t)o->a.high * o->a.wide * sizeof(T),
				   g->stream[0]));
	return wc_each_tiles<T>(g, o, [&](const wc_tiles<T> &b, size_t first) {
		return scatter_some<T>(g, *o, b, first);
	});
}

template int wc_scatter_tiles<float>(struct gpu *g, wc_whole<float> *o);
template int wc_scatter_tiles<double>(struct gpu *g, wc_whole<double> *o);
