/*
 * Figures of a solution: the misfit |d - A m|^2 / |d|^2 over the band and the live traces, and the energy of m at its edges.
 *
 *	square	block = gather and frequency, thread = trace: both sums in double, added in one order
 *	edges	block = gather and frequency, thread = curve: three sums in double, added in one order
 *
 * Bytes: d and A m once, after a modelling; m once. The host adds the frequencies.
 */
#include "gpu/radon/work.h"
#include "gpu/reduce.h"

namespace
{

constexpr unsigned THREADS = 128;

__device__ double
square_of(const pair<float> &v)
{
	return (double)v.re * (double)v.re + (double)v.im * (double)v.im;
}

/* Three sums of a frequency and a gather. */
struct sums {
	double v[3];
};

/* Adds up what the threads of a block found, in one order. */
__device__ void
add_threads(const sums &own, sums *of)
{
	for (unsigned i = 0; i < 3; i++) {
		const double sum = block_sum<THREADS>(own.v[i]);
		if (threadIdx.x == 0)
			of[blockIdx.x].v[i] = sum;
	}
}

/* of[bin][gather]: |d|^2, |d - A m|^2 */
__global__ void
square(const radon_job w, sums *of)
{
	const unsigned gather = blockIdx.x % w.n, bin = blockIdx.x / w.n, k = w.kmin + bin;
	const size_t row = ((size_t)k * w.n + gather) * w.nx;
	const double both = k == 0 || 2 * k == w.nfft ? 1 : 2;
	sums sum = {};

	for (unsigned j = threadIdx.x; j < w.nx; j += THREADS) {
		const pair<float> d = w.d[row + j], a = w.modelled[row + j];
		const double re = (double)d.re - (double)a.re, im = (double)d.im - (double)a.im;
		if (!w.live[j])
			continue;
		sum.v[0] += both * square_of(d);
		sum.v[1] += both * (re * re + im * im);
	}
	add_threads(sum, of);
}

/* of[bin][gather]: the energy of the first two curves, of the last two, of all. */
__global__ void
edges(const radon_job w, sums *of)
{
	const unsigned gather = blockIdx.x % w.n, k = w.kmin + blockIdx.x / w.n;
	const pair<float> *m = w.m + ((size_t)k * w.n + gather) * w.nq;
	sums sum = {};

	for (unsigned i = threadIdx.x; i < w.nq; i += THREADS) {
		const double energy = square_of(m[i]);
		sum.v[0] += i < 2 ? energy : 0;
		sum.v[1] += i + 2 >= w.nq ? energy : 0;
		sum.v[2] += energy;
	}
	add_threads(sum, of);
}

/* Calls put(gather, sum) with the sums over the band that a kernel finds. */
template <class PUT>
int
sum_band(struct gpu *g, const radon_job &w, void (*kernel)(const radon_job, sums *), PUT put)
{
	const size_t n = (size_t)w.bins * w.n;
	sums *const host = static_cast<sums *>(weir_alloc(n, sizeof *host));
	const gpu_at_end done{[=] { weir_free(host); }};
	sums *at;

	GPU_DO(host ? gpu_array(g, HOLD_SQUARES, n, &at) : -ENOMEM);
	GPU_LAUNCH(g, kernel, (unsigned)n, THREADS, 0, w, at);
	GPU_DO(gpu_down(g, host, at, n * sizeof *host));
	for (unsigned q = 0; q < w.n; q++) {
		sums all = {};
		for (unsigned b = 0; b < w.bins; b++)
			for (unsigned i = 0; i < 3; i++)
				all.v[i] += host[(size_t)b * w.n + q].v[i];
		put(q, all.v);
	}
	return 0;
}

} // namespace

int
radon_misfit(struct gpu *g, const radon_job &w, struct radon_report *report)
{
	radon_job model = w;

	model.d = w.modelled;
	GPU_DO(radon_model(g, model));
	return sum_band(g, w, square, [&](unsigned q, const double *sum) {
		report[q].misfit = sum[0] > 0 ? sum[1] / sum[0] : 0;
	});
}

int
radon_edges_found(struct gpu *g, const struct radon_core *p, const radon_job &w,
		  struct radon_report *report)
{
	return sum_band(g, w, edges, [&](unsigned q, const double *sum) {
		radon_edges(p, sum, report[q].edge);
	});
}
