/*
 * Chains of segments: what dptrace/chain.c does to one line, done to all lines of a batch, their k-th segments at a time.
 *
 *	windows		thread = table; the CPU's walk, step by step, since rounding decides where it stops
 *	meet		block = point where two segments meet, thread = link after it, a loop over the links before it
 *	follow		warp = line, from its end; 32 links before at a time, the best by (sum, straightness, lowest)
 *
 * Angles are judged in double precision by the CPU's operations in their order, without contraction (-fmad=false), so every
 * turn is judged alike.
 *
 * Bound: the recursion between; of their own d^2 comparisons a point, n d a line, and two small copies over the bus a
 * segment of the longest line.
 */
#include "gpu/dptrace_chain.h"

namespace
{

constexpr unsigned THREADS = 256, WARP = 32;

struct step {
	double x, y;
};

/* --- turns --------------------------------------------------------------------------------------------------------- */

__device__ bool
turn_is_ok(struct bound b, double x1, double y1, double x2, double y2)
{
	const double cross = x1 * y2 - y1 * x2, dot = x1 * x2 + y1 * y2;
	const double size = sqrt((x1 * x1 + y1 * y1) * (x2 * x2 + y2 * y2));

	return fabs(cross) * b.cos - dot * b.sin <= 1e-12 * size;
}

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

/* The step of a link that climbs rows over h, in the picture. */
__device__ step
step_of(const dp_segment &s, double h, int rows)
{
	const double v = rows * s.dv;

	return {h * s.ex - v * s.ey, h * s.ey + v * s.ex};
}

__device__ step
first_step(const dp_chains &c, const dp_segment &s, int k)
{
	const dp_guide *v = c.guide + s.guide;

	return step_of(s, v->h, v[1].o - v->o + k);
}

__device__ step
last_step(const dp_chains &c, const dp_segment &s, int j)
{
	const dp_guide *v = c.guide + s.guide + s.n - 2;

	return step_of(s, v->h, v[1].o - v->o - j);
}

__device__ int
first_links(const dp_chains &c, const dp_segment &s)
{
	return c.guide[s.guide + 1].d;
}

__device__ int
last_links(const dp_chains &c, const dp_segment &s)
{
	return c.guide[s.guide + (size_t)s.n - 2].d;
}

__device__ bool
may_follow(struct bound phi, step a, step b)
{
	return turn_is_ok(phi, a.x, a.y, b.x, b.y);
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

/* --- the way back -------------------------------------------------------------------------------------------------- */

/* A link before: the larger sum, then the straighter turn, then the lower sample. */
struct choice {
	float sum;
	double straight;
	int sample;
};

__device__ bool
is_better(const choice &a, const choice &b)
{
	if (a.sum != b.sum)
		return a.sum > b.sum;
	if (a.straight != b.straight)
		return a.straight > b.straight;
	return a.sample < b.sample;
}

/* The best of a warp's choices. */
__device__ choice
warp_best(choice a)
{
	for (int step = WARP / 2; step; step /= 2) {
		const choice b = {__shfl_xor_sync(~0u, a.sum, step),
				  __shfl_xor_sync(~0u, a.straight, step),
				  __shfl_xor_sync(~0u, a.sample, step)};
		if (is_better(b, a))
			a = b;
	}
	return a;
}

/* The best last link of a segment before the step next, or, at the end, before the way straight on. */
__device__ int
best_last(const dp_chains &c, size_t id, bool end, step next)
{
	const dp_segment s = c.seg[id];
	const struct bound phi = c.line[s.line].phi;
	const float *sum = c.exit + id * c.maxd, *leave = c.leave + id * c.maxd;
	const bool free = end || c.released[id + 1];
	choice best = {2 * NEVER, -INFINITY, 0};

	if (end)
		next = {s.ex, s.ey};
	for (int j = (int)threadIdx.x; j < last_links(c, s); j += (int)WARP) {
		const step a = last_step(c, s, j);
		const float f = end ? sum[j] + leave[j] : sum[j];
		if (f < best.sum || (!free && !may_follow(phi, a, next)))
			continue;
		const double cosine = (a.x * next.x + a.y * next.y) / sqrt(a.x * a.x + a.y * a.y);
		const choice to = {f, cosine, j};
		if (is_better(to, best))
			best = to;
	}
	return warp_best(best).sample;
}

/* The start of the best link to sample j of guide g, when the link after it has slope t. */
__device__ int
best_before(const dp_chains &c, const dp_segment &s, int g, int j, int t)
{
	const dp_guide *v = c.guide + s.guide + g, *u = v - 1;
	const int *lo = c.window + v->before + s.rows - 1, *hi = lo + (2 * s.rows - 1);
	const int climb = v->o - u->o;
	const float *F = c.F + u->link + (size_t)j * (size_t)u->d;
	const double y2 = t * s.dv;
	choice best = {2 * NEVER, -INFINITY, 0};

	for (int i = max(0, j - (hi[t] - climb)) + (int)threadIdx.x;
	     i <= min(u->d - 1, j - (lo[t] - climb)); i += (int)WARP) {
		if (F[i] < best.sum)
			continue;
		const double y1 = (j - i + climb) * s.dv;
		const choice to = {F[i], (u->h * v->h + y1 * y2) / sqrt(u->h * u->h + y1 * y1), i};
		if (is_better(to, best))
			best = to;
	}
	return warp_best(best).sample;
}

/* at of a segment from its last link on. */
__device__ void
follow_segment(const dp_chains &c, const dp_segment &s, int j)
{
	const dp_guide *v = c.guide + s.guide;
	int k = 0;

	for (int g = s.n - 2; g >= 0; g--) {
		const int i = g > 0 ? best_before(c, s, g, j, k - j + v[g + 1].o - v[g].o) : 0;
		if (threadIdx.x == 0) {
			c.at[s.guide + (size_t)g + 1] = k;
			c.link[s.guide + (size_t)g] =
			    c.S[v[g].link + (size_t)j * (size_t)v[g + 1].d + (size_t)k];
		}
		k = j;
		j = i;
	}
	if (threadIdx.x == 0)
		c.at[s.guide] = k;
	__syncwarp();
}

/* at and link of whole lines; whether the closing turn of each is admissible. warp = line. */
__global__ void
follow(const dp_chains c, const dp_start *from, int *closes)
{
	const dp_line l = c.line[from[blockIdx.x].line];
	step next = {0, 0}, last = next;

	for (int k = l.n - 1; k >= 0; k--) {
		const size_t id = l.seg + (size_t)k;
		const dp_segment s = c.seg[id];
		const int j = best_last(c, id, k == l.n - 1, next);
		follow_segment(c, s, j);
		if (k == l.n - 1)
			last = last_step(c, s, j);
		next = first_step(c, s, c.at[s.guide + 1]);
	}
	if (threadIdx.x == 0)
		closes[blockIdx.x] = may_follow(l.phi, last, next);
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

int
dp_follow(struct dp_job *j, const dp_start *from, unsigned n, int *closes)
{
	GPU_LAUNCH(j->g, follow, n, WARP, 0, j->on, from, closes);
	return 0;
}
