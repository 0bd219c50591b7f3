/* Samples on the device, and the definition of a result: what wconv's kernels share. */
#ifndef WEIR_GPU_WCONV_PIXEL_H
#define WEIR_GPU_WCONV_PIXEL_H

#include "gpu/wconv/job.h"

namespace
{

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

/* Rounds half to even and clips. NaN becomes the lowest value. */
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

} // namespace

#endif
