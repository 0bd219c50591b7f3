/*
 * Complex transforms of LANES columns at once, in place, mixed radix 2, 3, 4, 5, 8. Point k of all columns is
 * x[2k] (real parts) and x[2k+1] (imaginary parts).
 *
 *	forward: decimation in frequency, natural order in, digit-reversed out
 *	inverse: decimation in time, digit-reversed in, natural out, unscaled
 *
 * A product of spectra is the same in any order of points, so the spectra stay in the digit-reversed order.
 * Against FFTW 3.3.10 (plan_many_dft of 16 contiguous columns, float, AVX-512): n = 240 1.0 us against 2.6 (ESTIMATE) and
 * 2.1 (MEASURE); 400 1.5 : 4.8 : 3.8; 512 2.0 : 5.8 : 4.8.
 */

#include "common/base/butterfly_body.h"

/* Loads the points 0, m, 2m .. (radix - 1) m from p on. store_points() stores them. */
INLINE void
load_points(size_t radix, const vec *p, size_t m, vec *re, vec *im)
{
	for (size_t q = 0; q < radix; q++) {
		re[q] = p[2 * q * m];
		im[q] = p[2 * q * m + 1];
	}
}

INLINE void
store_points(size_t radix, vec *p, size_t m, const vec *re, const vec *im)
{
	for (size_t q = 0; q < radix; q++) {
		p[2 * q * m] = re[q];
		p[2 * q * m + 1] = im[q];
	}
}

/* Multiplies point q by w[q-1] = c + i s, or by its conjugate for the inverse. */
INLINE void
twiddle(size_t radix, const real *w, bool inverse, vec *re, vec *im)
{
	for (size_t q = 1; q < radix; q++) {
		const real c = w[2 * q - 2], s = inverse ? -w[2 * q - 1] : w[2 * q - 1];
		const vec r = re[q], i = im[q];
		re[q] = c * r - s * i;
		im[q] = s * r + c * i;
	}
}

/* One pass over n points in blocks of len: butterflies, then the twiddles w[j][q-1] = exp(-2 pi i j q / len). */
INLINE void
forward_pass(size_t radix, vec *x, size_t n, size_t len, const real *w)
{
	const size_t m = len / radix;
	vec re[8], im[8];

	for (size_t b = 0; b < n; b += len)
		for (size_t j = 0; j < m; j++) {
			vec *p = x + 2 * (b + j);
			load_points(radix, p, m, re, im);
			dft((int)radix, re, im);
			twiddle(radix, w + 2 * j * (radix - 1), false, re, im);
			store_points(radix, p, m, re, im);
		}
}

/* The input points of a transform, outside its array: `head` points at first, the others up to n at rest, then zeros. */
struct points {
	const vec *first, *rest;
	size_t head, n;
};

INLINE const vec *
find_point(const struct points *p, size_t i)
{
	static const vec zero[2];

	return i < p->head ? p->first + 2 * i : i < p->n ? p->rest + 2 * (i - p->head) : zero;
}

/* The first pass, reading its points from elsewhere. This saves copying them: 4 % of a run. */
INLINE void
forward_first(size_t radix, const struct points *from, vec *x, size_t n, const real *w)
{
	const size_t m = n / radix;
	vec re[8], im[8];

	for (size_t j = 0; j < m; j++) {
		for (size_t q = 0; q < radix; q++) {
			const vec *p = find_point(from, j + q * m);
			re[q] = p[0];
			im[q] = p[1];
		}
		dft((int)radix, re, im);
		twiddle(radix, w + 2 * j * (radix - 1), false, re, im);
		store_points(radix, x + 2 * j, m, re, im);
	}
}

/* The last pass, where len = radix: all twiddles are 1. */
INLINE void
forward_last(size_t radix, vec *x, size_t n)
{
	vec re[8], im[8];

	for (size_t b = 0; b < n; b += radix) {
		load_points(radix, x + 2 * b, 1, re, im);
		dft((int)radix, re, im);
		store_points(radix, x + 2 * b, 1, re, im);
	}
}

/*
 * An inverse transform prefetches the input of the next transform to the second-level cache. Each of its first three
 * passes prefetches a third of it; most transforms have at most four passes. This takes 5 % less time at M = 4096;
 * prefetching all in one pass gains nothing.
 */
enum { CALLS = 3 };

/* Returns the third of next that pass s prefetches, passes counted in the order of the inverse; NULL: nothing. */
INLINE const vec *
share(const struct wconv_fft *f, size_t s, const vec *next)
{
	return next && s < CALLS ? next + 2 * f->n * s / CALLS : NULL;
}

/* Prefetches one butterfly's part of what is left, and returns the rest. */
INLINE const vec *
call_for(const vec *soon, size_t radix)
{
	for (size_t i = 0; soon && i < (2 * radix + CALLS - 1) / CALLS; i++)
		__builtin_prefetch(soon++, 0, 2);
	return soon;
}

/* The inverse of a pass. */
INLINE void
inverse_pass(size_t radix, vec *x, size_t n, size_t len, const real *w, const vec *soon)
{
	const size_t m = len / radix;
	vec re[8], im[8];

	for (size_t b = 0; b < n; b += len)
		for (size_t j = 0; j < m; j++) {
			vec *p = x + 2 * (b + j);
			soon = call_for(soon, radix);
			load_points(radix, p, m, re, im);
			twiddle(radix, w + 2 * j * (radix - 1), true, re, im);
			dft((int)radix, im, re);
			store_points(radix, p, m, re, im);
		}
}

/* The inverse of the last pass, of the product of x and k. */
INLINE void
inverse_first(size_t radix, const vec *restrict x, const vec *restrict k, vec *restrict to,
	      size_t n, const vec *soon)
{
	vec re[8], im[8];

	for (size_t b = 0; b < n; b += radix) {
		soon = call_for(soon, radix);
		for (size_t q = 0; q < radix; q++) {
			const vec *a = x + 2 * (b + q), *c = k + 2 * (b + q);
			re[q] = a[0] * c[0] - a[1] * c[1];
			im[q] = a[0] * c[1] + a[1] * c[0];
		}
		dft((int)radix, im, re);
		store_points(radix, to + 2 * b, 1, re, im);
	}
}

/* Takes n points of a transform: to[y] = weight[y] * (point first + y); with add, to[y] += that. */
struct blend {
	size_t first, n;
	const real *weight;
	bool add;
	vec *to;
};

/* The inverse of the first pass. It blends the points into o->to as soon as it has them. */
INLINE void
inverse_last(size_t radix, const vec *x, size_t n, const real *w, const struct blend *o,
	     const vec *soon)
{
	const size_t m = n / radix;
	vec re[8], im[8];

	for (size_t j = 0; j < m; j++) {
		soon = call_for(soon, radix);
		load_points(radix, x + 2 * j, m, re, im);
		twiddle(radix, w + 2 * j * (radix - 1), true, re, im);
		dft((int)radix, im, re);
		for (size_t q = 0; q < radix; q++) {
			const size_t y =
			    j + q * m - o->first; /* wraps to a huge value before first */
			if (y >= o->n)
				continue;
			const vec r = o->weight[y] * re[q], i = o->weight[y] * im[q];
			o->to[2 * y] = o->add ? o->to[2 * y] + r : r;
			o->to[2 * y + 1] = o->add ? o->to[2 * y + 1] + i : i;
		}
	}
}

#define BY_RADIX(radix, pass, ...)    \
	switch (radix) {              \
	case 2:                       \
		pass(2, __VA_ARGS__); \
		break;                \
	case 3:                       \
		pass(3, __VA_ARGS__); \
		break;                \
	case 4:                       \
		pass(4, __VA_ARGS__); \
		break;                \
	case 5:                       \
		pass(5, __VA_ARGS__); \
		break;                \
	default:                      \
		pass(8, __VA_ARGS__); \
	}

/* Does the forward passes from pass `first` on. */
static void
forward_passes(const struct wconv_fft *f, size_t first, vec *x)
{
	const real *w = f->twiddle;
	size_t len = f->n, s;

	for (s = 0; s + 1 < f->passes; s++) {
		if (s >= first)
			BY_RADIX(f->radix[s], forward_pass, x, f->n, len, w);
		len /= f->radix[s];
		w += 2 * len * (f->radix[s] - 1u);
	}
	if (f->passes > 0)
		BY_RADIX(f->radix[s], forward_last, x, f->n);
}

static void
fft_forward(const struct wconv_fft *f, vec *x)
{
	forward_passes(f, 0, x);
}

/* The forward transform of points that lie elsewhere or in x itself. It needs at least two passes. */
static void
fft_forward_from(const struct wconv_fft *f, const struct points *from, vec *x)
{
	BY_RADIX(f->radix[0], forward_first, from, x, f->n, f->twiddle);
	forward_passes(f, 1, x);
}

/* Does the inverses of passes last .. first + 1, in that order. Returns the twiddles of pass `first`. */
static const real *
undo_passes(const struct wconv_fft *f, size_t last, size_t first, vec *x, const vec *next)
{
	const real *w = (const real *)f->twiddle + f->ntwiddle;
	size_t len = 1;

	for (size_t s = f->passes; s-- > first;) {
		w -= 2 * len * (f->radix[s] - 1u);
		len *= f->radix[s];
		if (s <= last && s > first)
			BY_RADIX(f->radix[s], inverse_pass, x, f->n, len, w,
				 share(f, f->passes - 1 - s, next));
	}
	return w;
}

static void
fft_inverse(const struct wconv_fft *f, vec *x)
{
	if (f->passes > 0) {
		const real *w = undo_passes(f, f->passes - 1, 0, x, NULL);
		BY_RADIX(f->radix[0], inverse_pass, x, f->n, f->n, w, NULL);
	}
}

/* Blends the inverse transform of the product x k. It needs at least two passes. work: [n] points. next: see CALLS. */
static void
fft_inverse_product(const struct wconv_fft *f, const vec *x, const vec *k, const vec *next,
		    vec *work, const struct blend *o)
{
	const size_t last = f->passes - 1;

	BY_RADIX(f->radix[last], inverse_first, x, k, work, f->n, share(f, 0, next));
	const real *w = undo_passes(f, last - 1, 0, work, next);
	BY_RADIX(f->radix[0], inverse_last, work, f->n, w, o, share(f, last, next));
}
