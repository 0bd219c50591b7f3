/*
 * Chains of segments: what dptrace/search/chain.c does to one line, done to all lines of a batch, their k-th
 * segments at a time. The way back: follow.cu.
 *
 *	windows		warp = table; the CPU's walk, since rounding decides where it stops, 16 steps of both its ends at a time
 *	meet		block = point where two segments meet, thread = link after it, a loop over the links before it
 *
 * Bound: the recursion between; of their own d^2 comparisons a point, n d a line, and two small copies over the bus a
 * segment of the longest line.
 */
#include "gpu/dptrace/chain.h"
#include "gpu/reduce.h"

namespace
{

constexpr unsigned THREADS = 256;

/* The window a..b of links that climb t rows, from that of t - 1: dptrace/search/recur.c. Half the lanes try steps of each end. */
__device__ void
move_window(const dp_table &w, int t, int *a, int *b)
{
	constexpr int HALF = (int)WARP / 2;
	const int lane = (int)threadIdx.x % HALF;
	const bool end = (int)threadIdx.x >= HALF;
	const double y = t * w.dv;
	bool again;

	do {
		const int last = max(*b, *a - 1), to = end ? last + 1 + lane : *a + lane;
		const double x = to * w.dv;
		const bool ok = turn_ok(w.phi, w.h1, x, w.h2, y);
		const unsigned steps =
		    __ballot_sync(~0u, to <= w.most && (end ? ok : x * w.h2 < y * w.h1 && !ok));
		const int up = __ffs((int)~(steps & ((1u << HALF) - 1))) - 1,
			  more = __ffs((int)~(steps >> HALF)) - 1;
		*a += up;
		again = up == HALF || *a - 1 > last;
		if (!again) {
			*b = last + more;
			again = more == HALF;
		}
	} while (again);
}

__global__ void
fill_windows(const dp_chains c)
{
	const dp_table w = c.table[blockIdx.x];
	int a = -w.most, b = -w.most - 1, *lo = c.window + w.at + w.rows - 1,
	    *hi = lo + (2 * w.rows - 1);

	for (int t = -w.most; t <= w.most; t++) {
		move_window(w, t, &a, &b);
		if (threadIdx.x == 0) {
			lo[t] = a;
			hi[t] = b;
		}
	}
}

/* --- where segments meet ------------------------------------------------------------------------------------------- */

/* Subtracts the largest x from all and returns it: sums over long chains then keep their digits. A thread keeps to its own x. */
__device__ float
rebase(float *x, int n)
{
	float most = NEVER;

	for (int i = (int)threadIdx.x; i < n; i += (int)THREADS)
		most = x[i] > most ? x[i] : most;
	most = block_largest<THREADS>(most);
	if (most > NEVER / 2)
		for (int i = (int)threadIdx.x; i < n; i += (int)THREADS)
			x[i] = x[i] > NEVER / 2 ? x[i] - most : NEVER;
	return most;
}

/* entry of first segments. block = line. */
__global__ void
begin(const dp_chains c, const unsigned *lines)
{
	const size_t id = c.line[lines[blockIdx.x]].seg;
	const pair_of_guides p = first_guides(c, c.seg[id]);

	for (int i = (int)threadIdx.x; i < p.d * p.e; i += (int)THREADS)
		c.entry[id * c.maxlinks + (size_t)i] = 0;
}

/* The largest sum of the last links of segment id, s, to sample m that may be followed by the step next. */
__device__ float
best_into(const dp_chains &c, size_t id, const dp_segment &s, int m, step next, bool free)
{
	const pair_of_guides p = last_guides(c, s);
	const float *in = c.exit + id * c.maxlinks;
	float best = NEVER;

	for (int i = 0; i < p.d; i++)
		if (in[i * p.e + m] > best &&
		    (free || may_follow(c.line[s.line].phi, last_step(c, s, i, m), next)))
			best = in[i * p.e + m];
	return best;
}

/* entry from the exit of the segment before. block = segment. */
__global__ void
__launch_bounds__(THREADS) meet(const dp_chains c, const unsigned *ids, dp_sums *out)
{
	const size_t id = ids[blockIdx.x];
	const dp_segment s = c.seg[id];
	const pair_of_guides p = first_guides(c, s);
	float *entry = c.entry + id * c.maxlinks;

	for (int i = (int)threadIdx.x; s.k > 0 && i < p.d * p.e; i += (int)THREADS)
		entry[i] = is_steep(s, c.guide + s.guide, i / p.e, i % p.e)
			       ? NEVER
			       : best_into(c, id - 1, c.seg[id - 1], i / p.e,
					   first_step(c, s, i / p.e, i % p.e), c.released[id]);
	const float taken = rebase(entry, p.d * p.e);
	if (threadIdx.x == 0)
		out[blockIdx.x].taken = taken;
}

/* exit from F. block = segment. */
__global__ void
__launch_bounds__(THREADS) pass_out(const dp_chains c, const unsigned *ids, dp_sums *out)
{
	const size_t id = ids[blockIdx.x];
	const dp_segment s = c.seg[id];
	const dp_guide *v = c.guide + s.guide + (size_t)s.n - 2;
	const pair_of_guides p = last_guides(c, s);
	float most = NEVER;

	for (int j = (int)threadIdx.x; j < p.d * p.e; j += (int)THREADS) {
		const float sum =
		    dp_is_kept(v, j / p.e, j % p.e) ? c.F[dp_back(v, j / p.e, j % p.e)] : NEVER;
		c.exit[id * c.maxlinks + (size_t)j] = sum;
		most = sum > most ? sum : most;
	}
	most = block_largest<THREADS>(most);
	if (threadIdx.x == 0)
		out[blockIdx.x].most = most;
}

/* leave of last segments, 0, and the largest sum. block = line. */
__global__ void
__launch_bounds__(THREADS) end(const dp_chains c, const unsigned *lines, dp_sums *out)
{
	const dp_line l = c.line[lines[blockIdx.x]];
	const size_t id = l.seg + (size_t)l.n - 1;
	const pair_of_guides p = last_guides(c, c.seg[id]);
	float most = NEVER;

	for (int j = (int)threadIdx.x; j < p.d * p.e; j += (int)THREADS) {
		const float sum = c.exit[id * c.maxlinks + (size_t)j];
		c.leave[id * c.maxlinks + (size_t)j] = 0;
		most = sum > most ? sum : most;
	}
	most = block_largest<THREADS>(most);
	if (threadIdx.x == 0)
		out[blockIdx.x].most = most;
}

/* leave of the segment before, from the first links of this one, whose H is made. block = segment. */
__global__ void
__launch_bounds__(THREADS) meet_back(const dp_chains c, const unsigned *ids)
{
	const size_t id = ids[blockIdx.x];
	const dp_segment s = c.seg[id];

	if (s.k == 0)
		return;
	const dp_segment before = c.seg[id - 1];
	const pair_of_guides p = last_guides(c, before);
	const int e = first_guides(c, s).e;
	const dp_guide *v = c.guide + s.guide;
	float *leave = c.leave + (id - 1) * c.maxlinks;
	const bool free = c.released[id];

	for (int j = (int)threadIdx.x; j < p.d * p.e; j += (int)THREADS) {
		const int m = j % p.e;
		const step last = last_step(c, before, j / p.e, m);
		const bool steep =
		    is_steep(before, c.guide + before.guide + before.n - 2, j / p.e, m);
		float best = NEVER;
		for (int i = 0; i < e && !steep; i++) {
			const float h = dp_is_kept(v, m, i) ? c.H[dp_link(v, m, i)] : NEVER;
			if (h > best &&
			    (free || may_follow(c.line[s.line].phi, last, first_step(c, s, m, i))))
				best = h;
		}
		leave[j] = best;
	}
	rebase(leave, p.d * p.e);
}

} // namespace

int
dp_windows(struct dp_job *j)
{
	if (j->ntable)
		GPU_LAUNCH(j->g, fill_windows, (unsigned)j->ntable, WARP, 0, j->on);
	return 0;
}

int
dp_begin(struct dp_job *j, const unsigned *lines, unsigned n)
{
	GPU_LAUNCH(j->g, begin, n, THREADS, 0, j->on, lines);
	return 0;
}

int
dp_meet(struct dp_job *j, const unsigned *ids, unsigned n, dp_sums *out)
{
	GPU_LAUNCH(j->g, meet, n, THREADS, 0, j->on, ids, out);
	return 0;
}

int
dp_pass_out(struct dp_job *j, const unsigned *ids, unsigned n, dp_sums *out)
{
	GPU_LAUNCH(j->g, pass_out, n, THREADS, 0, j->on, ids, out);
	return 0;
}

int
dp_meet_back(struct dp_job *j, const unsigned *ids, unsigned n)
{
	GPU_LAUNCH(j->g, meet_back, n, THREADS, 0, j->on, ids);
	return 0;
}

int
dp_end(struct dp_job *j, const unsigned *lines, unsigned n, dp_sums *out)
{
	GPU_LAUNCH(j->g, end, n, THREADS, 0, j->on, lines, out);
	return 0;
}
