/* What base.cu and evidence.cu share: places in a strip, and in its scratch. */
#ifndef WEIR_GPU_DPTRACE_BENCH_H
#define WEIR_GPU_DPTRACE_BENCH_H

#include "gpu/dptrace/strip.h"

/* Returns the walk across column col of evidence, from `rows` base rows after the first sample on. */
__device__ __forceinline__ walk
walk_from(const dp_evidence &e, const dp_strip &s, int col, int rows)
{
	const walk k = e.column[s.columns + (size_t)(s.g.ru + col * s.g.sub)];

	return {k.x + rows * k.dx, k.y + rows * k.dy, k.dx, k.dy};
}

__device__ __forceinline__ size_t
element(void)
{
	return (size_t)blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ float *
along_of(const dp_evidence &e, const dp_strip &s, unsigned field)
{
	return e.bench + s.bench + (s.wide + field * (size_t)s.g.ncol) * s.raw_rows;
}

__device__ __forceinline__ float *
size_of(const dp_evidence &e, const dp_strip &s)
{
	return along_of(e, s, 3);
}

/*
 * evidence.cu, for n segments, `blocks` blocks each: dp_sizes() computes the sizes of the fields, which are a gradient or a
 * Hessian. dp_normalise() divides the fields by these sizes, which makes them evidence.
 */
int dp_sizes(struct gpu *g, const dp_evidence &e, unsigned n, unsigned blocks, bool hessian);
int dp_normalise(struct gpu *g, const dp_evidence &e, unsigned n, unsigned blocks);

#endif
