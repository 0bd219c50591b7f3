/*
 * The recursion over all segments of a list at once: dptrace/search/recur.c states it.
 *
 *	slide	where links climb in 128 ways or fewer, which a steepest link leaves: block = segment, thread = sample of the guide in the
 *		middle, a loop over the gaps and, in each, over the rows of links by their climb. All samples have one window, whose
 *		maximum slides by the CPU's two stacks. The links of the neighbouring gap at a thread's sample are its own column of
 *		shared memory, in which their suffix maxima replace them, so that a barrier stands only between gaps. Scores are
 *		loaded 8 rows ahead.
 *	sweep	elsewhere: block = 8 (where guides are long: 4, 2, 1) samples of the guide in the middle, a launch for each gap,
 *		grid = samples x segments. Two rows of shared memory for each sample hold the maxima of windows of 2^m samples,
 *		doubled from m to m + 1 from one row into the other (a sparse table of which one level is kept), up to the last
 *		that is needed. A window of 2^m .. 2^(m+1) - 1 samples is answered at level m by two of its entries; a thread
 *		passes over the levels at which it has none. The two stacks would be 2 d dependent steps for a thread.
 *	cubic	the paper's: block = link j -> k, thread = i, a reduction; what the others are held to
 *
 * Forward, F of the gap before a guide is read and F of the gap after it made; backward the same with H. Maxima and one sum per
 * link: the floats are the CPU's whatever the order.
 *
 * Bound, a gap of d x d links: 12 d^2 bytes (F read, S read, F written), log2(d) d^2 maxima; cubic d^3 comparisons.
 *
 * Slide: shared memory of 4 bytes a thread and climb, 40 KB for 160 threads and 63 climbs. Bound, a link: 12 bytes (F read, S read, F
 * written), 3 maxima. A barrier a gap, and the steps of one thread over the climbs, cost more.
 */
#include "gpu/dptrace/job.h"
#include "gpu/reduce.h"

namespace
{

/* One gap to be computed from its neighbour, about the guide between them: x is a sample of that guide. */
struct sweep {
	const float *in; /* the link that climbs t rows, from or to x: [t - in_low][in_row] */
	const float *score;
	float *out; /* [t - low][out_row] by the far sample */
	size_t in_row, score_row, out_row;
	int d, din, dout;
	int in_low, in_climbs, climb_in; /* climb: rows from sample 0 to sample 0 */
	int low, climbs, climb_out;
	const int *lo, *hi; /* by climb in the gap computed */
	int sign;	    /* 1 forward, -1 backward */
};

/* About guide v: in is the sums of its neighbour `from`, out those of `to`. */
__device__ __forceinline__ void
set_gaps(sweep &w, const dp_guide *v, const dp_guide *from, const dp_guide *to)
{
	w.d = v->d;
	w.in_low = from->low;
	w.in_climbs = dp_climbs(from);
	w.climb_in = from[1].o - from->o;
	w.in_row = dp_row(v->d);
	w.low = to->low;
	w.climbs = dp_climbs(to);
	w.climb_out = to[1].o - to->o;
	w.score_row = dp_row(to->d);
}

/* The gap after guide g, if there is one and a gap before it. */
__device__ __forceinline__ bool
forward_sweep(sweep &w, const dp_chains &c, const dp_segment &s, int g)
{
	if (g < 1 || g > s.n - 2)
		return false;
	const dp_guide *v = c.guide + s.guide + g;
	set_gaps(w, v, v - 1, v);
	w.in = c.F + v[-1].back;
	w.score = c.S + v->link;
	w.out = c.F + v->back;
	w.din = v[-1].d;
	w.dout = v[1].d;
	w.out_row = dp_row(w.dout);
	w.lo = c.window + v->before + s.rows - 1;
	w.hi = w.lo + (2 * s.rows - 1);
	w.sign = 1;
	return true;
}

/* The gap that begins step guides before the last but one, if there is one. */
__device__ __forceinline__ bool
backward_sweep(sweep &w, const dp_chains &c, const dp_segment &s, int step)
{
	const int g = s.n - 2 - step;

	if (g < 0)
		return false;
	const dp_guide *v = c.guide + s.guide + g + 1;
	set_gaps(w, v, v, v - 1);
	w.in = c.H + v->link;
	w.score = c.S + v[-1].link;
	w.out = c.H + v[-1].link;
	w.din = v[1].d;
	w.dout = v[-1].d;
	w.out_row = w.score_row;
	w.lo = c.window + v->after + s.rows - 1;
	w.hi = w.lo + (2 * s.rows - 1);
	w.sign = -1;
	return true;
}

/* The far sample of the link from or to x in row r of the gap computed. */
__device__ __forceinline__ int
far_sample(const sweep &w, int x, int r)
{
	return x + w.sign * (r + w.low - w.climb_out);
}

__device__ __forceinline__ float
score_of(const sweep &w, int x, int y, int r)
{
	return w.score[(size_t)r * w.score_row + (size_t)(w.sign > 0 ? x : y)];
}

__device__ __forceinline__ float &
sum_of(const sweep &w, int y, int r)
{
	return w.out[(size_t)r * w.out_row + (size_t)y];
}

/* The link of the neighbouring gap in row r at x; NEVER: there is none. */
__device__ __forceinline__ float
sum_before(const sweep &w, int x, int r)
{
	const int far = x - w.sign * (r + w.in_low - w.climb_in);

	return r < w.in_climbs && far >= 0 && far < w.din ? w.in[(size_t)r * w.in_row + (size_t)x]
							  : NEVER;
}

/* --- where links are not steep ---------------------------------------------------------------------------------------- */

constexpr unsigned THREADS = 256;
constexpr int CLIMBS_MOST = 128, AHEAD = 8;

/* The maximum of rows l..h of a column, where l and h only grow: max(row l, back) if l < base, else back. */
struct slide {
	float *column;
	unsigned ld;
	int top, base; /* rows up to top have been met; suffix maxima up to base - 1 are made */
	float back;    /* the maximum of rows base..top */
};

__device__ float
largest(slide &s, int l, int h)
{
	while (s.top < h)
		s.back = fmaxf(s.back, s.column[(unsigned)++s.top * s.ld]);
	if (l > s.base) {
		float most = s.column[(unsigned)s.top * s.ld];
		for (int r = s.top - 1; r >= l; r--) {
			most = fmaxf(most, s.column[(unsigned)r * s.ld]);
			s.column[(unsigned)r * s.ld] = most;
		}
		s.base = s.top + 1;
		s.back = NEVER;
	}
	return l < s.base ? fmaxf(s.column[(unsigned)l * s.ld], s.back) : s.back;
}

/* What AHEAD rows of the gap computed need. */
struct ahead {
	float score[AHEAD];
	int window[AHEAD]; /* the first row, and the last in the upper 16 bits */
};

__device__ void
load_ahead(ahead &a, const sweep &w, int x, int r)
{
#pragma unroll
	for (int i = 0; i < AHEAD; i++) {
		const int y = far_sample(w, x, r + i);
		if (r + i >= w.climbs)
			continue;
		const int lo = max(0, w.lo[r + i + w.low] - w.in_low),
			  hi = min(w.in_climbs - 1, w.hi[r + i + w.low] - w.in_low);
		a.window[i] = hi * (1 << 16) + min(lo, w.in_climbs);
		a.score[i] = y >= 0 && y < w.dout ? score_of(w, x, y, r + i) : 0;
	}
}

/* All links from or to sample x. */
__device__ void
slide_sample(const sweep &w, int x, float *column, unsigned ld)
{
	slide s = {column, ld, -1, 0, NEVER};
	ahead next;

	load_ahead(next, w, x, 0);
	for (int r = 0; r < w.in_climbs; r += AHEAD) {
		float sum[AHEAD];
#pragma unroll
		for (int i = 0; i < AHEAD; i++)
			sum[i] = sum_before(w, x, r + i);
#pragma unroll
		for (int i = 0; i < AHEAD; i++)
			if (r + i < w.in_climbs)
				column[(unsigned)(r + i) * ld] = sum[i];
	}
	for (int r = 0; r < w.climbs; r += AHEAD) {
		const ahead now = next;
		load_ahead(next, w, x, r + AHEAD);
#pragma unroll
		for (int i = 0; i < AHEAD; i++) {
			if (r + i >= w.climbs)
				break;
			const int y = far_sample(w, x, r + i);
			const int lo = now.window[i] & 0xffff, hi = now.window[i] >> 16;
			const float sum = lo <= hi ? largest(s, lo, hi) + now.score[i] : NEVER;
			if (y >= 0 && y < w.dout)
				sum_of(w, y, r + i) = sum;
		}
	}
}

/*
 * All gaps of a segment but the first, or backward the last. block = segment. With 2 blocks asked for, nvcc takes 96 registers, which
 * leaves room for 4 blocks of 160 threads, and spills none.
 */
template <bool backward>
__global__ void
__launch_bounds__(THREADS, 2) slide_gaps(const dp_chains c, const unsigned *ids)
{
	WEIR_SHARED(float, columns);
	const dp_segment &s = c.seg[ids[blockIdx.x]];

	for (int at = 1; at < s.n - 1; at++) {
		sweep w;
		if (!(backward ? backward_sweep(w, c, s, at) : forward_sweep(w, c, s, at)))
			return;
		for (int x = (int)threadIdx.x; x < w.d; x += (int)blockDim.x)
			slide_sample(w, x, columns + threadIdx.x, blockDim.x);
		__syncthreads();
	}
}

template <bool backward>
int
slide_all(struct dp_job *j, const unsigned *ids, unsigned n)
{
	const unsigned rounds = gpu_blocks(j->on.maxd, THREADS);
	const size_t column = sizeof(float) * (size_t)j->maxclimbs;
	unsigned threads = gpu_blocks(gpu_blocks(j->on.maxd, rounds), WARP) * WARP;

	while (threads > WARP && threads * column > j->g->prop.sharedMemPerBlockOptin)
		threads -= WARP;
	GPU_TRY(j->g, cudaFuncSetAttribute(slide_gaps<backward>,
					   cudaFuncAttributeMaxDynamicSharedMemorySize,
					   (int)(threads * column)));
	GPU_LAUNCH(j->g, slide_gaps<backward>, n, threads, threads * column, j->on, ids);
	return 0;
}

/* --- where they are --------------------------------------------------------------------------------------------------- */

constexpr unsigned LANES_MOST = 8, CUBIC = 128;

/* The samples l..h of the far guide of the neighbouring gap whose links at x may neighbour the link of row r. */
__device__ void
window(const sweep &w, int x, int r, int *l, int *h)
{
	const int t = r + w.low;

	*l = max(0, w.sign > 0 ? x - (w.hi[t] - w.climb_in) : x + w.lo[t] - w.climb_in);
	*h = min(w.din - 1, w.sign > 0 ? x - (w.lo[t] - w.climb_in) : x + w.hi[t] - w.climb_in);
}

/* The level at which a window of samples l..h is answered: it has 2^level .. 2^(level+1) - 1 of them. */
__device__ int
level_of(int l, int h)
{
	return 31 - __clz(h - l + 1);
}

/* The rows in which one of the samples x0 .. x0 + lanes - 1 has a link: first .. end - 1. */
struct span {
	int first, end;
};

__device__ span
rows_of(const sweep &w, unsigned lanes, int x0)
{
	const int last = x0 + (int)lanes - 1, zero = w.climb_out - w.low;

	return w.sign > 0 ? span{max(0, zero - last), min(w.climbs, zero + w.dout - x0)}
			  : span{max(0, zero + x0 - w.dout + 1), min(w.climbs, zero + last + 1)};
}

/* Calls f(y, r, l, h) for each link of this thread, from or to x in row r: y is its far sample, l..h its window. */
template <class F>
__device__ __forceinline__ void
each_link(const sweep &w, unsigned lanes, int x0, F f)
{
	const int x = x0 + (int)(threadIdx.x % lanes);
	const span all = rows_of(w, lanes, x0);

	for (int r = all.first + (int)(threadIdx.x / lanes); x < w.d && r < all.end;
	     r += (int)(THREADS / lanes)) {
		const int y = far_sample(w, x, r);
		int l, h;
		if (y < 0 || y >= w.dout)
			continue;
		window(w, x, r, &l, &h);
		f(y, r, l, h);
	}
}

/* A bit for each level at which this thread answers a link. Those whose window is empty are answered here. */
__device__ unsigned
find_levels(const sweep &w, unsigned lanes, int x0)
{
	unsigned levels = 0;

	each_link(w, lanes, x0, [&](int y, int r, int l, int h) {
		if (l > h)
			sum_of(w, y, r) = NEVER;
		else
			levels |= 1u << level_of(l, h);
	});
	return levels;
}

/* The links that are answered at a level. */
__device__ void
answer(const sweep &w, const float *best, unsigned ld, unsigned lanes, int x0, int level)
{
	const unsigned lane = threadIdx.x % lanes;
	const float *row = best + lane * ld;

	each_link(w, lanes, x0, [&](int y, int r, int l, int h) {
		if (l > h || level_of(l, h) != level)
			return;
		const float a = row[l], b = row[h + 1 - (1 << level)];
		sum_of(w, y, r) = (a > b ? a : b) + score_of(w, x0 + (int)lane, y, r);
	});
}

/* The link of the neighbouring gap between x and sample far; NEVER: it has no place. */
__device__ float
sum_between(const sweep &w, int x, int far)
{
	const int r = w.sign * (x - far) + w.climb_in - w.in_low;

	return r >= 0 && r < w.in_climbs ? w.in[(size_t)r * w.in_row + (size_t)x] : NEVER;
}

/* sweep one gap of all segments; at: the guide forward, the step backward. Samples are neighbours among threads. */
template <bool backward>
__global__ void
__launch_bounds__(THREADS)
    sweep_gap(const dp_chains c, const unsigned *ids, int at, unsigned lanes, unsigned ld)
{
	WEIR_SHARED(float, rows);
	const unsigned group = THREADS / lanes, lane = threadIdx.x % lanes,
		       first = threadIdx.x / lanes;
	const int x0 = (int)(blockIdx.x * lanes), x = x0 + (int)lane;
	const dp_segment s = c.seg[ids[blockIdx.y]];
	float *best = rows, *next = rows + lanes * ld;
	sweep w;

	if (!(backward ? backward_sweep(w, c, s, at) : forward_sweep(w, c, s, at)) || x0 >= w.d)
		return;
	for (int i = (int)first; i < w.din && x < w.d; i += (int)group)
		best[lane * ld + (unsigned)i] = sum_between(w, x, i);
	const unsigned levels = find_levels(w, lanes, x0);
	for (int level = 0; __syncthreads_or((int)(levels >> level)); level++) {
		const int wide = 1 << level;
		if (levels >> level & 1)
			answer(w, best, ld, lanes, x0, level);
		for (int i = (int)first; i < w.din && x < w.d; i += (int)group) {
			const float *row = best + lane * ld + i;
			const float b = i + wide < w.din ? row[wide] : *row;
			next[lane * ld + (unsigned)i] = *row > b ? *row : b;
		}
		float *const swap = best;
		best = next;
		next = swap;
	}
}

__global__ void
__launch_bounds__(CUBIC) cubic(const dp_chains c, const unsigned *ids, int g)
{
	const dp_segment s = c.seg[ids[blockIdx.y]];
	float best = NEVER;
	sweep w;
	int l, h;

	if (!forward_sweep(w, c, s, g) || blockIdx.x >= (unsigned)w.d * (unsigned)w.dout)
		return;
	const int x = (int)blockIdx.x % w.d, y = (int)blockIdx.x / w.d,
		  r = y - x + w.climb_out - w.low;
	if (r < 0 || r >= w.climbs)
		return;
	window(w, x, r, &l, &h);
	for (int i = (int)threadIdx.x; i < w.din; i += CUBIC) {
		const float sum = sum_between(w, x, i);
		if (l <= i && i <= h && sum > best)
			best = sum;
	}
	best = block_largest<CUBIC>(best);
	if (threadIdx.x == 0)
		sum_of(w, y, r) = l > h ? NEVER : best + score_of(w, x, y, r);
}

/* F of the first gap from `entry`, or backward H of the last gap from `leave`. thread = link. */
template <bool backward>
__global__ void
begin_sums(const dp_chains c, const unsigned *ids)
{
	const unsigned id = ids[blockIdx.y], k = blockIdx.x * blockDim.x + threadIdx.x;
	const dp_segment &s = c.seg[id];
	const dp_guide *v = c.guide + s.guide + (backward ? s.n - 2 : 0);
	const unsigned e = (unsigned)v[1].d;
	const int i = (int)(k / e), m = (int)(k % e);

	if (k >= (unsigned)v->d * e || !dp_is_kept(v, i, m))
		return;
	const float score = c.S[dp_link(v, i, m)];
	if (backward)
		c.H[dp_link(v, i, m)] = score + c.leave[id * c.maxlinks + k];
	else
		c.F[dp_back(v, i, m)] = score + c.entry[id * c.maxlinks + k];
}

/* The best sum through each sample. thread = sample, grid = samples x segments x guides. */
__global__ void
find_through(const dp_chains c, const unsigned *ids)
{
	const dp_segment &s = c.seg[ids[blockIdx.y]];
	const int j = (int)(blockIdx.x * blockDim.x + threadIdx.x), g = (int)blockIdx.z;
	const dp_guide *v = c.guide + s.guide + g;
	float best = 2 * NEVER;

	if (g + 2 > s.n || j >= v->d)
		return;
	const int zero = j - (v[1].o - v->o);
	for (int t = max(v->low, -zero); t <= min(v->high, v[1].d - 1 - zero); t++) {
		const size_t link = dp_link(v, j, zero + t);
		const float sum = c.F[dp_back(v, j, zero + t)] + (c.H[link] - c.S[link]);
		best = sum > best ? sum : best;
	}
	c.through[(s.guide + (size_t)g) * c.maxd + (size_t)j] = best;
}

/* What the best polyline that passes a guide apart or more from at loses. warp = guide, grid = guides x segments. */
__global__ void
find_margins(const dp_chains c, const unsigned *ids)
{
	const dp_segment s = c.seg[ids[blockIdx.y]];
	const int g = (int)blockIdx.x, apart = c.line[s.line].apart;
	const float *through = c.through + (s.guide + blockIdx.x) * c.maxd;
	float other = NEVER;

	if (g >= s.n)
		return;
	const int at = c.at[s.guide + blockIdx.x];
	for (int j = (int)threadIdx.x; j < c.guide[s.guide + blockIdx.x].d; j += (int)WARP)
		if ((j < at ? at - j : j - at) >= apart && through[j] > other)
			other = through[j];
	other = warp_largest(other);
	if (threadIdx.x == 0)
		c.margin[s.guide + blockIdx.x] =
		    g > 0 && g < s.n - 1 && other > NEVER / 2 ? through[at] - other : INFINITY;
}

template <bool backward>
int
sweep_all(struct dp_job *j, const unsigned *ids, unsigned n)
{
	const size_t maxd = j->on.maxd;
	unsigned lanes = LANES_MOST,
		 ld = gpu_blocks(maxd, WARP) * WARP + 4; /* lanes lie 4 banks apart */

	if (j->maxclimbs <= CLIMBS_MOST)
		return slide_all<backward>(j, ids, n);
	while (lanes > 1 && 2 * sizeof(float) * lanes * ld > j->g->prop.sharedMemPerBlock)
		lanes /= 2;
	if (lanes == 1)
		ld = (unsigned)maxd;
	const size_t shared = 2 * sizeof(float) * lanes * ld;
	GPU_TRY(j->g,
		cudaFuncSetAttribute(sweep_gap<backward>,
				     cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
	for (int at = 1; at < j->maxn - 1; at++)
		GPU_LAUNCH(j->g, sweep_gap<backward>, dim3(gpu_blocks(maxd, lanes), n), THREADS,
			   shared, j->on, ids, at, lanes, ld);
	return 0;
}

} // namespace

int
dp_forward(struct dp_job *j, const unsigned *ids, unsigned n)
{
	const unsigned maxd = (unsigned)j->on.maxd;

	GPU_LAUNCH(j->g, begin_sums<false>, dim3(gpu_blocks(j->on.maxlinks, THREADS), n), THREADS,
		   0, j->on, ids);
	if (j->method != DPTRACE_D3)
		return sweep_all<false>(j, ids, n);
	for (int g = 1; g < j->maxn - 1; g++)
		GPU_LAUNCH(j->g, cubic, dim3(maxd * maxd, n), CUBIC, 0, j->on, ids, g);
	return 0;
}

int
dp_backward(struct dp_job *j, const unsigned *ids, unsigned n)
{
	const unsigned maxn = (unsigned)j->maxn;

	GPU_LAUNCH(j->g, begin_sums<true>, dim3(gpu_blocks(j->on.maxlinks, THREADS), n), THREADS, 0,
		   j->on, ids);
	GPU_DO(sweep_all<true>(j, ids, n));
	GPU_LAUNCH(j->g, find_through, dim3(gpu_blocks(j->on.maxd, THREADS), n, maxn - 1), THREADS,
		   0, j->on, ids);
	GPU_LAUNCH(j->g, find_margins, dim3(maxn, n), WARP, 0, j->on, ids);
	return 0;
}
