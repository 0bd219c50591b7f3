#include <math.h>

#include "common/convert/psf.h"

size_t
psf_pixels(size_t n, double step)
{
	/* A few rounding errors must not cost a pixel. */
	return 2 * (size_t)((double)(n / 2 < n - 1 - n / 2 ? n / 2 : n - 1 - n / 2) * step + 1e-6) +
	       1;
}

static double
lanczos3(double x)
{
	const double pi = 3.14159265358979323846;

	/* At whole numbers it is exact. */
	if (fabs(x - rint(x)) < 1e-9)
		return fabs(x) < .5 ? 1 : 0;
	return fabs(x) >= 3 ? 0 : 3 * sin(pi * x) * sin(pi * x / 3) / (pi * pi * x * x);
}

/* out[i * to] = the value at pixel i of n, of the m samples in[k * from]. */
#define RESAMPLE(NAME, FROM, TO)                                                                 \
	static void NAME(const FROM *in, size_t m, size_t from, double step, TO *out, size_t n,  \
			 size_t to)                                                              \
	{                                                                                        \
		for (size_t i = 0; i < n; i++) {                                                 \
			const double x = (double)(m / 2) + ((double)i - (double)(n / 2)) / step; \
			double sum = 0, norm = 0;                                                \
                                                                                                 \
			for (size_t k = 0; k < m; k++) {                                         \
				const double weight = lanczos3((double)k - x);                   \
				sum += weight * (double)in[k * from];                            \
				norm += weight;                                                  \
			}                                                                        \
			out[i * to] = (TO)(sum / norm);                                          \
		}                                                                                \
	}
RESAMPLE(resample_row, float, double)
RESAMPLE(resample_column, double, float)
#undef RESAMPLE

void
psf_resample(const float *in, size_t w, size_t h, double step, float *out, double *work)
{
	const size_t W = psf_pixels(w, step), H = psf_pixels(h, step);

	for (size_t y = 0; y < h; y++)
		resample_row(in + y * w, w, 1, step, work + y * W, W, 1);
	for (size_t x = 0; x < W; x++)
		resample_column(work + x, h, W, step, out + x, H, W);
}
