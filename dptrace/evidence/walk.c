#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common/base/cpu.h"
#include "dptrace/evidence/gain.h"
#include "dptrace/evidence/walk.h"

/* Two neighbouring samples, read as one. This halves the loads and is 1.5 times as fast with AVX-512. */
typedef uint64_t pair __attribute__((may_alias, aligned(4)));

enum { LEFT = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : 32, RIGHT = 32 - LEFT };

static inline __attribute__((always_inline)) float
half_of(uint64_t both, int shift)
{
	const uint32_t bits = (uint32_t)(both >> shift);
	float f;

	memcpy(&f, &bits, sizeof f);
	return f;
}

/*
 * Takes bilinear samples at the points (x + i dx, y + i dy) of a picture w wide that begins at p, and subtracts ref. No
 * coordinate may be negative.
 */
WEIR_CLONES(sample_within,
	    (float *restrict out, int n, const float *restrict p, int w, float x, float y, float dx,
	     float dy, float ref),
	    (out, n, p, w, x, y, dx, dy, ref))
{
	for (int i = 0; i < n; i++) {
		const float xs = x + (float)i * dx, ys = y + (float)i * dy;
		const int xi = (int)xs, yi = (int)ys, at = yi * w + xi;
		const float a = xs - (float)xi, b = ys - (float)yi;
		const uint64_t above = *(const pair *)(p + at), below = *(const pair *)(p + at + w);
		const float top =
		    half_of(above, LEFT) + a * (half_of(above, RIGHT) - half_of(above, LEFT));
		const float low =
		    half_of(below, LEFT) + a * (half_of(below, RIGHT) - half_of(below, LEFT));
		out[i] = (top + b * (low - top)) - ref;
	}
}

/* Does walk_sample() for walks that touch the border or leave the picture. Outside, the border's samples are repeated. */
static void
sample_clamped(float *out, int n, const float *p, size_t w, size_t h, struct walk k, float ref)
{
	const double xmax = (double)(w - 1), ymax = (double)(h - 1);
	const size_t right = w > 1, down = h > 1 ? w : 0;

	for (int i = 0; i < n; i++) {
		double x = k.x + i * k.dx, y = k.y + i * k.dy;
		x = x < 0 ? 0 : x > xmax ? xmax : x;
		y = y < 0 ? 0 : y > ymax ? ymax : y;
		const size_t xi = (size_t)x - (x == xmax && w > 1),
			     yi = (size_t)y - (y == ymax && h > 1);
		const float a = (float)(x - (double)xi), b = (float)(y - (double)yi);
		const float *at = p + yi * w + xi;
		const float top = at[0] + a * (at[right] - at[0]);
		const float low = at[down] + a * (at[down + right] - at[down]);
		out[i] = (top + b * (low - top)) - ref;
	}
}

void
walk_sample(float *out, int n, const float *p, size_t w, size_t h, struct walk k, float ref)
{
	const double x1 = k.x + (n - 1) * k.dx, y1 = k.y + (n - 1) * k.dy;
	const double x0 = floor(k.x < x1 ? k.x : x1) - 1, y0 = floor(k.y < y1 ? k.y : y1) - 1;
	const bool within = x0 >= 0 && y0 >= 0 && k.x < (double)w - 2 && x1 < (double)w - 2 &&
			    k.y < (double)h - 2 && y1 < (double)h - 2;

	/*
	 * The fast path counts from a corner of the walk's own box, with a pixel of room around it. So floats are exact
	 * enough for coordinates, and an int holds the place of a sample.
	 */
	if (within && (y1 - y0 + k.y - y0) * (double)w < INT_MAX / 2)
		sample_within(out, n, p + (size_t)y0 * w + (size_t)x0, (int)w, (float)(k.x - x0),
			      (float)(k.y - y0), (float)k.dx, (float)k.dy, ref);
	else
		sample_clamped(out, n, p, w, h, k, ref);
}

/* Sets out[i] to 1 where sample i lies inside the picture, and to 0 outside. */
WEIR_CLONES(mark_inside, (float *restrict out, int n, size_t w, size_t h, struct walk k),
	    (out, n, w, h, k))
{
	const double xmax = (double)w - .5, ymax = (double)h - .5;

	for (int i = 0; i < n; i++) {
		double x = k.x + i * k.dx, y = k.y + i * k.dy;
		out[i] = (float)((x >= -.5) & (x <= xmax) & (y >= -.5) & (y <= ymax));
	}
}

void
walk_inside(float *out, int n, size_t w, size_t h, struct walk k, const unsigned char *mask)
{
	mark_inside(out, n, w, h, k);
	for (int i = 0; mask && i < n; i++)
		if (out[i] > 0) {
			const size_t x = (size_t)(k.x + i * k.dx + .5),
				     y = (size_t)(k.y + i * k.dy + .5);
			out[i] = mask[(y < h ? y : h - 1) * w + (x < w ? x : w - 1)] ? 1 : 0;
		}
}

void
walk_gain(float *out, int n, size_t w, size_t h, struct walk k, const struct dptrace_gain *gain)
{
	for (int i = 0; i < n; i++)
		if (out[i] > 0) {
			const size_t x = (size_t)(k.x + i * k.dx + .5),
				     y = (size_t)(k.y + i * k.dy + .5);
			out[i] *= gain_at(gain, x < w ? x : w - 1, y < h ? y : h - 1);
		}
}
