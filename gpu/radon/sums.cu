/*
 * Sums over traces and over curves term by term, in double: for few traces or curves, for the right-hand side of lsq, which
 * magnifies errors, and for the first columns of its matrices.
 *
 *	traces	block = frequency, 256 curves and EACH gathers; thread = curve, its sums in registers
 *	curves	block = (frequency, gather), thread = trace
 *
 * A sine and cosine in double costs some 50 operations, so a block works out LOW + HIGH of them a trace, not CURVES: curve i =
 * LOW h + l has the product of entry l and entry h, whose error is that of two sines. The gathers of a block share them.
 *
 * Shared (traces): 6 KB. Bytes: 8 nx and 16 nq a frequency and gather. Operations: 8 nx nq a frequency and gather, in double,
 * and for each EACH gathers 8 nx nq more for the phases.
 */
#include "gpu/radon/work.h"

namespace
{

constexpr unsigned LOW = 16, HIGH = 16, CURVES = LOW * HIGH, TRACES = CURVES / (LOW + HIGH);
constexpr unsigned THREADS = 128, MOST_EACH = 16;

/* exp(2 pi i k (a_j + i c_j)) of TRACES traces and CURVES curves. */
struct phases {
	pair<double> low[TRACES][LOW], high[TRACES][HIGH];
};

/* Fills p for traces from j on and curves from i on: an entry a thread. moved: with a_j; otherwise it is taken as 0. */
__device__ void
fill_phases(const radon_job &w, unsigned k, unsigned j, unsigned i, bool moved, phases *p)
{
	const unsigned t = threadIdx.x / (LOW + HIGH), at = threadIdx.x % (LOW + HIGH),
		       h = at - LOW;
	pair<double> z = {0, 0};

	if (j + t < w.nx && (at < LOW || i + LOW * h < w.nq)) {
		const double c = w.c[j + t], a = moved ? w.a[j + t] : 0;
		z = turn_exactly(k * (at < LOW ? at * c : a + (i + LOW * h) * c));
	}
	(at < LOW ? p->low[t][at] : p->high[t][h]) = z;
}

/* Trace j of a gather; of a column 1, or 0 where it is dead. */
__device__ __forceinline__ pair<double>
trace_of(const radon_job &w, unsigned k, unsigned gather, unsigned j, bool column)
{
	if (j >= w.nx || gather >= w.n)
		return {0, 0};
	if (column)
		return {w.live[j] ? 1. : 0., 0};
	const pair<float> d = w.d[((size_t)k * w.n + gather) * w.nx + j];
	return {d.re, d.im};
}

/* The sums go to y, in double; where y is NULL, to m. column: those of live traces, plus damping for curve 0. */
template <unsigned EACH>
__global__ void
__launch_bounds__(CURVES, 2)
    sum_traces(const radon_job w, bool column, double damping, pair<double> *y)
{
	__shared__ phases p;
	__shared__ pair<double> d[TRACES][EACH];
	const unsigned bin = blockIdx.x, k = w.kmin + bin, first = blockIdx.y * CURVES,
		       gather = blockIdx.z * EACH, i = first + threadIdx.x;
	const unsigned l = threadIdx.x % LOW, h = threadIdx.x / LOW;
	pair<double> sum[EACH] = {};

	for (unsigned j = 0; j < w.nx; j += TRACES) {
		__syncthreads();
		fill_phases(w, k, j, first, !column, &p);
		for (unsigned e = threadIdx.x; e < TRACES * EACH; e += CURVES)
			d[e % TRACES][e / TRACES] =
			    trace_of(w, k, gather + e / TRACES, j + e % TRACES, column);
		__syncthreads();
#pragma unroll 1
		for (unsigned t = 0; t < TRACES; t++) {
			const pair<double> z = times(p.low[t][l], p.high[t][h]);
#pragma unroll
			for (unsigned e = 0; e < EACH; e++)
				add_product(sum[e], z, d[t][e]);
		}
	}
#pragma unroll
	for (unsigned e = 0; e < EACH; e++) {
		const size_t at = ((size_t)bin * w.n + gather + e) * w.nq + i;
		if (gather + e >= w.n || i >= w.nq)
			continue;
		if (y)
			y[at] = {sum[e].re + (i ? 0 : damping), sum[e].im};
		else
			w.m[(size_t)w.kmin * w.n * w.nq + at] = {(float)sum[e].re,
								 (float)sum[e].im};
	}
}

/* From curve to curve a trace's phase turns by the same angle. It begins anew after RUN curves, so that errors do not grow. */
__global__ void
sum_curves(const radon_job w)
{
	constexpr unsigned RUN = 32;
	const unsigned gather = blockIdx.y, k = w.kmin + blockIdx.x;
	const pair<float> *m = w.m + ((size_t)k * w.n + gather) * w.nq;

	for (unsigned j = threadIdx.x; j < w.nx; j += THREADS) {
		const pair<double> step = turn_exactly(k * w.c[j]);
		pair<double> sum = {0, 0}, z = {1, 0};
		for (unsigned i = 0; i < w.nq; i++) {
			z = i % RUN ? times(z, step) : turn_exactly(k * (w.a[j] + i * w.c[j]));
			sum.re += m[i].re * z.re + m[i].im * z.im;
			sum.im += m[i].im * z.re - m[i].re * z.im;
		}
		w.d[((size_t)k * w.n + gather) * w.nx + j] = {(float)sum.re, (float)sum.im};
	}
}

template <unsigned EACH>
int
launch(struct gpu *g, const radon_job &w, bool column, double damping, pair<double> *y)
{
	const dim3 grid(w.bins, gpu_blocks(w.nq, CURVES), gpu_blocks(w.n, EACH));

	GPU_LAUNCH(g, sum_traces<EACH>, grid, CURVES, 0, w, column, damping, y);
	return 0;
}

} // namespace

int
radon_exact_adjoint(struct gpu *g, const radon_job &w, pair<double> *y)
{
	if (w.n == 1)
		return launch<1>(g, w, false, 0, y);
	return w.n <= 4 ? launch<4>(g, w, false, 0, y) : launch<MOST_EACH>(g, w, false, 0, y);
}

int
radon_columns(struct gpu *g, const radon_job &w, double damping, pair<double> *t)
{
	radon_job one = w;

	one.n = 1;
	return launch<1>(g, one, true, damping, t);
}

int
radon_exact_model(struct gpu *g, const radon_job &w)
{
	GPU_LAUNCH(g, sum_curves, dim3(w.bins, w.n), THREADS, 0, w);
	return 0;
}
