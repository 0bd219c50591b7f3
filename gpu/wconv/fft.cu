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
 *
 * The adjoint by transforms, many tiles at once: all of that in reverse order, as wconv/core/scatter_body.h states it.
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
#include "gpu/reduce.h"
#include "gpu/wconv/pixel.h"

namespace
{

constexpr size_t ENOUGH = (size_t)512 << 20; /* bytes of tiles worked on at once */

/* Returns the kernel of functions number i and j of a tile; WC_NONE: it has none. */
template <class T>
__device__ unsigned
wc_kernel_of(const wc_work<T> &w, const wc_tile &t, unsigned i, unsigned j)
{
	return i < t.nfx && j < t.nfy ? w.number[(t.fy + j) * w.nfx + t.fx + i] : WC_NONE;
}

/* Returns the weight of function number j of the tile at its row y. */
template <class T>
__device__ T
wc_weight_y(const wc_work<T> &w, const wc_tile &t, unsigned j, unsigned y)
{
	const unsigned r = t.y + y, k = t.fy + j - w.fy[r];

	return j < t.nfy && k < w.nwy ? w.wy[(size_t)k * w.rows + r] : 0;
}

/* Whether some of n tiles has the functions number i and j, and a kernel for them. */
bool
wc_is_needed(const struct wconv_plan *p, const wc_tile *t, unsigned n, unsigned i, unsigned j)
{
	for (unsigned k = 0; k < n; k++)
		if (i < t[k].nfx && j < t[k].nfy &&
		    wconv_kernel(p, t[k].fx + i, t[k].fy + j) != SIZE_MAX)
			return true;
	return false;
}

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
__device__ void
see(size_t i, const wc_work<T> &w, const wc_tiles<T> &b)
{
	const gpu_place3 at = gpu_split(i, b.nx, b.ny);
	unsigned seen = 0;

	if (!b.any[at.z])
		return;
	for (unsigned k = 0; k < w.kw && at.x + k < b.nx; k++)
		seen |= b.odd[i + k];
	b.seen[i] = seen != 0;
}

/* --- spectra of kernels in a ring ------------------------------------------------------------------------------------ */

/* The sums of the kernels' rows: thread = row. */
template <class T>
__device__ void
sum_rows(size_t i, const wc_work<T> &w, double *sums)
{
	double sum = 0;

	for (unsigned t = 0; t < w.kw; t++)
		sum += (double)w.kernel[i * w.kw + t];
	sums[i] = sum;
}

/* The kernels of function fy of y, padded: [functions of x][ny][nx]. They were turned; here they are not. */
template <class T>
__device__ void
pad_kernels(size_t i, const wc_work<T> &w, const wc_tiles<T> &b, unsigned fy)
{
	const auto [x, y, fx] = gpu_split(i, b.nx, b.ny);
	const unsigned k = w.number[fy * w.nfx + fx];
	b.real[i] = k != WC_NONE && x < w.kw && y < w.kh
			? w.kernel[((size_t)k * w.kh + (w.kh - 1 - y)) * w.kw + (w.kw - 1 - x)]
			: 0;
}

/* Transforms rows b.real, [rows][nx], to columns [columns][rows]. */
template <class T>
int
wc_rows(struct gpu *g, const wc_tiles<T> &b, size_t rows, wc_cx<T> *to)
{
	const struct gpu_fft f =
	    gpu_fft_lines(GPU_FFT_R2C, sizeof(T) == 8, b.nx, rows, 1, b.nx, rows, 1);

	return gpu_fft(g, &f, -1, b.real, to);
}

/* Transforms columns [columns][n][ny], in place. */
template <class T>
int
wc_columns(struct gpu *g, const wc_tiles<T> &b, size_t n, int sign, wc_cx<T> *at)
{
	const struct gpu_fft f =
	    gpu_fft_lines(GPU_FFT_C2C, sizeof(T) == 8, b.ny, b.columns * n, 1, b.ny, 1, b.ny);

	return gpu_fft(g, &f, sign, at, at);
}

/* Transforms columns [columns][b.n][high] back to rows b.real, [b.n][high][nx]. It destroys the columns. */
template <class T>
int
wc_rows_back(struct gpu *g, const wc_tiles<T> &b, size_t high, wc_cx<T> *from)
{
	const size_t rows = b.n * high;
	const struct gpu_fft f =
	    gpu_fft_lines(GPU_FFT_C2R, sizeof(T) == 8, b.nx, rows, rows, 1, 1, b.nx);

	return gpu_fft(g, &f, 1, from, b.real);
}

/* Gives b the sums of the kernels' rows, and computes them if they are fresh. */
template <class T>
int
wc_sum_kernels(struct gpu *g, const struct wconv_plan *p, const wc_work<T> &w, bool fresh,
	       wc_tiles<T> *b)
{
	const size_t rows = p->q.gx * p->q.gy * w.kh;

	GPU_DO(gpu_array(g, WC_SUMS, rows, &b->sums));
	if (fresh)
		GPU_EACH(g, sum_rows<T>, rows, w, b->sums);
	return 0;
}

/* Adds the spectra of the kernels of the fresh functions of y to the ring. */
template <class T>
int
wc_fill_ring(struct gpu *g, const struct wconv_plan *p, const wc_work<T> &w, wc_span fresh,
	     wc_tiles<T> *b)
{
	GPU_DO(gpu_array(g, WC_SPECTRA, p->slots * b->columns * w.nfx * b->ny, &b->kernel));
	for (size_t f = fresh.from; f < fresh.to; f++) {
		wc_cx<T> *const to = b->kernel + f % b->slots * b->columns * w.nfx * b->ny;
		GPU_EACH(g, pad_kernels<T>, (size_t)w.nfx * b->ny * b->nx, w, *b, (unsigned)f);
		GPU_DO(wc_rows(g, *b, (size_t)w.nfx * b->ny, to));
		GPU_DO(wc_columns(g, *b, w.nfx, -1, to));
	}
	return 0;
}

/* --- products and blends ------------------------------------------------------------------------------------------- */

template <class T>
__device__ void
multiply(size_t at, const wc_work<T> &w, const wc_tiles<T> &b, unsigned i, unsigned j)
{
	const auto [y, n, c] = gpu_split(at, b.ny, b.n);
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
__device__ void
blend_y(size_t at, const wc_work<T> &w, const wc_tiles<T> &b, unsigned j, bool first)
{
	const auto [y, n, c] = gpu_split(at, b.high, b.n);
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
__device__ void
find_levels(size_t at, const wc_work<T> &w, const wc_tiles<T> &b, unsigned i)
{
	size_t n = at;
	const unsigned y = take_index(&n, b.high);
	const wc_tile t = b.list[n];
	const T *mean = b.mean + n * b.ny + y;
	double level = 0;

	if (y >= t.h)
		return;
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
__device__ void
blend_x(size_t at, const wc_work<T> &w, const wc_tiles<T> &b, unsigned i, bool first, T scale)
{
	const auto [x, y, n] = gpu_split(at, b.wide, b.high);
	if (x >= b.list[n].w || y >= b.list[n].h)
		return;
	const size_t row = (size_t)n * b.high + y;
	const T v = wc_weight_x(w, b.list[n].fx + i, b.list[n].x + x) *
		    (b.real[row * b.nx + w.kw - 1 + x] * scale + b.level[row]);
	b.result[at] = first ? v : b.result[at] + v;
}

/* Results to their places; those that see what is not known as they are defined. */
template <class T>
__device__ void
store(size_t at, const wc_work<T> &w, const wc_tiles<T> &b)
{
	const auto [x, y, n] = gpu_split(at, b.wide, b.high);
	const wc_tile t = b.list[n];
	unsigned odd = 0;

	if (x >= t.w || y >= t.h)
		return;
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
	gpu_take_all(at, b->columns * n * b->ny, &b->image, &b->product);
	b->blend = gpu_take<wc_cx<T>>(at, b->columns * n * b->high);
	b->mean = gpu_take<T>(at, n * b->ny);
	b->level = gpu_take<T>(at, n * b->high);
	b->result = gpu_take<T>(at, n * b->high * b->wide);
	gpu_take_all(at, n * b->ny * b->nx, &b->odd, &b->seen);
	b->any = gpu_take<unsigned>(at, n);
}

/* Computes the results of the tiles of b, which are host[] on the host. */
template <class T>
int
wc_run_tiles(struct gpu *g, const struct wconv_plan *p, const wc_work<T> &w, const wc_tiles<T> &b,
	     const wc_tile *host)
{
	const size_t spectrum = (size_t)b.columns * b.n * b.ny, rows = (size_t)b.n * b.high,
		     results = rows * b.wide;
	const T scale = (T)(1 / ((double)b.nx * (double)b.ny));
	bool start = true;

	GPU_TRY(g, cudaMemsetAsync(b.any, 0, b.n * sizeof *b.any, g->stream[0]));
	GPU_LAUNCH(g, gather<T>, b.ny * b.n, WC_THREADS, 0, w, b);
	GPU_EACH(g, see<T>, (size_t)b.n * b.ny * b.nx, w, b);
	GPU_DO(wc_rows(g, b, (size_t)b.n * b.ny, b.image));
	GPU_DO(wc_columns(g, b, b.n, -1, b.image));
	for (unsigned i = 0; i < p->x.most; i++) {
		bool first = true;
		for (unsigned j = 0; j < p->y.most; j++) {
			if (!wc_is_needed(p, host, b.n, i, j))
				continue;
			GPU_EACH(g, multiply<T>, spectrum, w, b, i, j);
			GPU_DO(wc_columns(g, b, b.n, 1, b.product));
			GPU_EACH(g, blend_y<T>, rows * b.columns, w, b, j, first);
			first = false;
		}
		if (first)
			continue;
		GPU_EACH(g, find_levels<T>, rows, w, b, i);
		GPU_DO(wc_rows_back(g, b, b.high, b.blend));
		GPU_EACH(g, blend_x<T>, results, w, b, i, start, scale);
		start = false;
	}
	GPU_EACH(g, store<T>, results, w, b);
	return 0;
}

/* Finds how many of n tiles can be worked on at once, o->most, and gives o->tiles its sizes and the memory for them. */
template <class T>
int
wc_lay_out(struct gpu *g, const struct wconv_plan *p, size_t n, wc_whole<T> *o)
{
	wc_tiles<T> *const b = &o->tiles;
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
	o->most = room / one < 1 ? 1 : room / one < n ? room / one : n;
	return gpu_place(g, WC_TILES,
			 [&](gpu_block *at) { take_tiles(b, at, o->most, p->x.nfun); });
}

/* Lists the tiles of those tile rows, of all planes, and gets what they need. Their y counts from result `top`. */
template <class T>
int
list_tiles(struct gpu *g, const struct wconv_plan *p, wc_span rows, ptrdiff_t top, wc_whole<T> *o)
{
	const size_t n = p->q.planes * (rows.to - rows.from) * p->x.ntile;
	wc_tile *to = o->list = static_cast<wc_tile *>(weir_alloc(n, sizeof *to));

	if (!to)
		return -ENOMEM;
	for (size_t plane = 0; plane < p->q.planes; plane++)
		for (size_t ty = rows.from; ty < rows.to; ty++)
			for (size_t tx = 0; tx < p->x.ntile; tx++) {
				const struct wconv_tile *X = &p->x.tile[tx], *Y = &p->y.tile[ty];
				*to++ = {(unsigned)plane,	  (unsigned)(X->a - p->x.lo),
					 (unsigned)(Y->a - top),  (unsigned)(X->b - X->a),
					 (unsigned)(Y->b - Y->a), (unsigned)X->f0,
					 (unsigned)X->nf,	  (unsigned)Y->f0,
					 (unsigned)Y->nf};
			}
	GPU_DO(gpu_send(g, WC_LIST, o->list, n, &o->tiles.list));
	return wc_lay_out<T>(g, p, n, o);
}

/* --- whole items: the convolution, and the adjoint --------------------------------------------------------------------- */

/*
 * Calls run(b, i) for tiles i .. i + b.n - 1 of o->list, as many at a time as the memory takes, till all are done. The ring has
 * the spectra of their kernels. It holds those of one band of the plan, or of all.
 */
template <class T, class Run>
int
wc_each_tiles(struct gpu *g, wc_whole<T> *o, Run run)
{
	const struct wconv_plan *p = o->p;
	const bool all = p->slots >= p->y.nfun;
	const size_t across = p->x.ntile, bands = all ? 1 : p->bands;
	const wc_tile *const list = o->tiles.list;
	wc_tiles<T> b = o->tiles;
	size_t made = o->kept ? p->y.nfun : 0;

	o->kept = false;
	for (size_t i = 0; i < bands; i++) {
		const size_t functions = all ? p->y.nfun : p->band[i].fun1,
			     first = all ? 0 : p->band[i].fun0,
			     end = (all ? p->y.ntile : p->band[i].tile1) * across;
		GPU_DO(wc_fill_ring<T>(g, p, o->w, {first > made ? first : made, functions}, &b));
		made = functions;
		for (size_t at = (all ? 0 : p->band[i].tile0) * across; at < end; at += b.n) {
			b.n = (unsigned)(end - at < o->most ? end - at : o->most);
			b.list = list + at;
			GPU_DO(run(b, at));
		}
	}
	o->kept = all;
	return 0;
}

/* Stores function number i of x times the results of the tiles in b.real, [tile][high][nx]. */
template <class T>
__device__ void
weigh_x(size_t at, const wc_work<T> &w, const wc_tiles<T> &b, const T *in, unsigned i)
{
	const gpu_place3 to = gpu_split(at, b.nx, b.high);
	const unsigned x = to.x - (w.kw - 1), y = to.y; /* x is huge before the first result */
	const wc_tile t = b.list[to.z];
	const bool is_in = i < t.nfx && x < t.w && y < t.h;

	b.real[at] =
	    is_in ? wc_weight_x(w, t.fx + i, t.x + x) * in[(size_t)(t.y + y) * w.width + t.x + x]
		  : 0;
}

template <class T>
__device__ void
weigh_y(size_t at, const wc_work<T> &w, const wc_tiles<T> &b, unsigned j)
{
	const auto [row, n, c] = gpu_split(at, b.ny, b.n);
	const unsigned y = row - (w.kh - 1);
	const wc_tile t = b.list[n];
	wc_cx<T> v = {0, 0};

	if (y < t.h) {
		const T weight = wc_weight_y(w, t, j, y);
		v = b.blend[((size_t)c * b.n + n) * b.high + y];
		v = {weight * v.re, weight * v.im};
	}
	b.product[at] = v;
}

/* Adds the products with the conjugate spectra to b.image. first: sets it to them. */
template <class T>
__device__ void
correlate(size_t at, const wc_work<T> &w, const wc_tiles<T> &b, unsigned i, unsigned j, bool first)
{
	const auto [y, n, c] = gpu_split(at, b.ny, b.n);
	const wc_tile t = b.list[n];
	wc_cx<T> sum = {0, 0};

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
__device__ void
add_windows(size_t i, const wc_tiles<T> &b, const wc_adjoint<T> &a, unsigned first, unsigned across,
	    unsigned top, T scale)
{
	const unsigned q = take_index(&i, a.wide), r = top + (unsigned)i;

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

/* Makes the windows of the tiles of b. host: the same tiles on the host. *any: whether they have any kernel. */
template <class T>
int
make_windows(struct gpu *g, const struct wconv_plan *p, const wc_work<T> &w, const wc_tiles<T> &b,
	     const wc_tile *host, const T *in, bool *any)
{
	const size_t spectrum = (size_t)b.columns * b.n * b.ny;

	*any = false;
	for (unsigned i = 0; i < p->x.most; i++) {
		GPU_EACH(g, weigh_x<T>, (size_t)b.n * b.high * b.nx, w, b, in, i);
		GPU_DO(wc_rows(g, b, (size_t)b.n * b.high, b.blend));
		for (unsigned j = 0; j < p->y.most; j++) {
			if (!wc_is_needed(p, host, b.n, i, j))
				continue;
			GPU_EACH(g, weigh_y<T>, spectrum, w, b, j);
			GPU_DO(wc_columns(g, b, b.n, -1, b.product));
			GPU_EACH(g, correlate<T>, spectrum, w, b, i, j, !*any);
			*any = true;
		}
	}
	if (!*any)
		return 0;
	GPU_DO(wc_columns(g, b, b.n, 1, b.image));
	return wc_rows_back(g, b, b.ny, b.image);
}

} // namespace

template <class T>
int
wc_transform(struct gpu *g, const struct wconv_plan *p, const wc_work<T> &w, wc_span tiles,
	     wc_span fresh)
{
	const size_t all = p->q.planes * (tiles.to - tiles.from) * p->x.ntile;
	wc_whole<T> o = {};

	GPU_DO(list_tiles(g, p, tiles, p->y.tile[tiles.from].a, &o));
	wc_tiles<T> b = o.tiles;
	GPU_DO(gpu_begin(g));
	GPU_DO(wc_fill_ring(g, p, w, fresh, &b));
	GPU_DO(wc_sum_kernels(g, p, w, fresh.to > 0, &b));
	for (size_t at = 0; at < all; at += o.most) {
		b.n = (unsigned)(all - at < o.most ? all - at : o.most);
		b.list = o.tiles.list + at;
		GPU_DO(wc_run_tiles(g, p, w, b, o.list + at));
	}
	return gpu_end(g);
}

template <class T>
int
wc_open_tiles(struct gpu *g, wc_whole<T> *o)
{
	return list_tiles(g, o->p, {0, o->p->y.ntile}, o->p->y.lo, o);
}

template <class T>
int
wc_transform_all(struct gpu *g, wc_whole<T> *o)
{
	GPU_DO(wc_sum_kernels<T>(g, o->p, o->w, !o->summed, &o->tiles));
	o->summed = true;
	return wc_each_tiles<T>(g, o, [&](const wc_tiles<T> &b, size_t first) {
		return wc_run_tiles<T>(g, o->p, o->w, b, o->list + first);
	});
}

template <class T>
int
wc_scatter_tiles(struct gpu *g, wc_whole<T> *o)
{
	GPU_TRY(g, cudaMemsetAsync(o->a.padded, 0, (size_t)o->a.high * o->a.wide * sizeof(T),
				   g->stream[0]));
	return wc_each_tiles<T>(g, o, [&](const wc_tiles<T> &b, size_t first) {
		const wc_tile *const host = o->list + first, &last = host[b.n - 1];
		const unsigned top = host->y, rows = last.y + last.h + o->w.kh - 1 - top;
		const T scale = (T)(1 / ((double)b.nx * (double)b.ny));
		bool any;
		GPU_DO(make_windows(g, o->p, o->w, b, host, o->a.in, &any));
		if (any)
			GPU_EACH(g, add_windows<T>, (size_t)rows * o->a.wide, b, o->a,
				 (unsigned)first, (unsigned)o->p->x.ntile, top, scale);
		return 0;
	});
}

#define INSTANCES(T)                                                                           \
	template int wc_transform(struct gpu *, const struct wconv_plan *, const wc_work<T> &, \
				  wc_span, wc_span);                                           \
	template int wc_open_tiles(struct gpu *, wc_whole<T> *);                               \
	template int wc_transform_all(struct gpu *, wc_whole<T> *);                            \
	template int wc_scatter_tiles(struct gpu *, wc_whole<T> *);
INSTANCES(float)
INSTANCES(double)
