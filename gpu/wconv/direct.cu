/*
 * Convolution with a kernel that varies, summed directly. The weights of a grid are wy(y) wx(x), so for a row of results the
 * kernels above and below are blended once, to A(t) for the grid column on the left and B(t) for the one on the right:
 *
 *	F(x) = wx0(x) sum_t A(t) I(x + t) + wx1(x) sum_t B(t) I(x + t)		2 multiplications and additions a tap
 *
 *	block	4 rows of up to 256 results between the same grid columns; grid = planes x fours of rows x segments, all along
 *		its first axis, since the others have 65535 blocks at most
 *	warp	4 rows of 64 results, lane = 8 results of a row side by side; as many warps as the longest segment takes
 *	shared	32 taps of A and B of 4 kernel rows for each row of results; 8 rows of pixels in a ring, since the next 4 kernel rows
 *		meet 4 new rows of pixels. Pixel s lies at [s % 8][s / 8], in rows of 36 words, and rows lie 8 banks apart: a warp's
 *		32 words lie in 32 banks when it writes pixels and when it reads them. A lane reads a pixel and a pair of taps
 *		for 16 operations. Then the results, to be written side by side
 *
 * 32 taps are summed in single precision, those sums with a compensation: the error stays that of 32 terms for kernels of any
 * size. Polynomials are taken two functions of x at a time; a kernel that does not vary along x is taken alone, in half the
 * operations. Where a window meets a pixel that is not finite, or unknown beyond the edge, its block sums as the definition
 * does, in double, a thread per result.
 *
 * Bound: 4 kw kh operations a result; bytes: each sample in and out once over the bus and through device memory, the window's
 * rows again from the second-level cache.
 */
#include "gpu/wconv/pixel.h"

namespace
{

constexpr unsigned ROWS = 4, ACROSS = 32 / ROWS, WIDE = ACROSS * LANE, WARPS = WC_SPAN / WIDE;
constexpr unsigned STRIDE = (WC_SPAN + TAPS) / LANE, PAD = 8;
constexpr unsigned EACH =
    WIDE / 32 + 1; /* columns of a thread: results' and, of the first 32, taps' */

template <class T, unsigned N> struct staged {
	struct {
		T at[LANE][STRIDE], pad[PAD];
	} sample[2 * ROWS]; /* pixels of row y, or results */
	taps<T, N> tap[ROWS][ROWS][TAPS + 16 / sizeof(taps<T, N>)]; /* [kernel row][row] */
};

template <class T, unsigned N>
__device__ void
add_tap(taps<T, N> &sum, const taps<T, N> &k, T pixel)
{
#pragma unroll
	for (unsigned n = 0; n < N; n++)
		sum.of[n] += k.of[n] * pixel;
}

/* Where a block is: its segment, plane and first row. */
struct place {
	wc_segment g;
	unsigned plane, r;
};

/*
 * Pixels of rows first + y .. first + y + 3 at a thread's columns, -1 beyond the edge. Returns whether one of those is not known.
 */
template <class T, unsigned N>
__device__ bool
stage_pixels(staged<T, N> &s, const wc_work<T> &w, const place &at, unsigned y,
	     const int (&column)[EACH])
{
	const unsigned bottom = w.rows + w.kh - 2, mine = threadIdx.x;
	T seen = 0;
	int least = 0;

#pragma unroll
	for (unsigned i = 0; i < ROWS; i++) {
		const int row = w.row[min(at.r + y + i, bottom)];
		const T *const line = line_of(w, at.plane, max(row, 0));
		T *const to = &s.sample[(y + i) % (2 * ROWS)].at[mine % LANE][mine / LANE];
#pragma unroll
		for (unsigned k = 0; k < EACH; k++) {
			const int known = row | column[k];
			const T v = known < 0 ? 0 : line[(size_t)(unsigned)column[k] * w.planes];
			const T none = 0 * v; /* a NaN where v is not finite */
			least = min(least, known);
			seen += none;
			if (k < EACH - 1 || mine < TAPS)
				to[k * blockDim.x / LANE] = none == 0 ? v : 0;
		}
	}
	return (least < 0 && w.renormalise) || (seen != 0 && w.nan != WCONV_NAN_ZERO);
}

/* Taps t0 .. t0 + 31 of kernel rows b .. b + 3, for each of the 4 rows of results. */
template <class T, unsigned N>
__device__ void
stage_taps(staged<T, N> &s, const wc_work<T> &w, const place &at, unsigned b, unsigned f,
	   unsigned t0)
{
	const unsigned lane = threadIdx.x % 32;

	for (unsigned q = threadIdx.x / 32; q < ROWS; q += blockDim.x / 32) {
		taps<T, N> sum[ROWS];
		blend_taps(w, min(at.r + q, w.rows - 1), f, b, t0 + lane, sum);
#pragma unroll
		for (unsigned i = 0; i < ROWS; i++)
			s.tap[i][q][lane] = sum[i];
	}
}

/* A thread's results, at [LANE] columns from x on in row q of its block. */
template <class T> struct results {
	unsigned q, x;
	T sum[LANE], lost[LANE];
};

/* Adds the products of the staged taps, of 4 kernel rows from b on, to a thread's results. */
template <class T, unsigned N>
__device__ void
add_rows(const staged<T, N> &s, const T (&weight)[N][LANE], unsigned b, unsigned rows,
	 unsigned eights, results<T> &to)
{
	for (unsigned i = 0; i < rows; i++) {
		taps<T, N> part[LANE];
		const T(*sample)[STRIDE] = s.sample[(b + i + to.q) % (2 * ROWS)].at;
		sum_taps(s.tap[i][to.q], (const T(*)[STRIDE])(*sample + to.x / LANE), eights, part);
#pragma unroll
		for (unsigned k = 0; k < LANE; k++) {
			T v = weight[0][k] * part[k].of[0];
#pragma unroll
			for (unsigned n = 1; n < N; n++)
				v += weight[n][k] * part[k].of[n];
			add_compensated(to.sum[k], to.lost[k], v);
		}
	}
}

/* Adds functions f .. f + N - 1 of the segment. Returns whether this thread has met a pixel that is not known. */
template <class T, unsigned N>
__device__ bool
add_functions(staged<T, N> &s, const wc_work<T> &w, const place &at, unsigned f, results<T> &to)
{
	T weight[N][LANE];
	bool odd = false;

#pragma unroll
	for (unsigned n = 0; n < N; n++)
#pragma unroll
		for (unsigned k = 0; k < LANE; k++) {
			const unsigned x = at.g.at + min(to.x + k, at.g.n - 1);
			weight[n][k] = f + n < at.g.nf ? w.wx[(size_t)(f + n) * w.width + x] : 0;
		}
	for (unsigned t0 = 0; t0 < w.kw; t0 += TAPS) {
		int column[EACH];
		/* Beyond the last pixel in reach lie copies of it, which meet no tap or taps that are 0. */
#pragma unroll
		for (unsigned k = 0; k < EACH; k++)
			column[k] = w.column[at.g.at + min(t0 + k * blockDim.x + threadIdx.x,
							   at.g.n + w.kw - 2)];
		for (unsigned y = 0; y < w.kh + ROWS; y += ROWS) {
			const unsigned b = y - ROWS;
			__syncthreads();
			odd |= stage_pixels(s, w, at, y, column);
			if (y == 0)
				continue;
			stage_taps(s, w, at, b, at.g.f + f, t0);
			__syncthreads();
			if (to.x < at.g.n)
				add_rows(s, weight, b, min(ROWS, w.kh - b),
					 min(TAPS / LANE, (w.kw - t0 + LANE - 1) / LANE), to);
		}
	}
	return odd;
}

/* The blocks that a column of rows takes. */
template <class T>
__host__ __device__ unsigned
fours_of(const wc_work<T> &w)
{
	return (w.rows + ROWS - 1) / ROWS;
}

template <class T, unsigned N>
__global__ void __launch_bounds__(32 * WARPS, 1) convolve(const wc_work<T> w)
{
	__shared__ staged<T, N> s;
	const unsigned lane = threadIdx.x % 32, four = blockIdx.x / w.segments;
	const place at = {w.seg[blockIdx.x % w.segments], four / fours_of(w),
			  four % fours_of(w) * ROWS};
	results<T> to = {lane / ACROSS, threadIdx.x / 32 * WIDE + lane % ACROSS * LANE, {}, {}};
	bool odd = false;

	for (unsigned f = 0; f < at.g.nf; f += N)
		odd |= add_functions(s, w, at, f, to);
	odd = __syncthreads_or(odd);
#pragma unroll
	for (unsigned k = 0; k < LANE; k++)
		s.sample[to.q].at[k][to.x / LANE] = to.sum[k];
	__syncthreads();
	for (unsigned q = 0; q < min(ROWS, w.rows - at.r); q++)
		for (unsigned x = threadIdx.x; x < at.g.n; x += blockDim.x) {
			const double v = (double)s.sample[q].at[x % LANE][x / LANE];
			store_result<T>(w, at.g, at.plane, at.r + q, at.g.at + x,
					odd ? careful<T>(w, at.g, at.plane, at.r + q, at.g.at + x)
					    : v);
		}
}

} // namespace

template <class T>
int
wc_sum(struct gpu *g, const wc_work<T> &w)
{
	const unsigned blocks = w.planes * fours_of(w) * w.segments,
		       threads = (w.longest + WIDE - 1) / WIDE * 32;

	if (w.nfx == 1)
		GPU_LAUNCH(g, (convolve<T, 1>), blocks, threads, 0, w);
	else
		GPU_LAUNCH(g, (convolve<T, 2>), blocks, threads, 0, w);
	return 0;
}

template int wc_sum<float>(struct gpu *g, const wc_work<float> &w);
template int wc_sum<double>(struct gpu *g, const wc_work<double> &w);
