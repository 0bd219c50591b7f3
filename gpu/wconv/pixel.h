/* Samples on the device, the definition of a result, and blended taps: what wconv's kernels share. */
#ifndef WEIR_GPU_WCONV_PIXEL_H
#define WEIR_GPU_WCONV_PIXEL_H

#include <type_traits>

#include "gpu/wconv/job.h"

namespace
{

/* Calls f() with a number of that type. */
template <class F>
__device__ auto
with_type(enum img_type type, F f)
{
	switch (type) {
	case IMG_I8:
		return f((signed char)0);
	case IMG_U8:
		return f((unsigned char)0);
	case IMG_I16:
		return f((short)0);
	case IMG_U16:
		return f((unsigned short)0);
	case IMG_I32:
		return f(0);
	case IMG_U32:
		return f(0u);
	case IMG_I64:
		return f(0ll);
	case IMG_U64:
		return f(0ull);
	case IMG_F64:
		return f(0.);
	default:
		return f(0.f);
	}
}

template <class T>
__device__ T
load_sample(const void *in, enum img_type type, size_t i)
{
	return with_type(type, [=](auto c) { return (T) static_cast<const decltype(c) *>(in)[i]; });
}

/* Whole numbers are rounded half to even and clipped, from 0 to top where top is above 0; NaN becomes the lowest one. */
__device__ void
store_sample(void *out, enum img_type type, double top, size_t i, double v)
{
	with_type(type, [=](auto c) {
		typedef decltype(c) C;
		C *const to = static_cast<C *>(out) + i;
		if constexpr (!std::is_integral_v<C>) {
			*to = (C)v;
		} else {
			/* the numbers of C end at 2^BITS; the last double before is 1 less, or where there is none, 2^-53 of it */
			constexpr int BITS = 8 * sizeof(C) - std::is_signed_v<C>;
			constexpr double END = 2. * (double)(1ull << (BITS - 1));
			constexpr double LAST = BITS > 53 ? END - END / (1ll << 53) : END - 1;
			const double r = rint(v), lo = std::is_signed_v<C> && !(top > 0) ? -END : 0,
				     hi = top > 0 ? top : LAST;
			*to = (C)(!(r > lo) ? lo : r > hi ? hi : r);
		}
	});
}

/* Returns where a plane's row of the ring begins; NULL beyond the edges, where row is -1. */
template <class T>
__device__ const T *
line_of(const wc_work<T> &w, unsigned plane, int row)
{
	return row < 0 ? NULL : w.ring + (size_t)row * w.ring_row + plane;
}

/* Returns a pixel of that row as the image is continued beyond its edges, and sets *state. A NaN or infinity gives 0. */
template <class T>
__device__ T
pixel_of(const wc_work<T> &w, const T *line, int column, enum wc_state *state)
{
	*state = KNOWN;
	if (!line || column < 0) {
		if (w.renormalise)
			*state = UNKNOWN;
		return 0;
	}
	const T v = line[(size_t)(unsigned)column * w.planes];
	if (v - v == 0)
		return v;
	if (w.nan != WCONV_NAN_ZERO)
		*state = w.nan == WCONV_NAN_PROPAGATE ? POISON : UNKNOWN;
	return 0;
}

/*
 * Returns the kernel that pair n of the functions of a result gives, and sets *by to its weight. NULL: there is none, or
 * its weight is 0.
 */
template <class T>
__device__ const T *
weighed_kernel(const wc_work<T> &w, const wc_segment &g, unsigned r, unsigned x, unsigned n,
	       double *by)
{
	const unsigned fy = w.fy[r] + n / g.nf, fx = g.f + n % g.nf;

	*by = (double)w.wy[(size_t)(n / g.nf) * w.rows + r] *
	      (double)w.wx[(size_t)(n % g.nf) * w.width + x];
	if (*by == 0 || fy >= w.nfy || fx >= w.nfx || w.number[fy * w.nfx + fx] == WC_NONE)
		return NULL;
	return w.kernel + (size_t)w.number[fy * w.nfx + fx] * w.kh * w.kw;
}

/* Computes result x as defined in wconv/direct.c. */
template <class T>
__device__ double
careful(const wc_work<T> &w, const wc_segment &g, unsigned plane, unsigned r, unsigned x)
{
	double value = 0, known = 0, all = 0, weight = 0;
	bool unknown = false;

	for (unsigned n = 0; n < w.nwy * g.nf; n++) {
		double by;
		const T *k = weighed_kernel<T>(w, g, r, x, n, &by);
		for (unsigned i = 0; k && i < w.kw * w.kh; i++) {
			enum wc_state state;
			const T *line = line_of(w, plane, w.row[r + i / w.kw]);
			const double p = (double)pixel_of(w, line, w.column[x + i % w.kw], &state);
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

/* Returns the sum of the local kernel at a result. */
template <class T>
__device__ double
local_sum(const wc_work<T> &w, const wc_segment &g, unsigned r, unsigned x)
{
	double sum = 0;

	for (unsigned n = 0; n < w.nwy * g.nf; n++) {
		const unsigned k = w.number[(w.fy[r] + n / g.nf) * w.nfx + g.f + n % g.nf];
		if (k != WC_NONE)
			sum += (double)w.wy[(size_t)(n / g.nf) * w.rows + r] *
			       (double)w.wx[(size_t)(n % g.nf) * w.width + x] * w.sum[k];
	}
	return sum;
}

/* Divides a result by the local sum, if results are divided, and writes it to w.out. */
template <class T>
__device__ void
store_result(const wc_work<T> &w, const wc_segment &g, unsigned plane, unsigned r, unsigned x,
	     double v)
{
	if (w.sum)
		v /= local_sum<T>(w, g, r, x);
	store_sample(w.out, w.type, w.top, ((size_t)r * w.width + x) * w.planes + plane, v);
}

/* --- direct sums and their adjoint ----------------------------------------------------------------------------------- */

/* A thread makes LANE results side by side, TAPS taps at a time. Sample s of a row lies at [s % LANE][s / LANE]. */
constexpr unsigned LANE = 8, TAPS = 32;

/* A tap of the kernels of N functions side by side. */
template <class T, unsigned N> struct alignas(N * sizeof(T)) taps {
	T of[N];
};

/*
 * Sets sum[i] to tap t of kernel row b + i for functions f .. f + N - 1 of x at row r of the results: the kernels above and
 * below, blended. Taps beyond the kernel are 0.
 */
template <class T, unsigned N, unsigned ROWS>
__device__ void
blend_taps(const wc_work<T> &w, unsigned r, unsigned f, unsigned b, unsigned t,
	   taps<T, N> (&sum)[ROWS])
{
#pragma unroll
	for (unsigned i = 0; i < ROWS; i++)
		sum[i] = {};
	for (unsigned j = 0; j < w.nwy && t < w.kw && w.fy[r] + j < w.nfy; j++) {
		const T weight = w.wy[(size_t)j * w.rows + r];
#pragma unroll
		for (unsigned n = 0; n < N; n++) {
			const unsigned k =
			    f + n < w.nfx ? w.number[(w.fy[r] + j) * w.nfx + f + n] : WC_NONE;
			const T *const tap = w.kernel + ((size_t)k * w.kh + b) * w.kw + t;
#pragma unroll
			for (unsigned i = 0; i < ROWS; i++)
				if (k != WC_NONE && b + i < w.kh)
					sum[i].of[n] += weight * tap[(size_t)i * w.kw];
		}
	}
}

/*
 * Sets a thread's sums to the products of 8 * eights taps and the samples that they meet, from sample[0][0] on.
 * v[(u + i) % 8] is the sample of tap u, sum i. add_tap() says what a product is.
 */
template <class K, class V, class S, unsigned STRIDE>
__device__ void
sum_taps(const K *tap, const V (*sample)[STRIDE], unsigned eights, S sum[LANE])
{
	V v[LANE];

#pragma unroll
	for (unsigned i = 0; i < LANE; i++) {
		sum[i] = {};
		v[i] = sample[i][0];
	}
	for (unsigned m = 0; m < eights; m++)
#pragma unroll
		for (unsigned u = 0; u < LANE; u++) {
			const K k = tap[m * LANE + u];
#pragma unroll
			for (unsigned i = 0; i < LANE; i++)
				add_tap(sum[i], k, v[(u + i) % LANE]);
			v[u] = sample[u][m + 1];
		}
}

/* Adds v to sum + lost. */
template <class T>
__device__ void
add_compensated(T &sum, T &lost, T v)
{
	const T y = v - lost, t = sum + y;

	lost = (t - sum) - y;
	sum = t;
}

} // namespace

#endif
