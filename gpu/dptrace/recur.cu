/*
 * The recursion, gap by gap, over all segments of a list at once: dptrace/search/recur.c states it.
 *
 *	sweep	block = 8 (where guides are long: 4, 2, 1) samples j of the guide in the middle of one segment, grid = samples
 *		x segments; forward F[j][.] of the gap before it is read and F[.][j] of the gap after it made, backward the
 *		same with H
 *	shared	two rows of d floats for each j: the maxima of windows of 2^m samples, doubled from m to m + 1 from one row
 *		into the other (a sparse table of which one level is kept), up to the last that is needed. A window of 2^m ..
 *		2^(m+1) - 1 samples is answered at level m by two of its entries; a thread passes over the levels at which
 *		it has none. The CPU's two stacks would be 2 d dependent steps for a thread.
 *	cubic	the paper's: block = link j -> k, thread = i, a reduction; what sweep is held to
 *
 * Maxima and one sum per link: the floats are the CPU's whatever the order.
 *
 * F's rows begin at multiples of 32 bytes, so a block writes whole sectors of them.
 *
 * Bound, a gap of d x d links: 12 d^2 bytes (F read, S read, F written), log2(d) d^2 maxima; cubic d^3 comparisons.
 */
#include "gpu/dptrace/job.h"

namespace
{

constexpr unsigned THREADS = 256, LANES_MOST = 8, CUBIC = 128, WARP = 32;

/* One gap to be computed from its neighbour, about the guide between them: lanes are that guide's samples. */
struct sweep {
	const float *in; /* [d][din], rows in_lane apart */
	const float *score;
	float *out;
	int d, din, dout;
	size_t in_lane, score_lane, score_y, out_lane,
	    out_y;		       /* steps from lane to lane, from link to link */
	const int *lo, *hi;	       /* by slope of the gap computed */
	int climb_in, climb_out, sign; /* 1 forward, -1 backward */
};

__device__ bool
forward_sweep(sweep &w, const dp_chains &c, const dp_segment &s, int g)
{
	if (g < 1 || g > s.n - 2)
		return false;
	const dp_guide *v = c.guide + s.guide + g;
	w.in = c.F + v[-1].back;
	w.score = c.S + v->link;
	w.out = c.F + v->back;
	w.d = v->d;
	w.din = v[-1].d;
	w.dout = v[1].d;
	w.in_lane = dp_row(w.din);
	w.score_lane = (size_t)w.dout;
	w.score_y = 1;
	w.out_lane = 1;
	w.out_y = dp_row(w.d);
	w.lo = c.window + v->before + s.rows - 1;
	w.hi = w.lo + (2 * s.rows - 1);
	w.climb_in = v->o - v[-1].o;
	w.climb_out = v[1].o - v->o;
	w.sign = 1;
	return true;
}

/* The gap that begins step guides before the last but one. */
__device__ bool
backward_sweep(sweep &w, const dp_chains &c, const dp_segment &s, int step)
{
	const int g = s.n - 2 - step;

	if (g < 0)
		return false;
	const dp_guide *v = c.guide + s.guide + g + 1;
	w.in = c.H + v->link;
	w.score = c.S + v[-1].link;
	w.out = c.H + v[-1].link;
	w.d = v->d;
	w.din = v[1].d;
	w.dout = v[-1].d;
	w.in_lane = (size_t)w.din;
	w.score_lane = w.out_lane = 1;
	w.score_y = w.out_y = (size_t)w.d;
	w.lo = c.window + v->after + s.rows - 1;
	w.hi = w.lo + (2 * s.rows - 1);
	w.climb_in = v[1].o - v->o;
	w.climb_out = v->o - v[-1].o;
	w.sign = -1;
	return true;
}

/* The samples l..h of the far guide whose links to lane x may neighbour the link between x and y. */
__device__ void
window(const sweep &w, int x, int y, int *l, int *h)
{
	const int t = w.sign > 0 ? y - x + w.climb_out : x - y + w.climb_out;

	*l = max(0, w.sign > 0 ? x - (w.hi[t] - w.climb_in) : x + w.lo[t] - w.climb_in);
	*h = min(w.din - 1, w.sign > 0 ? x - (w.lo[t] - w.climb_in) : x + w.hi[t] - w.climb_in);
}

/* The level at which a window of samples l..h is answered: it has 2^level .. 2^(level+1) - 1 of them. */
__device__ int
level_of(int l, int h)
{
	return 31 - __clz(h - l + 1);
}

/* A bit for each level at which this thread answers a link. Those whose window is empty are answered here. */
__device__ unsigned
find_levels(const sweep &w, unsigned lanes, int x0)
{
	const int x = x0 + (int)(threadIdx.x % lanes);
	unsigned levels = 0;

	for (int y = (int)(threadIdx.x / lanes); x < w.d && y < w.dout;
	     y += (int)(THREADS / lanes)) {
		int l, h;
		window(w, x, y, &l, &h);
		if (l > h)
			w.out[(size_t)x * w.out_lane + (size_t)y * w.out_y] = NEVER;
		else
			levels |= 1u << level_of(l, h);
	}
	return levels;
}

/* The links that are answered at a level. */
__device__ void
answer(const sweep &w, const float *best, unsigned ld, unsigned lanes, int x0, int level)
{
	const unsigned lane = threadIdx.x % lanes;
	const int x = x0 + (int)lane;
	const float *row = best + lane * ld;

	if (x >= w.d)
		return;
	for (int y = (int)(threadIdx.x / lanes); y < w.dout; y += (int)(THREADS / lanes)) {
		int l, h;
		window(w, x, y, &l, &h);
		if (l > h || level_of(l, h) != level)
			continue;
		const float a = row[l], b = row[h + 1 - (1 << level)];
		w.out[(size_t)x * w.out_lane + (size_t)y * w.out_y] =
		    (a > b ? a : b) + w.score[(size_t)x * w.score_lane + (size_t)y * w.score_y];
	}
}

/* sweep one gap of all segments; at: the guide forward, the step backward. */
template <bool backward>
__global__ void
__launch_bounds__(THREADS)
    sweep_gap(const dp_chains c, const unsigned *ids, int at, unsigned lanes, unsigned ld)
{
	WEIR_SHARED(float, rows);
	const unsigned group = THREADS / lanes, lane = threadIdx.x / group,
		       first = threadIdx.x % group;
	const int x0 = (int)(blockIdx.x * lanes), x = x0 + (int)lane;
	const dp_segment s = c.seg[ids[blockIdx.y]];
	float *best = rows, *next = rows + lanes * ld;
	sweep w;

	if (!(backward ? backward_sweep(w, c, s, at) : forward_sweep(w, c, s, at)) || x0 >= w.d)
		return;
	for (int i = (int)first; i < w.din && x < w.d; i += (int)group)
		best[lane * ld + (unsigned)i] = w.in[(size_t)x * w.in_lane + (size_t)i];
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

__device__ float
warp_largest(float v)
{
	for (int step = WARP / 2; step; step /= 2) {
		const float other = __shfl_xor_sync(~0u, v, step);
		v = other > v ? other : v;
	}
	return v;
}

__global__ void
__launch_bounds__(CUBIC) cubic(const dp_chains c, const unsigned *ids, int g)
{
	__shared__ float part[CUBIC / WARP];
	const dp_segment s = c.seg[ids[blockIdx.y]];
	float best = NEVER;
	sweep w;
	int l, h;

	if (!forward_sweep(w, c, s, g) || blockIdx.x >= (unsigned)w.d * (unsigned)w.dout)
		return;
	const int x = (int)blockIdx.x % w.d, y = (int)blockIdx.x / w.d;
	const float *in = w.in + (size_t)x * w.in_lane;
	window(w, x, y, &l, &h);
	for (int i = (int)threadIdx.x; i < w.din; i += CUBIC)
		if (l <= i && i <= h && in[i] > best)
			best = in[i];
	best = warp_largest(best);
	if (threadIdx.x % WARP == 0)
		part[threadIdx.x / WARP] = best;
	__syncthreads();
	if (threadIdx.x)
		return;
	for (unsigned i = 1; i < CUBIC / WARP; i++)
		best = part[i] > best ? part[i] : best;
	w.out[(size_t)x * w.out_lane + (size_t)y * w.out_y] =
	    l > h ? NEVER : best + w.score[(size_t)x * w.score_lane + (size_t)y * w.score_y];
}

/* Gap 0. F stands by the end of a link, S and entry by its start. thread = link. */
__global__ void
enter(const dp_chains c, const unsigned *ids)
{
	const unsigned id = ids[blockIdx.y], k = blockIdx.x * blockDim.x + threadIdx.x;
	const dp_guide *v = c.guide + c.seg[id].guide;
	const unsigned d = (unsigned)v->d, e = (unsigned)v[1].d;

	if (k < d * e)
		c.F[v->back + k % e * dp_row(v->d) + k / e] =
		    c.S[v->link + k] + c.entry[id * c.maxlinks + k];
}

/* The last gap. thread = link. */
__global__ void
leave_by(const dp_chains c, const unsigned *ids)
{
	const unsigned id = ids[blockIdx.y], k = blockIdx.x * blockDim.x + threadIdx.x;
	const dp_guide *v = c.guide + c.seg[id].guide + c.seg[id].n - 2;

	if (k < (unsigned)v->d * (unsigned)v[1].d)
		c.H[v->link + k] = c.S[v->link + k] + c.leave[id * c.maxlinks + k];
}

/* The best sum through each sample. warp = sample, grid = samples x segments x guides. */
__global__ void
find_through(const dp_chains c, const unsigned *ids)
{
	const dp_segment s = c.seg[ids[blockIdx.y]];
	const unsigned j = blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP, g = blockIdx.z;
	const dp_guide *v = c.guide + s.guide + g;
	float best = 2 * NEVER;

	if (g + 2 > (unsigned)s.n || j >= (unsigned)v->d)
		return;
	const size_t e = (size_t)v[1].d, row = v->link + j * e;
	for (size_t k = threadIdx.x % WARP; k < e; k += WARP) {
		const float sum =
		    c.F[v->back + k * dp_row(v->d) + j] + (c.H[row + k] - c.S[row + k]);
		best = sum > best ? sum : best;
	}
	best = warp_largest(best);
	if (threadIdx.x % WARP == 0)
		c.through[(s.guide + g) * c.maxd + j] = best;
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

/* How many lanes a block takes, and the stride of its rows: those of 8 lanes lie 4 banks apart. */
struct shape {
	unsigned lanes, ld;
	size_t shared;
};

shape
shape_of(const struct gpu *g, size_t maxd)
{
	shape s = {LANES_MOST, (unsigned)((maxd + WARP - 1) / WARP * WARP + 4), 0};

	while (s.lanes > 1 && 2 * sizeof(float) * s.lanes * s.ld > g->prop.sharedMemPerBlock)
		s.lanes /= 2;
	if (s.lanes == 1)
		s.ld = (unsigned)maxd;
	s.shared = 2 * sizeof(float) * s.lanes * s.ld;
	return s;
}

unsigned
blocks(size_t n, size_t each)
{
	return (unsigned)((n + each - 1) / each);
}

} // namespace

int
dp_forward(struct dp_job *j, const unsigned *ids, unsigned n)
{
	const shape s = shape_of(j->g, j->on.maxd);
	const unsigned maxd = (unsigned)j->on.maxd;

	GPU_TRY(j->g,
		cudaFuncSetAttribute(sweep_gap<false>, cudaFuncAttributeMaxDynamicSharedMemorySize,
				     (int)s.shared));
	GPU_LAUNCH(j->g, enter, dim3(blocks(j->on.maxlinks, THREADS), n), THREADS, 0, j->on, ids);
	for (int g = 1; g < j->maxn - 1; g++)
		if (j->method == DPTRACE_D3)
			GPU_LAUNCH(j->g, cubic, dim3(maxd * maxd, n), CUBIC, 0, j->on, ids, g);
		else
			GPU_LAUNCH(j->g, sweep_gap<false>, dim3(blocks(maxd, s.lanes), n), THREADS,
				   s.shared, j->on, ids, g, s.lanes, s.ld);
	return 0;
}

int
dp_backward(struct dp_job *j, const unsigned *ids, unsigned n)
{
	const shape s = shape_of(j->g, j->on.maxd);
	const unsigned maxd = (unsigned)j->on.maxd, maxn = (unsigned)j->maxn;

	GPU_TRY(j->g,
		cudaFuncSetAttribute(sweep_gap<true>, cudaFuncAttributeMaxDynamicSharedMemorySize,
				     (int)s.shared));
	GPU_LAUNCH(j->g, leave_by, dim3(blocks(j->on.maxlinks, THREADS), n), THREADS, 0, j->on,
		   ids);
	for (int step = 1; step < j->maxn - 1; step++)
		GPU_LAUNCH(j->g, sweep_gap<true>, dim3(blocks(maxd, s.lanes), n), THREADS, s.shared,
			   j->on, ids, step, s.lanes, s.ld);
	GPU_LAUNCH(j->g, find_through, dim3(blocks(maxd, THREADS / WARP), n, maxn - 1), THREADS, 0,
		   j->on, ids);
	GPU_LAUNCH(j->g, find_margins, dim3(maxn, n), WARP, 0, j->on, ids);
	return 0;
}
