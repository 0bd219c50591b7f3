/* The definition of palette.h. It shares no code with what it checks. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>

#include "common/base/mem.h"
#include "emst/rawpalette/palette.h"

/* Fills to[] with the coordinates of a pixel: with alpha, its samples on black and on white. Returns how many there are. */
static size_t
place(const struct dither *d, const double *x, double to[6])
{
	const double unit = d->type == IMG_U8 ? 16 : 1;
	const size_t n = d->planes - d->alpha;

	for (size_t c = 0; c < n; c++) {
		const double alpha = d->alpha ? x[n] / d->top : 1;
		to[c] = floor(unit * x[c] * alpha + .5);
		if (d->alpha)
			to[n + c] = to[c] + unit * (d->top - x[n]);
	}
	return d->alpha ? 2 * n : n;
}

/* Whether colour j may stand for a pixel. */
static bool
may_stand(const struct dither *d, const double *x, size_t j)
{
	const size_t last = d->planes - 1;
	bool any = false;

	if (!d->alpha || (x[last] != 0 && x[last] < d->top))
		return true;
	for (size_t i = 0; i < d->k; i++)
		any |= d->colour[i * d->planes + last] == x[last];
	return !any || d->colour[j * d->planes + last] == x[last];
}

/* Fills x with the samples of pixel i. Returns x. */
static const double *
load(const struct dither *d, size_t i, double x[4])
{
	for (size_t a = 0; a < d->planes; a++) {
		const size_t at = i * d->planes + a;
		x[a] = fmin(d->type == IMG_U8 ? ((const uint8_t *)d->px)[at]
					      : ((const uint16_t *)d->px)[at],
			    d->top);
	}
	return x;
}

/* Returns the part of the error of pixel i that is passed on, in 64ths. */
static double
find_part(const struct dither *d, size_t i)
{
	const float top = (float)d->top * (d->type == IMG_U8 ? 16 : 1);
	const float s = top * top / ((d->alpha ? 32 : 64) * (float)d->k);
	const size_t before[2] = {i % d->w ? i - 1 : i, i < d->w ? i : i - d->w};
	double x[4], t[6], y[6];
	float a2 = 0;
	const size_t n = place(d, load(d, i, x), t);

	for (int b = 0; b < 2; b++) {
		place(d, load(d, before[b], x), y);
		for (size_t a = 0; a < n; a++)
			a2 += (float)(t[a] - y[a]) * (float)(t[a] - y[a]);
	}
	return 26 + floorf(30 * s / (s + a2 / 2) + .5f);
}

/* Returns the colour nearest to t of those that may stand for pixel x. */
static size_t
choose(const struct dither *d, const double *x, const double *t)
{
	float least = INFINITY;
	size_t best = 0;
	double c[6];

	for (size_t j = 0; j < d->k; j++) {
		const size_t n = place(d, d->colour + j * d->planes, c);
		float d2 = 0;
		for (size_t a = 0; a < n; a++)
			d2 += (float)(t[a] - c[a]) * (float)(t[a] - c[a]);
		if (may_stand(d, x, j) && d2 < least) {
			least = d2;
			best = j;
		}
	}
	return best;
}

/* Chooses the colour of one pixel, and passes `part` 64ths of the error on. error [h + 1][w + 2][6] */
static size_t
settle(const struct dither *d, const double *x, double part, double *error)
{
	const double top = d->top * (d->type == IMG_U8 ? 16 : 1);
	const size_t down = (d->w + 2) * 6;
	double t[6], c[6];
	const size_t n = place(d, x, t);

	for (size_t a = 0; a < n; a++)
		t[a] = fmin(fmax(t[a] + floor((error[a] + 512) / 1024), 0), top);
	const size_t best = choose(d, x, t);
	place(d, d->colour + best * d->planes, c);
	for (size_t a = 0; a < n; a++) {
		const double e = d->alpha && x[d->planes - 1] == 0 ? 0 : part * (t[a] - c[a]);
		error[6 + a] += 7 * e;
		error[down - 6 + a] += 3 * e;
		error[down + a] += 5 * e;
		error[down + 6 + a] += e;
	}
	return best;
}

/* Chooses the colour of pixel i again, given those around it. */
static size_t
improve(const struct dither *d, size_t i, const uint8_t *index)
{
	static const double g[] = {5, 10, 13, 10, 5};
	double x[4], t[6], y[4], s[6], c[6], sum[6] = {0};
	const size_t n = place(d, load(d, i, x), t);

	for (size_t at = 0; at < 25; at++) {
		const size_t row = i / d->w + at / 5 - 2, column = i % d->w + at % 5 - 2,
			     j = row * d->w + column;
		if (row >= d->h || column >= d->w || j == i)
			continue;
		place(d, load(d, j, y), s);
		place(d, d->colour + index[j] * d->planes, c);
		for (size_t a = 0; a < n; a++)
			sum[a] += g[at / 5] * g[at % 5] * (c[a] - s[a]);
	}
	for (size_t a = 0; a < n; a++)
		t[a] = (float)t[a] - (float)sum[a] * ((float)find_part(d, i) * (.3f / 10816));
	return choose(d, x, t);
}

int
palette_direct_dither(const struct dither *d, uint8_t *index)
{
	double *error = weir_calloc((d->h + 1) * (d->w + 2) * 6, sizeof *error), x[4];

	if (!error)
		return -ENOMEM;
	for (size_t i = 0; i < d->w * d->h; i++)
		index[i] = (uint8_t)settle(d, load(d, i, x), find_part(d, i),
					   error + (i / d->w * (d->w + 2) + i % d->w + 1) * 6);
	for (size_t i = 0; i < d->w * d->h; i++)
		index[i] = (uint8_t)improve(d, i, index);
	weir_free(error);
	return 0;
}
