/*
 * The convolution and the adjoint of whole items. What depends on the shape goes to the device once; a deconvolution then
 * applies both many times. All rows of results are one step: its ring has all rows of the item.
 *
 * The adjoint, of a whole item on one device:
 *
 *	weigh	results times their factors: 1 / the sum of the local kernel, or that sum / its part on known pixels	thread = result
 *		each scatters along its kernel to the item with its edges, by sums or by transforms
 *	fold	what lies beyond the edges is added to the pixels that it copies	thread = pixel
 *
 * No sum depends on the order of threads.
 *
 * Bound: each sample once over the bus each way; weigh and fold read and write each sample once.
 *
 * The adjoint of direct sums. Each pixel of the item with its edges gathers what the results scatter to it. With A(t) and B(t)
 * of direct.cu for row Y of the results, and b the row of the kernel:
 *
 *	F(Q,Y+b) = sum_t A(t) u(Q - t) + B(t) v(Q - t),	u = wx0 in(.,Y), v = wx1 in(.,Y)	2 multiplications and additions a tap
 *
 *	warp	256 pixels of a row, lane = 8 pixels side by side
 *	block	4 warps, 4 rows; grid = rows x segments of 256 pixels
 *	shared	a warp's 32 taps of A and B, in reverse order, and the 288 pairs (u, v) that they meet, pair s at [s % 8][s / 8]
 *
 * Functions of x are taken two at a time, from the first to the last that the results in reach have: two inside a cell of the
 * grid. Sums are compensated as in direct.cu.
 *
 * Bound: 4 kw kh operations a pixel.
 *
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

#include "gpu/wconv/pixel.h"
#include "gpu/wconv/taps.h"

namespace
{

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
	int err = 0;

	for (size_t i = 0; i < bands && !err; i++) {
		const size_t functions = all ? p->y.nfun : p->band[i].fun1,
			     first = all ? 0 : p->band[i].fun0,
			     end = (all ? p->y.ntile : p->band[i].tile1) * across;
		err = wc_fill_ring<T>(g, p, o->w, {first > made ? first : made, functions}, &b);
		made = functions;
		for (size_t at = (all ? 0 : p->band[i].tile0) * across; at < end && !err;
		     at += b.n) {
			b.n = (unsigned)(end - at < o->most ? end - at : o->most);
			b.list = list + at;
			err = run(b, at);
		}
	}
	o->kept = all && !err;
	return err;
}

} // namespace

/* --- by sums ---------------------------------------------------------------------------------------------------------- */

namespace
{

constexpr unsigned WARPS = 4, SPAN = 32 * LANE, STAGED = SPAN + TAPS;
constexpr unsigned STRIDE = STAGED / LANE + 1; /* odd, so that threads meet no bank twice */

template <class T> struct pair {
	T u, v;
};

/* What a warp has in shared memory. */
template <class T> struct staged {
	pair<T> sample[LANE][STRIDE];
	taps<T, 2> tap[TAPS];
};

/* Each tap meets its own sample of a pair. */
template <class T>
__device__ void
add_tap(T &sum, const taps<T, 2> &k, const pair<T> &p)
{
	sum += k.of[0] * p.u + k.of[1] * p.v;
}

/*
 * Stages taps t0 .. t0 + 31 of kernel row b and functions f and f + 1, and what they meet of row y of the results for the
 * pixels from q0 on. Returns whether any of that is not 0.
 */
template <class T>
__device__ bool
stage(staged<T> &s, const wc_work<T> &w, const T *in, unsigned y, unsigned b, unsigned f,
      unsigned q0, unsigned t0)
{
	const unsigned lane = threadIdx.x % 32;
	taps<T, 2> tap[1];
	bool lit = false;

	__syncwarp();
#pragma unroll 3
	for (unsigned i = lane; i < STAGED; i += 32) {
		const unsigned x = q0 + i - t0 - (TAPS - 1); /* huge before the first result */
		pair<T> p = {0, 0};
		if (x < w.width) {
			const T v = in[(size_t)y * w.width + x];
			p = {wc_weight_x(w, f, x) * v, wc_weight_x(w, f + 1, x) * v};
		}
		lit |= p.u != 0 || p.v != 0;
		s.sample[i % LANE][i / LANE] = p;
	}
	blend_taps(w, y, f, b, t0 + TAPS - 1 - lane, tap);
	s.tap[lane] = tap[0];
	__syncwarp();
	return __any_sync(~0u, lit);
}

template <class T>
__global__ void __launch_bounds__(32 * WARPS, 1)
    scatter(const wc_work<T> w, const wc_adjoint<T> a, unsigned segments)
{
	__shared__ staged<T> shared[WARPS];
	const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	const unsigned r = blockIdx.x / segments * WARPS + warp, q0 = blockIdx.x % segments * SPAN;
	const unsigned x0 = min(q0 < w.kw ? 0 : q0 - (w.kw - 1), w.width - 1),
		       x1 = min(q0 + SPAN - 1, w.width - 1);
	staged<T> &s = shared[warp];
	T sum[LANE], lost[LANE], part[LANE];

	if (r >= a.high)
		return;
#pragma unroll
	for (unsigned i = 0; i < LANE; i++)
		sum[i] = lost[i] = 0;
	for (unsigned f = w.fx[x0]; f < min(w.fx[x1] + w.nwx, w.nfx); f += 2)
		for (unsigned b = 0; b < w.kh && b <= r; b++)
			for (unsigned t0 = 0; r - b < w.rows && t0 < w.kw; t0 += TAPS) {
				if (!stage(s, w, a.in, r - b, b, f, q0, t0))
					continue;
				sum_taps(s.tap, (const pair<T>(*)[STRIDE])(*s.sample + lane),
					 TAPS / LANE, part);
#pragma unroll
				for (unsigned i = 0; i < LANE; i++)
					add_compensated(sum[i], lost[i], part[i]);
			}
#pragma unroll
	for (unsigned i = 0; i < LANE; i++) {
		const unsigned q = q0 + lane * LANE + i;
		if (q < a.wide)
			a.padded[(size_t)r * a.wide + q] = sum[i];
	}
}

template <class T>
int
wc_scatter(struct gpu *g, const wc_whole<T> &o)
{
	const unsigned segments = gpu_blocks(o.a.wide, SPAN);

	GPU_LAUNCH(g, scatter<T>, gpu_blocks(o.a.high, WARPS) * segments, 32 * WARPS, 0, o.w, o.a,
		   segments);
	return 0;
}

/* --- by transforms ---------------------------------------------------------------------------------------------------- */

/* Stores function number i of x times the results of the tiles in b.real, [tile][high][nx]. */
template <class T>
__global__ void
weigh_x(const wc_work<T> w, const wc_tiles<T> b, const T *in, unsigned i)
{
	const size_t at = gpu_element();
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
	const size_t at = gpu_element();
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
	const size_t at = gpu_element();
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
	size_t rest = gpu_element();
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

/* Makes the windows of the tiles of b. host: the same tiles on the host. *any: whether they have any kernel. */
template <class T>
int
make_windows(struct gpu *g, const struct wconv_plan *p, const wc_work<T> &w, const wc_tiles<T> &b,
	     const wc_tile *host, const T *in, bool *any)
{
	const size_t spectrum = (size_t)b.columns * b.n * b.ny;

	*any = false;
	for (unsigned i = 0; i < p->x.most; i++) {
		GPU_LAUNCH(g, weigh_x<T>, gpu_blocks((size_t)b.n * b.high * b.nx, WC_THREADS),
			   WC_THREADS, 0, w, b, in, i);
		GPU_DO(wc_rows(g, b, (size_t)b.n * b.high, b.blend));
		for (unsigned j = 0; j < p->y.most; j++) {
			if (!wc_is_needed(p, host, b.n, i, j))
				continue;
			GPU_LAUNCH(g, weigh_y<T>, gpu_blocks(spectrum, WC_THREADS), WC_THREADS, 0,
				   w, b, j);
			GPU_DO(wc_columns(g, b, b.n, -1, b.product));
			GPU_LAUNCH(g, correlate<T>, gpu_blocks(spectrum, WC_THREADS), WC_THREADS, 0,
				   w, b, i, j, !*any);
			*any = true;
		}
	}
	if (!*any)
		return 0;
	GPU_DO(wc_columns(g, b, b.n, 1, b.image));
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
		GPU_LAUNCH(g, add_windows<T>, gpu_blocks((size_t)rows * o.a.wide, WC_THREADS),
			   WC_THREADS, 0, b, o.a, (unsigned)first, (unsigned)o.p->x.ntile, top,
			   rows, scale);
	return err;
}

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

/* --- factors and edges ------------------------------------------------------------------------------------------------ */

/* Returns (sum of the local kernel) / (its sum over known pixels), or 0 where less than WCONV_KNOWN of its weight is known. */
template <class T>
__device__ double
known_gain(const wc_work<T> &w, const wc_segment &g, unsigned r, unsigned x)
{
	double all = 0, known = 0, weight = 0;

	for (unsigned n = 0; n < w.nwy * g.nf; n++) {
		double by;
		const T *k = weighed_kernel<T>(w, g, r, x, n, &by);
		for (unsigned i = 0; k && i < w.kw * w.kh; i++) {
			const double v = by * (double)k[i];
			all += v;
			weight += fabs(v);
			if (w.row[r + i / w.kw] >= 0 && w.column[x + i % w.kw] >= 0)
				known += v;
		}
	}
	return fabs(known) > WCONV_KNOWN * weight ? all / known : 0;
}

template <class T>
__global__ void
weigh(const wc_work<T> w, const T *from, T *to)
{
	const size_t at = gpu_element();
	size_t rest = at;
	const unsigned x = take_index(&rest, w.width), r = (unsigned)rest;

	if (rest >= w.rows)
		return;
	/* a window that reaches beyond an edge has its first or its last row or column there */
	const bool beyond = w.row[r] < 0 || w.row[r + w.kh - 1] < 0 || w.column[x] < 0 ||
			    w.column[x + w.kw - 1] < 0;
	const wc_segment g = {0, 0, w.fx[x], w.nwx};
	double v = (double)from[at];
	if (w.renormalise && beyond)
		v *= known_gain<T>(w, g, r, x);
	if (w.sum)
		v /= local_sum<T>(w, g, r, x);
	to[at] = (T)v;
}

template <class T>
__global__ void
fold(const wc_adjoint<T> a)
{
	const size_t at = gpu_element();
	size_t rest = at;
	const unsigned x = take_index(&rest, a.item_w), y = (unsigned)rest;
	T sum = 0, lost = 0;

	if (rest >= a.item_h)
		return;
	for (unsigned i = a.row0[y]; i < a.row0[y + 1]; i++)
		for (unsigned k = a.column0[x]; k < a.column0[x + 1]; k++)
			add_compensated(sum, lost,
					a.padded[(size_t)a.row[i] * a.wide + a.column[k]]);
	a.out[at] = sum;
}

/* For one direction: the lists of wc_adjoint. */
struct folds {
	unsigned *first, *place, *tile;
};

folds
lay_folds(gpu_block *b, const struct wconv_axis *a, size_t padded)
{
	folds f;

	f.first = gpu_take<unsigned>(b, (size_t)(a->have1 - a->have0) + 1);
	f.place = gpu_take<unsigned>(b, padded);
	f.tile = gpu_take<unsigned>(b, 2 * padded);
	return f;
}

/* Sorts the padded places by the pixel that they are copies of. */
void
list_copies(const folds &f, const struct wconv_axis *a, size_t padded)
{
	const size_t n = (size_t)(a->have1 - a->have0);
	const ptrdiff_t origin = a->lo - a->before;

	memset(f.first, 0, (n + 1) * sizeof *f.first);
	for (size_t i = 0; i < padded; i++) {
		const ptrdiff_t x = wc_place(a, origin + (ptrdiff_t)i);
		if (x >= 0)
			f.first[x + 1]++;
	}
	for (size_t x = 0; x < n; x++)
		f.first[x + 1] += f.first[x];
	for (size_t i = 0; i < padded; i++) {
		const ptrdiff_t x = wc_place(a, origin + (ptrdiff_t)i);
		if (x >= 0)
			f.place[f.first[x]++] = (unsigned)i;
	}
	memmove(f.first + 1, f.first, n * sizeof *f.first);
	f.first[0] = 0;
}

/* Finds the tiles whose windows have each padded place. */
void
list_tiles_of(const folds &f, const struct wconv_axis *a, size_t padded, size_t kernel)
{
	for (size_t i = 0, from = 0, to = 0; i < padded; i++) {
		while (to < a->ntile && (size_t)(a->tile[to].a - a->lo) <= i)
			to++;
		while (from < to && (size_t)(a->tile[from].b - a->lo) + kernel - 1 <= i)
			from++;
		f.tile[2 * i] = (unsigned)from;
		f.tile[2 * i + 1] = (unsigned)to;
	}
}

template <class T>
int
send_folds(struct gpu *g, const struct wconv_plan *p, wc_adjoint<T> *a)
{
	folds x, y;
	const int err = gpu_place_filled(
	    g, WC_FOLD,
	    [&](gpu_block *b) {
		    x = lay_folds(b, &p->x, a->wide);
		    y = lay_folds(b, &p->y, a->high);
	    },
	    [&] {
		    list_copies(x, &p->x, a->wide);
		    list_copies(y, &p->y, a->high);
		    list_tiles_of(x, &p->x, a->wide, p->q.kw);
		    list_tiles_of(y, &p->y, a->high, p->q.kh);
	    });

	a->column0 = x.first;
	a->column = x.place;
	a->tile_x = x.tile;
	a->row0 = y.first;
	a->row = y.place;
	a->tile_y = y.tile;
	return err;
}

template <class T>
int
wc_adjoint_open(struct gpu *g, wc_whole<T> *o)
{
	const wc_work<T> &w = o->w;
	wc_adjoint<T> *const a = &o->a;

	a->wide = w.width + w.kw - 1;
	a->high = w.rows + w.kh - 1;
	a->item_w = (unsigned)o->p->q.w;
	a->item_h = (unsigned)o->p->q.h;
	GPU_DO(gpu_array(g, WC_RING, (size_t)a->high * a->wide, &a->padded));
	if (w.renormalise || w.sum)
		GPU_DO(gpu_array(g, WC_WEIGHED, (size_t)w.rows * w.width, &a->weighed));
	return send_folds<T>(g, o->p, a);
}

} // namespace

template <class T>
int
wc_scatter_back(struct gpu *g, wc_whole<T> *o, const T *y, T *x)
{
	const size_t n = (size_t)o->w.rows * o->w.width;

	o->a.in = o->a.weighed ? o->a.weighed : y;
	o->a.out = x;
	if (o->a.weighed)
		GPU_LAUNCH(g, weigh<T>, gpu_blocks(n, WC_THREADS), WC_THREADS, 0, o->w, y,
			   o->a.weighed);
	GPU_DO(o->p->direct ? wc_scatter<T>(g, *o) : wc_scatter_tiles<T>(g, o));
	GPU_LAUNCH(g, fold<T>, gpu_blocks(o->p->q.w * o->p->q.h, WC_THREADS), WC_THREADS, 0, o->a);
	return 0;
}

/* --- whole items ------------------------------------------------------------------------------------------------------ */

namespace
{

/* Lists all tiles, and lays out the memory for as many as there is room for. */
template <class T>
int
open_tiles(struct gpu *g, wc_whole<T> *o)
{
	const struct wconv_plan *p = o->p;
	const size_t n = p->x.ntile * p->y.ntile;

	o->list = static_cast<wc_tile *>(weir_alloc(n, sizeof *o->list));
	if (!o->list)
		return -ENOMEM;
	wc_list_tiles(p, {0, p->y.ntile}, p->y.lo, o->list);
	GPU_DO(gpu_send(g, WC_LIST, o->list, n, &o->tiles.list));
	return wc_lay_out<T>(g, p, n, &o->tiles, &o->most);
}

template <class T>
int
transform(struct gpu *g, wc_whole<T> *o)
{
	const int err = wc_sum_kernels<T>(g, o->p, o->w, !o->summed, &o->tiles);

	o->summed = !err;
	return err ? err : wc_each_tiles<T>(g, o, [&](const wc_tiles<T> &b, size_t first) {
		return wc_run_tiles<T>(g, o->p, o->w, b, o->list + first);
	});
}

/* Moves an item, or its adjoint's results, to the device and back. */
template <class T>
int
run_adjoint(struct gpu *g, wc_whole<T> *o, const void *in, void *out)
{
	const size_t results = (size_t)o->w.rows * o->w.width, pixels = o->p->q.w * o->p->q.h;
	T *y, *x;

	GPU_DO(gpu_send(g, WC_RAW, static_cast<const T *>(in), results, &y));
	GPU_DO(gpu_array(g, WC_OUT, pixels, &x));
	GPU_DO(gpu_begin(g));
	GPU_DO(wc_scatter_back<T>(g, o, y, x));
	GPU_DO(gpu_end(g));
	return gpu_down(g, out, x, pixels * sizeof *x);
}

template <class T>
int
open_and_run(struct gpu *g, const struct wconv_plan *p, const void *in, void *out)
{
	wc_whole<T> o = {};
	int err = wc_whole_open<T>(g, p, &o);

	if (!err)
		err = run_adjoint<T>(g, &o, in, out);
	wc_whole_close<T>(&o);
	return err;
}

} // namespace

template <class T>
int
wc_whole_open(struct gpu *g, const struct wconv_plan *p, wc_whole<T> *o)
{
	o->p = p;
	o->w = wc_work_of<T>(p, (size_t)(p->y.hi - p->y.lo));
	GPU_DO(wc_send_kernels<T>(g, p));
	GPU_DO(wc_send_tables<T>(g, p, &o->w));
	GPU_DO(wc_send_step<T>(g, p, p->q.h, p->y.lo, o->w.rows, &o->w));
	o->w.kernel = static_cast<const T *>(g->held[WC_KERNELS]);
	GPU_DO(wc_adjoint_open<T>(g, o));
	return p->direct ? 0 : open_tiles<T>(g, o);
}

template <class T>
void
wc_whole_close(wc_whole<T> *o)
{
	weir_free(o->list);
	*o = {};
}

template <class T>
int
wc_convolve(struct gpu *g, wc_whole<T> *o, const T *x, T *y)
{
	o->w.ring = x;
	o->w.out = y;
	return o->p->direct ? wc_sum<T>(g, o->w) : transform<T>(g, o);
}

int
gpu_wconv_adjoint(struct gpu *g, const struct wconv_plan *p, const void *in, void *out)
{
	return p->q.in_double ? open_and_run<double>(g, p, in, out)
			      : open_and_run<float>(g, p, in, out);
}

#define INSTANCES(T)                                                                        \
	template int wc_whole_open(struct gpu *, const struct wconv_plan *, wc_whole<T> *); \
	template void wc_whole_close(wc_whole<T> *);                                        \
	template int wc_convolve(struct gpu *, wc_whole<T> *, const T *, T *);              \
	template int wc_scatter_back(struct gpu *, wc_whole<T> *, const T *, T *);
INSTANCES(float)
INSTANCES(double)
