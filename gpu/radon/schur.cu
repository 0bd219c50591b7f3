/*
 * Hermitian Toeplitz systems T x = y in double, by Schur's algorithm. At order m two arrays describe T. P holds the predictor
 * a for k <= m, and T a for k > m. Q holds b, which is a backwards and conjugated, for k <= m, and T b for k > m. v holds the
 * solution x of the first m + 1 equations for k <= m, and T x - y for k > m. E is the error of the predictor. From order m - 1 to m:
 *
 *	c = -P[m] / E, E = E (1 - |c|^2)
 *	P[k] = P[k] + c Q[k - 1], Q[k] = Q[k - 1] + conj(c) P[k]; P[m] = c, Q[m] = 1
 *	v[k] = v[k] + g Q[k], g = -v[m] / E; v[m] = g
 *
 * T and y are divided by t[0], so that E begins at 1. No step needs an inner product.
 *
 *	reduce	block = frequency and 4 EACH gathers; warp 0 has P and Q, each other warp v of EACH gathers, in registers; lane
 *		= PART neighbours k. The rows Q go to the other warps through shared memory, a few orders ahead
 *
 * Shared: at most 32 KB. Bytes: 24 nq a gather and frequency. Operations: 16 nq^2 a frequency for P and Q, which Levinson's
 * recursion has in 8 nq^2 with an inner product at each order, and 8 nq^2 for each gather, in double.
 */
#include "gpu/radon/systems.h"

namespace
{

constexpr unsigned SOLVERS = 4, THREADS = WARP * (1 + SOLVERS);

/* Rows Q of AHEAD steps that are made, and of the AHEAD steps before, which are used. scale: -1 / E. */
template <unsigned PART> struct rows {
	static constexpr unsigned AHEAD = PART == 8 ? 4 : 2;
	cplx q[2][AHEAD][PART * WARP];
	double scale[2][AHEAD];
	bool safe;
};

__device__ cplx
from_lane(const cplx &v, unsigned lane)
{
	return {__shfl_sync(~0u, v.re, (int)lane), __shfl_sync(~0u, v.im, (int)lane)};
}

/* 1 / v, RADON_SAFE < v <= 1, without the branches of a division. */
__device__ double
invert(double v)
{
	const float root = rsqrtf((float)v);
	double r = (double)(root * root);

	for (int i = 0; i < 2; i++)
		r += r * (1 - v * r);
	return r;
}

/* Makers and users of rows meet at different places of the code, as __syncthreads() forbids. */
__device__ void
meet_block(void)
{
	__barrier_sync_count(1, THREADS);
}

/* Warp 0: P and Q in its lanes' registers. */
template <unsigned PART> struct maker {
	cplx p[PART], q[PART];
	double e, inverse;

	__device__
	maker(const cplx *t, unsigned n)
	    : e(1), inverse(1)
	{
		const double norm = 1 / t[0].re;

#pragma unroll
		for (unsigned i = 0; i < PART; i++) {
			const unsigned k = threadIdx.x * PART + i;
			p[i] = k < n ? scaled(t[k], norm) : cplx{0, 0};
			q[i] = k + 1 < n ? scaled(t[k + 1], norm) : cplx{0, 0};
		}
	}

	/* Order owner * PART + j, whose entry lane `owner` has. Beyond n nothing changes E. */
	__device__ void
	step(unsigned owner, unsigned j, unsigned n)
	{
		const unsigned lane = threadIdx.x, m = owner * PART + j;
		const bool turns = m > 0 && m < n;
		const cplx d = from_lane(p[j], owner),
			   c = {turns ? -d.re * inverse : 0, turns ? -d.im * inverse : 0};
		cplx below = {__shfl_up_sync(~0u, q[PART - 1].re, 1),
			      __shfl_up_sync(~0u, q[PART - 1].im, 1)};

		e *= 1 - c.re * c.re - c.im * c.im;
		inverse = invert(e);
		if (lane == 0)
			below = {0, 0};
#pragma unroll
		for (unsigned i = PART; i-- > 0;) {
			const cplx old = p[i];
			add_product(p[i], c, i ? q[i - 1] : below);
			q[i] = i ? q[i - 1] : below;
			add_product(q[i], conjugate(c), old);
		}
		if (lane == owner) {
			p[j] = m ? c : cplx{1, 0};
			q[j] = {1, 0};
		}
	}
};

/* Makes the rows of all orders. Returns E / t[0], or 0 where it is not safe. */
template <unsigned PART>
__device__ double
make_rows(const cplx *t, unsigned n, rows<PART> *r)
{
	constexpr unsigned AHEAD = rows<PART>::AHEAD;
	const unsigned lane = threadIdx.x;
	maker<PART> s(t, n);
	bool safe = true;

	for (unsigned owner = 0; owner * PART < n; owner++) {
#pragma unroll
		for (unsigned j = 0; j < PART; j++) {
			const unsigned buffer = j / AHEAD % 2;
			__syncwarp();
			s.step(owner, j, n);
			safe = safe && s.e > RADON_SAFE;
#pragma unroll
			for (unsigned i = 0; i < PART; i++)
				r->q[buffer][j % AHEAD][i * WARP + lane] = s.q[i];
			if (lane == 0) {
				r->scale[buffer][j % AHEAD] = owner * PART + j < n ? -s.inverse : 0;
				r->safe = safe;
			}
			if (j % AHEAD == AHEAD - 1)
				meet_block();
		}
	}
	return safe ? s.e : 0;
}

/* Brings v of EACH gathers through all orders, a buffer behind make_rows(). any: whether there are any. */
template <unsigned PART, unsigned EACH>
__device__ void
use_rows(const rows<PART> &r, unsigned n, bool any, cplx (&v)[EACH][PART])
{
	constexpr unsigned AHEAD = rows<PART>::AHEAD;
	const unsigned lane = threadIdx.x % WARP;

	for (unsigned owner = 0; owner * PART < n; owner++) {
#pragma unroll
		for (unsigned j = 0; j < PART; j++) {
			const unsigned buffer = j / AHEAD % 2;
			cplx g[EACH];
			__syncwarp();
			if (j % AHEAD == 0)
				meet_block();
			if (!any)
				continue;
#pragma unroll
			for (unsigned x = 0; x < EACH; x++)
				g[x] =
				    scaled(from_lane(v[x][j], owner), r.scale[buffer][j % AHEAD]);
#pragma unroll
			for (unsigned i = 0; i < PART; i++) {
				if (i % 2 == 0)
					__syncwarp();
				const cplx q = r.q[buffer][j % AHEAD][i * WARP + lane];
#pragma unroll
				for (unsigned x = 0; x < EACH; x++)
					add_product(v[x][i], g[x], q);
			}
#pragma unroll
			for (unsigned x = 0; x < EACH; x++)
				if (lane == owner)
					v[x][j] = g[x];
		}
	}
}

/* The part of a warp other than 0: gathers from `first` on. */
template <unsigned PART, unsigned EACH>
__device__ void
solve_gathers(const radon_job &w, const radon_systems &s, unsigned bin, unsigned first,
	      const rows<PART> &r)
{
	const unsigned k = threadIdx.x % WARP * PART, has = k < w.nq ? w.nq - k : 0;
	const double norm = -1 / s.t[(size_t)bin * w.nq].re;
	cplx v[EACH][PART];

#pragma unroll
	for (unsigned x = 0; x < EACH; x++)
#pragma unroll
		for (unsigned i = 0; i < PART; i++)
			v[x][i] = first + x < w.n && i < has
				      ? scaled(right_side(w, s, bin, first + x, k + i), norm)
				      : cplx{0, 0};
	use_rows<PART, EACH>(r, w.nq, first < w.n, v);
	if (!r.safe)
		return;
#pragma unroll
	for (unsigned x = 0; x < EACH; x++)
#pragma unroll
		for (unsigned i = 0; i < PART; i++)
			if (first + x < w.n && i < has)
				put_solution(w, bin, first + x, k + i, v[x][i]);
}

/* At most 32 PART curves. */
template <unsigned PART, unsigned EACH>
__global__ void
__launch_bounds__(THREADS, PART > 8 ? 1 : 2) reduce(const radon_job w, const radon_systems s)
{
	static_assert(PART / rows<PART>::AHEAD % 2 == 0, "a lane's entries take buffers in turns");
	__shared__ rows<PART> r;
	const unsigned bin = blockIdx.x, warp = threadIdx.x / WARP;

	if (warp) {
		const unsigned first = (blockIdx.y * SOLVERS + warp - 1) * EACH;
		solve_gathers<PART, EACH>(w, s, bin, first, r);
		return;
	}
	const double e = make_rows(s.t + (size_t)bin * w.nq, w.nq, &r);
	if (threadIdx.x == 0 && blockIdx.y == 0)
		s.out[bin] = outcome_of(e, 0);
}

template <unsigned PART, unsigned EACH>
int
launch(struct gpu *g, const radon_job &w, const radon_systems &s)
{
	constexpr unsigned GATHERS = SOLVERS * EACH;
	const dim3 grid(w.bins, (w.n + GATHERS - 1) / GATHERS);

	GPU_LAUNCH(g, (reduce<PART, EACH>), grid, THREADS, 0, w, s);
	return 0;
}

} // namespace

int
radon_reduce(struct gpu *g, const radon_job &w, const radon_systems &s)
{
	const bool few = w.n <= SOLVERS;

	if (w.nq <= 4 * WARP)
		return few ? launch<4, 1>(g, w, s) : launch<4, 4>(g, w, s);
	if (w.nq <= 8 * WARP)
		return few ? launch<8, 1>(g, w, s) : launch<8, 4>(g, w, s);
	return w.nq <= 12 * WARP ? launch<12, 2>(g, w, s) : launch<16, 2>(g, w, s);
}
