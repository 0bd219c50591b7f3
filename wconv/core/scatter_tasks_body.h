/* The tasks of the adjoint: tiles are scattered into their windows, and the windows are summed to rows of the picture. */

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
		spread_near(p, &s, &f, X, to, a->tile_pitch);
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
put_rows(const struct wconv_plan *p, struct spread_work *s, size_t rows, size_t span, real *to)
{
	const size_t shared = p->q.kw - 1; /* columns, with the tile to the left */

	scatter_rows(s->w.line, rows, shared, s->row, s->pitch);
	for (size_t l = 0; l < rows; l++)
		add_row(s->row + l * s->pitch, shared, to + l * s->wide);
	scatter_rows(s->w.line + shared, rows, span - shared, to + shared, s->wide);
}

/* Sums the rows from r on of the windows of tile column tx, to `to`, as put_rows() does. */
static void
sum_samples_of(const struct wconv_plan *p, const struct wconv_spread *a,
	       const struct spread_work *s, size_t tx, size_t r, size_t rows, size_t span, real *to)
{
	const size_t shared = p->q.kw - 1;

	for (size_t l = 0; l < rows; l++, to += s->wide) {
		bool first = true;
		for (size_t ty = a->tile0; ty < a->tile1; ty++) {
			const struct wconv_tile *Y = &p->y.tile[ty];
			const size_t top = (size_t)(Y->a - p->y.lo), y = r + l - top;
			const real *from = (real *)find_tile(p, a, tx, ty) + y * a->tile_pitch;
			if (r + l < top || y >= (size_t)(Y->b - Y->a) + p->q.kh - 1)
				continue;
			add_row(from, first ? shared : span, to);
			if (first)
				memcpy(to + shared, from + shared, (span - shared) * sizeof *to);
			first = false;
		}
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

/* Folds the columns of a row of the item with its edges, then hands the row over or stores it in a->out. */
static void
give_line(const struct wconv_plan *p, const struct wconv_spread *a, size_t row, real *line)
{
	const struct wconv_axis *X = &p->x;
	const ptrdiff_t wide = X->hi + X->after - (X->lo - X->before);
	const ptrdiff_t left = X->have0 - (X->lo - X->before), right = left + (ptrdiff_t)p->q.w;

	fold_columns(X, line, 0, left, line + left);
	fold_columns(X, line, right, wide, line + left);
	if (a->after.row)
		a->after.row(a->after.with, row, line + left);
	else
		memcpy((real *)a->out + row * p->q.w, line + left, p->q.w * sizeof *line);
}

/* Finishes row r of the picture with its edges. It goes to a->picture if rows are to be folded with it. */
static void
finish_line(const struct wconv_plan *p, const struct wconv_spread *a, size_t r, real *line)
{
	const struct wconv_axis *Y = &p->y;
	const ptrdiff_t y = (ptrdiff_t)r + Y->lo - Y->before, row = y - Y->have0;

	if (wconv_edge(Y->edge, y, Y->n) < 0)
		return;
	if (y < 0 || y >= Y->n || a->folded[row])
		memcpy((real *)a->picture + r * a->pitch, line, a->pitch * sizeof *line);
	else
		give_line(p, a, (size_t)row, line);
}

/* Computes rows r .. r + rows - 1, LANES at most, of the picture with its edges. */
static void
collect(const struct wconv_plan *p, const struct wconv_spread *a, size_t r, size_t rows, void *at)
{
	const size_t only = p->direct ? SIZE_MAX : find_only(p, a, (ptrdiff_t)r);
	struct spread_work s;

	lay_out_spread(p, at, &s);
	for (size_t l = 0; l < rows; l++)
		memset(s.picture + l * s.wide, 0, (p->q.kw - 1) * sizeof *s.picture);
	for (size_t tx = 0; tx < p->x.ntile; tx++) {
		const struct wconv_tile *X = &p->x.tile[tx];
		const size_t span = (size_t)(X->b - X->a) + p->q.kw - 1;
		real *to = s.picture + (X->a - p->x.lo);
		const vec *from = s.w.blend;
		size_t stride = LANES * 2;
		if (p->direct) {
			sum_samples_of(p, a, &s, tx, r, rows, span, to);
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
		put_rows(p, &s, rows, span, to);
	}
	for (size_t l = 0; l < rows; l++)
		finish_line(p, a, r + l, s.picture + l * s.wide);
}

/* Computes row `row` of the result: sums all rows of the picture with its edges that are copies of it. */
static void
fold(const struct wconv_plan *p, const struct wconv_spread *a, size_t row, void *at)
{
	const struct wconv_axis *Y = &p->y;
	const ptrdiff_t oy = Y->lo - Y->before, y = Y->have0 + (ptrdiff_t)row;
	const ptrdiff_t high = Y->hi + Y->after - oy;
	real *sum = at;

	memcpy(sum, (const real *)a->picture + (size_t)(y - oy) * a->pitch, a->pitch * sizeof *sum);
	for (ptrdiff_t r = 0; r < high; r++) {
		if (r + oy >= 0 && r + oy < Y->n)
			r = Y->n - oy; /* skips the rows of the image itself */
		if (r < high && wconv_edge(Y->edge, r + oy, Y->n) == y)
			add_row((real *)a->picture + (size_t)r * a->pitch, a->pitch, sum);
	}
	give_line(p, a, row, sum);
}
