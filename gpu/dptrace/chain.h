/* The places where segments meet, on the device: chain.cu. solve.cu launches these. */
#ifndef WEIR_GPU_DPTRACE_CHAIN_H
#define WEIR_GPU_DPTRACE_CHAIN_H

#include "gpu/dptrace/job.h"

/* Numbers that the host reads: what rebase() subtracted, and the largest sum at the end. */
struct dp_sums {
	float taken, most;
};

/* Below, ids (of segments), lines and out are arrays of n entries on the device. */

/* Computes all windows. */
int dp_windows(struct dp_job *j);

/* Computes `entry` of the lines' first segments. */
int dp_begin(struct dp_job *j, const unsigned *lines, unsigned n);

/* Computes `entry` of segments from `exit` of the segments before, less out.taken; then `exit` from F, and out.most. */
int dp_meet(struct dp_job *j, const unsigned *ids, unsigned n, dp_sums *out);
int dp_pass_out(struct dp_job *j, const unsigned *ids, unsigned n, dp_sums *out);

/* Computes `leave` of the segments before from H. */
int dp_meet_back(struct dp_job *j, const unsigned *ids, unsigned n);

/* Make `leave` of the lines' last segments 0, and find out.most; find `at` and `link`. */
int dp_end(struct dp_job *j, const unsigned *lines, unsigned n, dp_sums *out);
int dp_follow(struct dp_job *j, const unsigned *lines, unsigned n);

/*
 * Turns between links. Angles are judged in double precision by the CPU's turn_ok(), without contraction (-fmad=false), so every turn
 * is judged alike.
 */
struct step {
	double x, y;
};

/* The step of a link that climbs rows over h, in the picture. */
__device__ __forceinline__ step
step_of(double ex, double ey, double h, double v)
{
	return {h * ex - v * ey, h * ey + v * ex};
}

__device__ __forceinline__ step
first_step(const dp_chains &c, const dp_segment &s, int i, int k)
{
	const dp_guide *v = c.guide + s.guide;

	return step_of(s.ex, s.ey, v->h, (v[1].o - v->o - i + k) * s.dv);
}

__device__ __forceinline__ step
last_step(const dp_chains &c, const dp_segment &s, int i, int k)
{
	const dp_guide *v = c.guide + s.guide + s.n - 2;

	return step_of(s.fx, s.fy, v->h, (v[1].o - v->o - i + k) * s.dv);
}

/* The samples of the first and of the last but one guide, and of those after them. */
struct pair_of_guides {
	int d, e;
};

__device__ __forceinline__ pair_of_guides
first_guides(const dp_chains &c, const dp_segment &s)
{
	const dp_guide *v = c.guide + s.guide;

	return {v->d, v[1].d};
}

__device__ __forceinline__ pair_of_guides
last_guides(const dp_chains &c, const dp_segment &s)
{
	const dp_guide *v = c.guide + s.guide + s.n - 2;

	return {v->d, v[1].d};
}

/* Whether link i -> k of the gap after guide v climbs more rows than links of its segment may. */
__device__ __forceinline__ bool
is_steep(const dp_segment &s, const dp_guide *v, int i, int k)
{
	return s.steepest && abs(v[1].o - v->o - i + k) > s.steepest;
}

__device__ __forceinline__ bool
may_follow(struct bound phi, step a, step b)
{
	return turn_ok(phi, a.x, a.y, b.x, b.y);
}

#endif
