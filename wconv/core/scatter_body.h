/*
 * The adjoint: each tile of results scatters into its window what it would have gathered from there.
 *
 * It is the flow of tile_body.h backwards, at the same cost. For each function of x the tile's rows, times wx, are
 * transformed; then, one block of LANES columns at a time,
 *
 *	for each function of x, for each function of y:
 *		times wy, forward along y, product with the conjugate of the kernel's spectrum, summed
 *	inverse along y
 *
 * and what the tiles of a band leave in the rows of their windows is summed before the inverse along x. Windows overlap:
 * they are added to the picture and its edges in a fixed order, and the edges are folded back at the end.
 */

/* What one thread works with besides struct work. */
struct spread_work {
	struct work w;
	real *
	    row; /* rows times wx, with kw - 1 zeros before and, for sums, behind them: [rows][pitch] */
	size_t rows; /* LANES, or all of a tile */
	size_t pitch;
	real *taps;   /* of each row of a tile: [rows][kh][kw] */
	real *turned; /* those that one row of a window sees: [kh][kw] */
	real *ones;   /* weights */
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

/* A tile of results, and where they and what they are multiplied by lie. */
struct source {
	const real *in, *gain;
	size_t pitch, rows, n;
};

/* Row y of the source times the weights, behind kw - 1 zeros; all zeros behind the last row. */
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

/* The rows of the tile times each function of x, transformed, to w->blend. */
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

/* to += a conj(k) */
static void
add_product(const vec *restrict a, const vec *restrict k, size_t n, vec *restrict to)
{
	for (size_t i = 0; i < 2 * n; i += 2) {
		to[i] += a[i] * k[i] + a[i + 1] * k[i + 1];
		to[i + 1] += a[i + 1] * k[i] - a[i] * k[i + 1];
	}
}

/* One block of columns through every kernel of the tile, to the window's rows. */
static void
spread_block(const struct wconv_plan *p, struct work *w, size_t block, size_t rows, vec *to)
{
	const size_t stride = round_up(p->y.longest, LANES) * 2, n = p->columns.n;
	const size_t before = 2 * (p->q.kh - 1), window = rows + p->q.kh - 1;

	memset(w->b, 0, 2 * n * sizeof *w->b);
	for (size_t i = 0; i < w->x.n; i++)
		for (size_t j = 0; j < w->y.n; j++) {
			const size_t fx = w->x.first[i], fy = w->y.first[j];
			const vec *from = w->blend + (i * p->rows.blocks + block) * stride;
			const real *weight = w->y.weight + j * w->y.stride;
			if (wconv_kernel(p, fx, fy) == SIZE_MAX)
				continue;
			memset(w->a, 0, before * sizeof *w->a);
			for (size_t y = 0; y < rows; y++) {
				w->a[before + 2 * y] = weight[y] * from[2 * y];
				w->a[before + 2 * y + 1] = weight[y] * from[2 * y + 1];
			}
			memset(w->a + 2 * window, 0, 2 * (n - window) * sizeof *w->a);
			fft_forward(&p->columns, w->a);
			add_product(w->a, (const vec *)find_kernel(p, fx, fy) + block * n * 2, n,
				    w->b);
		}
	fft_inverse(&p->columns, w->b);
	memcpy(to, w->b, 2 * window * sizeof *to);
}

/* --- by direct sums ------------------------------------------------------------------------------------------------ */

/* The taps of function i of x at each row of the tile. */
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

/* What row r of the window gets of function i's weighted rows, to `to`. */
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

/* What tile (tx,ty) leaves in its window. */
INLINE real *
find_tile(const struct wconv_plan *p, const struct wconv_spread *a, size_t tx, size_t ty)
{
	return (real *)a->tiles + (ty % a->ring * p->x.ntile + tx) * a->tile_samples;
}

/* Tile (tx,ty) of the results to its window. */
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

/* The LANES rows from r on of the windows of tiles (tx, tile0..tile1-1), summed, to w->blend. */
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

/* to += from */
static void
add_row(const real *restrict from, size_t n, real *restrict to)
{
	for (size_t x = 0; x < n; x++)
		to[x] += from[x];
}

/* The rows from r on of the windows of tile column tx, summed, to `to`. */
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

/* Rows r .. r + rows - 1, LANES at most, of the picture with its edges. */
static void
collect(const struct wconv_plan *p, const struct wconv_spread *a, size_t r, size_t rows, void *at)
{
	real *picture = (real *)a->picture + r * a->pitch;
	struct spread_work s;

	lay_out_spread(p, at, &s);
	memset(picture, 0, rows * a->pitch * sizeof *picture);
	for (size_t tx = 0; tx < p->x.ntile; tx++) {
		const struct wconv_tile *X = &p->x.tile[tx];
		const size_t span = (size_t)(X->b - X->a) + p->q.kw - 1;
		real *to = picture + (X->a - p->x.lo);
		if (p->direct) {
			sum_samples_of(p, a, tx, r, rows, span, to);
			continue;
		}
		sum_spectra(p, a, &s.w, tx, (ptrdiff_t)r);
		restore_rows(&p->rows, s.w.blend, LANES * 2, s.w.coefficient, s.w.line);
		scatter_rows(s.w.line, rows, span, s.row, s.pitch);
		for (size_t l = 0; l < rows; l++)
			add_row(s.row + l * s.pitch, span, to + l * a->pitch);
	}
}

/* Row `row` of the item to a->out: the rows of the picture and of its edges that stand for it, their edges folded in. */
static void
fold(const struct wconv_plan *p, const struct wconv_spread *a, size_t row, void *at)
{
	const struct wconv_axis *X = &p->x, *Y = &p->y;
	const ptrdiff_t ox = X->lo - X->before, oy = Y->lo - Y->before,
			y = Y->have0 + (ptrdiff_t)row;
	const ptrdiff_t high = Y->hi + Y->after - oy, wide = X->hi + X->after - ox;
	real *line = at, *out = (real *)a->out + row * p->q.w;

	memcpy(line, (real *)a->picture + (size_t)(y - oy) * a->pitch, (size_t)wide * sizeof *line);
	for (ptrdiff_t r = 0; r < high; r++)
		if ((r + oy < 0 || r + oy >= Y->n) && wconv_edge(Y->edge, r + oy, Y->n) == y)
			add_row((real *)a->picture + (size_t)r * a->pitch, (size_t)wide, line);
	memcpy(out, line + (X->have0 - ox), p->q.w * sizeof *out);
	for (ptrdiff_t x = 0; x < wide; x++) {
		const ptrdiff_t from =
		    x + ox < 0 || x + ox >= X->n ? wconv_edge(X->edge, x + ox, X->n) : -1;
		if (from >= 0)
			out[from - X->have0] += line[x];
	}
}
