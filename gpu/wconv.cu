/*
 * Convolution with a kernel that varies, summed directly. The weights of a grid are wy(y) wx(x), so for a row of results the
 * kernels above and below are blended once, to A(t) for the grid column on the left and B(t) for the one on the right:
 *
 *	F(x) = wx0(x) sum_t A(t) I(x + t) + wx1(x) sum_t B(t) I(x + t)		2 multiplications and additions a tap
 *
 *	warp	up to 256 results of a row between the same grid columns, lane = 8 results side by side
 *	block	4 warps, 4 rows; grid = rows x segments x planes
 *	shared	a warp's 32 taps of A and B, and the 256 + 40 pixels they meet, pixel s at [s % 8][s / 8], rows of 37, so that
 *		lanes 8 pixels apart lie in banks side by side: a lane reads a pixel and a pair of taps for 16 operations
 *
 * 32 taps are summed in single precision, those sums with a compensation: the error stays that of 32 terms for kernels of any
 * size. Polynomials are taken two functions of x at a time. Where a window meets a pixel that is not finite, or
 * unknown beyond the edge, its warp sums as the definition does, in double, a thread per result.
 *
 * Bound: 4 kw kh operations a result; bytes: each sample in and out once over the bus and through device memory, the window's
 * rows again from the second-level cache.
 */
#include "gpu/device.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

extern "C" {
#include "common/mem.h"
#include "gpu/wconv.h"
#include "wconv/plan.h"
}

namespace
{

constexpr unsigned WARPS = 4, LANE = 8, SPAN = 32 * LANE, TAPS = 32, STAGED = SPAN + TAPS + LANE;
constexpr unsigned STRIDE = STAGED / LANE + (STAGED / LANE % 2 ? 0 : 1), NONE = ~0u;

/* Results [at, at + n) of a row, which need the functions f .. f + nf - 1 of x. */
struct segment {
	unsigned at, n, f, nf;
};

enum state { KNOWN, UNKNOWN, POISON };

/* What a step needs, all on the device. */
template <class T> struct work {
	const T *ring;	 /* [depth][w][planes] */
	const T *kernel; /* [kernels][kh][kw], turned so that tap t meets pixel x + t, scaled */
	const unsigned *number; /* [functions of y][functions of x]: the kernel, or NONE */
	const T *wx;		/* [nwx][width]: weights of the functions of a segment */
	const int *column;	/* [width + kw - 1]: of the item, -1: none */
	const segment *seg;
	const T *wy;	    /* [nwy][rows] */
	const unsigned *fy; /* [rows]: the first function of y */
	const int *row;	    /* [rows + kh - 1]: of the ring, -1: none */
	void *out;	    /* [rows][width][planes] */
	unsigned width, rows, planes, kw, kh, nwy, nfx, nfy;
	size_t ring_row;    /* samples of a row */
	enum img_type type; /* of out */
	enum wconv_nan nan;
	bool renormalise;
	double outside, top; /* what lies beyond the edges */
};

/* --- samples ------------------------------------------------------------------------------------------------------- */

template <class T>
__device__ T
load_sample(const void *in, enum img_type type, size_t i)
{
	switch (type) {
	case IMG_I8:
		return (T) static_cast<const signed char *>(in)[i];
	case IMG_U8:
		return (T) static_cast<const unsigned char *>(in)[i];
	case IMG_I16:
		return (T) static_cast<const short *>(in)[i];
	case IMG_U16:
		return (T) static_cast<const unsigned short *>(in)[i];
	case IMG_I32:
		return (T) static_cast<const int *>(in)[i];
	case IMG_U32:
		return (T) static_cast<const unsigned *>(in)[i];
	case IMG_I64:
		return (T) static_cast<const long long *>(in)[i];
	case IMG_U64:
		return (T) static_cast<const unsigned long long *>(in)[i];
	case IMG_F64:
		return (T) static_cast<const double *>(in)[i];
	default:
		return (T) static_cast<const float *>(in)[i];
	}
}

/* Rounds half to even and clips. NaN, which no integer can hold, becomes the lowest. */
template <class C>
__device__ void
store_whole(void *out, size_t i, double v, double lo, double hi, double top)
{
	const double r = rint(v);

	lo = top > 0 ? 0 : lo;
	hi = top > 0 ? top : hi;
	static_cast<C *>(out)[i] = (C)(!(r > lo) ? lo : r > hi ? hi : r);
}

__device__ void
store_sample(void *out, enum img_type type, double top, size_t i, double v)
{
	switch (type) {
	case IMG_I8:
		return store_whole<signed char>(out, i, v, -128., 127., top);
	case IMG_U8:
		return store_whole<unsigned char>(out, i, v, 0., 255., top);
	case IMG_I16:
		return store_whole<short>(out, i, v, -32768., 32767., top);
	case IMG_U16:
		return store_whole<unsigned short>(out, i, v, 0., 65535., top);
	case IMG_I32:
		return store_whole<int>(out, i, v, -2147483648., 2147483647., top);
	case IMG_U32:
		return store_whole<unsigned>(out, i, v, 0., 4294967295., top);
	case IMG_I64:
		return store_whole<long long>(out, i, v, -9223372036854775808.,
					      9223372036854774784., top);
	case IMG_U64:
		return store_whole<unsigned long long>(out, i, v, 0., 18446744073709549568., top);
	case IMG_F64:
		static_cast<double *>(out)[i] = v;
		return;
	default:
		static_cast<float *>(out)[i] = (float)v;
	}
}

/* Rows of the item to the ring: thread = sample. */
template <class T>
__global__ void
feed(T *ring, const void *in, enum img_type type, size_t row_samples, size_t samples, size_t first,
     size_t depth)
{
	const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < samples)
		ring[(first + i / row_samples) % depth * row_samples + i % row_samples] =
		    load_sample<T>(in, type, i);
}

/* A pixel of the endless image; 0 unless it is known. */
template <class T>
__device__ T
pixel(const work<T> &w, unsigned plane, int row, int column, enum state *state)
{
	*state = KNOWN;
	if (row < 0 || column < 0) {
		if (w.renormalise)
			*state = UNKNOWN;
		return (T)w.outside;
	}
	const T v = w.ring[(size_t)row * w.ring_row + (size_t)column * w.planes + plane];
	if (v - v == 0)
		return v;
	if (w.nan != WCONV_NAN_ZERO)
		*state = w.nan == WCONV_NAN_PROPAGATE ? POISON : UNKNOWN;
	return 0;
}

/* --- the sums ------------------------------------------------------------------------------------------------------ */

/* Of the kernels above and below, blended: tap t of kernel row b for function f of x at row r of the results. */
template <class T>
__device__ T
blended_tap(const work<T> &w, unsigned r, unsigned f, unsigned b, unsigned t)
{
	T sum = 0;

	for (unsigned j = 0; j < w.nwy; j++) {
		const unsigned fy = w.fy[r] + j;
		const unsigned k = fy < w.nfy && f < w.nfx ? w.number[fy * w.nfx + f] : NONE;
		if (k != NONE)
			sum += w.wy[(size_t)j * w.rows + r] *
			       w.kernel[((size_t)k * w.kh + b) * w.kw + t];
	}
	return sum;
}

template <class T> struct taps {
	T a, b;
};

/* What a warp has in shared memory. */
template <class T> struct staged {
	T pixel[LANE][STRIDE];
	taps<T> tap[TAPS];
};

/* 32 taps from t0 on of kernel row b, and their pixels; whether one of those is not known. */
template <class T>
__device__ bool
stage(staged<T> &s, const work<T> &w, const segment &g, unsigned plane, unsigned r, unsigned b,
      unsigned f, unsigned t0)
{
	const unsigned lane = threadIdx.x % 32, t = t0 + lane, reach = g.n + w.kw - 1;
	const taps<T> none = {0, 0};
	bool odd = false;

	__syncwarp();
	for (unsigned i = lane; i < STAGED; i += 32) {
		enum state state = KNOWN;
		T v = 0;
		if (t0 + i < reach)
			v = pixel<T>(w, plane, w.row[r + b], w.column[g.at + t0 + i], &state);
		odd |= state != KNOWN;
		s.pixel[i % LANE][i / LANE] = v;
	}
	s.tap[lane] =
	    t < w.kw ? taps<T>{blended_tap<T>(w, r, f, b, t), blended_tap<T>(w, r, f + 1, b, t)}
		     : none;
	__syncwarp();
	return odd;
}

/* Sums of the staged taps over the windows of a lane's 8 results. v[(u + i) % 8] is the pixel of tap u, result i. */
template <class T>
__device__ void
sum_taps(const staged<T> &s, T sa[LANE], T sb[LANE])
{
	const unsigned lane = threadIdx.x % 32;
	T v[LANE];

#pragma unroll
	for (unsigned i = 0; i < LANE; i++) {
		sa[i] = sb[i] = 0;
		v[i] = s.pixel[i][lane];
	}
	for (unsigned m = 0; m < TAPS / LANE; m++)
#pragma unroll
		for (unsigned u = 0; u < LANE; u++) {
			const taps<T> k = s.tap[m * LANE + u];
#pragma unroll
			for (unsigned i = 0; i < LANE; i++) {
				sa[i] += k.a * v[(u + i) % LANE];
				sb[i] += k.b * v[(u + i) % LANE];
			}
			v[u] = s.pixel[u][lane + m + 1];
		}
}

/* sum + lost grows by v. */
template <class T>
__device__ void
add_compensated(T &sum, T &lost, T v)
{
	const T y = v - lost, t = sum + y;

	lost = (t - sum) - y;
	sum = t;
}

/* Result x as defined: wconv/direct.c. */
template <class T>
__device__ double
careful(const work<T> &w, const segment &g, unsigned plane, unsigned r, unsigned x)
{
	double value = 0, known = 0, all = 0, weight = 0;
	bool unknown = false;

	for (unsigned n = 0; n < w.nwy * g.nf; n++) {
		const unsigned fy = w.fy[r] + n / g.nf, fx = g.f + n % g.nf;
		const double by = (double)w.wy[(size_t)(n / g.nf) * w.rows + r] *
				  (double)w.wx[(size_t)(n % g.nf) * w.width + x];
		if (by == 0 || fy >= w.nfy || fx >= w.nfx || w.number[fy * w.nfx + fx] == NONE)
			continue;
		const T *k = w.kernel + (size_t)w.number[fy * w.nfx + fx] * w.kh * w.kw;
		for (unsigned i = 0; i < w.kw * w.kh; i++) {
			enum state state;
			const double p = (double)pixel<T>(w, plane, w.row[r + i / w.kw],
							  w.column[x + i % w.kw], &state);
			const double v = by * (double)k[i];
			if (state == POISON)
				return NAN;
			value += v * p;
			known += state == UNKNOWN ? 0 : v;
			all += v;
			weight += fabs(v);
			unknown |= state == UNKNOWN;
		}
	}
	if (!unknown)
		return value;
	return fabs(known) > WCONV_KNOWN * weight ? value * all / known : NAN;
}

template <class T> __global__ void __launch_bounds__(32 * WARPS) convolve(const work<T> w)
{
	__shared__ staged<T> shared[WARPS];
	const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, plane = blockIdx.z;
	const unsigned r = blockIdx.x * WARPS + warp;
	const segment g = w.seg[blockIdx.y];
	T sum[LANE], lost[LANE], sa[LANE], sb[LANE];
	bool odd = false;

	if (r >= w.rows)
		return;
#pragma unroll
	for (unsigned i = 0; i < LANE; i++)
		sum[i] = lost[i] = 0;
	for (unsigned f = 0; f < g.nf; f += 2)
		for (unsigned b = 0; b < w.kh; b++)
			for (unsigned t0 = 0; t0 < w.kw; t0 += TAPS) {
				odd |= stage<T>(shared[warp], w, g, plane, r, b, g.f + f, t0);
				sum_taps<T>(shared[warp], sa, sb);
#pragma unroll
				for (unsigned i = 0; i < LANE; i++) {
					const unsigned x = g.at + min(lane * LANE + i, g.n - 1);
					T v = w.wx[(size_t)f * w.width + x] * sa[i];
					if (f + 1 < g.nf)
						v += w.wx[(size_t)(f + 1) * w.width + x] * sb[i];
					add_compensated<T>(sum[i], lost[i], v);
				}
			}
	odd = __any_sync(~0u, odd);
#pragma unroll
	for (unsigned i = 0; i < LANE; i++) {
		const unsigned x = lane * LANE + i;
		if (x >= g.n)
			break;
		const double v = odd ? careful<T>(w, g, plane, r, g.at + x) : (double)sum[i];
		store_sample(w.out, w.type, w.top,
			     ((size_t)r * w.width + g.at + x) * w.planes + plane, v);
	}
}

/* --- tables -------------------------------------------------------------------------------------------------------- */

enum { HOLD_RING, HOLD_KERNELS, HOLD_TABLES, HOLD_STEP, HOLD_RAW, HOLD_OUT };

/* Arrays in one block of memory, made on the host and copied to the device. */
struct block {
	char *host;
	size_t used;
};

/* n elements; base NULL only counts. */
template <class E>
E *
take(block *b, size_t n)
{
	const size_t at = (b->used + 15) / 16 * 16;

	b->used = at + n * sizeof(E);
	return b->host ? reinterpret_cast<E *>(b->host + at) : NULL;
}

/* How many weights a position has: those of two neighbouring functions, or of all powers. */
unsigned
weights_of(const struct wconv_axis *a)
{
	return a->degree >= 0 ? (unsigned)a->nfun : 2;
}

/* The first function that position x needs. */
unsigned
first_function(const struct wconv_axis *a, ptrdiff_t x)
{
	unsigned f = 0;

	if (a->degree >= 0)
		return 0;
	for (size_t lo = 1, hi = a->nfun; lo < hi;) { /* the last with left <= x */
		const size_t mid = lo + (hi - lo) / 2;
		if (a->left[mid] <= (double)x) {
			f = (unsigned)mid;
			lo = mid + 1;
		} else {
			hi = mid;
		}
	}
	return f;
}

double
weight_of(const struct wconv_axis *a, size_t f, ptrdiff_t x)
{
	return f < a->nfun ? wconv_weight(a, f, x) : 0;
}

/* Where the window's pixel is found: a place of the item, or -1. */
ptrdiff_t
place_of(const struct wconv_axis *a, ptrdiff_t x)
{
	const ptrdiff_t from = wconv_edge(a->edge, x, a->n);

	return from < 0 ? -1 : from - a->have0;
}

template <class T> struct tables {
	T *wx;
	int *column;
	segment *seg;
	unsigned *number;
};

template <class T>
tables<T>
lay_tables(block *b, const struct wconv_plan *p)
{
	const size_t width = (size_t)(p->x.hi - p->x.lo);
	tables<T> t;

	t.wx = take<T>(b, weights_of(&p->x) * width);
	t.column = take<int>(b, width + p->q.kw - 1);
	t.seg = take<segment>(b, width);
	t.number = take<unsigned>(b, p->x.nfun * p->y.nfun);
	return t;
}

/* Runs of at most SPAN results with the same functions; returns how many. */
unsigned
cut_segments(const struct wconv_axis *a, segment *seg)
{
	const unsigned width = (unsigned)(a->hi - a->lo), most = weights_of(a);
	unsigned n = 0;

	for (unsigned x = 0; x < width; x++) {
		const unsigned f = first_function(a, a->lo + (ptrdiff_t)x);
		if (n == 0 || seg[n - 1].f != f || seg[n - 1].n == SPAN)
			seg[n++] = {x, 0, f, most};
		seg[n - 1].n++;
	}
	return n;
}

template <class T>
void
fill_tables(const tables<T> &t, const struct wconv_plan *p)
{
	const struct wconv_axis *a = &p->x;
	const size_t width = (size_t)(a->hi - a->lo);

	for (size_t x = 0; x < width; x++) {
		const ptrdiff_t at = a->lo + (ptrdiff_t)x;
		const unsigned f = first_function(a, at);
		for (size_t k = 0; k < weights_of(a); k++)
			t.wx[k * width + x] = (T)weight_of(a, f + k, at);
	}
	for (size_t i = 0; i < width + p->q.kw - 1; i++)
		t.column[i] = (int)place_of(a, a->lo - a->before + (ptrdiff_t)i);
	for (size_t f = 0; f < p->x.nfun * p->y.nfun; f++) {
		const size_t k = wconv_kernel(p, f % p->x.nfun, f / p->x.nfun);
		t.number[f] = k == SIZE_MAX ? NONE : (unsigned)k;
	}
}

/* The kernels as convolve() wants them. */
template <class T>
void
turn_kernels(T *to, const struct wconv_plan *p)
{
	const struct wconv_problem *q = &p->q;

	for (size_t k = 0; k < q->gx * q->gy; k++)
		for (size_t j = 0; j < q->kh; j++)
			for (size_t i = 0; i < q->kw; i++) {
				const size_t a = q->correlate ? i : q->kw - 1 - i;
				const size_t b = q->correlate ? j : q->kh - 1 - j;
				const size_t at = k % q->gx * q->step_x + k / q->gx * q->step_y +
						  b * q->step_row + a;
				const double v = q->in_double
						     ? static_cast<const double *>(q->kernels)[at]
						     : static_cast<const float *>(q->kernels)[at];
				*to++ = (T)(v * p->scale[k]);
			}
}

/* A block made by the host, to the device. */
int
send(struct gpu *g, int slot, const block *b, void **device)
{
	const int err = gpu_hold(g, slot, b->used, device);

	return err ? err : gpu_up(g, *device, b->host, b->used);
}

/* Before the first step of a picture: kernels and tables. Fills what w has of them. */
template <class T>
int
send_kernels(struct gpu *g, const struct wconv_plan *p)
{
	const size_t n = p->q.gx * p->q.gy * p->q.kw * p->q.kh;
	block b = {static_cast<char *>(weir_alloc(n, sizeof(T))), n * sizeof(T)};
	void *device;
	int err = -ENOMEM;

	if (b.host) {
		turn_kernels<T>(reinterpret_cast<T *>(b.host), p);
		err = send(g, HOLD_KERNELS, &b, &device);
	}
	weir_free(b.host);
	return err;
}

template <class T>
int
send_tables(struct gpu *g, const struct wconv_plan *p, work<T> *w, unsigned *segments)
{
	block b = {};
	void *device;
	int err = -ENOMEM;

	lay_tables<T>(&b, p);
	b.host = static_cast<char *>(weir_calloc(b.used, 1));
	b.used = 0;
	if (b.host) {
		tables<T> t = lay_tables<T>(&b, p);
		fill_tables<T>(t, p);
		*segments = cut_segments(&p->x, t.seg);
		if (!(err = send(g, HOLD_TABLES, &b, &device))) {
			block on = {static_cast<char *>(device), 0};
			t = lay_tables<T>(&on, p);
			w->wx = t.wx;
			w->column = t.column;
			w->seg = t.seg;
			w->number = t.number;
		}
	}
	weir_free(b.host);
	return err;
}

template <class T> struct step_tables {
	T *wy;
	unsigned *fy;
	int *row;
};

template <class T>
step_tables<T>
lay_step(block *b, const struct wconv_plan *p, size_t rows)
{
	step_tables<T> t;

	t.wy = take<T>(b, weights_of(&p->y) * rows);
	t.fy = take<unsigned>(b, rows);
	t.row = take<int>(b, rows + p->q.kh - 1);
	return t;
}

template <class T>
void
fill_step(const step_tables<T> &t, const struct wconv_plan *p, ptrdiff_t first, size_t rows)
{
	const struct wconv_axis *a = &p->y;

	for (size_t r = 0; r < rows; r++) {
		const ptrdiff_t at = first + (ptrdiff_t)r;
		t.fy[r] = first_function(a, at);
		for (size_t k = 0; k < weights_of(a); k++)
			t.wy[k * rows + r] = (T)weight_of(a, t.fy[r] + k, at);
	}
	for (size_t i = 0; i < rows + p->q.kh - 1; i++) {
		const ptrdiff_t from = place_of(a, first - a->before + (ptrdiff_t)i);
		t.row[i] = from < 0 ? -1 : (int)((size_t)from % p->depth);
	}
}

template <class T>
int
send_step(struct gpu *g, const struct wconv_plan *p, ptrdiff_t first, size_t rows, work<T> *w)
{
	block b = {};
	void *device;
	int err = -ENOMEM;

	lay_step<T>(&b, p, rows);
	b.host = static_cast<char *>(weir_calloc(b.used, 1));
	b.used = 0;
	if (b.host) {
		fill_step<T>(lay_step<T>(&b, p, rows), p, first, rows);
		if (!(err = send(g, HOLD_STEP, &b, &device))) {
			block on = {static_cast<char *>(device), 0};
			const step_tables<T> t = lay_step<T>(&on, p, rows);
			w->wy = t.wy;
			w->fy = t.fy;
			w->row = t.row;
		}
	}
	weir_free(b.host);
	return err;
}

/* --- a step -------------------------------------------------------------------------------------------------------- */

template <class T>
work<T>
work_of(const struct wconv_plan *p, size_t rows)
{
	const struct wconv_problem *q = &p->q;
	work<T> w = {};

	w.width = (unsigned)(p->x.hi - p->x.lo);
	w.rows = (unsigned)rows;
	w.planes = (unsigned)q->planes;
	w.kw = (unsigned)q->kw;
	w.kh = (unsigned)q->kh;
	w.nwy = weights_of(&p->y);
	w.nfx = (unsigned)p->x.nfun;
	w.nfy = (unsigned)p->y.nfun;
	w.ring_row = q->w * q->planes;
	w.type = q->out;
	w.nan = q->nan;
	w.renormalise = q->edge == WCONV_RENORMALISE;
	w.outside = q->edge == WCONV_CONSTANT ? q->constant : 0;
	w.top = q->top;
	return w;
}

/* The step's rows of the item to the ring. */
template <class T>
int
take_rows(struct gpu *g, const struct wconv_plan *p, const struct wconv_band *b, const void *in,
	  T *ring)
{
	const size_t row = p->q.w * p->q.planes, n = (b->fed1 - b->fed0) * row;
	const size_t bytes = n * img_type_size(p->q.in);
	void *raw;
	int err;

	if (!n)
		return 0;
	if ((err = gpu_hold(g, HOLD_RAW, bytes, &raw)) || (err = gpu_up(g, raw, in, bytes)) ||
	    (err = gpu_begin(g)))
		return err;
	GPU_LAUNCH(g, feed<T>, (unsigned)((n + 255) / 256), 256, 0, ring, raw, p->q.in, row, n,
		   b->fed0, p->depth);
	return gpu_end(g);
}

template <class T>
int
give_rows(struct gpu *g, const work<T> &w, unsigned segments)
{
	int err = gpu_begin(g);

	if (err)
		return err;
	GPU_LAUNCH(g, convolve<T>, dim3((w.rows + WARPS - 1) / WARPS, segments, w.planes),
		   32 * WARPS, 0, w);
	return gpu_end(g);
}

template <class T>
int
run(struct gpu *g, const struct wconv_plan *p, const void *in, void *out)
{
	const struct wconv_band *b = &p->band[p->now];
	const ptrdiff_t first = p->y.tile[b->tile0].a;
	const size_t rows = wconv_steps(p, p->now).rows_out;
	work<T> w = work_of<T>(p, rows);
	const size_t bytes = rows * w.width * w.planes * img_type_size(w.type);
	unsigned segments = 0;
	void *ring;
	int err;

	if ((err = gpu_hold(g, HOLD_RING, p->depth * w.ring_row * sizeof(T), &ring)) ||
	    (p->now == 0 && (err = send_kernels<T>(g, p))) ||
	    (err = send_tables<T>(g, p, &w, &segments)) ||
	    (err = send_step<T>(g, p, first, rows, &w)) ||
	    (err = gpu_hold(g, HOLD_OUT, bytes, &w.out)) ||
	    (err = take_rows<T>(g, p, b, in, static_cast<T *>(ring))))
		return err;
	w.ring = static_cast<T *>(ring);
	w.kernel = static_cast<const T *>(g->held[HOLD_KERNELS]);
	if ((err = give_rows<T>(g, w, segments)))
		return err;
	return gpu_down(g, out, w.out, bytes);
}

} // namespace

int
gpu_wconv_run(struct gpu *g, struct wconv_plan *p, const void *in, void *out)
{
	const int err = p->q.in_double ? run<double>(g, p, in, out) : run<float>(g, p, in, out);

	p->now = (p->now + 1) % p->bands;
	return err;
}
