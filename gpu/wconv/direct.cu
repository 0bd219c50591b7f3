/*
 * Convolution with a kernel that varies, summed directly. The weights of a grid are wy(y) wx(x), so for a row of results the
 * kernels above and below are blended once, to A(t) for the grid column on the left and B(t) for the one on the right:
 *
 *	F(x) = wx0(x) sum_t A(t) I(x + t) + wx1(x) sum_t B(t) I(x + t)		2 multiplications and additions a tap
 *
 *	warp	up to 256 results of a row between the same grid columns, lane = 8 results side by side
 *	block	4 warps, 4 rows; grid = planes x rows x segments, all along its first axis, since the others have 65535 blocks
 *		at most
 *	shared	a warp's 32 taps of A and B, and the 256 + 32 pixels they meet, pixel s at [s % 8][s / 8], rows of 37, so that
 *		lanes 8 pixels apart lie in banks side by side: a lane reads a pixel and a pair of taps for 16 operations.
 *		Then the results, to be written side by side
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
	const unsigned lane = threadIdx.x % 32, last = g.n + w.kw - 2;
	const int row = w.row[r + b], beyond = row < 0 ? -1 : 0;
	const T *const line = line_of(w, plane, max(row, 0)), outside = (T)w.outside;
	T *const to = &s.sample[lane % LANE][lane / LANE];
	T seen = 0;
	int least = 0;

	__syncwarp();
#pragma unroll
	for (unsigned k = 0; k < STAGED / 32; k++) {
		/* Beyond the last pixel in reach lie copies of it, which meet no tap or taps that are 0. */
		const int column = w.column[g.at + min(t0 + k * 32 + lane, last)] | beyond;
		const T v = line[(size_t)(unsigned)max(column, 0) * w.planes];
		least = min(least, column);
		const T none = column < 0 ? 0 : 0 * v; /* a NaN where v is not finite */
		seen += none;
		to[k * 32 / LANE] = column < 0 ? outside : none == 0 ? v : 0;
	}
	s.tap[lane] = blended_taps<T>(w, r, f, b, t0 + lane);
	__syncwarp();
	return (least < 0 && w.renormalise) || (seen != 0 && w.nan != WCONV_NAN_ZERO);
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
	__syncwarp();
#pragma unroll
	for (unsigned i = 0; i < LANE; i++)
		shared[warp].sample[i][lane] = sum[i];
	__syncwarp();
	for (unsigned x = lane; x < g.n; x += 32) {
		const T v = shared[warp].sample[x % LANE][x / LANE];
		store_result<T>(w, g, plane, r, g.at + x,
				odd ? careful<T>(w, g, plane, r, g.at + x) : (double)v);
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
