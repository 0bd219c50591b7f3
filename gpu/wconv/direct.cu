/*
 * Convolution with a kernel that varies, summed directly. The weights of a grid are wy(y) wx(x), so for a row of results the
 * kernels above and below are blended once, to A(t) for the grid column on the left and B(t) for the one on the right:
 *
 *	F(x) = wx0(x) sum_t A(t) I(x + t) + wx1(x) sum_t B(t) I(x + t)		2 multiplications and additions a tap
 *
 *	warp	up to 256 results of a row between the same grid columns, lane = 8 results side by side
 *	block	4 warps, 4 rows; grid = planes x rows x segments, all along its first axis, since the others have 65535 blocks
 *		at most
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
#include "gpu/wconv/pixel.h"
#include "gpu/wconv/taps.h"

namespace
{

/* --- the sums ------------------------------------------------------------------------------------------------------ */

/* A pixel meets both taps: the sums of A and of B. */
template <class T>
__device__ void
add_tap(taps<T> &sum, const taps<T> &k, T pixel)
{
	sum.a += k.a * pixel;
	sum.b += k.b * pixel;
}

/* 32 taps from t0 on of kernel row b, and their pixels; whether one of those is not known. */
template <class T>
__device__ bool
stage(staged<T, T> &s, const wc_work<T> &w, const wc_segment &g, unsigned plane, unsigned r,
      unsigned b, unsigned f, unsigned t0)
{
	const unsigned lane = threadIdx.x % 32, t = t0 + lane, reach = g.n + w.kw - 1;
	const T *const line = line_of(w, plane, w.row[r + b]);
	const taps<T> none = {0, 0};
	bool odd = false;

	__syncwarp();
	for (unsigned i = lane; i < STAGED; i += 32) {
		enum wc_state state = KNOWN;
		T v = 0;
		if (t0 + i < reach)
			v = pixel_of(w, line, w.column[g.at + t0 + i], &state);
		odd |= state != KNOWN;
		s.sample[i % LANE][i / LANE] = v;
	}
	s.tap[lane] =
	    t < w.kw ? taps<T>{blended_tap<T>(w, r, f, b, t), blended_tap<T>(w, r, f + 1, b, t)}
		     : none;
	__syncwarp();
	return odd;
}

/* The blocks that a column of rows takes. */
template <class T>
__host__ __device__ unsigned
fours_of(const wc_work<T> &w)
{
	return (w.rows + WARPS - 1) / WARPS;
}

template <class T>
__global__ void __launch_bounds__(32 * WARPS) convolve(const wc_work<T> w, unsigned segments)
{
	__shared__ staged<T, T> shared[WARPS];
	const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, fours = fours_of(w);
	const unsigned plane = blockIdx.x / segments / fours;
	const unsigned r = blockIdx.x / segments % fours * WARPS + warp;
	const wc_segment g = w.seg[blockIdx.x % segments];
	T sum[LANE], lost[LANE];
	taps<T> part[LANE];
	bool odd = false;

	if (r >= w.rows)
		return;
#pragma unroll
	for (unsigned i = 0; i < LANE; i++)
		sum[i] = lost[i] = 0;
	for (unsigned f = 0; f < g.nf; f += 2) {
		T wa[LANE], wb[LANE] = {};
#pragma unroll
		for (unsigned i = 0; i < LANE; i++) {
			const unsigned x = g.at + min(lane * LANE + i, g.n - 1);
			wa[i] = w.wx[(size_t)f * w.width + x];
			if (f + 1 < g.nf)
				wb[i] = w.wx[(size_t)(f + 1) * w.width + x];
		}
		for (unsigned b = 0; b < w.kh; b++)
			for (unsigned t0 = 0; t0 < w.kw; t0 += TAPS) {
				odd |= stage<T>(shared[warp], w, g, plane, r, b, g.f + f, t0);
				sum_taps(shared[warp], part);
#pragma unroll
				for (unsigned i = 0; i < LANE; i++) {
					T v = wa[i] * part[i].a;
					if (f + 1 < g.nf)
						v += wb[i] * part[i].b;
					add_compensated<T>(sum[i], lost[i], v);
				}
			}
	}
	odd = __any_sync(~0u, odd);
#pragma unroll
	for (unsigned i = 0; i < LANE; i++) {
		const unsigned x = lane * LANE + i;
		if (x >= g.n)
			break;
		const double v = odd ? careful<T>(w, g, plane, r, g.at + x) : (double)sum[i];
		store_result<T>(w, g, plane, r, g.at + x, v);
	}
}

} // namespace

template <class T>
int
wc_sum(struct gpu *g, const wc_work<T> &w, unsigned segments)
{
	GPU_LAUNCH(g, convolve<T>, w.planes * fours_of(w) * segments, 32 * WARPS, 0, w, segments);
	return 0;
}

template int wc_sum<float>(struct gpu *g, const wc_work<float> &w, unsigned segments);
template int wc_sum<double>(struct gpu *g, const wc_work<double> &w, unsigned segments);
