/*
 * Least squares: per frequency the Hermitian Toeplitz system (A^H A + damping) m = A^H d, in double. schur.cu solves it in
 * registers. What is left is done here, in memory:
 *
 *	finish	block = frequency; of more than RADON_IN_REGISTERS = 512 curves: schur.cu's algorithm, P and Q by all threads, a
 *		warp per gather. Where that is not safe: conjugate gradients, a warp per gather, to the same residual as the
 *		CPU, products with T term by term
 *
 * Memory is slower than registers: of 16 gathers, 512 curves took 5.4 ms on an NVIDIA H200, and 600 curves 39 ms.
 *
 * Bytes: the work arrays, 4 (1 + gathers) nq complex doubles a frequency, stay in the caches. Operations as in schur.cu; one
 * barrier a step.
 */
#include "gpu/radon/systems.h"

#include <string.h>

extern "C" {
#include "common/base/mem.h"
}

namespace
{

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

__device__ double
sum_lanes(double v)
{
	for (unsigned d = WARP / 2; d > 0; d /= 2)
		v += __shfl_xor_sync(~0u, v, (int)d);
	return v;
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
	return sum_lanes(sum);
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
	rr = sum_lanes(rr);
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
		next = sum_lanes(next);
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

/* Whether there are too many curves for registers. */
bool
too_long(const radon_job &w)
{
	return w.nq > RADON_IN_REGISTERS;
}

/* The figures of all frequencies, to the first gather's report. */
int
tell(struct gpu *g, const radon_job &w, const radon_outcome *on_device, struct radon_report *r)
{
	radon_outcome *o = static_cast<radon_outcome *>(weir_alloc(w.bins, sizeof *o));
	int err = o ? gpu_down(g, o, on_device, w.bins * sizeof *o) : -ENOMEM;

	for (unsigned i = 0; !err && i < w.bins; i++)
		for (unsigned q = 0; q < w.n; q++) {
			r[q].condition =
			    o[i].condition > r[q].condition ? o[i].condition : r[q].condition;
			r[q].fallbacks += o[i].fallback;
			r[q].steps += q == 0 ? o[i].steps : 0;
		}
	weir_free(o);
	return err;
}

/* Of one frequency's arrays; of right-hand sides and columns; how many frequencies are finished at a time. */
struct sizes {
	size_t each, rhs, columns;
	unsigned chunk;
};

sizes
sizes_of(const radon_job &w)
{
	const size_t each = 4 * (1 + (size_t)w.n) * w.nq * sizeof(cplx);
	const size_t fit = ROOM / each ? ROOM / each : 1;

	return {each, (size_t)w.bins * w.n * w.nq * sizeof(cplx),
		(size_t)w.bins * w.nq * sizeof(cplx), (unsigned)(fit < w.bins ? fit : w.bins)};
}

/* room: for work arrays. held: y, t and the outcomes. */
int
hold(struct gpu *g, const radon_job &w, void **room, void **held)
{
	const sizes z = sizes_of(w);
	const int err = gpu_hold(g, HOLD_SOLVE, z.chunk * z.each, room);

	return err ? err
		   : gpu_hold(g, HOLD_RHS, z.rhs + z.columns + w.bins * sizeof(radon_outcome),
			      held);
}

} // namespace

size_t
radon_solve_bytes(const radon_job &w)
{
	const sizes z = sizes_of(w);

	return z.chunk * z.each + z.rhs + z.columns + w.bins * sizeof(radon_outcome);
}

int
radon_hold_solve(struct gpu *g, const radon_job &w)
{
	void *room, *held;

	return hold(g, w, &room, &held);
}

int
radon_solve(struct gpu *g, const radon_job &w, double damping, bool exact,
	    struct radon_report *report)
{
	const sizes z = sizes_of(w);
	void *room, *held;
	int err;

	if ((err = hold(g, w, &room, &held)))
		return err;
	char *const at = static_cast<char *>(held);
	cplx *const y = reinterpret_cast<cplx *>(at), *const t = y + z.rhs / sizeof *y;
	const radon_systems s = {exact ? y : NULL, t,
				 reinterpret_cast<radon_outcome *>(at + z.rhs + z.columns)};
	if ((err = exact ? radon_exact_adjoint(g, w, y) : radon_adjoint(g, w)) ||
	    (err = radon_columns(g, w, damping, t)) ||
	    (err = too_long(w) ? 0 : radon_reduce(g, w, s)))
		return err;
	for (unsigned b = 0; b < w.bins; b += z.chunk)
		GPU_LAUNCH(g, finish, w.bins - b < z.chunk ? w.bins - b : z.chunk, THREADS, 0, w, s,
			   b, too_long(w), static_cast<cplx *>(room));
	if (report && w.modelled && (err = radon_misfit(g, w, report)))
		return err;
	return report ? tell(g, w, s.out, report) : 0;
}
