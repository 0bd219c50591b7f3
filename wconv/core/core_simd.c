/* variants: f32_generic f32_avx2 f32_avx512 f64_generic f64_avx2 f64_avx512 */
/*
 * The core of wconv, for one precision and one width of register: common/base/simd.h. WEIR_CLONES on single functions cannot do
 * this: every layout here depends on the width of a vector. A transform runs on LANES rows or columns at a time, one in each
 * lane, so that no butterfly shuffles lanes.
 */
#include <string.h>

#include "common/base/simd.h"
#include "common/stream/img.h"
#include "wconv/plan.h"

extern const struct wconv_core SIMD_NAME(wconv);

TARGET_BEGIN

#include "common/base/vec.h"

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

/*
 * The input points of a transform, outside its array: `before` zeros, then `head` points at first, or these times their weights, or
 * the others up to n at rest, then zeros.
 */
struct points {
	size_t before, head, n;
	const vec *first, *rest;
	const real *weight;
};

/* The first pass, reading its points from elsewhere. This saves copying them: 4 % of a run. */
INLINE void
forward_first(size_t radix, const struct points *from, bool weighted, vec *x, size_t n,
	      const real *w)
{
	static const vec zero[2];
	const size_t m = n / radix;
	vec re[8], im[8];

	for (size_t j = 0; j < m; j++) {
		for (size_t q = 0; q < radix; q++) {
			const size_t i =
			    j + q * m - from->before; /* wraps to a huge value before 0 */
			const bool in = i < from->head;
			const vec *p = in	     ? from->first + 2 * i
				       : i < from->n ? from->rest + 2 * (i - from->head)
						     : zero;
			re[q] = !weighted ? p[0] : in ? from->weight[i] * p[0] : (vec){0};
			im[q] = !weighted ? p[1] : in ? from->weight[i] * p[1] : (vec){0};
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

/* Takes n points of a transform: to[y] = weight[y] * (point first + y); with add, to[y] += that. weight NULL: all are 1. */
struct blend {
	size_t first, n;
	const real *weight;
	bool add;
	vec *to;
};

/* The inverse of the first pass. It blends the points into o->to as soon as it has them. */
INLINE void
inverse_last(size_t radix, const vec *x, size_t n, const real *w, const struct blend *o,
	     bool weighted, const vec *soon)
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
			const vec r = weighted ? o->weight[y] * re[q] : re[q],
				  i = weighted ? o->weight[y] * im[q] : im[q];
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

/* The forward transform of points that lie elsewhere or in x itself. It needs at least two passes. */
static void
fft_forward_from(const struct wconv_fft *f, const struct points *from, vec *x)
{
	BY_RADIX(f->radix[0], forward_first, from, false, x, f->n, f->twiddle);
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
	BY_RADIX(f->radix[0], inverse_last, work, f->n, w, o, true, share(f, last, next));
}

/*
 * Real transforms of LANES rows at once. The n samples x[0..n) of each row become n/2 complex points
 * x[2k] + i x[2k+1]. Their transform Z gives the n/2+1 coefficients X, all doubled:
 *
 *	E = Z[k] + conj Z[n/2-k],  O = (Z[k] - conj Z[n/2-k]) / i,  X[k] = E + t O,  X[n/2-k] = conj(E - t O),  t = exp(-2 pi i k/n)
 *
 * The inverse goes the same way back, and doubles again. Z stands in the order of the complex transform: Z[k] at place[k].
 */

static void
untangle(const struct wconv_rfft *f, const vec *z, vec *x)
{
	const size_t m = f->half.n;
	const real *turn = f->turn;

	x[0] = (real)2 * (z[0] + z[1]);
	x[1] = (vec){0};
	x[2 * m] = (real)2 * (z[0] - z[1]);
	x[2 * m + 1] = (vec){0};
	for (size_t k = 1; k <= m / 2; k++) {
		const vec *a = z + 2 * f->place[k], *b = z + 2 * f->place[m - k];
		const real c = turn[2 * k], s = turn[2 * k + 1];
		const vec er = a[0] + b[0], ei = a[1] - b[1], or = a[1] + b[1], oi = b[0] - a[0];
		const vec tr = c * or +s * oi, ti = c * oi - s * or ;
		x[2 * k] = er + tr;
		x[2 * k + 1] = ei + ti;
		x[2 * (m - k)] = er - tr;
		x[2 * (m - k) + 1] = ti - ei;
	}
}

static void
tangle(const struct wconv_rfft *f, const vec *x, vec *z)
{
	const size_t m = f->half.n;
	const real *turn = f->turn;

	z[0] = x[0] + x[2 * m];
	z[1] = x[0] - x[2 * m];
	for (size_t k = 1; k <= m / 2; k++) {
		const vec *a = x + 2 * k, *b = x + 2 * (m - k);
		const real c = turn[2 * k], s = turn[2 * k + 1];
		const vec er = a[0] + b[0], ei = a[1] - b[1], dr = a[0] - b[0], di = a[1] + b[1];
		const vec or = c * dr - s * di, oi = c * di + s * dr;
		vec *u = z + 2 * f->place[k], *v = z + 2 * f->place[m - k];
		u[0] = er - oi;
		u[1] = ei + or ;
		v[0] = er + oi;
		v[1] = or -ei;
	}
}

/* Makes line[x] the vector of sample x of LANES rows. */
static void
gather_rows(const real *const *row, size_t n, vec *line)
{
	for (size_t x = 0; x < n; x += LANES) {
		vec t[LANES];
		for (int i = 0; i < LANES; i++)
			t[i] = *(const loose *)(row[i] + x);
		transpose(t);
		for (size_t i = 0; i < LANES && x + i < n; i++)
			line[x + i] = t[i];
	}
}

/* Stores n samples of the first `rows` of the LANES rows in line as rows of out. */
static void
scatter_rows(const vec *line, size_t rows, size_t n, real *out, size_t pitch)
{
	for (size_t x = 0; x < n; x += LANES) {
		vec t[LANES];

		for (size_t i = 0; i < LANES; i++)
			t[i] = line[x + i];
		transpose(t);
		/* whole vectors are stored: memcpy() of a variable length is a call, 8 % of a run */
		if (n - x >= LANES)
			for (size_t i = 0; i < rows; i++)
				*(loose *)(out + i * pitch + x) = t[i];
		else
			for (size_t i = 0; i < rows; i++)
				memcpy(out + i * pitch + x, t + i, (n - x) * sizeof *out);
	}
}

/* Subtracts from each row its mean, and returns the means. */
static vec
take_means(vec *line, size_t n)
{
	vec sum = {0};

	for (size_t x = 0; x < n; x++)
		sum += line[x];
	sum *= (real)1 / (real)n;
	for (size_t x = 0; x < n; x++)
		line[x] -= sum;
	return sum;
}

/*
 * Transforms LANES rows of n samples each, padded to f->n with zeros. The coefficients of block b go to
 * out + b * stride: LANES rows of LANES real and LANES imaginary parts. If mean is not NULL, the rows' means are
 * subtracted first and stored in *mean.
 */
static void
transform_rows(const struct wconv_rfft *f, const real *const *row, size_t n, vec *line,
	       vec *coefficient, vec *out, size_t stride, vec *mean)
{
	gather_rows(row, n, line);
	if (mean)
		*mean = take_means(line, n);
	memset(line + n, 0, (f->n - n) * sizeof *line);
	forward_passes(&f->half, 0, line);
	untangle(f, line, coefficient);
	for (size_t b = 0; b < f->blocks; b++) {
		vec re[LANES], im[LANES];
		load_points(LANES, coefficient + 2 * b * LANES, 1, re, im);
		transpose(re);
		transpose(im);
		store_points(LANES, out + b * stride, 1, re, im);
	}
}

/* The inverse of transform_rows(), 2 f->n times too large. line[x] becomes the vector of sample x of the LANES rows. */
static void
restore_rows(const struct wconv_rfft *f, const vec *in, size_t stride, vec *coefficient, vec *line)
{
	for (size_t b = 0; b < f->blocks; b++) {
		vec re[LANES], im[LANES];
		load_points(LANES, in + b * stride, 1, re, im);
		transpose(re);
		transpose(im);
		store_points(LANES, coefficient + 2 * b * LANES, 1, re, im);
	}
	tangle(f, coefficient, line);
	fft_inverse(&f->half, line);
}

/* Copies rows of the item to the ring of rows, and rows of results to the caller. */

/* Converts the samples of one plane of a row of n pixels, in which c planes are interleaved. */
INLINE void
take_samples(const void *restrict in, enum img_type type, size_t n, size_t c, real *restrict out)
{
#define TAKE(TYPE, C)                                          \
	case TYPE:                                             \
		for (size_t i = 0; i < n; i++)                 \
			out[i] = (real)((const C *)in)[i * c]; \
		break
	switch (type) {
		TAKE(IMG_I8, signed char);
		TAKE(IMG_U8, unsigned char);
		TAKE(IMG_I16, short);
		TAKE(IMG_U16, unsigned short);
		TAKE(IMG_I32, int);
		TAKE(IMG_U32, unsigned);
		TAKE(IMG_I64, long);
		TAKE(IMG_U64, unsigned long);
		TAKE(IMG_F64, double);
	default:
		for (size_t i = 0; i < n; i++)
			out[i] = (real)((const float *)in)[i * c];
	}
#undef TAKE
}

/*
 * Whether all of x[0..n) are finite, and stay finite if they grow by this factor. 0 v is 0 if v is finite, else NaN, and a NaN
 * stays in the sum. With one sum, each addition would wait for the one before.
 */
static bool
all_finite(const real *x, size_t n, real growth)
{
	enum { SUMS = 4 };
	vec bad[SUMS] = {{0}};
	real sum = 0;
	size_t i = 0;

	for (; i + SUMS * LANES <= n; i += SUMS * LANES)
		for (size_t k = 0; k < SUMS; k++)
			bad[k] += *(const loose *)(x + i + k * LANES) * growth * 0;
	for (size_t k = 0; k < SUMS; k++)
		for (int l = 0; l < LANES; l++)
			sum += bad[k][l];
	for (; i < n; i++)
		sum += x[i] * growth * 0;
	return sum == 0;
}

/* Zeroes the samples that are not finite, and masks them except in mode WCONV_NAN_ZERO. */
static void
mask_samples(enum wconv_nan mode, real *x, unsigned char *mask, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (x[i] - x[i] != 0) {
			x[i] = 0;
			if (mode != WCONV_NAN_ZERO)
				mask[i] =
				    mode == WCONV_NAN_PROPAGATE ? WCONV_POISON : WCONV_UNKNOWN;
		}
}

/* Fills in row[at], which lies beyond the item's edges, and its mask. mask may be NULL. */
INLINE void
pad_sample(const struct wconv_plan *p, real *row, unsigned char *mask, ptrdiff_t at)
{
	const ptrdiff_t origin = p->x.lo - p->x.before;
	const ptrdiff_t from = wconv_edge(p->x.edge, at + origin, p->x.n);

	row[at] = from >= 0 ? row[from - origin] : 0;
	if (mask && from >= 0)
		mask[at] = mask[from - origin];
	else if (mask)
		mask[at] = p->x.edge == WCONV_RENORMALISE ? WCONV_UNKNOWN : 0;
}

/* Whether tiles read row `row` of the item where the caller has it. The ring has but the ends of such a row, and no masks. */
INLINE bool
lies_in_place(const struct wconv_plan *p, size_t row)
{
	const struct wconv_band *b = &p->band[p->now];

	return p->in && row > b->fed0 && row < b->keep;
}

static void
feed_plane(const struct wconv_plan *p, const void *in, size_t plane, bool ends, real *row,
	   unsigned char *mask, unsigned char *flags, bool *doubt)
{
	const ptrdiff_t origin = p->x.lo - p->x.before, end = p->x.hi + p->x.after - origin;
	const ptrdiff_t have0 = p->x.have0 - origin, have1 = p->x.have1 - origin;
	const size_t n = ends ? p->q.kw : p->q.w, size = img_type_size(p->q.in);
	const char *from = (const char *)in + plane * size;
	bool masked = p->x.edge == WCONV_RENORMALISE && (have0 > 0 || have1 < end);

	take_samples(from, p->q.in, n, p->q.planes, row + have0);
	if (ends)
		take_samples(from + (p->q.w - n) * size, p->q.in, n, 1, row + have1 - n);
	*doubt =
	    !ends && img_is_float(p->q.in) && !all_finite(row + have0, p->q.w, (real)p->growth);
	if (*doubt) {
		masked |= p->q.nan != WCONV_NAN_ZERO;
		if (masked)
			memset(mask, 0, (size_t)end);
		mask_samples(p->q.nan, row + have0, mask + have0, p->q.w);
	} else if (masked) {
		memset(mask, 0, (size_t)end);
	}
	for (ptrdiff_t e = 0; e < have0; e++)
		pad_sample(p, row, masked ? mask : NULL, e);
	for (ptrdiff_t e = have1; e < end; e++)
		pad_sample(p, row, masked ? mask : NULL, e);
	*flags = 0;
	for (ptrdiff_t e = 0; masked && e < end; e++)
		*flags |= mask[e];
}

/* Copies row `row` of the item, whose planes are interleaved, to the ring. */
static void
feed(const struct wconv_plan *p, size_t row, const void *samples)
{
	const size_t slot = row % p->depth * p->q.planes;

	for (size_t plane = 0; plane < p->q.planes; plane++) {
		const size_t at = (slot + plane) * p->pitch;
		feed_plane(p, samples, plane, lies_in_place(p, row), (real *)p->row + at,
			   p->mask + at, p->flags + slot + plane, p->doubt + slot + plane);
	}
}

/* One row of the image as its edges continue it. sample[0], and in the ring kept[0], is the first sample of the first window. */
struct row {
	const real *sample, *kept;
	const unsigned char *mask;
	unsigned char flags;
};

static struct row
find_row(const struct wconv_plan *p, size_t plane, ptrdiff_t y)
{
	const ptrdiff_t from = wconv_edge(p->y.edge, y, p->y.n);

	if (from < 0) {
		const bool renormalise = p->y.edge == WCONV_RENORMALISE;
		return (struct row){p->outside, p->outside, p->outside_mask,
				    renormalise ? WCONV_UNKNOWN : 0};
	}
	const size_t row = (size_t)(from - p->y.have0), slot = row % p->depth * p->q.planes + plane;
	const real *const kept = (const real *)p->row + slot * p->pitch;
	struct row found = {kept, kept, p->mask + slot * p->pitch, p->flags[slot]};
	if (lies_in_place(p, row))
		found.sample = (const real *)p->in + (row - p->band[p->now].fed0) * p->q.w +
			       (p->x.lo - p->x.before - p->x.have0);
	return found;
}

/* Rounds halves to even and clips to lo..hi. NaN becomes lo. */
INLINE double
clip(real v, double lo, double hi)
{
	const double r = __builtin_rint((double)v);

	return !(r > lo) ? lo : r > hi ? hi : r;
}

/*
 * The same where the bounds have at most 16 bits. The sum with `whole` rounds, and has the integer in its last bits: there is no
 * call, so that loops become vectors.
 */
INLINE long
clip_short(real v, double lo, double hi)
{
	const real whole = SAMPLE == 4 ? (real)0x1.8p23 : (real)0x1.8p52, sum = v + whole,
		   low = (real)lo + whole, high = (real)hi + whole, above = sum > low ? sum : low;
	const union {
		real sum;
		int single;
		long twice;
	} bits = {above < high ? above : high};

	return SAMPLE == 4 ? bits.single : bits.twice;
}

/* With bounds that are no constants, gcc finds instructions for the least and the greatest: 1.6 ms for 4096x4096 bytes, not 4.4. */
INLINE void
give_samples(const real *restrict in, size_t n, size_t c, enum img_type type, double top,
	     void *restrict out)
{
#define GIVE(TYPE, C, CLIP, LO, HI)                                                     \
	case TYPE:                                                                      \
		for (size_t i = 0; i < n; i++)                                          \
			((C *)out)[i * c] =                                             \
			    (C)CLIP(in[i], top > 0 ? 0 * top : LO, top > 0 ? top : HI); \
		break
	switch (type) {
		GIVE(IMG_I8, signed char, clip_short, -0x1p7, 0x1p7 - 1);
		GIVE(IMG_U8, unsigned char, clip_short, 0, 0x1p8 - 1);
		GIVE(IMG_I16, short, clip_short, -0x1p15, 0x1p15 - 1);
		GIVE(IMG_U16, unsigned short, clip_short, 0, 0x1p16 - 1);
		GIVE(IMG_I32, int, clip, -0x1p31, 0x1p31 - 1);
		GIVE(IMG_U32, unsigned, clip, 0, 0x1p32 - 1);
		GIVE(IMG_I64, long, clip, -0x1p63, 0x1p63 - 1024);
		GIVE(IMG_U64, unsigned long, clip, 0, 0x1p64 - 2048);
	case IMG_F64:
		for (size_t i = 0; i < n; i++)
			((double *)out)[i * c] = (double)in[i];
		break;
	default:
		for (size_t i = 0; i < n; i++)
			((float *)out)[i * c] = (float)in[i];
	}
#undef GIVE
}

/*
 * Direct sums, for small kernels. Along one row of a tile the weights of y are constant. So the kernels of each function
 * of x are blended into one kernel of kh x kw taps, and
 *
 *	F(x) = sum_f w_f(x) sum_t tap_f[t] window[t](x)
 *
 * costs kh kw multiplications per pixel and function. Where the kernel varies, a pixel has two functions of x.
 * The sums of NEAR vectors, and of SUMS vectors where there is one function, stay in registers during the loop over the
 * taps. With eight sums, the loop does not wait for its additions, of which two begin in a cycle and each takes four.
 */

/*
 * NEAR: vectors of results of two functions that are computed together. SUMS: sums that are. PART: taps of a row that are
 * summed before Kahan's addition.
 */
enum { NEAR = 4, SUMS = 2 * NEAR, PART = 16 };

/* What a block of results needs: the rows of its windows, and kw x kh taps. */
struct sums {
	const real *const *window;
	size_t kw, kh;
	size_t some, run;		/* rows and columns of taps in one part */
	const real *tap[2], *weight[2]; /* of one or two functions */
};

/*
 * Sums the taps of rows j .. j+m-1 and columns i .. i+n-1, of nf functions, for `near` vectors from x on. The sum of vector b
 * and function f is part[f near + b].
 */
INLINE void
sum_part(const struct sums *s, size_t nf, size_t near, size_t x, size_t j, size_t m, size_t i,
	 size_t n, vec part[SUMS])
{
	for (size_t end = j + m; j < end; j++)
		for (size_t k = i; k < i + n; k++) {
			const real *at = s->window[j] + x + k;
			vec v[SUMS];
			for (size_t b = 0; b < near; b++)
				v[b] = *(const loose *)(at + b * LANES);
			for (size_t f = 0; f < nf; f++) {
				const real t = s->tap[f][j * s->kw + k];
				for (size_t b = 0; b < near; b++)
					part[f * near + b] += t * v[b];
			}
		}
}

/* Adds n parts to sums by Kahan's method: what one addition has lost is put into the next one. */
INLINE void
add_parts(const vec *part, size_t n, vec *sum, vec *lost)
{
	for (size_t q = 0; q < n; q++) {
		const vec v = part[q] - lost[q], t = sum[q] + v;
		lost[q] = (t - sum[q]) - v;
		sum[q] = t;
	}
}

/*
 * Computes the sums of nf functions for `near` vectors from x on, multiplies them by their weights and adds them to out[].
 * Parts of at most 16 taps are added up by Kahan's method.
 * Plain addition has an error that grows with the kernel, to 3.5e-7 of the result at 31x31 and 8.5e-7 at 101x101.
 */
INLINE void
sum_block(const struct sums *s, size_t nf, size_t near, size_t x, vec *out)
{
	vec sum[SUMS] = {{0}}, lost[SUMS] = {{0}};

	for (size_t j = 0; j < s->kh; j += s->some)
		for (size_t i = 0; i < s->kw; i += s->run) {
			const size_t m = s->kh - j < s->some ? s->kh - j : s->some;
			const size_t n = s->kw - i < s->run ? s->kw - i : s->run;
			vec part[SUMS] = {{0}};
			sum_part(s, nf, near, x, j, m, i, n, part);
			add_parts(part, nf * near, sum, lost);
		}
	for (size_t f = 0; f < nf; f++)
		for (size_t b = 0; b < near; b++)
			out[b] +=
			    sum[f * near + b] * *(const loose *)(s->weight[f] + x + b * LANES);
}

/* The taps [kh][kw] of a row of results, `apart` from function to function, and its weights [nf][stride]. */
struct row_taps {
	size_t nf, apart, stride;
	const real *tap, *weight;
};

/* Computes `near` vectors of results from x on, and stores the first n of them. */
INLINE void
sum_vectors(struct sums *s, const struct row_taps *t, size_t near, size_t x, size_t n, real *out)
{
	vec sum[SUMS] = {{0}};

	for (size_t f = 0; f < t->nf; f += 2) {
		for (size_t i = 0; i < 2 && f + i < t->nf; i++) {
			s->tap[i] = t->tap + (f + i) * t->apart;
			s->weight[i] = t->weight + (f + i) * t->stride;
		}
		if (near <= NEAR && f + 2 <= t->nf)
			sum_block(s, 2, near, x, sum);
		else
			sum_block(s, 1, near, x, sum);
	}
	/* Whole vectors are stored: a memcpy() of a variable length is a call. */
	if (n == near * LANES)
		for (size_t b = 0; b < near; b++)
			*(loose *)(out + x + b * LANES) = sum[b];
	else
		memcpy(out + x, sum, n * sizeof *out);
}

/* Computes one row of n results. At its end there are fewer vectors: a window is a little wider than its tile. */
static void
sum_row(const real *const *window, size_t kh, size_t kw, size_t n, const struct row_taps *t,
	real *out)
{
	const size_t runs = (kw + PART - 1) / PART;
	struct sums s = {.window = window,
			 .kw = kw,
			 .kh = kh,
			 .some = kw < PART ? PART / kw : 1,
			 .run = (kw + runs - 1) / runs};
	size_t x = 0;

	for (; t->nf == 1 && n - x >= SUMS * LANES; x += SUMS * LANES)
		sum_vectors(&s, t, SUMS, x, SUMS * LANES, out);
	for (; n - x >= NEAR * LANES; x += NEAR * LANES)
		sum_vectors(&s, t, NEAR, x, NEAR * LANES, out);
	if (n - x > 2 * LANES)
		sum_vectors(&s, t, NEAR, x, n - x, out);
	else if (n - x > LANES)
		sum_vectors(&s, t, 2, x, n - x, out);
	else if (n > x)
		sum_vectors(&s, t, 1, x, n - x, out);
}
/*
 * Direct sums with a kernel that is the product of a column and a row, see plan.c:
 *
 *	F(x,y) = sum_i row[i] L(x+i,y),  L(x,y) = sum_j column[j] window[y+j](x)
 *
 * and with one kernel of 3x3, 5x5 or 7x7 for the whole picture. LINES rows of L, or of F, are computed together. So a row of the
 * window is read from the second-level cache once for LINES rows of results, and a vector that belongs to several of them is loaded
 * once. The size of a small kernel is a constant of the code, and the compiler unrolls all loops over it; with variables, this was
 * no faster than sum_row(). Each result is summed in the same order in whichever rows it is computed.
 */

/*
 * LINES: see above. FEW: taps that are summed before Kahan's addition. With 16, two sums of 15 taps were off by 2.98e-7 of the
 * largest result, with 8 by 1.97e-7, for 1 to 3 % more time.
 */
enum { LINES = 4, FEW = 8 };

/* A column, a row, or all columns of a small kernel: its taps, n or n x n of them, and how many columns are summed in one part. */
struct factor {
	enum { DOWN, ACROSS, SQUARE } way;
	const real *tap;
	size_t n, part;
};

/*
 * Sums taps k .. end-1 of a column or a row, or columns k .. end-1 of a small kernel, for `near` vectors of `lines` lines from x on.
 * A tap of row j and column i belongs to the sample j rows below and i columns to the right. Vector b of line l is part[l near + b].
 */
INLINE void
sum_some(const struct factor *f, const real *const *row, size_t lines, size_t near, size_t x,
	 size_t k, size_t end, vec part[SUMS])
{
	const bool down = f->way == DOWN, square = f->way == SQUARE;
	const size_t first = square ? k : k + 1, high = square ? f->n : 1,
		     wide = square ? f->n : down;

	for (size_t l = 0; l < lines; l++)
		for (size_t b = 0; b < near; b++)
			part[l * near + b] =
			    square ? (vec){0}
				   : f->tap[k] * *(const loose *)(row[l + (down ? k : 0)] + x +
								  (down ? 0 : k) + b * LANES);
	for (size_t i = down ? 0 : first; i < (down ? 1 : end); i++)
		for (size_t j = down ? first : 0; j < (down ? end : high); j++)
			for (size_t l = 0; l < lines; l++)
				for (size_t b = 0; b < near; b++)
					part[l * near + b] +=
					    f->tap[j * wide + i] *
					    *(const loose *)(row[l + j] + x + i + b * LANES);
}

/* Sums all taps, and their parts by Kahan's method. */
INLINE void
sum_factor(const struct factor *f, const real *const *row, size_t lines, size_t near, size_t x,
	   vec sum[SUMS])
{
	vec lost[SUMS], part[SUMS];

	sum_some(f, row, lines, near, x, 0, f->part, sum);
	if (f->n == f->part)
		return;
	for (size_t q = 0; q < lines * near; q++)
		lost[q] = (vec){0};
	for (size_t k = f->part; k < f->n; k += f->part) {
		const size_t end = f->n - k < f->part ? f->n : k + f->part;
		sum_some(f, row, lines, near, x, k, end, part);
		add_parts(part, lines * near, sum, lost);
	}
}

/*
 * Computes n samples of `lines` lines of sums, and stores them in rows of out. Whole vectors go without memcpy(), which is a call for
 * n samples.
 */
INLINE void
sum_lines(const struct factor *f, const real *const *row, size_t lines, size_t n, real *out,
	  size_t pitch)
{
	const size_t near = lines == 1 ? NEAR : SUMS / lines;

	for (size_t x = 0; x < n; x += near * LANES) {
		vec sum[SUMS], rest[SUMS]; /* memcpy() needs an address: sum stays in registers */
		sum_factor(f, row, lines, near, x, sum);
		for (size_t q = 0; n - x < near * LANES && q < lines * near; q++)
			rest[q] = sum[q];
		for (size_t l = 0; l < lines; l++)
			if (n - x >= near * LANES)
				for (size_t b = 0; b < near; b++)
					*(loose *)(out + l * pitch + x + b * LANES) =
					    sum[l * near + b];
			else
				memcpy(out + l * pitch + x, rest + l * near, (n - x) * sizeof *out);
	}
}

/* The samples of a line of n results and kernels of kw columns: vectors are read beyond its end. */
INLINE size_t
line_length(size_t n, size_t kw)
{
	return (n + kw - 1 + NEAR * LANES) / LANES * LANES + LANES;
}

/* What convolve_rows() needs: the factors, LINES lines of work space for two of them, and where rows of results go. */
struct product {
	struct factor first, across;
	real *line;
	size_t line_pitch;
	real *out;
	size_t pitch;
};

/* Convolves `lines` rows of n results, from row y on. */
INLINE void
convolve_lines(const struct product *p, const real *const *window, size_t y, size_t lines, size_t n)
{
	const real *at[LINES];

	if (p->first.way == SQUARE) {
		sum_lines(&p->first, window + y, lines, n, p->out + y * p->pitch, p->pitch);
		return;
	}
	for (size_t l = 0; l < LINES; l++)
		at[l] = p->line + l * p->line_pitch;
	sum_lines(&p->first, window + y, lines, n + p->across.n - 1, p->line, p->line_pitch);
	sum_lines(&p->across, at, lines, n, p->out + y * p->pitch, p->pitch);
}

INLINE void
convolve_rows(const struct product *p, const real *const *window, size_t rows, size_t n)
{
	size_t y = 0;

	for (; rows - y >= LINES; y += LINES)
		convolve_lines(p, window, y, LINES, n);
	for (; y < rows; y++)
		convolve_lines(p, window, y, 1, n);
}

/* Convolves rows of n results with k x k taps, for which wconv_is_small() holds: at most PART taps are summed in one part. */
static void
convolve_small(const real *tap, size_t k, const real *const *window, size_t rows, size_t n,
	       real *out, size_t pitch)
{
	struct product p = {.first = {SQUARE, tap, 3, 3}, .out = out, .pitch = pitch};

	if (k == 3) {
		convolve_rows(&p, window, rows, n);
	} else if (k == 5) {
		p.first = (struct factor){SQUARE, tap, 5, PART / 5};
		convolve_rows(&p, window, rows, n);
	} else {
		p.first = (struct factor){SQUARE, tap, 7, PART / 7};
		convolve_rows(&p, window, rows, n);
	}
}

#include "wconv/core/tile_body.h"

#include "wconv/core/scatter_body.h"

const struct wconv_core SIMD_NAME(wconv) = {LANES, sizeof(real),   scratch, feed,    kernel, rows,
					    tile,  spread_scratch, spread,  collect, fold};

TARGET_END
