/*
 * The convolution and the adjoint of whole items. What depends on the shape goes to the device once; a deconvolution then
 * applies both many times. All rows of results are one step: its ring has all rows of the item.
 *
 * The adjoint, of a whole item on one device:
 *
 *	weigh	results times their factors: 1 / the sum of the local kernel, or that sum / its part on known pixels	thread = result
 *		each scatters along its kernel to the item with its edges, by sums or by transforms (fft.cu)
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
 */
#include "gpu/wconv/pixel.h"

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
__device__ void
weigh(size_t at, const wc_work<T> &w, const T *from, T *to)
{
	size_t r = at;
	const unsigned x = take_index(&r, w.width);
	/* a window that reaches beyond an edge has its first or its last row or column there */
	const bool beyond = w.row[r] < 0 || w.row[r + w.kh - 1] < 0 || w.column[x] < 0 ||
			    w.column[x + w.kw - 1] < 0;
	const wc_segment g = {0, 0, w.fx[x], w.nwx};
	double v = (double)from[at];
	if (w.renormalise && beyond)
		v *= known_gain<T>(w, g, (unsigned)r, x);
	if (w.sum)
		v /= local_sum<T>(w, g, (unsigned)r, x);
	to[at] = (T)v;
}

template <class T>
__device__ void
fold(size_t at, const wc_adjoint<T> &a)
{
	size_t y = at;
	const unsigned x = take_index(&y, a.item_w);
	T sum = 0, lost = 0;

	for (unsigned i = a.row0[y]; i < a.row0[y + 1]; i++)
		for (unsigned k = a.column0[x]; k < a.column0[x + 1]; k++)
			add_compensated(sum, lost,
					a.padded[(size_t)a.row[i] * a.wide + a.column[k]]);
	a.out[at] = sum;
}

/* For one direction: the lists of wc_adjoint. */
void
lay_folds(gpu_block *b, const struct wconv_axis *a, size_t padded, unsigned **first,
	  unsigned **place, unsigned **tile)
{
	*first = gpu_take<unsigned>(b, (size_t)(a->have1 - a->have0) + 1);
	*place = gpu_take<unsigned>(b, padded);
	*tile = gpu_take<unsigned>(b, 2 * padded);
}

/* Sorts the padded places by the pixel that they are copies of. */
void
list_copies(const struct wconv_axis *a, size_t padded, unsigned *first, unsigned *place)
{
	const size_t n = (size_t)(a->have1 - a->have0);
	const ptrdiff_t origin = a->lo - a->before;

	memset(first, 0, (n + 1) * sizeof *first);
	for (size_t i = 0; i < padded; i++) {
		const ptrdiff_t x = wc_place(a, origin + (ptrdiff_t)i);
		if (x >= 0)
			first[x + 1]++;
	}
	for (size_t x = 0; x < n; x++)
		first[x + 1] += first[x];
	for (size_t i = 0; i < padded; i++) {
		const ptrdiff_t x = wc_place(a, origin + (ptrdiff_t)i);
		if (x >= 0)
			place[first[x]++] = (unsigned)i;
	}
	memmove(first + 1, first, n * sizeof *first);
	first[0] = 0;
}

/* Finds the tiles whose windows have each padded place. */
void
list_tiles_of(const struct wconv_axis *a, size_t padded, size_t kernel, unsigned *tile)
{
	for (size_t i = 0, from = 0, to = 0; i < padded; i++) {
		while (to < a->ntile && (size_t)(a->tile[to].a - a->lo) <= i)
			to++;
		while (from < to && (size_t)(a->tile[from].b - a->lo) + kernel - 1 <= i)
			from++;
		tile[2 * i] = (unsigned)from;
		tile[2 * i + 1] = (unsigned)to;
	}
}

template <class T>
int
send_folds(struct gpu *g, const struct wconv_plan *p, wc_adjoint<T> *a)
{
	return gpu_place_filled(
	    g, WC_FOLD,
	    [=](gpu_block *b) {
		    lay_folds(b, &p->x, a->wide, &a->column0, &a->column, &a->tile_x);
		    lay_folds(b, &p->y, a->high, &a->row0, &a->row, &a->tile_y);
	    },
	    [=] {
		    list_copies(&p->x, a->wide, a->column0, a->column);
		    list_copies(&p->y, a->high, a->row0, a->row);
		    list_tiles_of(&p->x, a->wide, p->q.kw, a->tile_x);
		    list_tiles_of(&p->y, a->high, p->q.kh, a->tile_y);
	    });
}

/* --- whole items ------------------------------------------------------------------------------------------------------ */

template <class T>
int
run_adjoint(struct gpu *g, const struct wconv_plan *p, const void *in, void *out)
{
	wc_whole<T> o = {};
	T *y, *x;

	GPU_DO(wc_whole_open<T>(g, p, &o));
	const size_t results = (size_t)o.w.rows * o.w.width, pixels = p->q.w * p->q.h;
	GPU_DO(gpu_send(g, WC_RAW, static_cast<const T *>(in), results, &y));
	GPU_DO(gpu_array(g, WC_OUT, pixels, &x));
	GPU_DO(gpu_begin(g));
	GPU_DO(wc_scatter_back<T>(g, &o, y, x));
	GPU_DO(gpu_end(g));
	return gpu_down(g, out, x, pixels * sizeof *x);
}

} // namespace

template <class T>
int
wc_whole_open(struct gpu *g, const struct wconv_plan *p, wc_whole<T> *o)
{
	wc_work<T> &w = o->w;
	wc_adjoint<T> *const a = &o->a;

	o->p = p;
	w = wc_work_of<T>(p, (size_t)(p->y.hi - p->y.lo));
	GPU_DO(wc_send_kernels<T>(g, p));
	GPU_DO(wc_send_tables<T>(g, p, &w));
	GPU_DO(wc_send_step<T>(g, p, p->q.h, p->y.lo, w.rows, &w));
	w.kernel = static_cast<const T *>(g->held[WC_KERNELS]);
	a->wide = w.width + w.kw - 1;
	a->high = w.rows + w.kh - 1;
	a->item_w = (unsigned)p->q.w;
	a->item_h = (unsigned)p->q.h;
	GPU_DO(gpu_array(g, WC_RING, (size_t)a->high * a->wide, &a->padded));
	if (w.renormalise || w.sum)
		GPU_DO(gpu_array(g, WC_WEIGHED, (size_t)w.rows * w.width, &a->weighed));
	GPU_DO(send_folds<T>(g, p, a));
	return p->direct ? 0 : wc_open_tiles<T>(g, o);
}

template <class T>
int
wc_convolve(struct gpu *g, wc_whole<T> *o, const T *x, T *y)
{
	o->w.ring = x;
	o->w.out = y;
	return o->p->direct ? wc_sum<T>(g, o->w) : wc_transform_all<T>(g, o);
}

template <class T>
int
wc_scatter_back(struct gpu *g, wc_whole<T> *o, const T *y, T *x)
{
	const size_t n = (size_t)o->w.rows * o->w.width;
	const unsigned segments = gpu_blocks(o->a.wide, SPAN);

	o->a.in = o->a.weighed ? o->a.weighed : y;
	o->a.out = x;
	if (o->a.weighed)
		GPU_EACH(g, weigh<T>, n, o->w, y, o->a.weighed);
	if (o->p->direct)
		GPU_LAUNCH(g, scatter<T>, gpu_blocks(o->a.high, WARPS) * segments, 32 * WARPS, 0,
			   o->w, o->a, segments);
	else
		GPU_DO(wc_scatter_tiles<T>(g, o));
	GPU_EACH(g, fold<T>, o->p->q.w * o->p->q.h, o->a);
	return 0;
}

int
gpu_wconv_adjoint(struct gpu *g, const struct wconv_plan *p, const void *in, void *out)
{
	return p->q.in_double ? run_adjoint<double>(g, p, in, out)
			      : run_adjoint<float>(g, p, in, out);
}

#define INSTANCES(T)                                                                        \
	template int wc_whole_open(struct gpu *, const struct wconv_plan *, wc_whole<T> *); \
	template int wc_convolve(struct gpu *, wc_whole<T> *, const T *, T *);              \
	template int wc_scatter_back(struct gpu *, wc_whole<T> *, const T *, T *);
INSTANCES(float)
INSTANCES(double)
