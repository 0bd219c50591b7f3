/*
 * Adjoint and modelling, a frequency at a time: usfft/line.h on the GPU, with that plan's window and factors.
 *
 *	spread	block = (frequency, gather), 16 lanes = trace, 8 of them for real parts, 8 for imaginary ones; lane = the cells whose
 *		number modulo 8 is its own: a trace's 8 taps meet each lane once, so that no cell has two writers. Up to 8
 *		such groups have a copy of the row each, added in their order at the end
 *	modes	block = (frequency, gather), thread = curve
 *	cells	block = (frequency, gather), thread = cell of the row
 *	interp	block = (frequency, gather), thread = trace
 *	sums	block = (frequency, gather), thread = curve or trace; term by term, in double, for few traces or curves, and
 *		for the right-hand side of lsq, which magnifies errors
 *
 * The FFTs between are cuFFT's. Shared (spread): copies of grid + 8 cells, 6.8 KB each at nq 512.
 *
 * Bytes: 8 (nx + nq) a frequency and gather; with the rows of 1.65 nq cells written, transformed in place, and read, 8 (nx
 * + nq + 4 x 1.65 nq). Operations of spread and interp: 8 x (10 + 2) multiplications and additions a trace, frequency and
 * gather.
 */
#include "gpu/fft.h"
#include "gpu/radon/phases.h"

namespace
{

constexpr unsigned THREADS = 128, COPIES = 8, TRACE_LANES = 2 * LINE_TAPS;

/* usfft/line.c: cos and sin of 2 pi t, |t| <= 1/2. */
__device__ pair<float>
turn(float t)
{
	const float q = rintf(4 * t), x = (t - q / 4) * 6.2831853f, x2 = x * x;
	const float s =
	    x * (1 + x2 * (-1.6666667e-1f + x2 * (8.3333310e-3f + x2 * -1.9812575e-4f)));
	const float c =
	    1 + x2 * (-0.5f + x2 * (4.1666646e-2f + x2 * (-1.3888532e-3f + x2 * 2.4433157e-5f)));
	const int k = (int)q & 3;
	const float a = k & 1 ? s : c, b = k & 1 ? c : s;

	return {k == 1 || k == 2 ? -a : a, k & 2 ? -b : b};
}

/* Trace j at frequency k: its first cell, offset in the cell, and phase. */
__device__ unsigned
place_trace(const radon_job &w, unsigned j, unsigned k, float *place, pair<float> *phase)
{
	const double step = w.c[j], t = k * (w.a[j] + w.nq / 2 * step), u = k * step;
	const double x = (u - floor(u)) * w.grid;
	const unsigned cell = min((unsigned)x, w.grid - 1);

	*place = (float)(2 * (x - cell) - 1);
	*phase = turn((float)(t - rint(t)));
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

/* `copies` 0: the row is spread where it is to be in the end, since it is too long for shared memory. */
__global__ void
spread_traces(const radon_job w, unsigned copies)
{
	WEIR_SHARED(pair<float>, shared);
	const unsigned bin = blockIdx.x, gather = blockIdx.y, k = w.kmin + bin,
		       row = w.grid + LINE_TAPS;
	const unsigned lane = threadIdx.x % LINE_TAPS, imag = threadIdx.x / LINE_TAPS % 2;
	const unsigned group = threadIdx.x / TRACE_LANES, groups = blockDim.x / TRACE_LANES;
	const pair<float> *d = w.d + ((size_t)k * w.n + gather) * w.nx;
	pair<float> *out = w.cells + ((size_t)bin * w.n + gather) * w.grid;
	float *to = reinterpret_cast<float *>(copies ? shared + group * row : out) + imag;

	for (unsigned i = threadIdx.x; i < (copies ? copies * row : w.grid); i += blockDim.x)
		(copies ? shared : out)[i] = {0, 0};
	__syncthreads();
	for (unsigned j = group; j < w.nx; j += groups) {
		float place;
		pair<float> z;
		const unsigned cell = place_trace(w, j, k, &place, &z);
		const unsigned tap = (lane - cell) % LINE_TAPS;
		const unsigned at =
		    copies || cell + tap < w.grid ? cell + tap : cell + tap - w.grid;
		const float weight = line_tap(w, tap, place);
		to[2 * at] += weight * (imag ? d[j].re * z.im + d[j].im * z.re
					     : d[j].re * z.re - d[j].im * z.im);
		if (!copies)
			__syncthreads();
	}
	__syncthreads();
	for (unsigned i = threadIdx.x; copies && i < w.grid; i += blockDim.x) {
		pair<float> sum = {0, 0};
		for (unsigned c = 0; c < copies; c++)
			for (unsigned x = i; x < row; x += w.grid) {
				sum.re += shared[c * row + x].re;
				sum.im += shared[c * row + x].im;
			}
		out[i] = sum;
	}
}

/* The cell of mode i. */
__device__ unsigned
cell_of(const radon_job &w, unsigned i)
{
	const unsigned half = w.nq / 2;

	return i < half ? w.grid + i - half : i - half;
}

__global__ void
take_modes(const radon_job w)
{
	const unsigned bin = blockIdx.x, gather = blockIdx.y, k = w.kmin + bin;
	const pair<float> *cells = w.cells + ((size_t)bin * w.n + gather) * w.grid;
	pair<float> *m = w.m + ((size_t)k * w.n + gather) * w.nq;

	for (unsigned i = threadIdx.x; i < w.nq; i += THREADS) {
		const pair<float> s = w.shift[i], v = cells[cell_of(w, i)];
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

/* --- sums ---------------------------------------------------------------------------------------------------------- */

/* The sums go to y, in double; where y is NULL, to m. */
__global__ void
sum_traces(const radon_job w, pair<double> *y)
{
	__shared__ phases p;
	const unsigned bin = blockIdx.x, gather = blockIdx.y, k = w.kmin + bin;
	const pair<float> *d = w.d + ((size_t)k * w.n + gather) * w.nx;

	sum_phases<CURVES / THREADS>(w, k, d, &p, [&](unsigned i, const pair<double> &sum) {
		if (y)
			y[((size_t)bin * w.n + gather) * w.nq + i] = sum;
		else
			w.m[((size_t)k * w.n + gather) * w.nq + i] = {(float)sum.re, (float)sum.im};
	});
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

struct gpu_fft
rows_fft(const radon_job &w)
{
	return gpu_fft_lines(GPU_FFT_C2C, false, w.grid, (size_t)w.bins * w.n, 1, w.grid, 1,
			     w.grid);
}

} // namespace

int
radon_exact_adjoint(struct gpu *g, const radon_job &w, pair<double> *y)
{
	GPU_LAUNCH(g, sum_traces, dim3(w.bins, w.n), THREADS, 0, w, y);
	return 0;
}

int
radon_adjoint(struct gpu *g, const radon_job &w)
{
	const size_t row = (w.grid + LINE_TAPS) * sizeof(pair<float>);
	const unsigned fit = (unsigned)(g->prop.sharedMemPerBlock / row);
	const unsigned copies = fit < COPIES ? fit : COPIES;
	const struct gpu_fft f = rows_fft(w);
	int err;

	if (!w.grid)
		return radon_exact_adjoint(g, w, NULL);
	GPU_LAUNCH(g, spread_traces, dim3(w.bins, w.n), TRACE_LANES * (copies ? copies : 1),
		   copies * row, w, copies);
	if ((err = gpu_fft(g, &f, 1, w.cells, w.cells)))
		return err;
	GPU_LAUNCH(g, take_modes, dim3(w.bins, w.n), THREADS, 0, w);
	return 0;
}

int
radon_model(struct gpu *g, const radon_job &w)
{
	const struct gpu_fft f = rows_fft(w);
	int err;

	if (!w.grid) {
		GPU_LAUNCH(g, sum_curves, dim3(w.bins, w.n), THREADS, 0, w);
		return 0;
	}
	GPU_LAUNCH(g, give_cells, dim3(w.bins, w.n), THREADS, 0, w);
	if ((err = gpu_fft(g, &f, 1, w.cells, w.cells)))
		return err;
	GPU_LAUNCH(g, interp_traces, dim3(w.bins, w.n), THREADS, 0, w);
	return 0;
}
