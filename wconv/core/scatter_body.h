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
	const struct blend all = {.n = rows, .to = to};
	BY_RADIX(f->radix[0], inverse_last, a, f->n, w, &all, false, NULL);
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
			const struct points f = {.before = p->q.kh - 1,
						 .first = w->blend +
							  (i * p->rows.blocks + block) * stride,
						 .head = rows,
						 .weight = w->y.weight + j * w->y.stride};
			if (wconv_kernel(p, fx, fy) == SIZE_MAX)
				continue;
			if (held) {
				multiply_conjugate(w->a, held, n, summed, w->b);
				summed = true;
			}
			BY_RADIX(p->columns.radix[0], forward_first, &f, true, w->a, n,
				 p->columns.twiddle);
			forward_passes(&p->columns, 1, w->a);
			held = (const vec *)find_kernel(p, fx, fy) + block * n * 2;
		}
	invert_sum(&p->columns, w->a, held, summed ? w->b : NULL, window, to);
}

/* The adjoint by direct sums: what a tile of results scatters into its window. */

/*
 * Between two nodes the weights of x are linear, and those of a basis are powers. So what a pixel s of the source gives to
 * the tap k columns away is a polynomial, which is expanded around the middle of the window:
 *
 *	sum_i w_i(s + k d) tap_i[k] = sum_e s^e c_e[k]
 *
 * The adjoint then gathers rows without weights, two c_e at each load, as convolve_near() does. Rows times the weights of
 * each function, gathered one after the other, took twice as long.
 */
struct expansion {
	size_t terms;
	/* s of the middle of the window of its first column; d */
	double middle, step;
	/* w_i = s^i, for a basis; else w_i is linear, from weight[i * stride] at s = 0 on to weight[i * stride + last] at 1 */
	bool powers;
	const real *weight;
	size_t stride, last;
};

/* Expands the weights of columns a .. a+n-1 of the tile. They are linear there, or powers. */
static struct expansion
expand(const struct wconv_plan *p, const struct work *w, const struct wconv_tile *X, ptrdiff_t a,
       size_t n)
{
	const double half = ((double)p->q.kw - 1) / 2, step = n > 1 ? 1 / ((double)n - 1) : 1;

	if (p->x.degree >= 0)
		return (struct expansion){w->x.n, ((double)a - half - p->x.zero) / p->x.scale,
					  1 / p->x.scale, .powers = true};
	return (struct expansion){
	    w->x.n > 1 ? 2 : 1,	   -half * step, step, .weight = w->x.weight + (a - X->a),
	    .stride = w->x.stride, .last = n - 1};
}

/* Returns how much function i's tap, k steps of s away, adds to term j. */
static double
portion(const struct expansion *e, size_t i, double k, size_t j)
{
	double v = 1;

	if (!e->powers) {
		const real *w = e->weight + i * e->stride;
		const double rise = (double)w[e->last] - (double)w[0];
		return j ? rise : (double)w[0] + rise * k;
	}
	if (i < j)
		return 0;
	for (size_t m = 0; m < i - j; m++) /* binomial of i over j, times k^(i-j) */
		v *= k * (double)(i - m) / (double)(m + 1);
	return v;
}

/* Makes the taps c_e of each function of y, [functions of y][terms][kh][kw], turned as windows need them. */
static void
expand_taps(const struct wconv_plan *p, const struct work *w, const struct expansion *e, real *to)
{
	const size_t kw = p->q.kw, kh = p->q.kh;

	memset(to, 0, w->y.n * e->terms * kh * kw * sizeof *to);
	for (size_t j = 0; j < w->y.n; j++)
		for (size_t i = 0; i < w->x.n; i++) {
			const size_t fx = w->x.first[i], fy = w->y.first[j];
			if (wconv_kernel(p, fx, fy) == SIZE_MAX)
				continue;
			for (size_t t = 0; t < e->terms * kw; t++) {
				const size_t k = t % kw, term = t / kw;
				const double away = (double)k - ((double)kw - 1) / 2;
				const real v = (real)portion(e, i, away * e->step, term);
				const real *tap = find_kernel(p, fx, fy) + kw - 1 - k;
				real *c = to + (j * e->terms + term) * kh * kw + k;
				for (size_t r = 0; r < kh; r++)
					c[r * kw] += v * tap[r * kw];
			}
		}
}

/*
 * Blends the taps of each row of the source. Row r of the window sees tap row t of row r - t of the source: they go to
 * s->taps, [rows of the window][terms][kh][kw], in the order of the source's rows.
 */
static void
blend_taps(const struct wconv_plan *p, struct spread_work *s, const struct expansion *e,
	   size_t rows)
{
	const struct work *w = &s->w;
	const size_t kw = p->q.kw, kh = p->q.kh, n = e->terms * kh * kw;

	for (size_t y = 0; y < rows; y++) {
		memset(s->turned, 0, n * sizeof *s->turned);
		for (size_t j = 0; j < w->y.n; j++) {
			const real v = w->y.weight[j * w->y.stride + y],
				   *from = s->expanded + j * n;
			for (size_t t = 0; v != 0 && t < n; t++)
				s->turned[t] += v * from[t];
		}
		for (size_t i = 0; i < e->terms * kh; i++) {
			const size_t t = i % kh;
			real *to = s->taps + (y + t) * n + (i - t + kh - 1 - t) * kw;
			for (size_t k = 0; k < kw; k++)
				to[k] = s->turned[i * kw + k];
		}
	}
}

/* Returns where the columns from a on, in which the weights of x are linear, end: at `end` or before. */
static ptrdiff_t
find_bend(const struct wconv_axis *x, const struct wconv_tile *X, ptrdiff_t a, ptrdiff_t end)
{
	for (size_t f = X->f0; x->degree < 0 && f < X->f0 + X->nf; f++)
		for (int side = 0; side < 2; side++) {
			const double at = __builtin_ceil((side ? x->right : x->left)[f]);
			if (at > (double)a && at < (double)end)
				end = (ptrdiff_t)at;
		}
	return end;
}

/* Scatters columns a .. end-1 of the tile, whose weights are linear, to their window. add: adds them to what is there. */
static void
spread_columns(const struct wconv_plan *p, struct spread_work *s, const struct source *f,
	       const struct wconv_tile *X, ptrdiff_t a, bool add, real *to, size_t pitch)
{
	const size_t kw = p->q.kw, kh = p->q.kh, span = f->n + kw - 1, window = f->rows + kh - 1;
	const struct expansion e = expand(p, &s->w, X, a, f->n);

	expand_taps(p, &s->w, &e, s->expanded);
	blend_taps(p, s, &e, f->rows);
	for (size_t x = 0; x < span; x++) {
		double power = 1;
		for (size_t j = 0; j < e.terms; j++, power *= e.middle + (double)x * e.step)
			s->places[j * s->pitch + x] = (real)power;
	}
	for (size_t y = 0; y < f->rows; y++) {
		weigh_row(f, y, NULL, kw - 1, s->pitch - f->n - (kw - 1), s->row + y * s->pitch);
		s->seen[y] = s->row + y * s->pitch;
	}
	for (size_t r = 0; r < window; r++) {
		const size_t first = r + 1 > kh ? r + 1 - kh : 0,
			     last = r < f->rows ? r : f->rows - 1;
		const struct row_taps t = {
		    e.terms, kh * kw, s->pitch,
		    s->taps + r * e.terms * kh * kw + (first + kh - 1 - r) * kw, s->places};
		real *out = add ? s->line : to + r * pitch;
		sum_row(s->seen + first, last - first + 1, kw, span, &t, out);
		for (size_t x = 0; add && x < span; x++)
			to[r * pitch + x] += out[x];
	}
}

/* Scatters a tile along a kernel that is a product: its rows, with zeros around them, are convolved with the turned kernel. */
static void
spread_product(const struct wconv_plan *p, struct spread_work *s, const struct source *f, real *to,
	       size_t pitch)
{
	const size_t kw = p->q.kw, kh = p->q.kh, window = f->rows + kh - 1;

	memset(s->zeros, 0, s->pitch * sizeof *s->zeros);
	for (size_t r = 0; r < window + kh - 1; r++)
		s->seen[r] = s->zeros;
	for (size_t y = 0; y < f->rows; y++) {
		weigh_row(f, y, NULL, kw - 1, s->pitch - f->n - (kw - 1), s->row + y * s->pitch);
		s->seen[kh - 1 + y] = s->row + y * s->pitch;
	}
	convolve_product(p, &s->w, true, s->seen, window, f->n + kw - 1, to, pitch);
}

static void
spread_near(const struct wconv_plan *p, struct spread_work *s, const struct source *f,
	    const struct wconv_tile *X, real *to, size_t pitch)
{
	ptrdiff_t bend;

	if (p->product) {
		spread_product(p, s, f, to, pitch);
		return;
	}
	for (ptrdiff_t a = X->a; a < X->b; a = bend) {
		struct source part = *f;
		bend = find_bend(&p->x, X, a, X->b);
		part.in += a - X->a;
		part.gain = f->gain ? f->gain + (a - X->a) : NULL;
		part.n = (size_t)(bend - a);
		if (a > X->a) /* the part before has left nothing beyond its own window */
			for (size_t r = 0; r < f->rows + p->q.kh - 1; r++)
				memset(to + r * pitch + (a - X->a) + p->q.kw - 1, 0,
				       part.n * sizeof *to);
		spread_columns(p, s, &part, X, a, a > X->a, to + (a - X->a), pitch);
	}
}

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
	real *to = find_tile(p, a, tx, ty);
	struct spread_work s;

	lay_out_spread(p, at, &s);
	prepare(p, tx, ty, at, &s.w);
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
