/*
 * The recursion where links climb in 128 ways or fewer: dptrace/search/recur.c states it. A steepest link leaves so few.
 *
 *	slide	block = segment, thread = sample of the guide in the middle, a loop over the gaps and, in each, over the rows of
 *		links by their climb. All samples have one window, whose maximum slides by the CPU's two stacks. The links of
 *		the neighbouring gap at a thread's sample are its own column of shared memory, in which their suffix maxima
 *		replace them, so that a barrier stands only between gaps. Scores are loaded 8 rows ahead.
 *
 * Maxima and one sum per link: the floats are the CPU's. Forward, F of the gap before a guide is read and F of the gap after it
 * made; backward the same with H.
 *
 * Shared memory: 4 bytes a thread and climb, 40 KB for 160 threads and 63 climbs. Bound, a link: 12 bytes (F read, S read, F
 * written), 3 maxima. A barrier a gap, and the steps of one thread over the climbs, cost more.
 */
#include "gpu/dptrace/gaps.h"

namespace
{

constexpr unsigned THREADS = 256, WARP = 32;
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

unsigned
blocks(size_t n, size_t each)
{
	return (unsigned)((n + each - 1) / each);
}

/* How many threads a block has, and the bytes of their columns. */
struct columns {
	unsigned threads;
	size_t shared;
};

columns
columns_of(const struct dp_job *j)
{
	const unsigned rounds = blocks(j->on.maxd, THREADS);
	columns c = {blocks(blocks(j->on.maxd, rounds), WARP) * WARP, 0};

	while (c.threads > WARP &&
	       c.threads * sizeof(float) * (size_t)j->maxclimbs > j->g->prop.sharedMemPerBlockOptin)
		c.threads -= WARP;
	c.shared = c.threads * sizeof(float) * (size_t)j->maxclimbs;
	return c;
}

template <bool backward>
int
launch(struct dp_job *j, const unsigned *ids, unsigned n)
{
	const columns c = columns_of(j);

	GPU_TRY(j->g,
		cudaFuncSetAttribute(slide_gaps<backward>,
				     cudaFuncAttributeMaxDynamicSharedMemorySize, (int)c.shared));
	GPU_LAUNCH(j->g, slide_gaps<backward>, n, c.threads, c.shared, j->on, ids);
	return 0;
}

} // namespace

bool
dp_is_narrow(const struct dp_job *j)
{
	return j->maxclimbs <= CLIMBS_MOST;
}

int
dp_slide(struct dp_job *j, const unsigned *ids, unsigned n, bool backward)
{
	return backward ? launch<true>(j, ids, n) : launch<false>(j, ids, n);
}
