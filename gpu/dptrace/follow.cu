/*
 * The polylines of a batch's lines, from their ends back to their starts.
 *
 *	follow	warp = line; 32 links before at a time, the best by (sum, straightness, lowest)
 *
 * Bound: latency, d^2 comparisons at each of a line's points by one warp; all lines at once.
 */
#include "gpu/dptrace/chain.h"

namespace
{

constexpr unsigned WARP = 32;

/* A link before: the larger sum, then the straighter turn, then the one nearer to the middle, then the lower sample. */
struct choice {
	float sum;
	double straight;
	int aside, sample;
};

__device__ bool
is_better(const choice &a, const choice &b)
{
	if (a.sum != b.sum)
		return a.sum > b.sum;
	if (a.straight != b.straight)
		return a.straight > b.straight;
	if (a.aside != b.aside)
		return a.aside < b.aside;
	return a.sample < b.sample;
}

/* The best of a warp's choices. */
__device__ choice
warp_best(choice a)
{
	for (int step = WARP / 2; step; step /= 2) {
		const choice b = {
		    __shfl_xor_sync(~0u, a.sum, step), __shfl_xor_sync(~0u, a.straight, step),
		    __shfl_xor_sync(~0u, a.aside, step), __shfl_xor_sync(~0u, a.sample, step)};
		if (is_better(b, a))
			a = b;
	}
	return a;
}

/* The best last link of a segment before the step next from sample start, or, at the end, before the way straight on. */
__device__ int
best_last(const dp_chains &c, size_t id, bool end, step next, int start)
{
	const dp_segment s = c.seg[id];
	const dp_guide *v = c.guide + s.guide + s.n - 2;
	const pair_of_guides p = last_guides(c, s);
	const struct bound phi = c.line[s.line].phi;
	const float *sum = c.exit + id * c.maxlinks;
	const bool free = end || c.released[id + 1];
	choice best = {2 * NEVER, -INFINITY, 0, 0};

	if (end)
		next = {s.fx, s.fy};
	for (int j = (int)threadIdx.x; j < p.d * p.e; j += (int)WARP) {
		const int m = j % p.e;
		const step a = last_step(c, s, j / p.e, m);
		const float f = sum[j];
		if (f < best.sum || (!end && m != start) || !dp_is_kept(v, j / p.e, m) ||
		    (!free && !may_follow(phi, a, next)))
			continue;
		const double cosine = (a.x * next.x + a.y * next.y) / sqrt(a.x * a.x + a.y * a.y);
		const choice to = {f, cosine, abs(2 * m + 1 - p.e), j};
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
	const double y2 = t * s.dv;
	choice best = {2 * NEVER, -INFINITY, 0, 0};

	for (int i = max(0, j - (hi[t] - climb)) + (int)threadIdx.x;
	     i <= min(u->d - 1, j - (lo[t] - climb)); i += (int)WARP) {
		const float sum = c.F[dp_back(u, i, j)];
		if (sum < best.sum)
			continue;
		const double y1 = (j - i + climb) * s.dv;
		const choice to = {sum, (u->h * v->h + y1 * y2) / sqrt(u->h * u->h + y1 * y1), 0,
				   i};
		if (is_better(to, best))
			best = to;
	}
	return warp_best(best).sample;
}

/* at of a segment from its last link j -> k on. A link without a place is not looked up. */
__device__ void
follow_segment(const dp_chains &c, const dp_segment &s, int j, int k)
{
	const dp_guide *v = c.guide + s.guide;

	for (int g = s.n - 2; g >= 0; g--) {
		const bool kept = dp_is_kept(v + g, j, k);
		const int i =
		    g > 0 && kept ? best_before(c, s, g, j, k - j + v[g + 1].o - v[g].o) : 0;
		if (threadIdx.x == 0) {
			c.at[s.guide + (size_t)g + 1] = k;
			c.link[s.guide + (size_t)g] = kept ? c.S[dp_link(v + g, j, k)] : NEVER;
		}
		k = j;
		j = i;
	}
	if (threadIdx.x == 0)
		c.at[s.guide] = k;
	__syncwarp();
}

/* at and link of whole lines. warp = line. */
__global__ void
follow(const dp_chains c, const unsigned *lines)
{
	const dp_line l = c.line[lines[blockIdx.x]];
	step next = {0, 0};
	int start = 0;

	for (int k = l.n - 1; k >= 0; k--) {
		const size_t id = l.seg + (size_t)k;
		const dp_segment s = c.seg[id];
		const int e = last_guides(c, s).e,
			  link = best_last(c, id, k == l.n - 1, next, start);
		follow_segment(c, s, link / e, link % e);
		start = c.at[s.guide];
		next = first_step(c, s, start, c.at[s.guide + 1]);
	}
}

} // namespace

int
dp_follow(struct dp_job *j, const unsigned *lines, unsigned n)
{
	GPU_LAUNCH(j->g, follow, n, WARP, 0, j->on, lines);
	return 0;
}
