/*
 * Transforms of an array most of which is empty, or not wanted, along its slowest axis: see gpu/fft.h.
 *
 *	slowest axis	one call over all lines, which lie side by side: stride and batch are a slice's samples
 *	others		a batch of slices, of one axis less: two calls, since what is kept lies at both ends
 *
 * Bytes, in passes over the whole array (a read and a write of each sample; a part s of the slices being kept): 1 and s (dim - 1)
 * more, where one plan of dim axes takes dim. With oversampling 2 (s = 1/2): 1.5 of 2 in 2-D, 2 of 3 in 3-D; 1.25 (s = .8): 1.8 and
 * 2.6. To leave out lines within the slices as well would take a call a slice (cuFFT's batches have one distance), and its
 * 2 to 4 us exceed what 320 x 320 samples of a slice take; or copies into rows of their own, which cost more than that saves.
 */
#include "gpu/device.h"
#include "gpu/fft.h"

namespace
{

int
transform_others(struct gpu *g, const struct gpu_fft_slices *f, int sign, void *data)
{
	const size_t sample = 2 * (f->slowest.is_double ? sizeof(double) : sizeof(float));
	int err = 0;

	for (int i = 0; i < 2 && !err; i++) {
		char *const at = static_cast<char *>(data) + f->at[i] * sample;
		if (f->others[i].batch)
			err = gpu_fft(g, &f->others[i], sign, at, at);
	}
	return err;
}

} // namespace

struct gpu_fft_slices
gpu_fft_slices(bool is_double, int dim, const size_t *n, size_t head, size_t tail)
{
	struct gpu_fft_slices f = {};
	struct gpu_fft slice = {};
	const size_t last = n[dim - 1];
	size_t samples = 1;

	for (int a = 0; a < dim - 1; a++) {
		slice.n[dim - 2 - a] = slice.in.embed[dim - 2 - a] = (long long)n[a];
		samples *= n[a];
	}
	f.slowest = gpu_fft_lines(GPU_FFT_C2C, is_double, last, samples, samples, 1, samples, 1);
	if (dim == 1)
		return f;
	slice.kind = GPU_FFT_C2C;
	slice.is_double = is_double;
	slice.rank = dim - 1;
	slice.in.stride = 1;
	slice.in.dist = (long long)samples;
	slice.out = slice.in;
	f.others[0] = f.others[1] = slice;
	f.others[0].batch = (long long)(head + tail < last ? head : last);
	f.others[1].batch = head + tail < last ? (long long)tail : 0;
	f.at[1] = (last - tail) * samples;
	return f;
}

int
gpu_fft_slices_prepare(struct gpu *g, const struct gpu_fft_slices *f)
{
	int err = gpu_fft_prepare(g, &f->slowest);

	for (int i = 0; i < 2 && !err; i++)
		if (f->others[i].batch)
			err = gpu_fft_prepare(g, &f->others[i]);
	return err;
}

int
gpu_fft_spread_slices(struct gpu *g, const struct gpu_fft_slices *f, int sign, void *data)
{
	const int err = transform_others(g, f, sign, data);

	return err ? err : gpu_fft(g, &f->slowest, sign, data, data);
}

int
gpu_fft_gather_slices(struct gpu *g, const struct gpu_fft_slices *f, int sign, void *data)
{
	const int err = gpu_fft(g, &f->slowest, sign, data, data);

	return err ? err : transform_others(g, f, sign, data);
}
