/*
 * Least squares: per frequency the Hermitian Toeplitz system (A^H A + damping) m = A^H d, in double. Schur's algorithm solves it in
 * registers. What is left is done in memory:
 *
 *	finish	block = frequency; of more than RADON_IN_REGISTERS = 512 curves: the same algorithm, P and Q by all threads, a
 *		warp per gather. Where that is not safe: conjugate gradients, a warp per gather, to the same residual as the
 *		CPU, products with T term by term
 *
 * Memory is slower than registers: of 16 gathers, 512 curves took 5.4 ms on an NVIDIA H200, and 600 curves 39 ms.
 *
 * Bytes: the work arrays, 4 (1 + gathers) nq complex doubles a frequency, stay in the caches. Operations as in registers; one
 * barrier a step.
 *
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
#include "gpu/radon/work.h"
#include "gpu/reduce.h"

namespace
{

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

constexpr double RADON_SAFE = 1e-10; /* radon/lsq.c */

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

/* --- Schur's algorithm ------------------------------------------------------------------------------------------------ */

constexpr unsigned SOLVERS = 4, REDUCERS = WARP * (1 + SOLVERS);

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
	__barrier_sync_count(1, REDUCERS);
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
__launch_bounds__(REDUCERS, PART > 8 ? 1 : 2) reduce(const radon_job w, const radon_systems s)
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
	const dim3 grid(w.bins, gpu_blocks(w.n, GATHERS));

	GPU_LAUNCH(g, (reduce<PART, EACH>), grid, REDUCERS, 0, w, s);
	return 0;
}

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

/* --- all systems ------------------------------------------------------------------------------------------------------ */

constexpr unsigned THREADS = 256, WARPS = THREADS / WARP, STEPS = 200;
constexpr double CG_TOL = 1e-6;
constexpr size_t ROOM = (size_t)256 << 20; /* bytes of work arrays at a time */

/* A frequency's arrays of n: t; P and Q, each twice; then of each gather v or x, and three more. */
struct arrays {
	const cplx *t;
	cplx *room;
	unsigned n;

	__device__ cplx *
	state(unsigned which, unsigned turn) const
	{
		return room + (size_t)(2 * which + turn % 2) * n;
	}

	__device__ cplx *
	part(unsigned gather, unsigned which) const
	{
		return room + ((size_t)4 + 4 * gather + which) * n;
	}
};

/* P and Q of order m from those of m - 1, by all threads. */
__device__ void
advance(const arrays &a, unsigned m, const cplx &c)
{
	const cplx *p = a.state(0, m), *q = a.state(1, m);
	cplx *p_next = a.state(0, m + 1), *q_next = a.state(1, m + 1);

	for (unsigned k = threadIdx.x; k < a.n; k += THREADS) {
		const cplx below = k ? q[k - 1] : cplx{0, 0};
		cplx u = p[k], v = below;
		add_product(u, c, below);
		add_product(v, conjugate(c), p[k]);
		p_next[k] = k != m ? u : m ? c : cplx{1, 0};
		q_next[k] = k != m ? v : cplx{1, 0};
	}
}

/* E / t[0], or 0 where it is not safe. */
__device__ double
reduce_in_memory(const radon_job &w, const radon_systems &s, unsigned bin, const arrays &a)
{
	const unsigned warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
	const double norm = 1 / a.t[0].re;
	double e = 1;

	for (unsigned k = threadIdx.x; k < a.n; k += THREADS) {
		a.state(0, 0)[k] = scaled(a.t[k], norm);
		a.state(1, 0)[k] = k + 1 < a.n ? scaled(a.t[k + 1], norm) : cplx{0, 0};
	}
	for (unsigned g = warp; g < w.n; g += WARPS)
		for (unsigned k = lane; k < a.n; k += WARP)
			a.part(g, 0)[k] = scaled(right_side(w, s, bin, g, k), -norm);
	__syncthreads();
	for (unsigned m = 0; m < a.n; m++) {
		const cplx c = scaled(a.state(0, m)[m], m ? -1 / e : 0);
		e *= 1 - c.re * c.re - c.im * c.im;
		if (!(e > RADON_SAFE))
			return 0;
		advance(a, m, c);
		__syncthreads();
		const cplx *q = a.state(1, m + 1);
		for (unsigned g = warp; g < w.n; g += WARPS) {
			cplx *v = a.part(g, 0);
			const cplx x = scaled(v[m], -1 / e);
			__syncwarp();
			for (unsigned k = lane; k < a.n; k += WARP) {
				cplx sum = v[k];
				add_product(sum, x, q[k]);
				v[k] = k == m ? x : sum;
			}
			__syncwarp();
		}
	}
	return e;
}

/* q = T p; Re p^H q. By a warp. */
__device__ double
multiply(const arrays &a, const cplx *p, cplx *q)
{
	double sum = 0;

	for (unsigned i = threadIdx.x % WARP; i < a.n; i += WARP) {
		cplx v = {0, 0};
		for (unsigned l = 0; l < a.n; l++) {
			const cplx t = a.t[i < l ? l - i : i - l];
			add_product(v, {t.re, i < l ? -t.im : t.im}, p[l]);
		}
		q[i] = v;
		sum += p[i].re * v.re + p[i].im * v.im;
	}
	return warp_sum(sum);
}

/* Solves for a gather by a warp. r: [n], the right-hand side is in it. */
__device__ unsigned
conjugate_gradients(const arrays &a, unsigned gather)
{
	cplx *x = a.part(gather, 0), *r = a.part(gather, 1), *p = a.part(gather, 2),
	     *q = a.part(gather, 3);
	double rr = 0, next;
	unsigned step;

	for (unsigned i = threadIdx.x % WARP; i < a.n; i += WARP) {
		x[i] = {0, 0};
		p[i] = r[i];
		rr += r[i].re * r[i].re + r[i].im * r[i].im;
	}
	rr = warp_sum(rr);
	const double target = CG_TOL * CG_TOL * rr;
	for (step = 0; step < STEPS && rr > target; step++, rr = next) {
		__syncwarp();
		const double pq = multiply(a, p, q), alpha = pq > 0 ? rr / pq : 0;
		next = 0;
		for (unsigned i = threadIdx.x % WARP; i < a.n; i += WARP) {
			x[i] = {x[i].re + alpha * p[i].re, x[i].im + alpha * p[i].im};
			r[i] = {r[i].re - alpha * q[i].re, r[i].im - alpha * q[i].im};
			next += r[i].re * r[i].re + r[i].im * r[i].im;
		}
		next = warp_sum(next);
		const double beta = next / rr;
		__syncwarp(); /* all lanes have read p */
		for (unsigned i = threadIdx.x % WARP; i < a.n; i += WARP)
			p[i] = {r[i].re + beta * p[i].re, r[i].im + beta * p[i].im};
	}
	return step;
}

/* Frequencies from bin `first` on: all, where reduce() has not run, or those that it left to conjugate gradients. */
__global__ void
finish(const radon_job w, const radon_systems s, unsigned first, bool all, cplx *room)
{
	__shared__ unsigned steps[WARPS];
	const unsigned bin = first + blockIdx.x, n = w.nq, warp = threadIdx.x / WARP,
		       lane = threadIdx.x % WARP;
	const arrays a = {s.t + (size_t)bin * n, room + (size_t)blockIdx.x * 4 * (1 + w.n) * n, n};
	unsigned own = 0;

	if (!all && !s.out[bin].fallback)
		return;
	const double e = all ? reduce_in_memory(w, s, bin, a) : 0;
	for (unsigned g = warp; g < w.n; g += WARPS) {
		if (!(e > 0)) {
			for (unsigned i = lane; i < n; i += WARP)
				a.part(g, 1)[i] = right_side(w, s, bin, g, i);
			own += conjugate_gradients(a, g);
		}
		for (unsigned i = lane; i < n; i += WARP)
			put_solution(w, bin, g, i, a.part(g, 0)[i]);
	}
	if (lane == 0)
		steps[warp] = own;
	__syncthreads();
	if (threadIdx.x == 0) {
		unsigned sum = 0;
		for (unsigned i = 0; i < WARPS; i++)
			sum += steps[i];
		s.out[bin] = outcome_of(e, sum);
	}
}

/* The figures of all frequencies, to the first gather's report. */
int
tell(struct gpu *g, const radon_job &w, const radon_outcome *on_device, struct radon_report *r)
{
	radon_outcome *const o = static_cast<radon_outcome *>(weir_alloc(w.bins, sizeof *o));
	const gpu_at_end done{[=] { weir_free(o); }};

	GPU_DO(o ? gpu_down(g, o, on_device, w.bins * sizeof *o) : -ENOMEM);
	for (unsigned i = 0; i < w.bins; i++)
		for (unsigned q = 0; q < w.n; q++) {
			r[q].condition =
			    o[i].condition > r[q].condition ? o[i].condition : r[q].condition;
			r[q].fallbacks += o[i].fallback;
			r[q].steps += q == 0 ? o[i].steps : 0;
		}
	return 0;
}

/* What a solution has on the device. */
struct held {
	cplx *room, *y,
	    *t; /* work arrays of `chunk` frequencies, each; right-hand sides; columns */
	radon_outcome *out;
	unsigned chunk;
};

held
lay_systems(gpu_block *b, const radon_job &w)
{
	const size_t each = 4 * (1 + (size_t)w.n) * w.nq, fit = ROOM / (each * sizeof(cplx));
	held h;

	h.chunk = (unsigned)(fit < 1 ? 1 : fit < w.bins ? fit : w.bins);
	h.room = gpu_take<cplx>(b, h.chunk * each);
	h.y = gpu_take<cplx>(b, (size_t)w.bins * w.n * w.nq);
	h.t = gpu_take<cplx>(b, (size_t)w.bins * w.nq);
	h.out = gpu_take<radon_outcome>(b, w.bins);
	return h;
}

} // namespace

size_t
radon_solve_bytes(const radon_job &w)
{
	return gpu_lay(NULL, [&](gpu_block *b) { lay_systems(b, w); });
}

int
radon_hold_solve(struct gpu *g, const radon_job &w)
{
	return gpu_place(g, HOLD_SOLVE, [&](gpu_block *b) { lay_systems(b, w); });
}

int
radon_solve(struct gpu *g, const radon_job &w, double damping, bool exact,
	    struct radon_report *report)
{
	held h;

	GPU_DO(gpu_place(g, HOLD_SOLVE, [&](gpu_block *b) { h = lay_systems(b, w); }));
	const radon_systems s = {exact ? h.y : NULL, h.t, h.out};
	GPU_DO(exact ? radon_exact_adjoint(g, w, h.y) : radon_adjoint(g, w));
	GPU_DO(radon_columns(g, w, damping, h.t));
	const bool all = w.nq > RADON_IN_REGISTERS;
	GPU_DO(all ? 0 : radon_reduce(g, w, s));
	for (unsigned b = 0; b < w.bins; b += h.chunk)
		GPU_LAUNCH(g, finish, w.bins - b < h.chunk ? w.bins - b : h.chunk, THREADS, 0, w, s,
			   b, all, h.room);
	if (report && w.modelled)
		GPU_DO(radon_misfit(g, w, report));
	return report ? tell(g, w, s.out, report) : 0;
}
