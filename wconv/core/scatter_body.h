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
	/* [rows][pitch]: rows times wx, with kw - 1 zeros before them and, for direct sums, after them */
	real *row;
	size_t rows; /* LANES, or all of a tile */
	size_t pitch;
	real *taps;   /* [rows][kh][kw]: the taps of each row of a tile */
	real *turned; /* [kh][kw]: the taps that one row of a window needs */
	real *ones;   /* weights of 1 */
	real *line;   /* one row of a window */
	const real **seen;
};

static size_t
lay_out_spread(const struct wconv_plan *p, char *at, struct spread_work *s)
{
	const size_t span = p->x.longest + p->q.kw - 1, taps = p->direct ? p->q.kh * p->q.kw : 0;
	size_t n = round_up(lay_out(p, at, &s->w), 64);

	s->rows = p->direct ? p->y.longest : LANES;
	s->pitch = round_up(round_up(span, NEAR * LANES) + p->q.kw + NEAR * LANES, LANES);
	if (s->rows < LANES)
		s->rows = LANES;
	s->row = carve(at, &n, s->rows * s->pitch, sizeof(real));
	s->taps = carve(at, &n, p->y.longest * taps, sizeof(real));
	s->turned = carve(at, &n, taps, sizeof(real));
	s->ones = carve(at, &n, p->direct ? s->pitch : 0, sizeof(real));
	s->line = carve(at, &n, p->direct ? s->pitch : 0, sizeof(real));
	s->seen = carve(at, &n, p->q.kh + s->rows, sizeof *s->seen);
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

/* Multiplies row y of the source by the weights and pads it with zeros. Rows after the last one are all zeros. */
static void
weigh_row(const struct source *f, size_t y, const real *weight, size_t before, size_t after,
	  real *to)
{
	const real *in = f->in + y * f->pitch;

	memset(to, 0, before * sizeof *to);
	to += before;
	for (size_t x = 0; y < f->rows && x < f->n; x++)
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

/* --- by direct sums ------------------------------------------------------------------------------------------------ */

/* Blends the taps of function i of x at each row of the tile. */
static void
blend_taps(const struct wconv_plan *p, struct spread_work *s, size_t i, size_t rows)
{
	const struct work *w = &s->w;
	const size_t taps = p->q.kh * p->q.kw;

	memset(s->taps, 0, rows * taps * sizeof *s->taps);
	for (size_t j = 0; j < w->y.n; j++) {
		const size_t fx = w->x.first[i], fy = w->y.first[j];
		const real *k = find_kernel(p, fx, fy);
		if (wconv_kernel(p, fx, fy) == SIZE_MAX)
			continue;
		for (size_t y = 0; y < rows; y++) {
			const real v = w->y.weight[j * w->y.stride + y];
			for (size_t t = 0; v != 0 && t < taps; t++)
				s->taps[y * taps + t] += v * k[t];
		}
	}
}

/* Computes what row r of the window gets from the weighted rows of one function of x, to `to`. */
static void
spread_row(const struct wconv_plan *p, struct spread_work *s, size_t r, size_t rows, size_t span,
	   real *to)
{
	const size_t kw = p->q.kw, kh = p->q.kh;
	const size_t first = r + 1 > kh ? r + 1 - kh : 0, last = r < rows ? r : rows - 1;

	for (size_t y = first; y <= last; y++) {
		const real *tap = s->taps + (y * kh + r - y) * kw;
		for (size_t k = 0; k < kw; k++)
			s->turned[(y - first) * kw + k] = tap[kw - 1 - k];
		s->seen[y - first] = s->row + y * s->pitch;
	}
	sum_row(s->seen, last - first + 1, kw, span, 1, s->turned, s->ones, 0, to);
}

static void
spread_near(const struct wconv_plan *p, struct spread_work *s, const struct source *f, real *to,
	    size_t pitch)
{
	const size_t kw = p->q.kw, span = f->n + kw - 1, window = f->rows + p->q.kh - 1;

	for (size_t x = 0; x < s->pitch; x++)
		s->ones[x] = 1;
	for (size_t i = 0; i < s->w.x.n; i++) {
		blend_taps(p, s, i, f->rows);
		for (size_t y = 0; y < f->rows; y++)
			weigh_row(f, y, s->w.x.weight + i * s->w.x.stride, kw - 1,
				  s->pitch - f->n - (kw - 1), s->row + y * s->pitch);
		for (size_t r = 0; r < window; r++) {
			spread_row(p, s, r, f->rows, span, i ? s->line : to + r * pitch);
			for (size_t x = 0; i && x < span; x++)
				to[r * pitch + x] += s->line[x];
		}
	}
}

/* --- tasks --------------------------------------------------------------------------------------------------------- */

/* Returns the array of what tile (tx,ty) leaves in its window. */
INLINE real *
find_tile(const struct wconv_plan *p, const struct wconv_spread *a, size_t tx, size_t ty)
{
	return (real *)a->tiles + (ty % a->ring * p->x.ntile + tx) * a->tile_samples;
}

/* Scatters tile (tx,ty) of the results into its window. */
static void
spread(const struct wconv_plan *p, const struct wconv_spread *a, size_t tx, size_t ty, void *at)
{
	const struct wconv_tile *X = &p->x.tile[tx], *Y = &p->y.tile[ty];
	const size_t width = (size_t)(p->x.hi - p->x.lo);
	const size_t from = (size_t)(Y->a - p->y.lo) * width + (size_t)(X->a - p->x.lo);
	const struct source f = {(const real *)a->in + from,
				 a->gain ? (const real *)a->gain + from : NULL, width,
				 (size_t)(Y->b - Y->a), (size_t)(X->b - X->a)};
	const double scale = p->direct ? 1 : .25 / ((double)p->rows.n * (double)p->columns.n);
	real *to = find_tile(p, a, tx, ty);
	struct spread_work s;

	lay_out_spread(p, at, &s);
	weigh(p, &p->x, X, &p->y, Y, scale, &s.w.x);
	weigh(p, &p->y, Y, &p->x, X, 1, &s.w.y);
	if (p->direct) {
		spread_near(p, &s, &f, to, a->tile_pitch);
		return;
	}
	transform_source(p, &s, &f);
	for (size_t b = 0; b < p->rows.blocks; b++)
		spread_block(p, &s.w, b, f.rows, (vec *)to + b * a->tile_rows * 2);
}

/* to += from */
static void
add_row(const real *restrict from, size_t n, real *restrict to)
{
	for (size_t x = 0; x < n; x++)
		to[x] += from[x];
}

/* Returns the tile row whose window has all rows r .. r + LANES - 1, if no other window has any of them; else SIZE_MAX. */
static size_t
find_only(const struct wconv_plan *p, const struct wconv_spread *a, ptrdiff_t r)
{
	size_t only = SIZE_MAX, n = 0;

	for (size_t ty = a->tile0; ty < a->tile1; ty++) {
		const struct wconv_tile *Y = &p->y.tile[ty];
		const ptrdiff_t at = r - (Y->a - p->y.lo),
				high = Y->b - Y->a + (ptrdiff_t)p->q.kh - 1;
		n += at > -LANES && at < high;
		if (at >= 0 && at + LANES <= high)
			only = ty;
	}
	return n == 1 ? only : SIZE_MAX;
}

/* Sums the LANES rows from r on of the windows of tiles (tx, tile0..tile1-1), to w->blend. */
static void
sum_spectra(const struct wconv_plan *p, const struct wconv_spread *a, struct work *w, size_t tx,
	    ptrdiff_t r)
{
	memset(w->blend, 0, p->rows.blocks * LANES * 2 * sizeof *w->blend);
	for (size_t ty = a->tile0; ty < a->tile1; ty++) {
		const struct wconv_tile *Y = &p->y.tile[ty];
		const vec *tile = (const vec *)find_tile(p, a, tx, ty);
		const ptrdiff_t at = r - (Y->a - p->y.lo),
				rows = Y->b - Y->a + (ptrdiff_t)p->q.kh - 1;
		for (ptrdiff_t l = at < 0 ? -at : 0; l < LANES && at + l < rows; l++)
			for (size_t b = 0; b < p->rows.blocks; b++) {
				const vec *v = tile + 2 * (b * a->tile_rows + (size_t)(at + l));
				vec *to = w->blend + 2 * (b * LANES + (size_t)l);
				to[0] += v[0];
				to[1] += v[1];
			}
	}
}

/* Stores `span` columns of `rows` rows of s->w.line in `to`. The columns that the left tile's window shares are added. */
static void
put_rows(const struct wconv_plan *p, const struct wconv_spread *a, struct spread_work *s,
	 size_t rows, size_t span, real *to)
{
	const size_t shared = p->q.kw - 1; /* columns, with the tile to the left */

	scatter_rows(s->w.line, rows, shared, s->row, s->pitch);
	for (size_t l = 0; l < rows; l++)
		add_row(s->row + l * s->pitch, shared, to + l * a->pitch);
	scatter_rows(s->w.line + shared, rows, span - shared, to + shared, a->pitch);
}

/* Sums the rows from r on of the windows of tile column tx, to `to`. */
static void
sum_samples_of(const struct wconv_plan *p, const struct wconv_spread *a, size_t tx, size_t r,
	       size_t rows, size_t span, real *to)
{
	for (size_t ty = a->tile0; ty < a->tile1; ty++) {
		const struct wconv_tile *Y = &p->y.tile[ty];
		const real *tile = find_tile(p, a, tx, ty);
		const ptrdiff_t y = (ptrdiff_t)r - (Y->a - p->y.lo),
				high = Y->b - Y->a + (ptrdiff_t)p->q.kh - 1;
		for (ptrdiff_t l = y < 0 ? -y : 0; l < (ptrdiff_t)rows && y + l < high; l++)
			add_row(tile + (size_t)(y + l) * a->tile_pitch, span,
				to + (size_t)l * a->pitch);
	}
}

/* Computes rows r .. r + rows - 1, LANES at most, of the picture with its edges. */
static void
collect(const struct wconv_plan *p, const struct wconv_spread *a, size_t r, size_t rows, void *at)
{
	const size_t only = p->direct ? SIZE_MAX : find_only(p, a, (ptrdiff_t)r);
	real *picture = (real *)a->picture + r * a->pitch;
	struct spread_work s;

	lay_out_spread(p, at, &s);
	for (size_t l = 0; l < rows; l++)
		memset(picture + l * a->pitch, 0,
		       (p->direct ? a->pitch : p->q.kw - 1) * sizeof *picture);
	for (size_t tx = 0; tx < p->x.ntile; tx++) {
		const struct wconv_tile *X = &p->x.tile[tx];
		const size_t span = (size_t)(X->b - X->a) + p->q.kw - 1;
		real *to = picture + (X->a - p->x.lo);
		const vec *from = s.w.blend;
		size_t stride = LANES * 2;
		if (p->direct) {
			sum_samples_of(p, a, tx, r, rows, span, to);
			continue;
		}
		if (only == SIZE_MAX) {
			sum_spectra(p, a, &s.w, tx, (ptrdiff_t)r);
		} else {
			const ptrdiff_t y = (ptrdiff_t)r - (p->y.tile[only].a - p->y.lo);
			from = (const vec *)find_tile(p, a, tx, only) + 2 * y;
			stride = 2 * a->tile_rows;
		}
		restore_rows(&p->rows, from, stride, s.w.coefficient, s.w.line);
		put_rows(p, a, &s, rows, span, to);
	}
}

/* Folds columns [x, end) of line, which lie beyond the item's edges, into the row out. */
static void
fold_columns(const struct wconv_axis *X, const real *line, ptrdiff_t x, ptrdiff_t end, real *out)
{
	const ptrdiff_t origin = X->lo - X->before;

	for (; x < end; x++) {
		const ptrdiff_t from = wconv_edge(X->edge, x + origin, X->n);
		if (from >= 0)
			out[from - X->have0] += line[x];
	}
}

/* Computes row `row` of a->out: sums all rows of the picture with its edges that are copies of it, and folds the columns. */
static void
fold(const struct wconv_plan *p, const struct wconv_spread *a, size_t row, void *at)
{
	const struct wconv_axis *X = &p->x, *Y = &p->y;
	const ptrdiff_t oy = Y->lo - Y->before, y = Y->have0 + (ptrdiff_t)row;
	const ptrdiff_t high = Y->hi + Y->after - oy, wide = X->hi + X->after - (X->lo - X->before);
	const ptrdiff_t left = X->have0 - (X->lo - X->before), right = left + (ptrdiff_t)p->q.w;
	const real *line = (const real *)a->picture + (size_t)(y - oy) * a->pitch;
	real *sum = at, *out = (real *)a->out + row * p->q.w;

	for (ptrdiff_t r = 0; r < high; r++) {
		if (r == -oy && Y->n + oy > 0 && Y->n + oy < high)
			r = Y->n + oy; /* skips the rows of the image itself */
		if ((r + oy >= 0 && r + oy < Y->n) || wconv_edge(Y->edge, r + oy, Y->n) != y)
			continue;
		if (line != sum)
			memcpy(sum, line, (size_t)wide * sizeof *sum);
		line = sum;
		add_row((real *)a->picture + (size_t)r * a->pitch, (size_t)wide, sum);
	}
	memcpy(out, line + left, p->q.w * sizeof *out);
	fold_columns(X, line, 0, left, out);
	fold_columns(X, line, right, wide, out);
}
