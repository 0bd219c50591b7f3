/*
 * Turns between links, on the device: dptrace/search/chain.h. Angles are judged in double precision by the CPU's
 * operations in their order, without contraction (-fmad=false), so every turn is judged alike.
 */
#ifndef WEIR_GPU_DPTRACE_TURN_H
#define WEIR_GPU_DPTRACE_TURN_H

#include "gpu/dptrace/chain.h"

struct step {
	double x, y;
};

__device__ __forceinline__ bool
turn_is_ok(struct bound b, double x1, double y1, double x2, double y2)
{
	const double cross = x1 * y2 - y1 * x2, dot = x1 * x2 + y1 * y2;
	const double size = sqrt((x1 * x1 + y1 * y1) * (x2 * x2 + y2 * y2));

	return fabs(cross) * b.cos - dot * b.sin <= 1e-12 * size;
}

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
	return turn_is_ok(phi, a.x, a.y, b.x, b.y);
}

#endif
