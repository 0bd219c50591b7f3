/* The systems of least squares, one a frequency: T x = y, what is known of them and what is told of them. */
#ifndef WEIR_GPU_RADON_SYSTEMS_H
#define WEIR_GPU_RADON_SYSTEMS_H

#include "gpu/radon/work.h"

typedef pair<double> cplx;

/* What a frequency tells: t[0] / E, whether it takes conjugate gradients, their steps. */
struct radon_outcome {
	double condition;
	unsigned fallback, steps;
};

/* y: right-hand sides, [bin][gather][curve]; NULL: they are in the job's m, where solutions go. t: [bin][curve], first columns. */
struct radon_systems {
	const cplx *y, *t;
	radon_outcome *out;
};

/* Curves that the registers of a warp hold. */
enum { RADON_IN_REGISTERS = 512 };

/* schur.cu: solves all systems of at most RADON_IN_REGISTERS curves, except those for which E / t[0] falls to RADON_SAFE. */
int radon_reduce(struct gpu *g, const radon_job &w, const radon_systems &s);

namespace
{

constexpr double RADON_SAFE = 1e-10; /* radon/lsq.c */
constexpr unsigned WARP = 32;

__device__ cplx
right_side(const radon_job &w, const radon_systems &s, unsigned bin, unsigned gather, unsigned i)
{
	const size_t at = ((size_t)bin * w.n + gather) * w.nq + i;
	if (s.y)
		return s.y[at];
	const pair<float> m = w.m[(size_t)w.kmin * w.n * w.nq + at];

	return {m.re, m.im};
}

__device__ void
put_solution(const radon_job &w, unsigned bin, unsigned gather, unsigned i, const cplx &x)
{
	const unsigned k = w.kmin + bin;
	const bool real = k == 0 || 2 * k == w.nfft; /* as in the spectrum of a real panel */

	w.m[((size_t)k * w.n + gather) * w.nq + i] = {(float)x.re, real ? 0 : (float)x.im};
}

/* e: E / t[0], or 0 where it is not safe. */
__device__ radon_outcome
outcome_of(double e, unsigned steps)
{
	return {e > 0 ? 1 / e : 1 / RADON_SAFE, !(e > 0), steps};
}

__device__ cplx
scaled(const cplx &v, double by)
{
	return {v.re * by, v.im * by};
}

__device__ cplx
conjugate(const cplx &v)
{
	return {v.re, -v.im};
}

} // namespace

#endif
