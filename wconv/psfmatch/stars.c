/* Finds stars to fit. */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "wconv/psfmatch/psfmatch.h"

/* ---- the sky ---- */

/* The sky of a picture, its noise, and the level from which on its pixels are saturated. */

enum { SAMPLES = 50000, FEWEST = 100 };

/*
 * Collects samples in v, and the absolute second differences along rows there in d. Gradients and most of the light of stars
 * add nothing to these. Where three samples in a row are equal, the picture was filled up, and no sky was seen.
 */
static size_t
collect(const float *x, size_t n, bool filled, double *v, double *d)
{
	const size_t step = n / SAMPLES + 1;
	size_t k = 0;

	for (size_t i = 1; i + 1 < n; i += step) {
		const double a = (double)x[i - 1], b = (double)x[i], c = (double)x[i + 1];
		if (!isfinite(a - 2 * b + c) || (!filled && a - b == 0 && b - c == 0))
			continue;
		v[k] = b;
		d[k++] = fabs(a - 2 * b + c);
	}
	return k;
}

/* Returns the smallest of d[n] above 0, or 0. */
static double
smallest(const double *d, size_t n)
{
	double least = INFINITY;

	for (size_t i = 0; i < n; i++)
		if (d[i] > 0 && d[i] < least)
			least = d[i];
	return isfinite(least) ? least : 0;
}

/* Returns the largest finite sample of x[n], or minus infinity. */
WEIR_CLONES_OF(float, largest_finite, (const float *x, size_t n), (x, n))
{
	float part[16], most = -INFINITY;
	size_t i = 0;

	for (size_t k = 0; k < 16; k++)
		part[k] = -INFINITY;
	for (; i + 16 <= n; i += 16)
		for (size_t k = 0; k < 16; k++)
			part[k] = x[i + k] > part[k] && x[i + k] <= FLT_MAX ? x[i + k] : part[k];
	for (size_t k = 0; k < 16; k++)
		most = part[k] > most ? part[k] : most;
	for (; i < n; i++)
		most = x[i] > most && x[i] <= FLT_MAX ? x[i] : most;
	return most;
}

/* Returns the largest finite value, if three pixels in a row have it and are thus saturated; otherwise infinity. */
static double
saturation(const float *x, size_t n)
{
	const float most = largest_finite(x, n);

	for (size_t i = 2; i < n; i++)
		if (x[i] == most && x[i - 1] == most && x[i - 2] == most)
			return (double)most;
	return INFINITY;
}

/* v, d: room for SAMPLES + 1. Returns -EDOM if fewer than FEWEST samples are known. */
static int
measure(const float *x, size_t n, double top, double *v, double *d, struct psfmatch_sky *s)
{
	size_t k = collect(x, n, false, v, d);

	if (k < FEWEST)
		k = collect(x, n, true, v, d);
	if (k < FEWEST)
		return -EDOM;
	/* A picture of whole numbers has at least the noise of rounding. */
	const double rounding = smallest(d, k) / sqrt(12);
	s->noise = fmax(1.4826 * psfmatch_median(d, k) / sqrt(6), rounding);
	s->level = psfmatch_median(v, k);
	s->top = fmin(nextafter(top, INFINITY), saturation(x, n));
	return 0;
}

size_t
psfmatch_drop_fill(float *x, size_t n, double *value)
{
	double *v = weir_alloc(2 * (SAMPLES + 1), sizeof *v);
	struct psfmatch_sky s;
	size_t dropped = 0;
	bool filled = false;
	float least = INFINITY;

	for (size_t i = 0; i < n; i++)
		least = x[i] < least && x[i] >= -FLT_MAX ? x[i] : least;
	for (size_t i = 2; i < n && !filled; i++)
		filled = x[i] == least && x[i - 1] == least && x[i - 2] == least;
	if (!v)
		return SIZE_MAX;
	const bool known = !measure(x, n, INFINITY, v, v + SAMPLES + 1, &s) && s.noise > 0;
	filled = filled && known && (double)least < s.level - 5 * s.noise;
	const bool full = known && s.top > s.level + 5 * s.noise;
	for (size_t i = 0; i < n && (filled || full); i++) {
		dropped += filled && x[i] == least;
		if ((filled && x[i] == least) || (full && (double)x[i] >= s.top))
			x[i] = NAN;
	}
	weir_free(v);
	*value = (double)least;
	return dropped;
}

/*
 * Returns the correlation of the pictures' noise: the spreads of the sum and of the difference of their second differences, each
 * in units of its own, differ by it. v, d: room for SAMPLES + 1.
 */
static double
correlate(const struct psfmatch_field *f, double *v, double *d)
{
	const size_t n = f->w * f->h, step = n / SAMPLES + 1;
	size_t k = 0;

	for (size_t i = 1; i + 1 < n; i += step) {
		const float *r = f->ref + i, *s = f->new + i;
		const double a = ((double)r[-1] - 2 * (double)r[0] + (double)r[1]) / f->r.noise;
		const double b = ((double)s[-1] - 2 * (double)s[0] + (double)s[1]) / f->n.noise;
		if (!isfinite(a) || !isfinite(b))
			continue;
		v[k] = fabs(a + b);
		d[k++] = fabs(a - b);
	}
	if (!k)
		return 0;
	const double sum = psfmatch_median(v, k), less = psfmatch_median(d, k);
	return sum + less > 0 ? (sum * sum - less * less) / (sum * sum + less * less) : 0;
}

int
psfmatch_measure_sky(struct psfmatch_field *f, double top)
{
	double *v = weir_alloc(2 * (SAMPLES + 1), sizeof *v);
	const size_t n = f->w * f->h;
	int e = v ? 0 : -ENOMEM;

	e = e ? e : measure(f->ref, n, top, v, v + SAMPLES + 1, &f->r);
	e = e ? e : measure(f->new, n, top, v, v + SAMPLES + 1, &f->n);
	f->noise = hypot(f->r.noise, f->n.noise);
	if (!e && f->r.noise > 0 && f->n.noise > 0)
		f->shared = correlate(f, v, v + SAMPLES + 1) * f->n.noise / f->r.noise;
	/* pictures without noise: takes the last digit of a float as noise */
	if (!(f->noise > 0))
		f->noise = 1e-6 * (fabs(f->r.level) + fabs(f->n.level)) + 1e-12;
	weir_free(v);
	return e;
}

/* ---- lone bright pixels ---- */

/* Returns the median of the known pixels of the border of a square of 7x7 around pixel `at`; *spread: less their lower quartile. */
static double
median_around(const float *x, size_t w, size_t at, double *spread)
{
	double v[24];
	size_t n = 0;

	for (size_t i = 0; i < 49; i++) {
		const double p = (double)x[at + i / 7 * w + i % 7 - 3 * w - 3];
		if ((i % 7 % 6 == 0 || i / 7 % 6 == 0) && isfinite(p))
			v[n++] = p;
	}
	const double low = n ? psfmatch_quartile(v, n) : INFINITY;
	const double middle = n ? psfmatch_median(v, n) : INFINITY;
	*spread = middle - low;
	return middle;
}

/*
 * Whether the pixel is 10 times the noise brighter than those before and after it in its row or column, which have next to none of
 * its light: it is hot, or was hit by a cosmic ray, whose track is one pixel wide. A star is wider. *sky: the light around, which
 * slopes in the wings of a star.
 */
static bool
is_lone(const float *x, size_t w, size_t at, double noise, double *sky)
{
	for (size_t step = 1; step <= w; step += w - 1) {
		double spread;
		const double v = (double)x[at], both = (double)x[at - step] + (double)x[at + step];
		if (!(2 * v - both > 20 * noise))
			continue;
		*sky = median_around(x, w, at, &spread);
		if (both - 2 * *sky < .08 * (v - *sky) + noise && v - *sky > 15 * spread)
			return true;
	}
	return false;
}

/* Returns the sum of the pixels within `reach` of (x,y), each less the sky. */
static double
sum_light(const float *from, size_t w, size_t x, size_t y, size_t reach, double sky)
{
	double sum = 0;

	for (size_t j = y - reach; j <= y + reach; j++)
		for (size_t i = x - reach; i <= x + reach; i++)
			sum += (double)from[j * w + i] - sky;
	return sum;
}

/* Whether the pixel is like those around it and beside it in its row, but for noise, and has no faint light that is wide. */
static bool
is_plain(const float *x, size_t w, size_t at, double noise)
{
	const double v = (double)x[at], beside = .5 * ((double)x[at - 1] + (double)x[at + 1]);
	double spread;

	const double sky = median_around(x, w, at, &spread);
	return fabs(v - beside) < 6 * noise && fabs(v - sky) < 5 * noise &&
	       fabs(sum_light(x, w, at % w, at / w, 2, sky)) < 32 * noise;
}

/* Whether the pixel is brighter than those around it by 4 times the noise, and beside a lone one of picture k. */
static bool
is_beside(const float *x, size_t w, size_t at, double noise, const unsigned char *lone, size_t k,
	  double *sky)
{
	double spread;
	bool beside = false;

	for (size_t i = 0; i < 9; i++)
		beside |= lone[at + i / 3 * w + i % 3 - w - 1] >> k & 1;
	if (!beside)
		return false;
	*sky = median_around(x, w, at, &spread);
	return (double)x[at] - *sky > fmax(4 * noise, 6 * spread);
}

int
psfmatch_clean(float *ref, float *new, size_t w, size_t h, unsigned char *lone)
{
	struct psfmatch_field f = {.ref = ref, .new = new, .w = w, .h = h};
	float *const x[2] = {ref, new};
	const int e = psfmatch_measure_sky(&f, INFINITY);
	const double noise[2] = {fmax(f.r.noise, .1 * f.noise), fmax(f.n.noise, .1 * f.noise)};
	double sky;

	for (size_t i = 0; i < 4 * w * h && !e; i++) {
		const size_t k = i / (w * h) % 2, at = i % (w * h), column = at % w;
		if (at < 3 * w || at + 3 * w >= w * h || column < 3 || column + 3 >= w ||
		    !(i < 2 * w * h ? is_lone(x[k], w, at, noise[k], &sky)
				    : is_beside(x[k], w, at, noise[k], lone, k, &sky)) ||
		    !is_plain(x[!k], w, at, noise[!k]))
			continue;
		x[k][at] = (float)sky;
		lone[at] |= (unsigned char)(1 << k);
	}
	return e;
}

/* ---- stars ---- */

/* A cell of the field: columns x0..x1-1, rows y0..y1-1, and the skies there. */
struct cell {
	size_t x0, x1, y0, y1;
	double ref, new;
};

enum { STAR_SAMPLES = 1000 };

/* Returns the median of some pixels of the cell, or `other` if none is known. */
static double
median_of_cell(const float *x, size_t w, const struct cell *c, double other)
{
	const size_t wide = c->x1 - c->x0, n = wide * (c->y1 - c->y0), step = n / STAR_SAMPLES + 1;
	double v[STAR_SAMPLES + 1];
	size_t k = 0;

	for (size_t i = 0; i < n; i += step) {
		const float p = x[(c->y0 + i / wide) * w + c->x0 + i % wide];
		if (isfinite(p))
			v[k++] = (double)p;
	}
	return k ? psfmatch_median(v, k) : other;
}

/*
 * Whether the pixel is brighter than `least` above the sky, and its neighbours have next to none of its light: it is hot, or was
 * hit by a cosmic ray.
 */
static bool
is_spike(const float *from, size_t w, size_t x, size_t y, double sky, double least)
{
	const double v = (double)from[y * w + x] - sky;

	return v > least && sum_light(from, w, x, y, 1, sky) - v < 8 * .02 * v;
}

/* Whether the pixel is a peak of ref, more than 15 times the noise above the sky, and new shows light there too. */
static bool
is_peak(const struct psfmatch_field *f, const struct cell *c, size_t x, size_t y)
{
	const float *p = f->ref + y * f->w + x;
	const double v = (double)*p;

	if (!(v - c->ref > 15 * f->noise))
		return false;
	for (ptrdiff_t j = -2; j <= 2; j++)
		for (ptrdiff_t i = -2; i <= 2; i++)
			if ((double)p[j * (ptrdiff_t)f->w + i] > v)
				return false;
	return sum_light(f->new, f->w, x, y, 4, c->new) > 5 * 9 * f->n.noise;
}

/* Whether all pixels that the stamp needs are known in both pictures, and none is too bright. */
static bool
is_known(const struct psfmatch_field *f, size_t x, size_t y, size_t reach)
{
	for (size_t j = y - reach; j <= y + reach; j++)
		for (size_t i = x - reach; i <= x + reach; i++) {
			const double r = (double)f->ref[j * f->w + i],
				     n = (double)f->new[j * f->w + i];
			if (!isfinite(r) || !isfinite(n) || r >= f->r.top || n >= f->n.top)
				return false;
		}
	return true;
}

/* Whether no pixel that the stamp needs is a spike of at least a fifth of the star's peak. */
static bool
is_smooth(const struct psfmatch_field *f, const struct cell *c, size_t x, size_t y, size_t reach)
{
	const size_t at = y * f->w + x;
	const double r = fmax(15 * f->r.noise, .2 * ((double)f->ref[at] - c->ref));
	const double n = fmax(15 * f->n.noise, .2 * ((double)f->new[at] - c->new));

	for (size_t j = y - reach + 1; j < y + reach; j++)
		for (size_t i = x - reach + 1; i < x + reach; i++)
			if (is_spike(f->ref, f->w, i, j, c->ref, r) ||
			    is_spike(f->new, f->w, i, j, c->new, n))
				return false;
	return true;
}

/* Finds *s, the brightest clean star of the cell. Returns false if there is none. */
static bool
find_star(const struct psfmatch_field *f, const struct cell *c, size_t reach,
	  struct psfmatch_stamp *s)
{
	double best = -INFINITY;

	for (size_t y = c->y0; y < c->y1; y++)
		for (size_t x = c->x0; x < c->x1; x++) {
			const double v = (double)f->ref[y * f->w + x];
			if (v > best && is_peak(f, c, x, y) && is_known(f, x, y, reach) &&
			    is_smooth(f, c, x, y, reach)) {
				best = v;
				*s = (struct psfmatch_stamp){.x = x,
							     .y = y,
							     .used = true,
							     .sky_ref = c->ref,
							     .sky_new = c->new};
			}
		}
	return best > -INFINITY;
}

/* --- the width of stars ---------------------------------------------------------------------------------------------- */

/* A peak is sought within NEAR pixels of that of ref, and half its height within FAR pixels of there: in the stamp. */
enum { NEAR = 4, FAR = PSFMATCH_HALF - NEAR };

/* Returns the brightest pixel within `near` pixels of the stamp's centre. */
static size_t
find_peak(const float *from, size_t w, const struct psfmatch_stamp *s, size_t near)
{
	size_t at = s->y * w + s->x;

	for (size_t y = s->y - near; y <= s->y + near; y++)
		for (size_t x = s->x - near; x <= s->x + near; x++)
			if (from[y * w + x] > from[at])
				at = y * w + x;
	return at;
}

/* Returns how far from pixel `at`, in steps of `step` pixels, the picture falls to half of what it has there above the sky. */
static double
half_width(const float *from, size_t at, ptrdiff_t step, double sky)
{
	const double half = .5 * ((double)from[at] - sky);
	double last = 2 * half;

	for (ptrdiff_t k = 1; k <= FAR; k++) {
		const double v = (double)from[(ptrdiff_t)at + k * step] - sky;
		if (!(v > half))
			return (double)(k - 1) + (last - half) / (last - v);
		last = v;
	}
	return FAR;
}

double
psfmatch_width(const float *from, size_t w, size_t at, double sky)
{
	const ptrdiff_t row = (ptrdiff_t)w;

	return .5 * (half_width(from, at, 1, sky) + half_width(from, at, -1, sky) +
		     half_width(from, at, row, sky) + half_width(from, at, -row, sky));
}

void
psfmatch_find_widths(const struct psfmatch_field *f, const struct psfmatch_stamp *s, size_t n,
		     double width[2])
{
	double ref[PSFMATCH_STAMPS], new[PSFMATCH_STAMPS];

	for (size_t i = 0; i < n; i++) {
		ref[i] = psfmatch_width(f->ref, f->w, find_peak(f->ref, f->w, s + i, NEAR),
					s[i].sky_ref);
		new[i] = psfmatch_width(f->new, f->w, find_peak(f->new, f->w, s + i, NEAR),
					s[i].sky_new);
	}
	width[0] = n ? psfmatch_quartile(ref, n) : 0;
	width[1] = n ? psfmatch_quartile(new, n) : 0;
}

/* Returns where the top of the peak at pixel `at` is, along rows or columns, in pixels from there: that of a parabola. */
static double
find_top(const float *x, size_t at, size_t step)
{
	const double a = (double)x[at - step], b = (double)x[at], c = (double)x[at + step];

	return a - 2 * b + c < 0 ? .5 * (a - c) / (a - 2 * b + c) : 0;
}

void
psfmatch_find_shift(const struct psfmatch_field *f, const struct psfmatch_stamp *s, size_t n,
		    double shift[2])
{
	double each[2][PSFMATCH_STAMPS], sorted[PSFMATCH_STAMPS];
	size_t agree = 0;

	shift[0] = shift[1] = 0;
	for (size_t i = 0; i < n; i++) {
		const size_t at = s[i].y * f->w + s[i].x,
			     to = find_peak(f->new, f->w, s + i, 2 * NEAR);
		for (size_t k = 0; k < 2; k++)
			each[k][i] =
			    (double)(k ? to / f->w : to % f->w) - (double)(k ? s[i].y : s[i].x) +
			    find_top(f->new, to, k ? f->w : 1) - find_top(f->ref, at, k ? f->w : 1);
	}
	for (size_t k = 0; k < 2 && n; k++) {
		memcpy(sorted, each[k], n * sizeof *sorted);
		shift[k] = psfmatch_median(sorted, n);
	}
	for (size_t i = 0; i < n; i++)
		agree += hypot(each[0][i] - shift[0], each[1][i] - shift[1]) < 1;
	if (agree <= n / 2)
		shift[0] = shift[1] = 0;
}

/* --- stamps ---------------------------------------------------------------------------------------------------------- */

int
psfmatch_find_stamps(const struct psfmatch_field *f, size_t margin, struct psfmatch_stamp **s,
		     size_t *n)
{
	const size_t reach = PSFMATCH_HALF + margin;
	const double area = (double)f->w * (double)f->h;
	const double side = fmax(sqrt(area / PSFMATCH_STAMPS), PSFMATCH_SIDE);

	*n = 0;
	*s = weir_calloc(PSFMATCH_STAMPS, sizeof **s);
	if (!*s)
		return -ENOMEM;
	if (f->w <= 2 * reach || f->h <= 2 * reach)
		return 0;
	const size_t w = f->w - 2 * reach, h = f->h - 2 * reach;
	const size_t across = (size_t)((double)w / side) + 1, down = (size_t)((double)h / side) + 1;
	for (size_t i = 0; i < across * down && *n < PSFMATCH_STAMPS; i++) {
		struct cell c = {.x0 = reach + w * (i % across) / across,
				 .x1 = reach + w * (i % across + 1) / across,
				 .y0 = reach + h * (i / across) / down,
				 .y1 = reach + h * (i / across + 1) / down};
		c.ref = median_of_cell(f->ref, f->w, &c, f->r.level);
		c.new = median_of_cell(f->new, f->w, &c, f->n.level);
		*n += find_star(f, &c, reach, *s + *n);
	}
	return 0;
}

int
psfmatch_align(float *ref, const float *new, size_t w, size_t h, long move[2])
{
	struct psfmatch_field f = {.ref = ref, .new = new, .w = w, .h = h};
	struct psfmatch_stamp *s = NULL;
	double shift[2];
	size_t n;
	int e = psfmatch_measure_sky(&f, INFINITY);

	move[0] = move[1] = 0;
	if (e || (e = psfmatch_find_stamps(&f, PSFMATCH_SIZE / 2, &s, &n)))
		return e;
	psfmatch_find_shift(&f, s, n, shift);
	weir_free(s);
	if (hypot(shift[0], shift[1]) <= PSFMATCH_NEAR)
		return 0;
	move[0] = lround(shift[0]);
	move[1] = lround(shift[1]);
	const long by = move[1] * (long)w + move[0];
	const size_t left = w * h - (size_t)labs(by);
	memmove(ref + (by > 0 ? by : 0), ref + (by < 0 ? -by : 0), left * sizeof *ref);
	for (size_t i = 0; i < w * h; i++)
		if ((size_t)((long)(i % w) - move[0]) >= w ||
		    (size_t)((long)(i / w) - move[1]) >= h)
			ref[i] = NAN;
	return 0;
}
