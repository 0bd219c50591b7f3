/*
 * wconv by transforms, the tiles of a step at once: wconv/core/tile_body.h states the scheme. For all tiles together
 *
 *	windows	rows, each less its mean; the rest of nx x ny zeros
 *	rows	r2c, written turned, so that columns are contiguous			cuFFT, batch = tiles x ny
 *	columns	forward									cuFFT, batch = columns x tiles
 *	for each function of x a tile needs, for each function of y:
 *		multiply by the kernel's spectrum, inverse columns, times wy, summed	thread = coefficient
 *	inverse rows of the sum, the rows' means put back, times wx, summed		thread = result
 *
 *	real	[tile][row][nx]		spectra	[column][tile][row]	kernels	[slot][column][function of x][row]
 *
 * Spectra of kernels lie in a ring of one slot for each function of y that a step needs, made once in a picture. The rows that
 * a tile shares with the one above are transformed again, ny / (ny - kh + 1) of the rows' work.
 * They are padded by a thread a sample; then rows and columns by cuFFT, batch = functions of x.
 *
 * Results that see a pixel which is not finite, or unknown, are summed by the definition, a thread each.
 *
 * Bound, for the bilinear grid, a pixel of the padded tiles in single precision: 5 inverse or forward column passes and 3 row
 * passes of 8 bytes, 4 products of 12, 4 blends of 4 to 12, 2 of 12: some 180 bytes of device memory; 8 bytes over the
 * bus. Kepner 2003.
 */
#include "gpu/wconv/pixel.h"

#include "gpu/wconv/whole.h"
#include "gpu/reduce.h"

namespace
{

constexpr size_t ENOUGH = (size_t)512 << 20; /* bytes of tiles worked on at once */

/* --- windows ------------------------------------------------------------------------------------------------------- */

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
	const size_t i = gpu_element();
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

template <class T>
int
wc_windows(struct gpu *g, const wc_work<T> &w, const wc_tiles<T> &b)
{
	const size_t all = (size_t)b.n * b.ny * b.nx;

	GPU_TRY(g, cudaMemsetAsync(b.any, 0, b.n * sizeof *b.any, g->stream[0]));
	GPU_LAUNCH(g, gather<T>, b.ny * b.n, WC_THREADS, 0, w, b);
	GPU_LAUNCH(g, see<T>, gpu_blocks(all, WC_THREADS), WC_THREADS, 0, w, b);
	return 0;
}

/* --- spectra of kernels in a ring ------------------------------------------------------------------------------------ */

/* The sums of the kernels' rows: thread = row. */
template <class T>
__global__ void
sum_rows(const wc_work<T> w, double *sums, size_t rows)
{
	const size_t i = gpu_element();
	double sum = 0;

	if (i >= rows)
		return;
	for (unsigned t = 0; t < w.kw; t++)
		sum += (double)w.kernel[i * w.kw + t];
	sums[i] = sum;
}

/* The kernels of function fy of y, padded: [functions of x][ny][nx]. They were turned; here they are not. */
template <class T>
__global__ void
pad_kernels(const wc_work<T> w, const wc_tiles<T> b, unsigned fy)
{
	const size_t i = gpu_element();
	size_t rest = i;
	const unsigned x = take_index(&rest, b.nx), y = take_index(&rest, b.ny),
		       fx = (unsigned)rest;

	if (fx >= w.nfx)
		return;
	const unsigned k = w.number[fy * w.nfx + fx];
	b.real[i] = k != WC_NONE && x < w.kw && y < w.kh
			? w.kernel[((size_t)k * w.kh + (w.kh - 1 - y)) * w.kw + (w.kw - 1 - x)]
			: 0;
}

} // namespace

template <class T>
int
wc_rows(struct gpu *g, const wc_tiles<T> &b, size_t rows, wc_cx<T> *to)
{
	const struct gpu_fft f =
	    gpu_fft_lines(GPU_FFT_R2C, sizeof(T) == 8, b.nx, rows, 1, b.nx, rows, 1);

	return gpu_fft(g, &f, -1, b.real, to);
}

template <class T>
int
wc_columns(struct gpu *g, const wc_tiles<T> &b, size_t n, int sign, wc_cx<T> *at)
{
	const struct gpu_fft f =
	    gpu_fft_lines(GPU_FFT_C2C, sizeof(T) == 8, b.ny, b.columns * n, 1, b.ny, 1, b.ny);

	return gpu_fft(g, &f, sign, at, at);
}

template <class T>
int
wc_rows_back(struct gpu *g, const wc_tiles<T> &b, size_t high, wc_cx<T> *from)
{
	const size_t rows = b.n * high;
	const struct gpu_fft f =
	    gpu_fft_lines(GPU_FFT_C2R, sizeof(T) == 8, b.nx, rows, rows, 1, 1, b.nx);

	return gpu_fft(g, &f, 1, from, b.real);
}

namespace
{

/* The spectra of the kernels of function fy to its slot. */
template <class T>
int
make_spectra(struct gpu *g, const wc_work<T> &w, const wc_tiles<T> &b, unsigned fy)
{
	wc_cx<T> *to = b.kernel + (size_t)(fy % b.slots) * b.columns * w.nfx * b.ny;

	GPU_LAUNCH(g, pad_kernels<T>, gpu_blocks((size_t)w.nfx * b.ny * b.nx, WC_THREADS),
		   WC_THREADS, 0, w, b, fy);
	GPU_DO(wc_rows(g, b, (size_t)w.nfx * b.ny, to));
	return wc_columns(g, b, w.nfx, -1, to);
}

} // namespace

template <class T>
int
wc_sum_kernels(struct gpu *g, const struct wconv_plan *p, const wc_work<T> &w, bool fresh,
	       wc_tiles<T> *b)
{
	const size_t rows = p->q.gx * p->q.gy * w.kh;

	GPU_DO(gpu_array(g, WC_SUMS, rows, &b->sums));
	if (fresh)
		GPU_LAUNCH(g, sum_rows<T>, gpu_blocks(rows, WC_THREADS), WC_THREADS, 0, w, b->sums,
			   rows);
	return 0;
}

template <class T>
int
wc_fill_ring(struct gpu *g, const struct wconv_plan *p, const wc_work<T> &w, wc_span fresh,
	     wc_tiles<T> *b)
{
	GPU_DO(gpu_array(g, WC_SPECTRA, p->slots * b->columns * w.nfx * b->ny, &b->kernel));
	for (size_t f = fresh.from; f < fresh.to; f++)
		GPU_DO(make_spectra(g, w, *b, (unsigned)f));
	return 0;
}

/* --- products and blends ------------------------------------------------------------------------------------------- */

namespace
{

template <class T>
__global__ void
multiply(const wc_work<T> w, const wc_tiles<T> b, unsigned i, unsigned j)
{
	const size_t at = gpu_element();
	size_t rest = at;
	const unsigned y = take_index(&rest, b.ny), n = take_index(&rest, b.n), c = (unsigned)rest;

	if (c >= b.columns)
		return;
	const wc_tile t = b.list[n];
	wc_cx<T> v = {0, 0};
	if (wc_kernel_of(w, t, i, j) != WC_NONE) {
		const size_t slot = (t.fy + j) % b.slots;
		const wc_cx<T> a = b.image[at],
			       k = b.kernel[((slot * b.columns + c) * w.nfx + t.fx + i) * b.ny + y];
		v = {a.re * k.re - a.im * k.im, a.re * k.im + a.im * k.re};
	}
	b.product[at] = v;
}

template <class T>
__global__ void
blend_y(const wc_work<T> w, const wc_tiles<T> b, unsigned j, bool first)
{
	const size_t at = gpu_element();
	size_t rest = at;
	const unsigned y = take_index(&rest, b.high), n = take_index(&rest, b.n),
		       c = (unsigned)rest;

	if (c >= b.columns)
		return;
	const wc_tile t = b.list[n];
	wc_cx<T> sum = {0, 0};
	if (!first)
		sum = b.blend[at];
	if (y < t.h) {
		const T v = wc_weight_y(w, t, j, y);
		const wc_cx<T> p = b.product[((size_t)c * b.n + n) * b.ny + w.kh - 1 + y];
		sum.re += v * p.re;
		sum.im += v * p.im;
	}
	b.blend[at] = sum;
}

/* What the rows' means give: thread = row of results. */
template <class T>
__global__ void
find_levels(const wc_work<T> w, const wc_tiles<T> b, unsigned i)
{
	const size_t at = gpu_element();
	size_t rest = at;
	const unsigned y = take_index(&rest, b.high), n = (unsigned)rest;

	if (n >= b.n || y >= b.list[n].h)
		return;
	const wc_tile t = b.list[n];
	const T *mean = b.mean + (size_t)n * b.ny + y;
	double level = 0;
	for (unsigned j = 0; j < t.nfy; j++) {
		const unsigned k = wc_kernel_of(w, t, i, j);
		double sum = 0;
		for (unsigned r = 0; k != WC_NONE && r < w.kh; r++)
			sum += b.sums[(size_t)k * w.kh + r] * (double)mean[r];
		level += (double)wc_weight_y(w, t, j, y) * sum;
	}
	b.level[at] = (T)level;
}

template <class T>
__global__ void
blend_x(const wc_work<T> w, const wc_tiles<T> b, unsigned i, bool first, T scale)
{
	const size_t at = gpu_element();
	size_t rest = at;
	const unsigned x = take_index(&rest, b.wide), y = take_index(&rest, b.high),
		       n = (unsigned)rest;

	if (n >= b.n || x >= b.list[n].w || y >= b.list[n].h)
		return;
	const size_t row = (size_t)n * b.high + y;
	const T v = wc_weight_x(w, b.list[n].fx + i, b.list[n].x + x) *
		    (b.real[row * b.nx + w.kw - 1 + x] * scale + b.level[row]);
	b.result[at] = first ? v : b.result[at] + v;
}

/* Results to their places; those that see what is not known as they are defined. */
template <class T>
__global__ void
store(const wc_work<T> w, const wc_tiles<T> b)
{
	const size_t at = gpu_element();
	size_t rest = at;
	const unsigned x = take_index(&rest, b.wide), y = take_index(&rest, b.high),
		       n = (unsigned)rest;
	unsigned odd = 0;

	if (n >= b.n || x >= b.list[n].w || y >= b.list[n].h)
		return;
	const wc_tile t = b.list[n];
	for (unsigned r = 0; b.any[n] && r < w.kh; r++)
		odd |= b.seen[((size_t)n * b.ny + y + r) * b.nx + x];
	const wc_segment g = {0, 0, w.fx[t.x + x], w.nwx};
	const double v = odd ? careful<T>(w, g, t.plane, t.y + y, t.x + x) : (double)b.result[at];
	store_result<T>(w, g, t.plane, t.y + y, t.x + x, v);
}

/* --- the host's part ----------------------------------------------------------------------------------------------- */

/* Room for n tiles; base NULL only counts. */
template <class T>
void
take_tiles(wc_tiles<T> *b, gpu_block *at, size_t n, size_t functions)
{
	const size_t most = n > functions ? n : functions;

	b->real = gpu_take<T>(at, most * b->ny * b->nx);
	b->image = gpu_take<wc_cx<T>>(at, b->columns * n * b->ny);
	b->product = gpu_take<wc_cx<T>>(at, b->columns * n * b->ny);
	b->blend = gpu_take<wc_cx<T>>(at, b->columns * n * b->high);
	b->mean = gpu_take<T>(at, n * b->ny);
	b->level = gpu_take<T>(at, n * b->high);
	b->result = gpu_take<T>(at, n * b->high * b->wide);
	b->odd = gpu_take<unsigned char>(at, n * b->ny * b->nx);
	b->seen = gpu_take<unsigned char>(at, n * b->ny * b->nx);
	b->any = gpu_take<unsigned>(at, n);
}

} // namespace

template <class T>
int
wc_run_tiles(struct gpu *g, const struct wconv_plan *p, const wc_work<T> &w, const wc_tiles<T> &b,
	     const wc_tile *host)
{
	const size_t spectrum = (size_t)b.columns * b.n * b.ny, rows = (size_t)b.n * b.high,
		     results = rows * b.wide;
	const T scale = (T)(1 / ((double)b.nx * (double)b.ny));
	bool start = true;

	GPU_DO(wc_windows(g, w, b));
	GPU_DO(wc_rows(g, b, (size_t)b.n * b.ny, b.image));
	GPU_DO(wc_columns(g, b, b.n, -1, b.image));
	for (unsigned i = 0; i < p->x.most; i++) {
		bool first = true;
		for (unsigned j = 0; j < p->y.most; j++) {
			if (!wc_is_needed(p, host, b.n, i, j))
				continue;
			GPU_LAUNCH(g, multiply<T>, gpu_blocks(spectrum, WC_THREADS), WC_THREADS, 0,
				   w, b, i, j);
			GPU_DO(wc_columns(g, b, b.n, 1, b.product));
			GPU_LAUNCH(g, blend_y<T>, gpu_blocks(rows * b.columns, WC_THREADS),
				   WC_THREADS, 0, w, b, j, first);
			first = false;
		}
		if (first)
			continue;
		GPU_LAUNCH(g, find_levels<T>, gpu_blocks(rows, WC_THREADS), WC_THREADS, 0, w, b, i);
		GPU_DO(wc_rows_back(g, b, b.high, b.blend));
		GPU_LAUNCH(g, blend_x<T>, gpu_blocks(results, WC_THREADS), WC_THREADS, 0, w, b, i,
			   start, scale);
		start = false;
	}
	GPU_LAUNCH(g, store<T>, gpu_blocks(results, WC_THREADS), WC_THREADS, 0, w, b);
	return 0;
}

template <class T>
int
wc_lay_out(struct gpu *g, const struct wconv_plan *p, size_t all, wc_tiles<T> *b, size_t *n)
{
	size_t room;

	GPU_DO(gpu_room(g, &room));
	b->nx = (unsigned)p->rows.n;
	b->ny = (unsigned)p->columns.n;
	b->columns = b->nx / 2 + 1;
	b->high = (unsigned)p->y.longest;
	b->wide = (unsigned)p->x.longest;
	b->slots = (unsigned)p->slots;
	const size_t one = gpu_lay(NULL, [&](gpu_block *at) { take_tiles(b, at, 1, 1); });
	room = room / 2 < ENOUGH ? room / 2 : ENOUGH;
	*n = room / one < 1 ? 1 : room / one < all ? room / one : all;
	return gpu_place(g, WC_TILES, [&](gpu_block *at) { take_tiles(b, at, *n, p->x.nfun); });
}

namespace
{

template <class T>
int
run_list(struct gpu *g, const struct wconv_plan *p, const wc_work<T> &w, wc_span fresh,
	 const wc_tile *list, size_t all)
{
	wc_tiles<T> b = {};
	const wc_tile *device;
	size_t most;

	GPU_DO(gpu_send(g, WC_LIST, list, all, &device));
	GPU_DO(wc_lay_out(g, p, all, &b, &most));
	GPU_DO(gpu_begin(g));
	GPU_DO(wc_fill_ring(g, p, w, fresh, &b));
	GPU_DO(wc_sum_kernels(g, p, w, fresh.to > 0, &b));
	for (size_t at = 0; at < all; at += most) {
		b.n = (unsigned)(all - at < most ? all - at : most);
		b.list = device + at;
		GPU_DO(wc_run_tiles(g, p, w, b, list + at));
	}
	return gpu_end(g);
}

} // namespace

template <class T>
int
wc_transform(struct gpu *g, const struct wconv_plan *p, const wc_work<T> &w, wc_span tiles,
	     wc_span fresh)
{
	const size_t n = p->q.planes * (tiles.to - tiles.from) * p->x.ntile;
	wc_tile *list = static_cast<wc_tile *>(weir_alloc(n, sizeof *list));
	int err = -ENOMEM;

	if (list)
		err = run_list(g, p, w, fresh, list,
			       wc_list_tiles(p, tiles, p->y.tile[tiles.from].a, list));
	weir_free(list);
	return err;
}

#define INSTANCES(T)                                                                             \
	template int wc_run_tiles(struct gpu *, const struct wconv_plan *, const wc_work<T> &,   \
				  const wc_tiles<T> &, const wc_tile *);                         \
	template int wc_lay_out(struct gpu *, const struct wconv_plan *, size_t, wc_tiles<T> *,  \
				size_t *);                                                       \
	template int wc_transform(struct gpu *, const struct wconv_plan *, const wc_work<T> &,   \
				  wc_span, wc_span);                                             \
	template int wc_rows(struct gpu *, const wc_tiles<T> &, size_t, wc_cx<T> *);             \
	template int wc_columns(struct gpu *, const wc_tiles<T> &, size_t, int, wc_cx<T> *);     \
	template int wc_rows_back(struct gpu *, const wc_tiles<T> &, size_t, wc_cx<T> *);        \
	template int wc_sum_kernels(struct gpu *, const struct wconv_plan *, const wc_work<T> &, \
				    bool, wc_tiles<T> *);                                        \
	template int wc_fill_ring(struct gpu *, const struct wconv_plan *, const wc_work<T> &,   \
				  wc_span, wc_tiles<T> *);
INSTANCES(float)
INSTANCES(double)
