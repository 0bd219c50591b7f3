/*
 * The adjoint: each tile of results scatters into its window what it would have gathered from there.
 *
 * The steps are those of tile_body.h in reverse order, at the same cost. For each function of x, the tile's rows times wx
 * are transformed. Then, for one block of LANES columns at a time:
 *
 *	for each function of x, for each function of y:
 *		times wy, forward along y, product with the conjugate of the kernel's spectrum, summed
 *	inverse along y
 *
 * What the tiles of a band leave in a row of their windows is summed before the inverse along x. Windows overlap. They are
 * added, in a fixed order, to the picture with its edges. At the end the edges are folded back into the picture.
 */

/* One thread's work space, besides struct work. */
struct spread_work {
	struct work w;
	/* [rows][pitch]: rows, for transforms times wx, with kw - 1 zeros before them and, for direct sums, after them */
	real *row;
	size_t rows; /* LANES, or all of a tile */
	size_t pitch;
	/* for direct sums, see struct expansion */
	real *taps;	/* [rows of a window][terms][kh][kw]: the taps that each of them needs */
	real *expanded; /* [functions of y][terms][kh][kw] */
	real *turned;	/* [terms][kh][kw]: the taps of one row of a tile */
	real *places;	/* [terms][pitch]: the powers of each column's place */
	real *line;	/* one row of a window */
	real *zeros;	/* one row */
	/* LANES rows of the picture with its edges, [LANES][wide] */
	real *picture;
	size_t wide;
	const real **seen;
};

static size_t
lay_out_spread(const struct wconv_plan *p, char *at, struct spread_work *s)
{
	const size_t span = p->x.longest + p->q.kw - 1;
	const size_t taps =
	    p->direct ? (p->x.most > 2 && p->x.degree >= 0 ? p->x.most : 2) * p->q.kh * p->q.kw : 0;
	size_t n = round_up(lay_out(p, at, &s->w), 64);

	s->rows = p->direct ? p->y.longest : LANES;
	s->pitch = round_up(round_up(span, NEAR * LANES) + p->q.kw + NEAR * LANES, LANES);
	if (s->rows < LANES)
		s->rows = LANES;
	s->row = carve(at, &n, s->rows * s->pitch, sizeof(real));
	s->taps = carve(at, &n, (p->y.longest + p->q.kh - 1) * taps, sizeof(real));
	s->expanded = carve(at, &n, p->y.most * taps, sizeof(real));
	s->turned = carve(at, &n, taps, sizeof(real));
	s->places = carve(at, &n, p->direct ? p->x.most * s->pitch + s->pitch : 0, sizeof(real));
	s->line = carve(at, &n, p->direct ? s->pitch : 0, sizeof(real));
	s->zeros = carve(at, &n, p->product ? s->pitch : 0, sizeof(real));
	s->wide = round_up((size_t)(p->x.hi - p->x.lo) + p->q.kw - 1, LANES);
	s->picture = carve(at, &n, LANES * s->wide, sizeof(real));
	s->seen = carve(at, &n, 2 * p->q.kh + s->rows, sizeof *s->seen);
	return n;
}

static size_t
spread_scratch(const struct wconv_plan *p)
{
	struct spread_work s;

	return lay_out_spread(p, NULL, &s);
}

/* A tile of results: its samples, and the factors that they are multiplied by. */
struct source {
	const real *in, *gain;
	size_t pitch, rows, n;
};

/* Multiplies row y of the source by the weights, if any, and pads it with zeros. Rows after the last one are all zeros. */
static void
weigh_row(const struct source *f, size_t y, const real *weight, size_t before, size_t after,
	  real *to)
{
	const real *in = f->in + y * f->pitch;

	memset(to, 0, before * sizeof *to);
	to += before;
	if (y < f->rows && !weight)
		memcpy(to, in, f->n * sizeof *to);
	for (size_t x = 0; weight && y < f->rows && x < f->n; x++)
		to[x] = weight[x] * in[x];
	if (y < f->rows && f->gain)
		for (size_t x = 0; x < f->n; x++)
			to[x] *= f->gain[y * f->pitch + x];
	if (y >= f->rows)
		memset(to, 0, f->n * sizeof *to);
	memset(to + f->n, 0, after * sizeof *to);
}

/* --- by transforms ------------------------------------------------------------------------------------------------- */

/* Transforms the rows of the tile times each function of x, to w->blend. */
static void
transform_source(const struct wconv_plan *p, struct spread_work *s, const struct source *f)
{
	struct work *w = &s->w;
	const size_t stride = round_up(p->y.longest, LANES) * 2;

	for (size_t l = 0; l < LANES; l++)
		w->window[l] = s->row + l * s->pitch;
	for (size_t y = 0; y < f->rows; y += LANES)
		for (size_t i = 0; i < w->x.n; i++) {
			for (size_t l = 0; l < LANES; l++)
				weigh_row(f, y + l, w->x.weight + i * w->x.stride, p->q.kw - 1, 0,
					  s->row + l * s->pitch);
			transform_rows(
			    &p->rows, w->window, f->n + p->q.kw - 1, w->line, w->coefficient,
			    w->blend + i * p->rows.blocks * stride + 2 * y, stride, NULL);
		}
}

/* Rows of one block times their weights: `before` zeros, the rows, then zeros up to the length of the transform. */
struct weighted {
	const vec *from;
	const real *weight;
	size_t before, rows;
};

/* forward_first() for weighted rows. This saves copying them. */
INLINE void
weighted_first(size_t radix, const struct weighted *f, vec *x, size_t n, const real *w)
{
	const size_t m = n / radix;
	vec re[8], im[8];

	for (size_t j = 0; j < m; j++) {
		for (size_t q = 0; q < radix; q++) {
			const size_t y =
			    j + q * m - f->before; /* wraps to a huge value before it */
			const bool in = y < f->rows;
			re[q] = in ? f->weight[y] * f->from[2 * y] : (vec){0};
			im[q] = in ? f->weight[y] * f->from[2 * y + 1] : (vec){0};
		}
		dft((int)radix, re, im);
		twiddle(radix, w + 2 * j * (radix - 1), false, re, im);
		store_points(radix, x + 2 * j, m, re, im);
	}
}

/* to = a conj(k); with add, to += a conj(k) */
static void
multiply_conjugate(const vec *restrict a, const vec *restrict k, size_t n, bool add,
		   vec *restrict to)
{
	for (size_t i = 0; i < 2 * n; i += 2) {
		const vec re = a[i] * k[i] + a[i + 1] * k[i + 1],
			  im = a[i + 1] * k[i] - a[i] * k[i + 1];
		to[i] = add ? to[i] + re : re;
		to[i + 1] = add ? to[i + 1] + im : im;
	}
}

/* The inverse of the last pass: stores that of sum + a conj(k) in a. sum may be NULL. */
INLINE void
conjugate_first(size_t radix, vec *restrict a, const vec *restrict k, const vec *restrict sum,
		size_t n)
{
	vec re[8], im[8];

	for (size_t b = 0; b < n; b += radix) {
		for (size_t q = 0; q < radix; q++) {
			const vec *x = a + 2 * (b + q), *c = k + 2 * (b + q);
			re[q] = x[0] * c[0] + x[1] * c[1];
			im[q] = x[1] * c[0] - x[0] * c[1];
			if (sum) {
				re[q] += sum[2 * (b + q)];
				im[q] += sum[2 * (b + q) + 1];
			}
		}
		dft((int)radix, im, re);
		store_points(radix, a + 2 * b, 1, re, im);
	}
}

/* The inverse of the first pass. Stores the first `rows` points in `to`. */
INLINE void
store_first(size_t radix, const vec *x, size_t n, const real *w, size_t rows, vec *restrict to)
{
	const size_t m = n / radix;
	vec re[8], im[8];

	for (size_t j = 0; j < m; j++) {
		load_points(radix, x + 2 * j, m, re, im);
		twiddle(radix, w + 2 * j * (radix - 1), true, re, im);
		dft((int)radix, im, re);
		for (size_t q = 0; q < radix; q++)
			if (j + q * m < rows) {
				to[2 * (j + q * m)] = re[q];
				to[2 * (j + q * m) + 1] = im[q];
			}
	}
}

/* Stores the first `rows` points of the inverse transform of sum + a conj(k) in `to`. It needs at least two passes. */
static void
invert_sum(const struct wconv_fft *f, vec *a, const vec *k, const vec *sum, size_t rows, vec *to)
{
	const size_t last = f->passes - 1;

	if (sum)
		BY_RADIX(f->radix[last], conjugate_first, a, k, sum, f->n)
	else
		BY_RADIX(f->radix[last], conjugate_first, a, k, NULL, f->n)
	const real *w = undo_passes(f, last - 1, 0, a, NULL);
	BY_RADIX(f->radix[0], store_first, a, f->n, w, rows, to);
}

/* Takes one block of columns through every kernel of the tile, and stores the window's rows in `to`. */
static void
spread_block(const struct wconv_plan *p, struct work *w, size_t block, size_t rows, vec *to)
{
	const size_t stride = round_up(p->y.longest, LANES) * 2, n = p->columns.n;
	const size_t window = rows + p->q.kh - 1;
	const vec *held = NULL; /* the kernel whose product has not been added yet */
	bool summed = false;

	for (size_t i = 0; i < w->x.n; i++)
		for (size_t j = 0; j < w->y.n; j++) {
			const size_t fx = w->x.first[i], fy = w->y.first[j];
			const struct weighted f = {w->blend + (i * p->rows.blocks + block) * stride,
						   w->y.weight + j * w->y.stride, p->q.kh - 1,
						   rows};
			if (wconv_kernel(p, fx, fy) == SIZE_MAX)
				continue;
			if (held) {
				multiply_conjugate(w->a, held, n, summed, w->b);
				summed = true;
			}
			BY_RADIX(p->columns.radix[0], weighted_first, &f, w->a, n,
				 p->columns.twiddle);
			forward_passes(&p->columns, 1, w->a);
			held = (const vec *)find_kernel(p, fx, fy) + block * n * 2;
		}
	invert_sum(&p->columns, w->a, held, summed ? w->b : NULL, window, to);
}
