/* Stamps: finds the sky and its noise, and stars to fit, and computes the sums over the pixels around them. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/cpu.h"
#include "common/mem.h"
#include "wconv/psfmatch/inside.h"

enum { SAMPLES = 50000 };

/*
 * Finds the median of a picture, and the noise of a pixel. The noise comes from second differences along rows, to which
 * gradients and most of the light of stars add nothing. v: room for SAMPLES. Returns -1 if fewer than 100 samples are known.
 */
static int
measure(const float *x, size_t n, double *v, double *sky, double *noise)
{
	const size_t step = n / SAMPLES + 1;
	size_t k = 0;

	for (size_t i = 0; i < n; i += step)
		if (isfinite(x[i]))
			v[k++] = (double)x[i];
	if (k < 100)
		return -1;
	*sky = psfmatch_median(v, k);
	k = 0;
	for (size_t i = 1; i + 1 < n; i += step) {
		const double d = (double)x[i - 1] - 2 * (double)x[i] + (double)x[i + 1];
		if (isfinite(d))
			v[k++] = fabs(d) / sqrt(6);
	}
	if (k < 100)
		return -1;
	*noise = 1.4826 * psfmatch_median(v, k);
	return 0;
}

int
psfmatch_measure_sky(struct psfmatch_field *f)
{
	double *v = weir_alloc(SAMPLES + 1, sizeof *v), a, b;
	int e = v ? -EDOM : -ENOMEM;

	if (v && !measure(f->ref, f->w * f->h, v, &f->sky_ref, &a) &&
	    !measure(f->new, f->w * f->h, v, &f->sky_new, &b)) {
		f->noise = sqrt(a * a + b * b);
		/* pictures without noise: takes the last digit of a float as noise */
		if (!(f->noise > 0))
			f->noise = 1e-6 * (fabs(f->sky_ref) + fabs(f->sky_new)) + 1e-12;
		e = 0;
	}
	weir_free(v);
	return e;
}

/* --- stars ----------------------------------------------------------------------------------------------------------- */

/* Whether the pixel is a star's peak in ref: more than 15 times the noise above the sky, and not too bright. */
static bool
is_peak(const struct psfmatch_field *f, size_t x, size_t y)
{
	const float *p = f->ref + y * f->w + x;
	const double v = (double)*p;

	if (!(v - f->sky_ref > 15 * f->noise) || v > f->top)
		return false;
	for (ptrdiff_t j = -2; j <= 2; j++)
		for (ptrdiff_t i = -2; i <= 2; i++)
			if ((double)p[j * (ptrdiff_t)f->w + i] > v)
				return false;
	return true;
}

/* Whether all pixels that the stamp needs are known in both pictures, and none is too bright. */
static bool
is_clean(const struct psfmatch_field *f, size_t x, size_t y, size_t reach)
{
	for (size_t j = y - reach; j <= y + reach; j++)
		for (size_t i = x - reach; i <= x + reach; i++) {
			const double r = (double)f->ref[j * f->w + i],
				     n = (double)f->new[j * f->w + i];
			if (!isfinite(r) || !isfinite(n) || r > f->top || n > f->top)
				return false;
		}
	return true;
}

/* Finds *s, the brightest clean star of columns x0..x1-1 and rows y0..y1-1. Returns false if there is none. */
static bool
find_star(const struct psfmatch_field *f, size_t x0, size_t x1, size_t y0, size_t y1, size_t reach,
	  struct psfmatch_stamp *s)
{
	double best = -INFINITY;

	for (size_t y = y0; y < y1; y++)
		for (size_t x = x0; x < x1; x++) {
			const double v = (double)f->ref[y * f->w + x];
			if (v > best && is_peak(f, x, y) && is_clean(f, x, y, reach)) {
				best = v;
				*s = (struct psfmatch_stamp){.x = x, .y = y, .used = true};
			}
		}
	return best > -INFINITY;
}

int
psfmatch_find_stamps(const struct psfmatch_field *f, size_t margin, struct psfmatch_stamp **s,
		     size_t *n)
{
	const size_t reach = PSFMATCH_HALF + margin;
	const double area = (double)f->w * (double)f->h;
	double side = sqrt(area / PSFMATCH_STAMPS);

	*n = 0;
	*s = weir_calloc(PSFMATCH_STAMPS, sizeof **s);
	if (!*s)
		return -ENOMEM;
	if (f->w <= 2 * reach || f->h <= 2 * reach)
		return 0;
	side = side < PSFMATCH_SIDE ? PSFMATCH_SIDE : side;
	const size_t w = f->w - 2 * reach, h = f->h - 2 * reach;
	const size_t across = (size_t)((double)w / side) + 1, down = (size_t)((double)h / side) + 1;
	for (size_t j = 0; j < down; j++)
		for (size_t i = 0; i < across && *n < PSFMATCH_STAMPS; i++)
			*n += find_star(f, reach + w * i / across, reach + w * (i + 1) / across,
					reach + h * j / down, reach + h * (j + 1) / down, reach,
					*s + *n);
	return 0;
}

/* --- sums ------------------------------------------------------------------------------------------------------------ */

enum { LANES = 8, TOGETHER = 4 };
typedef double vec
    __attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double)), may_alias));

/* to[i] = sum_a tap[a] from[i + (size - 1 - a) stride], i < n */
WEIR_CLONES(sum_taps,
	    (const double *restrict from, const double *restrict tap, size_t size, size_t stride,
	     size_t n, double *restrict to),
	    (from, tap, size, stride, n, to))
{
	const double *last = from + (size - 1) * stride;
	size_t i = 0;

	for (; i + TOGETHER * LANES <= n; i += TOGETHER * LANES) {
		vec sum[TOGETHER] = {{0}};
		for (size_t a = 0; a < size; a++)
			for (size_t k = 0; tap[a] != 0 && k < TOGETHER; k++)
				sum[k] +=
				    tap[a] * *(const vec *)(last + i + k * LANES - a * stride);
		for (size_t k = 0; k < TOGETHER; k++)
			*(vec *)(to + i + k * LANES) = sum[k];
	}
	for (; i < n; i++) {
		to[i] = 0;
		for (size_t a = 0; a < size; a++)
			to[i] += tap[a] * last[i - a * stride];
	}
}

/* Copies the pixels of ref that the kernels need for the stamp, minus the sky: [side + size - 1][side + size - 1]. */
static void
take_window(const struct psfmatch_field *f, const struct psfmatch_stamp *s, size_t size, double *to)
{
	const size_t wide = PSFMATCH_SIDE + size - 1, reach = PSFMATCH_HALF + size / 2;
	const float *first = f->ref + (s->y - reach) * f->w + s->x - reach;

	for (size_t r = 0; r < wide; r++)
		for (size_t c = 0; c < wide; c++)
			to[r * wide + c] = (double)first[r * f->w + c] - f->sky_ref;
}

/* Convolves the window with x along its rows. to: [side + size - 1][side]. work: room for the window. */
static void
convolve_x(const double *window, const double *x, size_t size, double *work, double *to)
{
	const size_t wide = PSFMATCH_SIDE + size - 1, n = wide * wide - (size - 1);

	sum_taps(window, x, size, 1, n, work);
	for (size_t r = 0; r < wide; r++)
		memcpy(to + r * PSFMATCH_SIDE, work + r * wide, PSFMATCH_SIDE * sizeof *to);
}

/* Computes weight = 1 / sigma and data = (new - sky) / sigma of each pixel of the stamp. */
static void
weigh(const struct psfmatch_field *f, const struct psfmatch_stamp *s, double *weight, double *data)
{
	for (size_t i = 0; i < PSFMATCH_SIDE * PSFMATCH_SIDE; i++) {
		const size_t at = (s->y - PSFMATCH_HALF + i / PSFMATCH_SIDE) * f->w + s->x -
				  PSFMATCH_HALF + i % PSFMATCH_SIDE;
		const double n = (double)f->new[at] - f->sky_new,
			     r = (double)f->ref[at] - f->sky_ref;
		const double light = (n > 0 ? n : 0) + (r > 0 ? r : 0);
		weight[i] = 1 / sqrt(f->noise * f->noise + light / f->gain);
		data[i] = weight[i] * n;
	}
}

/* Fills in g, [n + 1][pixels]: g[k] = (kernel k * ref) / sigma, g[n] = 1 / sigma. work: see psfmatch_sum_stamp(). */
static void
fill_functions(const struct psfmatch_field *f, const struct psfmatch_kernels *k,
	       const struct psfmatch_stamp *s, const double *weight, double *g, double *work)
{
	const size_t pixels = PSFMATCH_SIDE * PSFMATCH_SIDE, size = k->size;
	const size_t wide = PSFMATCH_SIDE + size - 1, line = wide * PSFMATCH_SIDE;
	double *window = work, *rows = window + wide * wide, *lines = rows + wide * wide;
	size_t made = 0;

	take_window(f, s, size, window);
	for (size_t i = 0; i < k->n; i++) {
		double *to = g + i * pixels, *along = lines + k->which[i] * line;
		if (k->which[i] == made) {
			convolve_x(window, k->x + i * size, size, rows, along);
			made++;
		}
		sum_taps(along, k->y + i * size, size, PSFMATCH_SIDE, pixels, to);
		for (size_t p = 0; p < pixels; p++)
			to[p] = to[p] * weight[p] - k->sum[i] * g[p];
	}
	memcpy(g + k->n * pixels, weight, pixels * sizeof *g);
}

int
psfmatch_sum_stamp(const struct psfmatch_field *f, const struct psfmatch_kernels *k,
		   struct psfmatch_stamp *s)
{
	const size_t pixels = PSFMATCH_SIDE * PSFMATCH_SIDE, m = k->n + 1;
	const size_t wide = PSFMATCH_SIDE + k->size - 1;
	const size_t work = 2 * wide * wide + k->different * wide * PSFMATCH_SIDE;
	double *g = weir_alloc((m + 2) * pixels + work + psfmatch_room(m), sizeof *g);

	if (!g)
		return -ENOMEM;
	double *weight = g + m * pixels, *data = weight + pixels;
	weigh(f, s, weight, data);
	fill_functions(f, k, s, weight, g, data + pixels);
	psfmatch_gram(g, m, pixels, data + pixels + work, s->q);
	for (size_t i = 0; i < m; i++)
		s->b[i] = psfmatch_dot(g + i * pixels, data, pixels);
	s->yy = psfmatch_dot(data, data, pixels);
	s->pixels = pixels;
	weir_free(g);
	return 0;
}
