/* Stamps: pictures around stars, shifted, and the sums over them. */
#include <math.h>
#include <string.h>

#include "common/base/cpu.h"
#include "wconv/psfmatch/psfmatch.h"

/* The pixels of one stamp, and the part of ref that the kernels reach from there, less the sky. */
struct view {
	const struct psfmatch_kernels *k;
	size_t wide;	/* PSFMATCH_SIDE + size - 1 */
	double *window; /* [wide][wide] */
	/* Of each pixel: 1 / sigma; (new - sky) / sigma. p: the background's terms, [terms][PSFMATCH_PIXELS], not divided. */
	double *weight, *data, *p;
	size_t terms;
	double dark; /* 1 / sigma of a pixel that shows no light but the sky's */
	/*
	 * work: [n + terms][PSFMATCH_PIXELS]; that of psfmatch_gram(); and that of sum_shifts(), or the window convolved
	 * along its rows with each of the different x
	 */
	double *g, *room, *more;
};

/* ---- shifts ---- */

/*
 * The sums of a stamp for kernels of single samples. Kernel k of these shifts ref, so that before weights
 *
 *	sum_p F_k(p) F_l(p) = sum over a square of W(p) W(p + d),	d: the difference of the two shifts
 *
 * W is the window of ref. The product of two pictures serves all pairs of kernels with that d: the square moves over it. With
 * weights this holds for the pixels that have the weight of the dark sky, and the others, a tenth or a fifth of a stamp,
 * are corrected. A kernel of row r and column c of its taps reads the window from row size-1-r and column size-1-c.
 */

/* WIDE: the most columns of a product, rounded up. STEP: the columns of a stamp, rounded up. */
enum { LANES = 4, WIDE = 64, PADDED = WIDE + 32, STEP = 32 };
typedef double vec
    __attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double)), may_alias));

/* --- sums over squares ----------------------------------------------------------------------------------------------- */

/* to[c] = x[c] + x[c + by] */
CPU_INLINE void
add_shifted(const double *x, size_t by, double *to)
{
	for (size_t c = 0; c < WIDE; c += LANES)
		*(vec *)(to + c) = *(const vec *)(x + c) + *(const vec *)(x + c + by);
}

/* to[c] = x[c] + ... + x[c + PSFMATCH_SIDE - 1]; 31 = 16 + 8 + 4 + 2 + 1. x: [PADDED] */
CPU_INLINE void
sum_columns(const double *x, double *to)
{
	double two[PADDED] = {0}, four[PADDED] = {0}, eight[PADDED] = {0}, sixteen[WIDE];

	add_shifted(x, 1, two);
	add_shifted(two, 2, four);
	add_shifted(four, 4, eight);
	add_shifted(eight, 8, sixteen);
	for (size_t c = 0; c < STEP; c += LANES)
		*(vec *)(to + c) = *(const vec *)(sixteen + c) + *(const vec *)(eight + c + 16) +
				   *(const vec *)(four + c + 24) + *(const vec *)(two + c + 28) +
				   *(const vec *)(x + c + 30);
}

/*
 * Fills in box[oy][ox], [rows][STEP]: the sum of a[r][c] b[r][c] over the square of PSFMATCH_SIDE from row oy and column ox.
 * a and b have rows `wide` apart, and WIDE columns can be read from each.
 */
WEIR_CLONES(sum_boxes,
	    (const double *restrict a, const double *restrict b, size_t wide, size_t rows,
	     double *restrict box),
	    (a, b, wide, rows, box))
{
	double column[PADDED] = {0};

	for (size_t r = 0; r < PSFMATCH_SIDE + rows - 1; r++) {
		const size_t old = r - PSFMATCH_SIDE;
		for (size_t c = 0; c < WIDE; c += LANES) {
			vec v = *(const vec *)(column + c) +
				*(const vec *)(a + r * wide + c) * *(const vec *)(b + r * wide + c);
			if (r >= PSFMATCH_SIDE)
				v -= *(const vec *)(a + old * wide + c) *
				     *(const vec *)(b + old * wide + c);
			*(vec *)(column + c) = v;
		}
		if (r + 1 >= PSFMATCH_SIDE)
			sum_columns(column, box + (r + 1 - PSFMATCH_SIDE) * STEP);
	}
}

/* Fills in t[k][l], l <= k, [size^2][size^2]: the products of taps k and l without weights. box: [size][STEP] */
static void
multiply_taps(const struct view *v, double *box, double *t)
{
	const size_t size = v->k->size, n = size * size;

	for (size_t dy = 0; dy < size; dy++)
		for (size_t i = dy ? 1 : size; i < 2 * size; i++) {
			/* d = (right - left, dy); one of right and left is 0 */
			const size_t right = i > size ? i - size : 0,
				     left = i < size ? size - i : 0;
			sum_boxes(v->window + left, v->window + dy * v->wide + right, v->wide,
				  size - dy, box);
			for (size_t y = 0; y < size - dy; y++) {
				const size_t from = n - 1 - (y * size + left);
				const size_t to = n - 1 - ((y + dy) * size + right);
				double *at = t + from * n + to;
				for (size_t x = 0; x < size - left - right; x++)
					*(at - x * (n + 1)) = box[y * STEP + x];
			}
		}
}

/* Writes the products of kernels, of which each but the first is its tap less the centre's. by: the weight. */
static void
write_products(const double *t, size_t n, size_t size, double by, double *centre, double *q)
{
	const size_t c = psfmatch_tap(0, size);

	for (size_t k = 0; k < n; k++)
		centre[k] = k < c ? t[c * n + k] : t[k * n + c];
	q[0] = by * centre[c];
	for (size_t i = 1; i < n; i++) {
		const size_t a = psfmatch_tap(i, size);
		double *row = q + psfmatch_packed(i);
		row[0] = by * (centre[a] - centre[c]);
		for (size_t j = 1; j <= i && j <= c; j++)
			row[j] = by * (t[a * n + j - 1] - centre[a] - centre[j - 1] + centre[c]);
		for (size_t j = c + 1; j <= i; j++)
			row[j] = by * (t[a * n + j] - centre[a] - centre[j] + centre[c]);
	}
}

/* --- the other pixels ------------------------------------------------------------------------------------------------ */

/* Fills in g[k][p]: kernel k * ref at the bright pixels, times by[p]. */
static void
fill_bright(const struct view *v, const size_t *at, const double *by, size_t bright, double *g)
{
	const size_t size = v->k->size, n = size * size;

	for (size_t k = 0; k < n; k++) {
		const size_t o = n - 1 - psfmatch_tap(k, size);
		const double *from = v->window + o / size * v->wide + o % size;
		double *to = g + k * bright;
		for (size_t p = 0; p < bright; p++)
			to[p] = by[p] * from[at[p]] - (k ? g[p] : 0);
	}
}

/*
 * Lists the pixels that are not dark: where in the window they are, and the root of what the weight lacks. Returns how many they
 * are, or PSFMATCH_PIXELS if these are too many, or if so little of the dark weight is left that differences are inexact.
 */
static size_t
list_bright(const struct view *v, size_t *at, double *by)
{
	size_t n = 0;

	for (size_t i = 0; i < PSFMATCH_PIXELS; i++) {
		const double w = v->weight[i];
		if (w * 100 < v->dark)
			return PSFMATCH_PIXELS;
		at[n] = i / PSFMATCH_SIDE * v->wide + i % PSFMATCH_SIDE;
		by[n] = sqrt((v->dark - w) * (v->dark + w));
		n += w < v->dark;
	}
	return n < PSFMATCH_PIXELS / 2 ? n : PSFMATCH_PIXELS;
}

/* --- products with one picture --------------------------------------------------------------------------------------- */

/* Returns the sum of a[r][c] x[r][c] over a stamp. a: [PSFMATCH_SIDE][STEP], the last column 0; x has rows `wide` apart. */
WEIR_CLONES_OF(double, multiply_stamp,
	       (const double *restrict a, const double *restrict x, size_t wide), (a, x, wide))
{
	vec part[STEP / LANES] = {{0}};
	double sum = 0;

	for (size_t r = 0; r < PSFMATCH_SIDE; r++)
		for (size_t c = 0; c < STEP; c += LANES)
			part[c / LANES] +=
			    *(const vec *)(a + r * STEP + c) * *(const vec *)(x + r * wide + c);
	for (size_t c = 0; c < STEP; c++)
		sum += part[c / LANES][c % LANES];
	return sum;
}

/* to[k] = sum_p a[p] b[p] (kernel k * ref)(p). stamp: [PSFMATCH_SIDE][STEP] */
static void
multiply_kernels(const struct view *v, const double *a, const double *b, double *stamp, double *to)
{
	const size_t size = v->k->size, n = size * size;

	memset(stamp, 0, PSFMATCH_SIDE * STEP * sizeof *stamp);
	for (size_t i = 0; i < PSFMATCH_PIXELS; i++)
		stamp[i / PSFMATCH_SIDE * STEP + i % PSFMATCH_SIDE] = a[i] * b[i];
	for (size_t k = 0; k < n; k++) {
		const size_t o = n - 1 - psfmatch_tap(k, size);
		to[k] = multiply_stamp(stamp, v->window + o / size * v->wide + o % size, v->wide) -
			(k ? to[0] : 0);
	}
}

/* Writes the background's rows of q, and b. */
static void
add_background(const struct view *v, double *stamp, double *q, double *b)
{
	const size_t n = v->k->n, pixels = PSFMATCH_PIXELS;
	double *squares = stamp + PSFMATCH_SIDE * STEP;

	for (size_t p = 0; p < pixels; p++)
		squares[p] = v->weight[p] * v->weight[p];
	multiply_kernels(v, v->weight, v->data, stamp, b);
	for (size_t t = 0; t < v->terms; t++) {
		const double *one = v->p + t * pixels;
		double *row = q + psfmatch_packed(n + t);
		multiply_kernels(v, squares, one, stamp, row);
		row[n] = b[n + t] = 0;
		for (size_t u = 0; u <= t; u++) {
			row[n + u] = 0;
			for (size_t p = 0; p < pixels; p++)
				row[n + u] += squares[p] * one[p] * v->p[u * pixels + p];
		}
		for (size_t p = 0; p < pixels; p++)
			b[n + t] += v->weight[p] * v->data[p] * one[p];
	}
}

/* Returns how many doubles of `more` sum_shifts() needs. */
static size_t
shifts_room(size_t size)
{
	const size_t n = size * size;

	return n * n + n + size * STEP + PSFMATCH_SIDE * STEP + PSFMATCH_PIXELS;
}

/*
 * Fills in q and b of a stamp for kernels of single samples. Returns false if that would be slower than the general way, or
 * inexact.
 */
static bool
sum_shifts(const struct view *v, double *q, double *b)
{
	const size_t size = v->k->size, n = size * size;
	double *t = v->more, *centre = t + n * n, *box = centre + n, *stamp = box + size * STEP;
	size_t at[PSFMATCH_PIXELS];
	double by[PSFMATCH_PIXELS];
	const size_t bright = list_bright(v, at, by);

	if (bright == PSFMATCH_PIXELS)
		return false;
	multiply_taps(v, box, t);
	write_products(t, n, size, v->dark * v->dark, centre, q);
	fill_bright(v, at, by, bright, v->g);
	psfmatch_gram(v->g, n, bright, -1, v->room, q);
	add_background(v, stamp, q, b);
	return true;
}

/* ---- sums ---- */

enum { TOGETHER = 8, SLACK = 64 };

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

/* Copies the pixels of ref that the kernels need for the stamp, minus the sky. */
static void
take_window(const struct psfmatch_field *f, const struct psfmatch_stamp *s, struct view *v)
{
	const size_t wide = v->wide, reach = wide / 2;
	const float *first = f->ref + (s->y - reach) * f->w + s->x - reach;

	for (size_t r = 0; r < wide; r++)
		for (size_t c = 0; c < wide; c++)
			v->window[r * wide + c] = (double)first[r * f->w + c] - f->r.level;
	memset(v->window + wide * wide, 0, SLACK * sizeof *v->window);
}

/* Returns the light at pixel `at` of both pictures above the sky around the stamp. What may be noise is not counted. */
static double
light(const struct psfmatch_field *f, const struct psfmatch_stamp *s, size_t at)
{
	const double n = (double)f->new[at] - s->sky_new, r = (double)f->ref[at] - s->sky_ref;

	return (n > 3 * f->n.noise ? n : 0) + (r > 3 * f->r.noise ? r : 0);
}

/* Returns the variance of pixel `at` of ref. */
static double
variance(const struct psfmatch_field *f, const struct psfmatch_stamp *s, size_t at)
{
	const double r = (double)f->ref[at] - s->sky_ref;

	return f->r.noise * f->r.noise + (r > 3 * f->r.noise ? r / f->gain : 0);
}

/* Fills in weight, data, dark and p, and the stamp's noise. */
static void
weigh(const struct psfmatch_field *f, const struct psfmatch *m, struct psfmatch_stamp *s,
      struct view *v)
{
	const double sky = f->noise * f->noise;
	double p[PSFMATCH_TERMS];

	v->dark = 1 / f->noise;
	s->noise = 0;
	for (size_t i = 0; i < PSFMATCH_PIXELS; i++) {
		const size_t x = s->x - PSFMATCH_HALF + i % PSFMATCH_SIDE,
			     y = s->y - PSFMATCH_HALF + i / PSFMATCH_SIDE, at = y * f->w + x;
		const double photons = light(f, s, at) / f->gain;
		v->weight[i] = photons > .1 * sky ? 1 / sqrt(sky + photons) : v->dark;
		v->data[i] = v->weight[i] * ((double)f->new[at] - f->n.level);
		s->noise += v->weight[i] * v->weight[i] * variance(f, s, at);
		psfmatch_powers(m, m->background, (double)x, (double)y, p);
		for (size_t t = 0; t < v->terms; t++)
			v->p[t * PSFMATCH_PIXELS + i] = p[t];
	}
}

/* Convolves the window with x along its rows. to: [wide][PSFMATCH_SIDE]. work: room for the window. */
static void
convolve_x(const struct view *v, const double *x, double *work, double *to)
{
	const size_t size = v->k->size, n = v->wide * v->wide - (size - 1);

	sum_taps(v->window, x, size, 1, n, work);
	for (size_t r = 0; r < v->wide; r++)
		memcpy(to + r * PSFMATCH_SIDE, work + r * v->wide, PSFMATCH_SIDE * sizeof *to);
}

/* Fills in g: g[k] = (kernel k * ref) / sigma, and after these the background's terms / sigma. */
static void
fill_functions(const struct view *v)
{
	const struct psfmatch_kernels *k = v->k;
	const size_t pixels = PSFMATCH_PIXELS, line = v->wide * PSFMATCH_SIDE;
	double *rows = v->more, *lines = rows + v->wide * v->wide, *g = v->g;
	size_t made = 0;

	for (size_t i = 0; i < k->n; i++) {
		double *to = g + i * pixels, *along = lines + k->which[i] * line;
		if (k->which[i] == made) {
			convolve_x(v, k->x + i * k->size, rows, along);
			made++;
		}
		sum_taps(along, k->y + i * k->size, k->size, PSFMATCH_SIDE, pixels, to);
		for (size_t p = 0; p < pixels; p++)
			to[p] = to[p] * v->weight[p] - k->sum[i] * g[p];
	}
	for (size_t t = 0; t < v->terms; t++)
		for (size_t p = 0; p < pixels; p++)
			g[(k->n + t) * pixels + p] = v->p[t * pixels + p] * v->weight[p];
}

static size_t
more_room(const struct psfmatch_kernels *k)
{
	const size_t wide = PSFMATCH_SIDE + k->size - 1;
	const size_t lines = wide * wide + k->different * wide * PSFMATCH_SIDE;
	const size_t shifts = k->basis == PSFMATCH_DELTA ? shifts_room(k->size) : 0;

	return lines > shifts ? lines : shifts;
}

size_t
psfmatch_stamp_room(const struct psfmatch_kernels *k, size_t terms)
{
	const size_t wide = PSFMATCH_SIDE + k->size - 1, m = k->n + terms;

	return wide * wide + SLACK + (2 + terms + m) * PSFMATCH_PIXELS + psfmatch_room(m) +
	       more_room(k);
}

void
psfmatch_sum_stamp(const struct psfmatch_field *f, const struct psfmatch_kernels *k,
		   const struct psfmatch *m, struct psfmatch_stamp *s, double *work)
{
	const size_t terms = psfmatch_terms(m->background), n = k->n + terms;
	struct view v = {
	    .k = k, .wide = PSFMATCH_SIDE + k->size - 1, .window = work, .terms = terms};

	v.weight = v.window + v.wide * v.wide + SLACK;
	v.data = v.weight + PSFMATCH_PIXELS;
	v.p = v.data + PSFMATCH_PIXELS;
	v.g = v.p + terms * PSFMATCH_PIXELS;
	v.room = v.g + n * PSFMATCH_PIXELS;
	v.more = v.room + psfmatch_room(n);
	take_window(f, s, &v);
	weigh(f, m, s, &v);
	s->yy = psfmatch_dot(v.data, v.data, PSFMATCH_PIXELS);
	if (k->basis == PSFMATCH_DELTA && sum_shifts(&v, s->q, s->b))
		return;
	fill_functions(&v);
	memset(s->q, 0, psfmatch_packed(n) * sizeof *s->q);
	psfmatch_gram(v.g, n, PSFMATCH_PIXELS, 1, v.room, s->q);
	for (size_t i = 0; i < n; i++)
		s->b[i] = psfmatch_dot(v.g + i * PSFMATCH_PIXELS, v.data, PSFMATCH_PIXELS);
}
