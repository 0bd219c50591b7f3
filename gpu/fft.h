/*
 * cuFFT, only for .cu files. The library is 280 MB and exists only as a shared object, so dlopen() opens it
 * at the first transform of a run. Programs that make no transform run without it.
 *
 *	const struct gpu_fft f = gpu_fft_lines(GPU_FFT_R2C, false, n, rows, 1, n, 1, n / 2 + 1);
 *	if ((err = gpu_fft(g, &f, 0, in, out)))		unscaled, on g->stream[0]
 */
#ifndef WEIR_GPU_FFT_H
#define WEIR_GPU_FFT_H

#include <stddef.h>

struct gpu;

enum gpu_fft_kind { GPU_FFT_C2C, GPU_FFT_R2C, GPU_FFT_C2R };

/* Sample (i0, i1, i2) of transform b lies at b dist + ((i0 embed[1] + i1) embed[2] + i2) stride. embed[0] is not used. */
struct gpu_fft_side {
	long long embed[3], stride, dist;
};

/*
 * `batch` transforms of `rank` axes, slowest first. n holds the lengths of the real arrays: along the last axis, which is
 * even, as fft_size() makes it, r2c writes and c2r reads n / 2 + 1 numbers. Strides and distances count elements of their
 * side, real or complex.
 */
struct gpu_fft {
	enum gpu_fft_kind kind;
	bool is_double;
	int rank;
	long long n[3], batch;
	struct gpu_fft_side in, out;
};

/* Describes transforms of lines: sample i of line b lies at b dist + i stride. */
struct gpu_fft gpu_fft_lines(enum gpu_fft_kind kind, bool is_double, size_t n, size_t batch,
			     size_t in_stride, size_t in_dist, size_t out_stride, size_t out_dist);

/*
 * Computes sum x exp(sign 2 pi i ..), with sign -1 or +1; r2c always uses -1 and c2r +1, and both ignore sign. in == out is
 * allowed where the samples of a transform lie at the same bytes. in and out must be aligned as complex numbers are, real
 * arrays too. c2r may destroy its input. The first call with a shape makes a plan. 16 plans and the work space that they
 * share are kept until gpu_release(). Returns 0, or -EIO: `cannot load libcufft.so.12: ..`, or the function that failed.
 */
int gpu_fft(struct gpu *g, const struct gpu_fft *f, int sign, void *in, void *out);

/* Makes the plan now: before a graph is captured, or before gpu_begin(), which it would interrupt. */
int gpu_fft_prepare(struct gpu *g, const struct gpu_fft *f);

/*
 * Complex transforms of a whole array, in place, of which only the first few and the last few slices along the slowest axis
 * hold samples (modes padded with zeros) or are wanted (modes that are kept). Only in those slices the other axes are
 * transformed. See fft.cu.
 */
struct gpu_fft_slices {
	/* slowest: along the slowest axis. others: in the first slices, in the last; batch 0: none. */
	struct gpu_fft slowest, others[2];
	size_t at[2]; /* samples before those slices */
};

/* Describes dim axes of n samples, fastest first, with the first `head` slices and the last `tail` in use. */
struct gpu_fft_slices
gpu_fft_slices(bool is_double, int dim, const size_t *n, size_t head, size_t tail);

/* Makes the plans now, as gpu_fft_prepare(). */
int gpu_fft_slices_prepare(struct gpu *g, const struct gpu_fft_slices *f);

/*
 * Spread transforms the slices in use to all slices; the other slices must be zeros. Gather transforms all slices, and only
 * the slices in use hold results.
 */
int gpu_fft_spread_slices(struct gpu *g, const struct gpu_fft_slices *f, int sign, void *data);
int gpu_fft_gather_slices(struct gpu *g, const struct gpu_fft_slices *f, int sign, void *data);

/* Frees what gpu_fft() keeps. gpu_release() calls it. */
void gpu_fft_release(struct gpu *g);

#endif
