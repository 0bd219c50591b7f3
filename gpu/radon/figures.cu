/*
 * Figures of a solution: the misfit |d - A m|^2 / |d|^2 over the band and the live traces, and the energy of m at its edges.
 *
 *	square	block = gather and frequency, thread = trace: both sums in double, added in one order
 *	edges	block = gather and frequency, thread = curve: three sums in double, added in one order
 *
 * Bytes: d and A m once, after a modelling; m once. The host adds the frequencies.
 */
#include "gpu/radon/work.h"

extern "C" {
#include "common/mem.h"
}

namespace
{

constexpr unsigned THREADS = 128;

__device__ double
square_of(const pair<float> &v)
{
	return (double)v.re * (double)v.re + (double)v.im * (double)v.im;
}

/* of[bin][gather]: |d|^2, |d - A m|^2 */
__global__ void
square(const radon_job w, pair<double> *of)
{
	__shared__ pair<double> part[THREADS];
	const unsigned gather = blockIdx.x % w.n, bin = blockIdx.x / w.n, k = w.kmin + bin;
	const size_t row = ((size_t)k * w.n + gather) * w.nx;
	const double both = k == 0 || 2 * k == w.nfft ? 1 : 2;
	pair<double> sum = {0, 0};

	for (unsigned j = threadIdx.x; j < w.nx; j += THREADS) {
		const pair<float> d = w.d[row + j], a = w.modelled[row + j];
		const double re = (double)d.re - (double)a.re, im = (double)d.im - (double)a.im;
		if (!w.live[j])
			continue;
		sum.re += both * square_of(d);
		sum.im += both * (re * re + im * im);
	}
	part[threadIdx.x] = sum;
	for (unsigned half = THREADS / 2; half; half /= 2) {
		__syncthreads();
		if (threadIdx.x < half) {
			part[threadIdx.x].re += part[threadIdx.x + half].re;
			part[threadIdx.x].im += part[threadIdx.x + half].im;
		}
	}
	if (threadIdx.x == 0)
		of[blockIdx.x] = part[0];
}

/* The energy of the first two curves, of the last two and of all. */
struct energies {
	double first, last, all;
};

/* of[bin][gather] */
__global__ void
edges(const radon_job w, energies *of)
{
	__shared__ double part[THREADS];
	const unsigned gather = blockIdx.x % w.n, k = w.kmin + blockIdx.x / w.n;
	const pair<float> *m = w.m + ((size_t)k * w.n + gather) * w.nq;
	double sum = 0;

	for (unsigned i = threadIdx.x; i < w.nq; i += THREADS)
		sum += square_of(m[i]);
	part[threadIdx.x] = sum;
	for (unsigned half = THREADS / 2; half; half /= 2) {
		__syncthreads();
		if (threadIdx.x < half)
			part[threadIdx.x] += part[threadIdx.x + half];
	}
	if (threadIdx.x == 0)
		of[blockIdx.x] = {square_of(m[0]) + square_of(m[1]),
				  square_of(m[w.nq - 2]) + square_of(m[w.nq - 1]), part[0]};
}

int
launch_edges(struct gpu *g, const radon_job &w, energies *sums)
{
	GPU_LAUNCH(g, edges, w.bins * w.n, THREADS, 0, w, sums);
	return 0;
}

int
launch_square(struct gpu *g, const radon_job &w, pair<double> *sums)
{
	GPU_LAUNCH(g, square, w.bins * w.n, THREADS, 0, w, sums);
	return 0;
}

} // namespace

int
radon_misfit(struct gpu *g, const radon_job &w, struct radon_report *report)
{
	const size_t n = (size_t)w.bins * w.n;
	pair<double> *const host = static_cast<pair<double> *>(weir_alloc(n, sizeof *host));
	radon_job model = w;
	void *sums;
	int err = -ENOMEM;

	model.d = w.modelled;
	if (host && !(err = gpu_hold(g, HOLD_SQUARES, n * sizeof *host, &sums)) &&
	    !(err = radon_model(g, model))) {
		err = launch_square(g, w, static_cast<pair<double> *>(sums));
		err = err ? err : gpu_down(g, host, sums, n * sizeof *host);
	}
	for (unsigned q = 0; q < w.n && !err; q++) {
		double all = 0, left = 0;
		for (unsigned b = 0; b < w.bins; b++) {
			all += host[(size_t)b * w.n + q].re;
			left += host[(size_t)b * w.n + q].im;
		}
		report[q].misfit = all > 0 ? left / all : 0;
	}
	weir_free(host);
	return err;
}

int
radon_edges_found(struct gpu *g, const struct radon_core *p, const radon_job &w,
		  struct radon_report *report)
{
	const size_t n = (size_t)w.bins * w.n;
	energies *const host = static_cast<energies *>(weir_alloc(n, sizeof *host));
	void *sums;
	int err = -ENOMEM;

	if (host && !(err = gpu_hold(g, HOLD_SQUARES, n * sizeof *host, &sums)) &&
	    !(err = launch_edges(g, w, static_cast<energies *>(sums))))
		err = gpu_down(g, host, sums, n * sizeof *host);
	for (unsigned q = 0; q < w.n && !err; q++) {
		double sum[3] = {0, 0, 0};
		for (unsigned b = 0; b < w.bins; b++) {
			const energies &e = host[(size_t)b * w.n + q];
			sum[0] += e.first;
			sum[1] += e.last;
			sum[2] += e.all;
		}
		radon_edges(p, sum, report[q].edge);
	}
	weir_free(host);
	return err;
}
