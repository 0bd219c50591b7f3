/*
 * Spectra of wconv's kernels in a ring: one slot for each function of y that a step needs, made once in a picture.
 *
 *	pad, sum	thread = sample, row; then rows and columns by cuFFT, batch = functions of x
 *
 * Bound: 8 bytes a coefficient three times, a picture's kernels once.
 */
#include "gpu/wconv/tiles.h"

namespace
{

/* The sums of the kernels' rows: thread = row. */
template <class T>
__global__ void
sum_rows(const wc_work<T> w, double *sums, size_t rows)
{
	const size_t i = wc_element();
	double sum = 0;

	if (i >= rows)
		return;
	for (unsigned t = 0; t < w.kw; t++)
		sum += (double)w.kernel[i * w.kw + t];
	sums[i] = sum;
}

/* The kernels of function fy of y, padded: [functions of x][ny][nx]. They were turned; here they are not. */
template <class T>
__global__ void
pad_kernels(const wc_work<T> w, const wc_tiles<T> b, unsigned fy)
{
	const size_t i = wc_element();
	size_t rest = i;
	const unsigned x = take_index(&rest, b.nx), y = take_index(&rest, b.ny),
		       fx = (unsigned)rest;

	if (fx >= w.nfx)
		return;
	const unsigned k = w.number[fy * w.nfx + fx];
	b.real[i] = k != WC_NONE && x < w.kw && y < w.kh
			? w.kernel[((size_t)k * w.kh + (w.kh - 1 - y)) * w.kw + (w.kw - 1 - x)]
			: 0;
}

} // namespace

template <class T>
int
wc_rows(struct gpu *g, const wc_tiles<T> &b, size_t n, wc_cx<T> *to)
{
	const struct gpu_fft f =
	    gpu_fft_lines(GPU_FFT_R2C, sizeof(T) == 8, b.nx, n * b.ny, 1, b.nx, n * b.ny, 1);

	return gpu_fft(g, &f, -1, b.real, to);
}

template <class T>
int
wc_columns(struct gpu *g, const wc_tiles<T> &b, size_t n, int sign, wc_cx<T> *at)
{
	const struct gpu_fft f =
	    gpu_fft_lines(GPU_FFT_C2C, sizeof(T) == 8, b.ny, b.columns * n, 1, b.ny, 1, b.ny);

	return gpu_fft(g, &f, sign, at, at);
}

template <class T>
int
wc_rows_back(struct gpu *g, const wc_tiles<T> &b, size_t high, wc_cx<T> *from)
{
	const size_t rows = b.n * high;
	const struct gpu_fft f =
	    gpu_fft_lines(GPU_FFT_C2R, sizeof(T) == 8, b.nx, rows, rows, 1, 1, b.nx);

	return gpu_fft(g, &f, 1, from, b.real);
}

namespace
{

/* The spectra of the kernels of function fy to its slot. */
template <class T>
int
make_spectra(struct gpu *g, const wc_work<T> &w, const wc_tiles<T> &b, unsigned fy)
{
	wc_cx<T> *to = b.kernel + (size_t)(fy % b.slots) * b.columns * w.nfx * b.ny;
	int err;

	GPU_LAUNCH(g, pad_kernels<T>, wc_blocks((size_t)w.nfx * b.ny * b.nx), WC_THREADS, 0, w, b,
		   fy);
	if ((err = wc_rows(g, b, w.nfx, to)))
		return err;
	return wc_columns(g, b, w.nfx, -1, to);
}

} // namespace

template <class T>
int
wc_sum_kernels(struct gpu *g, const struct wconv_plan *p, const wc_work<T> &w, bool fresh,
	       wc_tiles<T> *b)
{
	const size_t rows = p->q.gx * p->q.gy * w.kh;
	void *sums;
	const int err = gpu_hold(g, WC_SUMS, rows * sizeof(double), &sums);

	if (err)
		return err;
	b->sums = static_cast<double *>(sums);
	if (fresh)
		GPU_LAUNCH(g, sum_rows<T>, wc_blocks(rows), WC_THREADS, 0, w, b->sums, rows);
	return 0;
}

template <class T>
int
wc_fill_ring(struct gpu *g, const struct wconv_plan *p, const wc_work<T> &w, wc_span fresh,
	     wc_tiles<T> *b)
{
	const size_t bytes = p->slots * b->columns * w.nfx * b->ny * sizeof(wc_cx<T>);
	void *ring;
	int err = gpu_hold(g, WC_SPECTRA, bytes, &ring);

	b->kernel = static_cast<wc_cx<T> *>(ring);
	for (size_t f = fresh.from; f < fresh.to && !err; f++)
		err = make_spectra(g, w, *b, (unsigned)f);
	return err;
}

template int wc_rows<float>(struct gpu *g, const wc_tiles<float> &b, size_t n, wc_cx<float> *to);
template int
wc_columns<float>(struct gpu *g, const wc_tiles<float> &b, size_t n, int sign, wc_cx<float> *at);
template int
wc_rows_back<float>(struct gpu *g, const wc_tiles<float> &b, size_t high, wc_cx<float> *from);
template int wc_sum_kernels<float>(struct gpu *g, const struct wconv_plan *p,
				   const wc_work<float> &w, bool fresh, wc_tiles<float> *b);
template int wc_fill_ring<float>(struct gpu *g, const struct wconv_plan *p, const wc_work<float> &w,
				 wc_span fresh, wc_tiles<float> *b);
template int wc_rows<double>(struct gpu *g, const wc_tiles<double> &b, size_t n, wc_cx<double> *to);
template int
wc_columns<double>(struct gpu *g, const wc_tiles<double> &b, size_t n, int sign, wc_cx<double> *at);
template int
wc_rows_back<double>(struct gpu *g, const wc_tiles<double> &b, size_t high, wc_cx<double> *from);
template int wc_sum_kernels<double>(struct gpu *g, const struct wconv_plan *p,
				    const wc_work<double> &w, bool fresh, wc_tiles<double> *b);
template int wc_fill_ring<double>(struct gpu *g, const struct wconv_plan *p,
				  const wc_work<double> &w, wc_span fresh, wc_tiles<double> *b);
