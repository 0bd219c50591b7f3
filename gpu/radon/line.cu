/*
 * Adjoint and modelling, a frequency at a time: usfft/line.h on the GPU, with that plan's window and factors.
 *
 *	spread	block = frequency and up to GATHERS gathers, which share the traces' cells, weights and phases; warp = gather; 16 lanes
 *		= trace, 8 of them for real parts, 8 for imaginary ones; lane = the cells whose number modulo 8 is its own: a
 *		trace's 8 taps meet each lane once, so that no cell has two writers. Each half of a warp has a copy of the row,
 *		and the two are added at the end
 *	modes	block = (frequency, gather), thread = curve
 *	cells	block = (frequency, gather), thread = cell of the row
 *	interp	block = (frequency, gather), thread = trace
 *
 * The FFTs between are cuFFT's. Shared (spread): 2 copies of grid + 8 cells a gather, 6.8 KB each at nq 512, and 5 KB.
 *
 * Bytes: 8 (nx + nq) a frequency and gather; with the rows of 1.65 nq cells written, transformed in place, and read, 8 (nx
 * + nq + 4 x 1.65 nq). Operations of spread and interp: 8 x (10 + 2) multiplications and additions a trace, frequency and
 * gather.
 */
#include "gpu/fft.h"
#include "gpu/radon/work.h"

namespace
{

constexpr unsigned THREADS = 128, WARP = 32, GATHERS = 4, COPIES = 2, TRACES = 64;

/* Trace j at frequency k: its first cell, offset in the cell, and phase. */
__device__ unsigned
place_trace(const radon_job &w, unsigned j, unsigned k, float *place, pair<float> *phase)
{
	const double step = w.c[j], t = k * (w.a[j] + w.nq / 2 * step), u = k * step;
	const double x = (u - floor(u)) * w.grid;
	const unsigned cell = min((unsigned)x, w.grid - 1);

	*place = (float)(2 * (x - cell) - 1);
	line_turn((float)(t - rint(t)), &phase->re, &phase->im);
	return cell;
}

__device__ float
line_tap(const radon_job &w, unsigned t, float x)
{
	float v = __ldg(w.coef + t);

	for (unsigned d = 1; d < LINE_COEFS; d++)
		v = v * x + __ldg(w.coef + d * LINE_TAPS + t);
	return v;
}

/* TRACES traces at a frequency: first cell, weights of the taps, phase; and their values, turned, of a block's gathers. */
struct taps {
	unsigned cell[TRACES];
	float weight[TRACES][LINE_TAPS];
	pair<float> phase[TRACES], value[GATHERS][TRACES];
};

/* Traces from j on, by all threads of the block: half of a trace's taps each. */
__device__ void
fill_taps(const radon_job &w, unsigned k, unsigned j, taps *of)
{
	for (unsigned e = threadIdx.x; e < 2 * TRACES; e += blockDim.x) {
		const unsigned t = e % TRACES, half = e / TRACES * (LINE_TAPS / 2);
		float place;
		pair<float> phase;
		if (j + t >= w.nx)
			continue;
		const unsigned cell = place_trace(w, j + t, k, &place, &phase);
		if (half == 0) {
			of->cell[t] = cell;
			of->phase[t] = phase;
		}
		for (unsigned i = half; i < half + LINE_TAPS / 2; i++)
			of->weight[t][i] = line_tap(w, i, place);
	}
}

/* Adds trace t to the cells of a lane. wraps: row has no LINE_TAPS cells more than the grid. */
__device__ void
add_trace(const radon_job &w, const taps &of, unsigned t, bool wraps, pair<float> *row)
{
	const unsigned lane = threadIdx.x, warp = threadIdx.x / WARP, cell = of.cell[t],
		       tap = (lane - cell) % LINE_TAPS, imag = lane / LINE_TAPS % 2;
	const unsigned at = wraps && cell + tap >= w.grid ? cell + tap - w.grid : cell + tap;
	const pair<float> &v = of.value[warp][t];

	(imag ? row[at].im : row[at].re) += of.weight[t][tap] * (imag ? v.im : v.re);
}

/* shares: rows are in shared memory; otherwise they are too long for it, and spread where they are to be in the end. */
__global__ void
spread_traces(const radon_job w, bool shares)
{
	WEIR_SHARED(pair<float>, rows);
	__shared__ taps of;
	const unsigned bin = blockIdx.x, k = w.kmin + bin, row = w.grid + LINE_TAPS;
	const unsigned warp = threadIdx.x / WARP, lane = threadIdx.x % WARP,
		       copy = lane / (WARP / COPIES),
		       gather = blockIdx.y * (blockDim.x / WARP) + warp;
	const bool any = gather < w.n;
	const pair<float> *d = w.d + ((size_t)k * w.n + gather) * w.nx;
	pair<float> *out = w.cells + ((size_t)bin * w.n + gather) * w.grid;
	pair<float> *const to = shares ? rows + warp * COPIES * row : out;

	for (unsigned i = lane; any && i < (shares ? COPIES * row : w.grid); i += WARP)
		to[i] = {0, 0};
	for (unsigned j = 0; j < w.nx; j += TRACES) {
		const unsigned n = min(TRACES, w.nx - j);
		__syncthreads();
		fill_taps(w, k, j, &of);
		__syncthreads();
		if (!any)
			continue;
		for (unsigned t = lane; t < n; t += WARP) {
			const pair<float> v = d[j + t], z = of.phase[t];
			of.value[warp][t] = {v.re * z.re - v.im * z.im, v.re * z.im + v.im * z.re};
		}
		__syncwarp();
		for (unsigned t = copy; shares && t < n; t += COPIES)
			add_trace(w, of, t, false, to + copy * row);
		for (unsigned t = 0; !shares && t < n; t++) {
			if (copy == 0)
				add_trace(w, of, t, true, to);
			__syncwarp();
		}
	}
	__syncwarp();
	for (unsigned i = lane; any && shares && i < w.grid; i += WARP) {
		pair<float> sum = {0, 0};
		for (unsigned c = 0; c < COPIES; c++)
			for (unsigned x = i; x < row; x += w.grid) {
				sum.re += to[c * row + x].re;
				sum.im += to[c * row + x].im;
			}
		out[i] = sum;
	}
}

__global__ void
take_modes(const radon_job w)
{
	const unsigned bin = blockIdx.x, gather = blockIdx.y, k = w.kmin + bin, half = w.nq / 2;
	const pair<float> *cells = w.cells + ((size_t)bin * w.n + gather) * w.grid;
	pair<float> *m = w.m + ((size_t)k * w.n + gather) * w.nq;

	for (unsigned i = threadIdx.x; i < w.nq; i += THREADS) {
		const pair<float> s = w.shift[i],
				  v = cells[i < half ? w.grid + i - half : i - half];
		m[i] = {s.re * v.re - s.im * v.im, s.re * v.im + s.im * v.re};
	}
}

/* The modes, conjugated: the sign of the FFT is that of the adjoint. */
__global__ void
give_cells(const radon_job w)
{
	const unsigned bin = blockIdx.x, gather = blockIdx.y, k = w.kmin + bin, half = w.nq / 2;
	const pair<float> *m = w.m + ((size_t)k * w.n + gather) * w.nq;
	pair<float> *cells = w.cells + ((size_t)bin * w.n + gather) * w.grid;

	for (unsigned x = threadIdx.x; x < w.grid; x += THREADS) {
		const unsigned i = x < w.nq - half ? x + half : x + half - w.grid;
		pair<float> v = {0, 0};
		if (i < w.nq)
			v = {w.shift[i].re * m[i].re + w.shift[i].im * m[i].im,
			     w.shift[i].im * m[i].re - w.shift[i].re * m[i].im};
		cells[x] = v;
	}
}

__global__ void
interp_traces(const radon_job w)
{
	const unsigned bin = blockIdx.x, gather = blockIdx.y, k = w.kmin + bin;
	const pair<float> *cells = w.cells + ((size_t)bin * w.n + gather) * w.grid;
	pair<float> *d = w.d + ((size_t)k * w.n + gather) * w.nx;

	for (unsigned j = threadIdx.x; j < w.nx; j += THREADS) {
		float place;
		pair<float> z, sum = {0, 0};
		unsigned at = place_trace(w, j, k, &place, &z);
		for (unsigned t = 0; t < LINE_TAPS; t++, at = at + 1 < w.grid ? at + 1 : 0) {
			const float weight = line_tap(w, t, place);
			sum.re += weight * cells[at].re;
			sum.im += weight * cells[at].im;
		}
		d[j] = {sum.re * z.re - sum.im * z.im, -(sum.re * z.im + sum.im * z.re)};
	}
}

struct gpu_fft
rows_fft(const radon_job &w)
{
	return gpu_fft_lines(GPU_FFT_C2C, false, w.grid, (size_t)w.bins * w.n, 1, w.grid, 1,
			     w.grid);
}

} // namespace

int
radon_adjoint(struct gpu *g, const radon_job &w)
{
	const size_t rows = COPIES * (w.grid + LINE_TAPS) * sizeof(pair<float>);
	const unsigned fit = (unsigned)((g->prop.sharedMemPerBlock - sizeof(taps)) / rows);
	const unsigned most = fit && fit < GATHERS ? fit : GATHERS, n = w.n < most ? w.n : most;
	const struct gpu_fft f = rows_fft(w);

	if (!w.grid)
		return radon_exact_adjoint(g, w, NULL);
	GPU_LAUNCH(g, spread_traces, dim3(w.bins, gpu_blocks(w.n, n)), WARP * n, fit ? n * rows : 0,
		   w, fit > 0);
	GPU_DO(gpu_fft(g, &f, 1, w.cells, w.cells));
	GPU_LAUNCH(g, take_modes, dim3(w.bins, w.n), THREADS, 0, w);
	return 0;
}

int
radon_model(struct gpu *g, const radon_job &w)
{
	const struct gpu_fft f = rows_fft(w);

	if (!w.grid)
		return radon_exact_model(g, w);
	GPU_LAUNCH(g, give_cells, dim3(w.bins, w.n), THREADS, 0, w);
	GPU_DO(gpu_fft(g, &f, 1, w.cells, w.cells));
	GPU_LAUNCH(g, interp_traces, dim3(w.bins, w.n), THREADS, 0, w);
	return 0;
}
