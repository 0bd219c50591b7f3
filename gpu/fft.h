/*
 * cuFFT, for gpu/NAME.cu alone. The library is 280 MB and comes as a shared object only, so it is opened by dlopen() at the
 * first transform of a run; programs start, and do what needs no transform, without it.
 *
 *	const struct gpu_fft f = gpu_fft_lines(GPU_FFT_R2C, false, n, rows, 1, n, 1, n / 2 + 1);
 *	if ((err = gpu_fft(g, &f, 0, in, out)))		unscaled, on g->stream[0]
 */
#ifndef WEIR_GPU_FFT_H
#define WEIR_GPU_FFT_H

#include <stddef.h>

struct gpu;

enum gpu_fft_kind { GPU_FFT_C2C, GPU_FFT_R2C, GPU_FFT_C2R };

/* Where sample (i0, i1, i2) of transform b lies: b dist + ((i0 embed[1] + i1) embed[2] + i2) stride; embed[0] is not used. */
struct gpu_fft_side {
	long long embed[3], stride, dist;
};

/*
 * `batch` transforms of `rank` axes, slowest first. n are the real lengths: r2c writes, and c2r reads, n / 2 + 1 of the last
 * axis. Strides and distances count elements of that side, real or complex.
 */
struct gpu_fft {
	enum gpu_fft_kind kind;
	bool is_double;
	int rank;
	long long n[3], batch;
	struct gpu_fft_side in, out;
};

/* Lines: sample i of line b at b dist + i stride. */
struct gpu_fft gpu_fft_lines(enum gpu_fft_kind kind, bool is_double, size_t n, size_t batch,
			     size_t in_stride, size_t in_dist, size_t out_stride, size_t out_dist);

/*
 * sum x exp(sign 2 pi i ..), sign -1 or +1; r2c is always -1 and c2r +1, whatever sign says. in == out is allowed where
 * the samples of a transform lie at the same bytes; both start at a complex number's boundary, also the real ones.
 * c2r may destroy what it reads. Plans are made at the first call with a shape and kept, 16 of them, with work space they
 * share, until gpu_release(). 0 or -EIO: `cannot load libcufft.so.12: ..`, or the function that failed.
 */
int gpu_fft(struct gpu *g, const struct gpu_fft *f, int sign, void *in, void *out);

/* Makes the plan now, so that gpu_begin() .. gpu_end() do not time it. */
int gpu_fft_prepare(struct gpu *g, const struct gpu_fft *f);

/*
 * Complex transforms of a whole array, in place, where the slices along its slowest axis hold nothing, or are not wanted, but for
 * the first and the last few: modes padded with zeros, or modes kept of more. The other axes are transformed in those slices
 * alone. fft_slices.cu.
 */
struct gpu_fft_slices {
	struct gpu_fft slowest,
	    others[2]; /* others: of the first slices, of the last; none where batch is 0 */
	size_t at[2];  /* samples before those slices */
};

/* dim axes of n samples, fastest first; the first `head` slices and the last `tail`. */
struct gpu_fft_slices
gpu_fft_slices(bool is_double, int dim, const size_t *n, size_t head, size_t tail);

int gpu_fft_slices_prepare(struct gpu *g, const struct gpu_fft_slices *f);

/* From slices that hold something to all, and from all to slices that are wanted, when the others come to nothing of use. */
int gpu_fft_spread_slices(struct gpu *g, const struct gpu_fft_slices *f, int sign, void *data);
int gpu_fft_gather_slices(struct gpu *g, const struct gpu_fft_slices *f, int sign, void *data);

/* What gpu_fft() keeps, freed; called by gpu_release(). */
void gpu_fft_release(struct gpu *g);

#endif
