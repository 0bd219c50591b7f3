/*
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
#include "gpu/wconv/taps.h"
#include "gpu/wconv/whole.h"

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

} // namespace

template <class T>
int
wc_scatter(struct gpu *g, const wc_whole<T> &o)
{
	const unsigned segments = (o.a.wide + SPAN - 1) / SPAN;

	GPU_LAUNCH(g, scatter<T>, (o.a.high + WARPS - 1) / WARPS * segments, 32 * WARPS, 0, o.w,
		   o.a, segments);
	return 0;
}

template int wc_scatter<float>(struct gpu *g, const wc_whole<float> &o);
template int wc_scatter<double>(struct gpu *g, const wc_whole<double> &o);
