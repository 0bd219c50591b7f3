/* Two neighbouring gaps, about the guide between them: what slide.cu and recur.cu share. */
#ifndef WEIR_GPU_DPTRACE_GAPS_H
#define WEIR_GPU_DPTRACE_GAPS_H

#include "gpu/dptrace/job.h"

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

/* Whether links climb in so few ways that dp_slide() takes the job. */
bool dp_is_narrow(const struct dp_job *j);

/* The sums F, or backward H, of all gaps of segments ids[0..n) on the device, except of the first gap, or backward the last. */
int dp_slide(struct dp_job *j, const unsigned *ids, unsigned n, bool backward);

#endif
