/*
 * Least squares: per frequency the Hermitian Toeplitz system (A^H A + damping) m = A^H d by Levinson's recursion, in double.
 *
 *	block	= frequency; 4 warps
 *	column	thread = t[i], the sum over live traces
 *	step	every warp works out the reflection coefficient, so that none waits for another; all threads turn the
 *		predictor; then a warp = right-hand side (gather) extends its solution
 *
 * Where the recursion is not safe (radon/inverse/toeplitz.c: E below 1e-10 of t[0]) the block solves by conjugate
 * gradients, a warp per gather, to the same residual as the CPU, products with T term by term.
 *
 * Bytes: the work arrays, (2 + 4 gathers) nq complex doubles a frequency, stay in the caches. Operations: 8 nq^2 for the
 * predictor and 8 nq^2 for each gather, in double; 2 barriers a step.
 */
#include "gpu/radon/phases.h"

#include <string.h>

extern "C" {
#include "common/mem.h"
}

namespace
{

constexpr unsigned THREADS = 128, WARPS = THREADS / 32, STEPS = 200;
constexpr double SAFE = 1e-10, CG_TOL = 1e-6;
constexpr size_t ROOM = (size_t)256 << 20; /* bytes of work arrays at a time */

typedef pair<double> cplx;

/* A frequency's arrays of nq: t, a; then of each gather x, y and two more. */
struct system_of {
	cplx *t, *a, *rest;
	unsigned n;

	__device__ cplx *
	part(unsigned gather, unsigned which) const
	{
		return rest + ((size_t)4 * gather + which) * n;
	}
};

/* What a frequency tells: t[0] / E, whether it took conjugate gradients, their steps. */
struct outcome {
	double condition;
	unsigned fallback, steps;
};

__device__ cplx
sum_lanes(cplx v)
{
	for (unsigned d = 16; d > 0; d /= 2) {
		v.re += __shfl_xor_sync(~0u, v.re, (int)d);
		v.im += __shfl_xor_sync(~0u, v.im, (int)d);
	}
	return v;
}

/* sum over k < m of t[m - k] v[k], by a warp. */
__device__ cplx
convolve(const cplx *t, const cplx *v, unsigned m)
{
	cplx sum = {0, 0};

	for (unsigned k = threadIdx.x % 32; k < m; k += 32) {
		const cplx p = times(t[m - k], v[k]);
		sum.re += p.re;
		sum.im += p.im;
	}
	return sum_lanes(sum);
}

__device__ void
make_column(const radon_job &w, unsigned k, double damping, phases *p, cplx *t)
{
	sum_phases<CURVES / THREADS>(w, k, NULL, p, [&](unsigned i, const cplx &sum) {
		t[i] = {sum.re + (i == 0 ? damping : 0), sum.im};
	});
}

/* a[k] += c conj(a[m - k]), k = 0..m, both of a pair by one thread. */
__device__ void
reflect(cplx *a, unsigned m, const cplx &c)
{
	for (unsigned k = threadIdx.x; k <= m / 2; k += THREADS) {
		const cplx x = a[k], y = a[m - k];
		const cplx u = times(c, {y.re, -y.im}), v = times(c, {x.re, -x.im});
		a[k] = {x.re + u.re, x.im + u.im};
		a[m - k] = {y.re + v.re, y.im + v.im};
	}
}

/* x, the solution of the first m equations, becomes that of m + 1. By a warp. */
__device__ void
extend(const system_of &s, unsigned gather, unsigned m, double e)
{
	cplx *x = s.part(gather, 0);
	const cplx y = s.part(gather, 1)[m], got = convolve(s.t, x, m);
	const cplx c = {(y.re - got.re) / e, (y.im - got.im) / e};

	__syncwarp();
	for (unsigned k = threadIdx.x % 32; k <= m; k += 32) {
		const cplx b = s.a[m - k], v = times(c, {b.re, -b.im});
		const cplx old = k < m ? x[k] : cplx{0, 0};
		x[k] = {old.re + v.re, old.im + v.im};
	}
	__syncwarp();
}

/* E, or 0 where it is not safe. */
__device__ double
levinson(const radon_job &w, const system_of &s)
{
	const unsigned warp = threadIdx.x / 32;
	double e = s.t[0].re;

	for (unsigned k = threadIdx.x; k < s.n; k += THREADS)
		s.a[k] = {k == 0 ? 1. : 0., 0};
	for (unsigned m = 0; m < s.n; m++) {
		__syncthreads();
		if (m) {
			const cplx d = convolve(s.t, s.a, m), c = {-d.re / e, -d.im / e};
			const double rest = e * (1 - c.re * c.re - c.im * c.im);
			if (!(rest > SAFE * s.t[0].re))
				return 0;
			e = rest;
			__syncthreads();
			reflect(s.a, m, c);
			__syncthreads();
		}
		for (unsigned g = warp; g < w.n; g += WARPS)
			extend(s, g, m, e);
	}
	return e;
}

/* --- conjugate gradients, a warp each ------------------------------------------------------------------------------ */

/* q = T p; Re p^H q. */
__device__ double
multiply(const system_of &s, const cplx *p, cplx *q)
{
	double sum = 0;

	for (unsigned i = threadIdx.x % 32; i < s.n; i += 32) {
		cplx v = {0, 0};
		for (unsigned l = 0; l < s.n; l++) {
			const cplx t = s.t[i < l ? l - i : i - l];
			const cplx u = times({t.re, i < l ? -t.im : t.im}, p[l]);
			v.re += u.re;
			v.im += u.im;
		}
		q[i] = v;
		sum += p[i].re * v.re + p[i].im * v.im;
	}
	return sum_lanes({sum, 0}).re;
}

__device__ unsigned
conjugate_gradients(const system_of &s, unsigned gather)
{
	cplx *x = s.part(gather, 0), *r = s.part(gather, 1), *p = s.part(gather, 2),
	     *q = s.part(gather, 3);
	double rr = 0, next;
	unsigned step;

	for (unsigned i = threadIdx.x % 32; i < s.n; i += 32) {
		x[i] = {0, 0};
		p[i] = r[i];
		rr += r[i].re * r[i].re + r[i].im * r[i].im;
	}
	rr = sum_lanes({rr, 0}).re;
	const double target = CG_TOL * CG_TOL * rr;
	for (step = 0; step < STEPS && rr > target; step++, rr = next) {
		__syncwarp();
		const double pq = multiply(s, p, q), alpha = pq > 0 ? rr / pq : 0;
		next = 0;
		for (unsigned i = threadIdx.x % 32; i < s.n; i += 32) {
			x[i] = {x[i].re + alpha * p[i].re, x[i].im + alpha * p[i].im};
			r[i] = {r[i].re - alpha * q[i].re, r[i].im - alpha * q[i].im};
			next += r[i].re * r[i].re + r[i].im * r[i].im;
		}
		next = sum_lanes({next, 0}).re;
		const double beta = next / rr;
		__syncwarp(); /* all lanes have read p */
		for (unsigned i = threadIdx.x % 32; i < s.n; i += 32)
			p[i] = {r[i].re + beta * p[i].re, r[i].im + beta * p[i].im};
	}
	return step;
}

/* Frequencies from bin `first` on. y NULL: the right-hand side is in m. */
__global__ void
solve(const radon_job w, unsigned first, double damping, const cplx *y, cplx *room, outcome *out)
{
	__shared__ unsigned steps[WARPS];
	__shared__ phases p;
	const unsigned bin = first + blockIdx.x, k = w.kmin + bin, n = w.nq,
		       warp = threadIdx.x / 32;
	cplx *at = room + (size_t)blockIdx.x * (2 + 4 * (size_t)w.n) * n;
	const system_of s = {at, at + n, at + 2 * n, n};
	pair<float> *m = w.m + (size_t)k * w.n * n;
	const bool real = k == 0 || 2 * k == w.nfft; /* as in the spectrum of a real panel */

	make_column(w, k, damping, &p, s.t);
	for (unsigned i = threadIdx.x; i < w.n * n; i += THREADS)
		s.part(i / n, 1)[i % n] = y ? y[(size_t)bin * w.n * n + i] : cplx{m[i].re, m[i].im};
	__syncthreads();
	const double e = levinson(w, s);
	if (threadIdx.x < WARPS)
		steps[threadIdx.x] = 0;
	__syncthreads();
	for (unsigned g = warp; g < w.n && !(e > 0); g += WARPS) {
		const unsigned more = conjugate_gradients(s, g);
		if (threadIdx.x % 32 == 0)
			steps[warp] += more;
	}
	__syncthreads();
	for (unsigned i = threadIdx.x; i < w.n * n; i += THREADS) {
		const cplx x = s.part(i / n, 0)[i % n];
		m[i] = {(float)x.re, real ? 0 : (float)x.im};
	}
	if (threadIdx.x == 0) {
		unsigned all = 0;
		for (unsigned i = 0; i < WARPS; i++)
			all += steps[i];
		out[bin] = {e > 0 ? s.t[0].re / e : 1 / SAFE, !(e > 0), all};
	}
}

/* The figures of all frequencies, to the first gather's report. */
int
tell(struct gpu *g, const radon_job &w, const outcome *on_device, struct radon_report *r)
{
	outcome *o = static_cast<outcome *>(weir_alloc(w.bins, sizeof *o));
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

/* Of one frequency's arrays; of those of all frequencies at a time; of right-hand sides and outcomes. */
struct sizes {
	size_t each, rhs;
	unsigned chunk;
};

sizes
sizes_of(const radon_job &w)
{
	const size_t each = (2 + 4 * (size_t)w.n) * w.nq * sizeof(cplx);
	const size_t fit = ROOM / each ? ROOM / each : 1;

	return {each, (size_t)w.bins * w.n * w.nq * sizeof(cplx),
		(unsigned)(fit < w.bins ? fit : w.bins)};
}

} // namespace

size_t
radon_solve_bytes(const radon_job &w)
{
	const sizes z = sizes_of(w);

	return z.chunk * z.each + z.rhs + w.bins * sizeof(outcome);
}

int
radon_solve(struct gpu *g, const radon_job &w, double damping, bool exact,
	    struct radon_report *report)
{
	const sizes z = sizes_of(w);
	void *room, *y;
	int err;

	if ((err = gpu_hold(g, HOLD_SOLVE, z.chunk * z.each, &room)) ||
	    (err = gpu_hold(g, HOLD_RHS, z.rhs + w.bins * sizeof(outcome), &y)))
		return err;
	outcome *out = reinterpret_cast<outcome *>(static_cast<char *>(y) + z.rhs);
	cplx *side = exact ? static_cast<cplx *>(y) : NULL;
	if ((err = exact ? radon_exact_adjoint(g, w, side) : radon_adjoint(g, w)))
		return err;
	for (unsigned b = 0; b < w.bins; b += z.chunk)
		GPU_LAUNCH(g, solve, w.bins - b < z.chunk ? w.bins - b : z.chunk, THREADS, 0, w, b,
			   damping, side, static_cast<cplx *>(room), out);
	if (report && w.modelled && (err = radon_misfit(g, w, report)))
		return err;
	return report ? tell(g, w, out, report) : 0;
}
