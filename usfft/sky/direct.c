/* The definition of sky.h: its sums, one output at a time, in long double. */
#include <math.h>

#include "usfft/direct.h"
#include "usfft/sky/sky.h"

/* u l + v m + w (n - 1) modulo 1, for the pixel at index `at` of the image; *seen: it is not beyond the horizon. */
static long double
sky_turns(const struct usfft_sky_options *o, const struct usfft_points *pt, size_t at, size_t j,
	  bool *seen)
{
	long double phase = 0, r2 = 0;

	for (int a = 0; a < 2; a++) {
		const double k = (double)(at % o->o.n[a]) - (double)(o->o.n[a] / 2);
		const double u = usfft_direct_coordinate(pt, a, j), x = u * o->pixel[a];
		const long double l = (long double)k * o->pixel[a];
		phase += usfft_direct_turns(k, x) + (long double)k * fma(u, o->pixel[a], -x);
		r2 += l * l;
		at /= o->o.n[a];
	}
	*seen = r2 <= 1;
	const long double depth = *seen ? r2 / (1 + sqrtl(1 - r2)) : 0;
	const long double w = -usfft_direct_coordinate(pt, 2, j) * depth;
	return phase + (w - rintl(w));
}

double
usfft_direct_pixel(const struct usfft_sky_options *o, const struct usfft_points *pt,
		   const double *vis, int sign, size_t at)
{
	long double sum[2] = {0, 0};

	for (size_t j = 0; j < pt->m; j++) {
		bool seen;
		const long double phase = sky_turns(o, pt, at, j, &seen);
		if (seen)
			usfft_direct_term(sum, vis + 2 * j, phase, sign);
	}
	return (double)sum[0];
}

void
usfft_direct_visibility(const struct usfft_sky_options *o, const struct usfft_points *pt,
			const double *image, int sign, size_t j, double out[2])
{
	long double sum[2] = {0, 0};

	for (size_t at = 0; at < o->o.n[0] * o->o.n[1]; at++) {
		const double pixel[2] = {image[at], 0};
		bool seen;
		const long double phase = sky_turns(o, pt, at, j, &seen);
		if (seen)
			usfft_direct_term(sum, pixel, phase, sign);
	}
	out[0] = (double)sum[0];
	out[1] = (double)sum[1];
}
