/*
 * Chains of segments: what dptrace/search/chain.c does to one line, done to all lines of a batch, their k-th segments at a time. The way
 * back: follow.cu.
 *
 *	windows		thread = table; the CPU's walk, step by step, since rounding decides where it stops
 *	meet		block = point where two segments meet, thread = link after it, a loop over the links before it
 *
 * Bound: the recursion between; of their own d^2 comparisons a point, n d a line, and two small copies over the bus a
 * segment of the longest line.
 */
#include "gpu/dptrace/turn.h"

namespace
{

constexpr unsigned THREADS = 256, WARP = 32;

__global__ void
fill_windows(const dp_chains c, size_t n)
{
	const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= n)
		return;
	const dp_table w = c.table[i];
	const int mid = w.rows - 1;
	int a = -mid, b = -mid - 1, *lo = c.window + w.at + mid, *hi = lo + (2 * w.rows - 1);

	for (int t = -mid; t <= mid; t++) {
		const double y = t * w.dv;
		while (a <= mid && a * w.dv * w.h2 < y * w.h1 &&
		       !turn_is_ok(w.phi, w.h1, a * w.dv, w.h2, y))
			a++;
		if (b < a - 1)
			b = a - 1;
		while (b < mid && turn_is_ok(w.phi, w.h1, (b + 1) * w.dv, w.h2, y))
			b++;
		lo[t] = a;
		hi[t] = b;
	}
}

/* --- where segments meet ------------------------------------------------------------------------------------------- */

/* The largest of all threads' v, for all of them. */
__device__ float
block_largest(float v)
{
	__shared__ float part[THREADS / WARP];

	for (int step = WARP / 2; step; step /= 2) {
		const float other = __shfl_xor_sync(~0u, v, step);
		v = other > v ? other : v;
	}
	__syncthreads();
	if (threadIdx.x % WARP == 0)
		part[threadIdx.x / WARP] = v;
	__syncthreads();
	for (unsigned i = 0; i < THREADS / WARP; i++)
		v = part[i] > v ? part[i] : v;
	return v;
}

/* x -= its largest, so that sums over long chains keep their digits; that. A thread keeps to its own x. */
__device__ float
rebase(float *x, int n)
{
	float most = NEVER;

	for (int i = (int)threadIdx.x; i < n; i += (int)THREADS)
		most = x[i] > most ? x[i] : most;
	most = block_largest(most);
	if (most > NEVER / 2)
		for (int i = (int)threadIdx.x; i < n; i += (int)THREADS)
			x[i] = x[i] > NEVER / 2 ? x[i] - most : NEVER;
	return most;
}

/* entry of first segments. block = line. */
__global__ void
begin(const dp_chains c, const dp_start *from)
{
	const dp_start f = from[blockIdx.x];
	const size_t id = c.line[f.line].seg;
	const int n = first_links(c, c.seg[id]);

	for (int i = (int)threadIdx.x; i < n; i += (int)THREADS)
		c.entry[id * c.maxd + (size_t)i] =
		    f.k1 < 0 || (f.k0 <= i && i <= f.k1) ? 0.f : NEVER;
}

/* entry from the exit of the segment before. block = segment. */
__global__ void
__launch_bounds__(THREADS) meet(const dp_chains c, const unsigned *ids, dp_sums *out)
{
	const size_t id = ids[blockIdx.x];
	const dp_segment s = c.seg[id];
	const int n = first_links(c, s);
	float *entry = c.entry + id * c.maxd;

	if (s.k > 0) {
		const dp_segment p = c.seg[id - 1];
		const float *in = c.exit + (id - 1) * c.maxd;
		const int np = last_links(c, p);
		const bool free = c.released[id];
		for (int i = (int)threadIdx.x; i < n; i += (int)THREADS) {
			const step next = first_step(c, s, i);
			float best = NEVER;
			for (int j = 0; j < np; j++)
				if (in[j] > best && (free || may_follow(c.line[s.line].phi,
									last_step(c, p, j), next)))
					best = in[j];
			entry[i] = best;
		}
	}
	const float taken = rebase(entry, n);
	if (threadIdx.x == 0)
		out[blockIdx.x].taken = taken;
}

/* exit from F. block = segment. */
__global__ void
__launch_bounds__(THREADS) pass_out(const dp_chains c, const unsigned *ids, dp_sums *out)
{
	const size_t id = ids[blockIdx.x];
	const dp_segment s = c.seg[id];
	const float *F = c.F + c.guide[s.guide + (size_t)s.n - 2].link;
	const int n = last_links(c, s);
	float most = NEVER;

	for (int j = (int)threadIdx.x; j < n; j += (int)THREADS) {
		c.exit[id * c.maxd + (size_t)j] = F[j];
		most = F[j] > most ? F[j] : most;
	}
	most = block_largest(most);
	if (threadIdx.x == 0)
		out[blockIdx.x].most = most;
}

/* leave of last segments: NEVER where no first link k0..k1 may close the line. block = line. */
__global__ void
__launch_bounds__(THREADS) close_up(const dp_chains c, const dp_start *from, dp_sums *out)
{
	const dp_start f = from[blockIdx.x];
	const dp_line l = c.line[f.line];
	const size_t id = l.seg + (size_t)l.n - 1;
	const dp_segment s = c.seg[id], first = c.seg[l.seg];
	const int n = last_links(c, s);
	float most = NEVER;

	for (int j = (int)threadIdx.x; j < n; j += (int)THREADS) {
		const step last = last_step(c, s, j);
		bool ok = f.k1 < 0;
		for (int k = f.k0; k <= f.k1 && !ok; k++)
			ok = may_follow(l.phi, last, first_step(c, first, k));
		const float leave = ok ? 0.f : NEVER, sum = c.exit[id * c.maxd + (size_t)j] + leave;
		c.leave[id * c.maxd + (size_t)j] = leave;
		most = sum > most ? sum : most;
	}
	most = block_largest(most);
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
	const dp_segment p = c.seg[id - 1];
	const float *H = c.H + c.guide[s.guide].link;
	float *leave = c.leave + (id - 1) * c.maxd;
	const int n = first_links(c, s), np = last_links(c, p);
	const bool free = c.released[id];

	for (int j = (int)threadIdx.x; j < np; j += (int)THREADS) {
		const step last = last_step(c, p, j);
		float best = NEVER;
		for (int i = 0; i < n; i++)
			if (H[i] > best &&
			    (free || may_follow(c.line[s.line].phi, last, first_step(c, s, i))))
				best = H[i];
		leave[j] = best;
	}
	rebase(leave, np);
}

} // namespace

int
dp_windows(struct dp_job *j)
{
	if (j->ntable)
		GPU_LAUNCH(j->g, fill_windows, (unsigned)((j->ntable + WARP - 1) / WARP), WARP, 0,
			   j->on, j->ntable);
	return 0;
}

int
dp_begin(struct dp_job *j, const dp_start *from, unsigned n)
{
	GPU_LAUNCH(j->g, begin, n, THREADS, 0, j->on, from);
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
dp_close_up(struct dp_job *j, const dp_start *from, unsigned n, dp_sums *out)
{
	GPU_LAUNCH(j->g, close_up, n, THREADS, 0, j->on, from, out);
	return 0;
}
