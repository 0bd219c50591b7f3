/*
 * One tile of results, by either method.
 *
 * Bilinear weights separate, w = wy(y) wx(x), and so does the inverse transform. The spectrum of a tile is processed in
 * blocks of LANES columns, each of which fits the first-level cache:
 *
 *	forward along y                                  (the rows' transforms were made once for all tiles above and below)
 *	for each function of x, for each function of y:
 *		product with the kernel's spectrum, inverse along y, times wy, summed
 *
 * Then, for LANES rows at a time and for each function of x: inverse along x, times wx, summed. Only the rows and columns
 * of a tile that are results go through this second half. With four kernels per tile there are 1 + 4 column transforms
 * and 1 + 2 row transforms, against 12 two-dimensional ones in the paper.
 *
 * The error of a transform is relative to its largest samples: on a bright sky, faint objects would lose their last
 * digits. Therefore the mean of each row of a tile's window is subtracted and convolved apart, along y, with the sums of
 * the kernels' rows, in double. This halves the error for noise in 0..1 and is 1 % of the work.
 */

/* Groups of adjacent functions that use the same kernels all over the tile; the weights of a group are summed. */
struct groups {
	size_t n;
	size_t *first; /* the first function of each group */
	real *weight;  /* [n][stride] */
	size_t stride;
};

/* One thread's work space. */
struct work {
	vec *a, *b;	  /* one block of columns: image, product */
	vec *blend;	  /* [functions of x][blocks][rows][2] */
	vec *line, *sum;  /* LANES rows of samples */
	vec *coefficient; /* the transforms of line */
	struct groups x, y;
	real *level;	       /* [functions of x][rows]: results of the rows' means */
	double *mean, *column; /* means of the window's rows; their convolution along y */
	real *taps;	       /* [functions of x][kh][kw] */
	real *lines;	       /* [LINES][line_pitch]: see core_simd.c */
	const real **window;   /* rows of a tile's window */
	real *unknown;	       /* 1 at the unknown pixels of the window, else 0 */
	vec *spectra;	       /* the transforms of unknown */
	real *lost;	       /* the convolution of unknown */
	unsigned char *seen;   /* one row: enum wconv_mask in the window of each result */
	double *local;	       /* one row: sums of the local kernels */
	real *result;	       /* rows of a tile, before they are converted */
	size_t unknown_pitch, lost_pitch, spectra_depth, line_pitch;
};

/* The transforms of a window's rows, in a ring. */
struct spectra {
	const vec *block;    /* [blocks][depth][2] */
	const real *mean;    /* [depth]: the means subtracted from the rows; NULL: none were */
	size_t depth, first; /* rows in the ring; which of them is the window's first */
};

/* Returns the next n * size bytes of the scratch. With base NULL it only counts them in *used. */
static void *
carve(char *base, size_t *used, size_t n, size_t size)
{
	const size_t at = *used;

	*used += round_up(n * size, 64);
	return base ? base + at : NULL;
}

/* Lays w out in the scratch at `at`, and returns its length in bytes. With at NULL it only counts. */
static size_t
lay_out(const struct wconv_plan *p, char *at, struct work *w)
{
	const size_t window = p->y.longest + p->q.kh - 1, rows = round_up(p->y.longest, LANES);
	const bool fft = !p->direct;
	const bool fill = p->q.nan == WCONV_NAN_INTERPOLATE || p->q.edge == WCONV_RENORMALISE;
	size_t n = 0;

	w->x.stride = round_up(p->x.longest, NEAR * LANES);
	w->y.stride = p->y.longest;
	w->unknown_pitch = round_up(p->x.longest + p->q.kw - 1 + (NEAR + 1) * LANES, LANES);
	w->lost_pitch = round_up(p->x.longest, LANES);
	w->spectra_depth = round_up(window, LANES);
	/* the adjoint's lines are as long as a window */
	w->line_pitch = line_length(p->x.longest + p->q.kw - 1, p->q.kw);
	/* the first one: it is the same in the plan of variances */
	w->result = carve(at, &n, p->converts ? p->y.longest * p->x.longest : 0, sizeof(real));
	w->a = carve(at, &n, fft ? 2 * p->columns.n : 0, sizeof(vec));
	w->b = carve(at, &n, fft ? 2 * p->columns.n : 0, sizeof(vec));
	w->blend = carve(at, &n, fft ? p->x.most * p->rows.blocks * rows * 2 : 0, sizeof(vec));
	w->line = carve(at, &n, fft ? p->rows.n + LANES : 0, sizeof(vec));
	w->sum = carve(at, &n, fft ? p->rows.n + LANES : 0, sizeof(vec));
	w->coefficient = carve(at, &n, fft ? 2 * p->rows.blocks * LANES : 0, sizeof(vec));
	w->level = carve(at, &n, fft ? p->x.most * rows : 0, sizeof(real));
	w->mean = carve(at, &n, fft ? window : 0, sizeof(double));
	w->column = carve(at, &n, fft ? rows : 0, sizeof(double));
	w->x.first = carve(at, &n, p->x.most, sizeof *w->x.first);
	w->y.first = carve(at, &n, p->y.most, sizeof *w->y.first);
	w->x.weight = carve(at, &n, p->x.most * w->x.stride, sizeof(real));
	w->y.weight = carve(at, &n, p->y.most * w->y.stride, sizeof(real));
	w->taps =
	    carve(at, &n, fft ? LANES * round_up(p->q.kw, LANES) : p->x.most * p->q.kh * p->q.kw,
		  sizeof(real));
	w->lines = carve(at, &n, p->product ? LINES * w->line_pitch : 0, sizeof(real));
	w->window = carve(at, &n, window + LANES, sizeof *w->window);
	w->unknown = carve(at, &n, fill ? window * w->unknown_pitch : 0, sizeof(real));
	w->spectra =
	    carve(at, &n, fill && fft ? p->rows.blocks * w->spectra_depth * 2 : 0, sizeof(vec));
	w->lost = carve(at, &n, fill ? p->y.longest * w->lost_pitch : 0, sizeof(real));
	w->local = carve(at, &n, wconv_divides(&p->q) ? p->x.longest : 0, sizeof(double));
	w->seen = carve(at, &n, p->x.longest + p->q.kw, 1);
	return n;
}

static size_t
scratch(const struct wconv_plan *p, void *at)
{
	struct work w;

	return lay_out(p, at, &w);
}

/* --- weights ------------------------------------------------------------------------------------------------------- */

/* Whether function f of `along` uses the same kernels as function f - 1, for all functions of the other axis in t. */
static bool
like_before(const struct wconv_plan *p, const struct wconv_axis *along, size_t f,
	    const struct wconv_axis *other, const struct wconv_tile *t)
{
	const bool in_x = along == &p->x;

	if (along->degree >= 0 || p->plain)
		return false;
	for (size_t g = t->f0; g < t->f0 + t->nf; g++) {
		const size_t i = along->node[f] - 1, j = other->node[g];
		const size_t k = in_x ? j * p->q.gx + i : i * p->q.gx + j;
		if (!(in_x ? p->like_right : p->like_below)[k])
			return false;
	}
	return true;
}

static void
weigh(const struct wconv_plan *p, const struct wconv_axis *along, const struct wconv_tile *t,
      const struct wconv_axis *other, const struct wconv_tile *u, double scale, struct groups *g)
{
	const size_t n = (size_t)(t->b - t->a);

	g->n = 0;
	for (size_t f = t->f0; f < t->f0 + t->nf; f++) {
		if (f == t->f0 || !like_before(p, along, f, other, u)) {
			memset(g->weight + g->n * g->stride, 0, g->stride * sizeof(real));
			g->first[g->n++] = f;
		}
		real *w = g->weight + (g->n - 1) * g->stride;
		if (along->nfun == 1 && along->degree < 1) /* one kernel: its weight is 1 */
			for (size_t i = 0; i < n; i++)
				w[i] = (real)scale;
		else
			for (size_t i = 0; i < n; i++)
				w[i] += (real)(scale * wconv_weight(along, f, t->a + (ptrdiff_t)i));
	}
}

/* --- by transforms ------------------------------------------------------------------------------------------------- */

/* Returns the spectrum, or the samples, of the kernel of a pair of functions. */
INLINE real *
find_kernel(const struct wconv_plan *p, size_t fx, size_t fy)
{
	return (real *)p->kernel + (fy % p->slots * p->x.nfun + fx) * p->kernel_samples;
}

/* Returns the transforms of tile column tx, as rows() leaves them. */
INLINE vec *
find_spectra(const struct wconv_plan *p, size_t plane, size_t tx)
{
	return (vec *)p->spectra +
	       (plane * p->x.ntile + tx) * p->rows.blocks * p->spectra_depth * 2;
}

INLINE real *
find_means(const struct wconv_plan *p, size_t plane, size_t tx)
{
	return (real *)p->mean + (plane * p->x.ntile + tx) * p->spectra_depth;
}

/*
 * Returns the kernel's block that convolve_block() needs after the block of pair (i,j) of groups. After the last block
 * that is the first one of the tile to the right.
 */
INLINE const vec *
next_kernel(const struct wconv_plan *p, const struct work *w, size_t block, size_t i, size_t j)
{
	if (++j == w->y.n) {
		j = 0;
		if (++i == w->x.n) {
			i = 0;
			block++;
		}
	}
	if (block == p->rows.blocks) {
		block = 0;
		i = w->x.n - 1;
	}
	return (const vec *)find_kernel(p, w->x.first[i], w->y.first[j]) + block * p->columns.n * 2;
}

/* Takes one block of columns through every kernel of the tile, to w->blend. */
static void
convolve_block(const struct wconv_plan *p, struct work *w, const struct spectra *s, size_t block,
	       size_t rows)
{
	const vec *ring = s->block + block * s->depth * 2;
	const size_t n = rows + p->q.kh - 1, stride = round_up(p->y.longest, LANES) * 2;
	const size_t head = s->first + n <= s->depth ? n : s->depth - s->first;

	const struct points window = {0, head, n, ring + 2 * s->first, ring, NULL};

	fft_forward_from(&p->columns, &window, w->a);
	for (size_t i = 0; i < w->x.n; i++)
		for (size_t j = 0; j < w->y.n; j++) {
			const size_t fx = w->x.first[i], fy = w->y.first[j];
			if (wconv_kernel(p, fx, fy) == SIZE_MAX)
				continue;
			const vec *k =
			    (const vec *)find_kernel(p, fx, fy) + block * p->columns.n * 2;
			const struct blend o = {p->q.kh - 1, rows, w->y.weight + j * w->y.stride,
						j > 0,
						w->blend + (i * p->rows.blocks + block) * stride};
			fft_inverse_product(&p->columns, w->a, k, next_kernel(p, w, block, i, j),
					    w->b, &o);
		}
}

/* Returns the sums of the rows of the kernel of a pair of functions, in the order of the window. */
INLINE double *
find_row_sums(const struct wconv_plan *p, size_t fx, size_t fy)
{
	return p->row_sums + (fy % p->slots * p->x.nfun + fx) * p->q.kh;
}

/* w->column[y] = sum_t sums[t] w->mean[y + t] */
static void
convolve_means(const double *restrict sums, const double *restrict mean, size_t kh, size_t rows,
	       double *restrict column)
{
	memset(column, 0, rows * sizeof *column);
	for (size_t t = 0; t < kh; t++)
		for (size_t y = 0; y < rows; y++)
			column[y] += sums[t] * mean[y + t];
}

/* Fills in w->level. It is 0 if no means were subtracted. */
static void
find_levels(const struct wconv_plan *p, struct work *w, const struct spectra *s, size_t rows)
{
	const size_t stride = round_up(p->y.longest, LANES);
	/* the scale in which the transforms leave results */
	const double scale = 4 * (double)p->rows.n * (double)p->columns.n;

	memset(w->level, 0, w->x.n * stride * sizeof *w->level);
	for (size_t r = 0; s->mean && r < rows + p->q.kh - 1; r++)
		w->mean[r] = (double)s->mean[(s->first + r) % s->depth];
	for (size_t i = 0; s->mean && i < w->x.n; i++)
		for (size_t j = 0; j < w->y.n; j++) {
			const size_t fx = w->x.first[i], fy = w->y.first[j];
			if (wconv_kernel(p, fx, fy) == SIZE_MAX)
				continue;
			convolve_means(find_row_sums(p, fx, fy), w->mean, p->q.kh, rows, w->column);
			for (size_t y = 0; y < rows; y++)
				w->level[i * stride + y] +=
				    (real)(scale * (double)w->y.weight[j * w->y.stride + y] *
					   w->column[y]);
		}
}

/* Makes LANES rows of n results from the blended columns, and stores the first `rows` of them. */
static void
restore_results(const struct wconv_plan *p, struct work *w, size_t y, size_t rows, size_t n,
		real *out, size_t pitch)
{
	const size_t stride = round_up(p->y.longest, LANES) * 2;

	for (size_t i = 0; i < w->x.n; i++) {
		const real *weight = w->x.weight + i * w->x.stride;
		const vec *v = w->line + p->q.kw - 1,
			  level = *(const vec *)(w->level + i * stride / 2 + y);
		restore_rows(&p->rows, w->blend + i * p->rows.blocks * stride + 2 * y, stride,
			     w->coefficient, w->line);
		for (size_t x = 0; x < n; x++)
			w->sum[x] =
			    i ? w->sum[x] + weight[x] * (v[x] + level) : weight[x] * (v[x] + level);
	}
	scatter_rows(w->sum, rows, n, out, pitch);
}

static void
convolve_fft(const struct wconv_plan *p, struct work *w, const struct spectra *s, size_t rows,
	     size_t n, real *out, size_t pitch)
{
	find_levels(p, w, s, rows);
	for (size_t b = 0; b < p->rows.blocks; b++)
		convolve_block(p, w, s, b, rows);
	for (size_t y = 0; y < rows; y += LANES)
		restore_results(p, w, y, rows - y < LANES ? rows - y : LANES, n, out + y * pitch,
				pitch);
}

/* --- by direct sums ------------------------------------------------------------------------------------------------ */

/* Convolves rows of n results with the kernel's column and row, as windows see them, or turned by half a turn. */
static void
convolve_product(const struct wconv_plan *p, const struct work *w, bool turned,
		 const real *const *window, size_t rows, size_t n, real *out, size_t pitch)
{
	const size_t kh = p->q.kh, kw = p->q.kw, down = (kh + FEW - 1) / FEW,
		     across = (kw + FEW - 1) / FEW;
	const real *tap = (const real *)p->factors + (turned ? kh + kw : 0);
	const struct product f = {{DOWN, tap, kh, (kh + down - 1) / down},
				  {ACROSS, tap + kh, kw, (kw + across - 1) / across},
				  w->lines,
				  w->line_pitch,
				  out,
				  pitch};

	convolve_rows(&f, window, rows, n);
}

static void
convolve_near(const struct wconv_plan *p, struct work *w, size_t rows, size_t n, real *out,
	      size_t pitch)
{
	const size_t taps = p->q.kh * p->q.kw;
	const struct row_taps t = {w->x.n, taps, w->x.stride, w->taps, w->x.weight};

	if (p->product) {
		convolve_product(p, w, false, w->window, rows, n, out, pitch);
		return;
	}
	if (wconv_is_small(p)) {
		convolve_small(find_kernel(p, 0, 0), p->q.kw, w->window, rows, n, out, pitch);
		return;
	}
	for (size_t y = 0; y < rows; y++) {
		for (size_t i = 0; i < w->x.n; i++) {
			real *to = w->taps + i * taps;
			memset(to, 0, taps * sizeof *to);
			for (size_t j = 0; j < w->y.n; j++) {
				const size_t fx = w->x.first[i], fy = w->y.first[j];
				const real *from = find_kernel(p, fx, fy),
					   v = w->y.weight[j * w->y.stride + y];
				if (v != 0 && wconv_kernel(p, fx, fy) != SIZE_MAX)
					for (size_t k = 0; k < taps; k++)
						to[k] += v * from[k];
			}
		}
		sum_row(w->window + y, p->q.kh, p->q.kw, n, &t, out + y * pitch);
	}
}

/* Unknown pixels: finds the results whose windows have them, and corrects those results. */

/* Returns the OR of all masks of the n x rows pixels from (x,y) on; x counts from the first window. */
static unsigned
masks_in(const struct wconv_plan *p, size_t plane, size_t x, ptrdiff_t y, size_t n, size_t rows)
{
	unsigned all = 0;

	for (size_t r = 0; r < rows; r++) {
		const struct row row = find_row(p, plane, y + (ptrdiff_t)r);
		for (size_t i = 0; row.flags && i < n; i++)
			all |= row.mask[x + i];
	}
	return all;
}

/* Fills in w->seen: for each of the n results of row y from x on, the OR of the masks in its window. */
static void
see_masks(const struct wconv_plan *p, struct work *w, size_t plane, size_t x, ptrdiff_t y, size_t n)
{
	const size_t span = n + p->q.kw - 1;

	memset(w->seen, 0, span);
	for (size_t r = 0; r < p->q.kh; r++) {
		const struct row row = find_row(p, plane, y - p->y.before + (ptrdiff_t)r);
		for (size_t i = 0; row.flags && i < span; i++)
			w->seen[i] |= row.mask[x + i];
	}
	for (unsigned bit = WCONV_UNKNOWN; bit <= WCONV_POISON; bit <<= 1) {
		size_t last = span; /* distance to the last masked pixel */
		for (size_t i = span; i-- > 0;) {
			last = w->seen[i] & bit ? 0 : last + 1;
			w->seen[i] =
			    (unsigned char)((w->seen[i] & ~bit) | (last < p->q.kw ? bit : 0));
		}
	}
}

/* Computes the sum of the local kernel, and of its absolute values, at the result (x,y) of the tile. */
static void
sum_kernels(const struct wconv_plan *p, const struct wconv_tile *X, const struct wconv_tile *Y,
	    ptrdiff_t x, ptrdiff_t y, double *sum, double *weight)
{
	*sum = *weight = 0;
	for (size_t fy = Y->f0; fy < Y->f0 + Y->nf; fy++)
		for (size_t fx = X->f0; fx < X->f0 + X->nf; fx++) {
			const size_t k = wconv_kernel(p, fx, fy);
			if (k == SIZE_MAX)
				continue;
			const double v = wconv_weight(&p->x, fx, x) * wconv_weight(&p->y, fy, y);
			*sum += v * p->sum[k];
			*weight += (v < 0 ? -v : v) * p->weight[k];
		}
}

/* w->lost = (the unknown pixels of p as ones) * K, the kernels being those of plan k */
static void
convolve_unknown(const struct wconv_plan *p, const struct wconv_plan *k, struct work *w,
		 size_t plane, const struct wconv_tile *X, ptrdiff_t y0, size_t rows)
{
	const size_t n = (size_t)(X->b - X->a), x = (size_t)(X->a - p->x.lo);
	const size_t span = n + p->q.kw - 1, window = rows + p->q.kh - 1;

	for (size_t r = 0; r < window; r++) {
		const struct row row = find_row(p, plane, y0 + (ptrdiff_t)r);
		real *to = w->unknown + r * w->unknown_pitch;
		for (size_t i = 0; i < span; i++)
			to[i] = row.flags && row.mask[x + i] & WCONV_UNKNOWN ? 1 : 0;
		w->window[r] = to;
	}
	if (k->direct) {
		convolve_near(k, w, rows, n, w->lost, w->lost_pitch);
		return;
	}
	for (size_t r = window; r < round_up(window, LANES); r++)
		w->window[r] = p->outside; /* after the last row of the window: no result uses it */
	for (size_t r = 0; r < window; r += LANES)
		transform_rows(&k->rows, w->window + r, span, w->line, w->coefficient,
			       w->spectra + 2 * r, w->spectra_depth * 2, NULL);
	const struct spectra s = {w->spectra, NULL, w->spectra_depth, 0};
	convolve_fft(k, w, &s, rows, n, w->lost, w->lost_pitch);
}

/* Corrects the results whose windows have unknown pixels, or makes them NaN. k: p, or p->plain for variances; w is laid out for k. */
static void
mend(const struct wconv_plan *p, const struct wconv_plan *k, struct work *w, size_t plane,
     const struct wconv_tile *X, const struct wconv_tile *Y, unsigned masks, real *out,
     size_t pitch)
{
	const size_t n = (size_t)(X->b - X->a), rows = (size_t)(Y->b - Y->a);

	if (masks & WCONV_UNKNOWN)
		convolve_unknown(p, k, w, plane, X, Y->a - p->y.before, rows);
	for (size_t y = 0; y < rows; y++) {
		see_masks(p, w, plane, (size_t)(X->a - p->x.lo), Y->a + (ptrdiff_t)y, n);
		for (size_t x = 0; x < n; x++) {
			real *f = out + y * pitch + x;
			double sum, weight, known;
			if (w->seen[x] & WCONV_UNKNOWN) {
				sum_kernels(k, X, Y, X->a + (ptrdiff_t)x, Y->a + (ptrdiff_t)y, &sum,
					    &weight);
				known = sum - (double)w->lost[y * w->lost_pitch + x];
				*f = known > WCONV_KNOWN * weight || -known > WCONV_KNOWN * weight
					 ? (real)((double)*f * sum / known *
						  (k == p ? 1 : sum / known))
					 : (real)__builtin_nan("");
			}
			if (w->seen[x] & WCONV_POISON)
				*f = (real)__builtin_nan("");
		}
	}
}

/* The tasks that the plan divides among threads: kernels, rows, tiles. */

/* Copies row j of kernel k, scaled; with correlate, of the kernel turned by half a turn. */
static void
take_kernel_row(const struct wconv_plan *p, size_t k, size_t j, real *to)
{
	const struct wconv_problem *q = &p->q;
	const size_t row = q->correlate ? q->kh - 1 - j : j;
	const real *from = (const real *)q->kernels + k % q->gx * q->step_x +
			   k / q->gx * q->step_y + row * q->step_row;

	for (size_t i = 0; i < q->kw; i++)
		to[i] = (real)(p->scale[k] * (double)from[q->correlate ? q->kw - 1 - i : i]);
}

/* Sums x[0..n) in 16 partial sums, which the compiler vectorises. */
static double
sum_samples(const real *x, size_t n)
{
	double part[16] = {0}, sum = 0;
	size_t i = 0;

	for (; i + 16 <= n; i += 16)
		for (size_t k = 0; k < 16; k++)
			part[k] += (double)x[i + k];
	for (size_t k = 0; k < 16; k++)
		sum += part[k];
	for (; i < n; i++)
		sum += (double)x[i];
	return sum;
}

static void
transform_kernel(const struct wconv_plan *p, size_t k, struct work *w, vec *to, double *row_sum)
{
	const size_t pitch = round_up(p->q.kw, LANES), n = p->columns.n, kh = p->q.kh;

	for (size_t i = 0; i < LANES; i++)
		w->window[i] = w->taps + i * pitch;
	for (size_t j = 0; j < kh; j += LANES) {
		for (size_t i = 0; i < LANES; i++)
			if (j + i < kh) {
				take_kernel_row(p, k, j + i, w->taps + i * pitch);
				row_sum[kh - 1 - j - i] = sum_samples(w->taps + i * pitch, p->q.kw);
			} else {
				memset(w->taps + i * pitch, 0, pitch * sizeof(real));
			}
		transform_rows(&p->rows, w->window, p->q.kw, w->line, w->coefficient, to + 2 * j,
			       2 * n, NULL);
	}
	for (size_t b = 0; b < p->rows.blocks; b++) {
		const struct points rows = {.head = kh, .first = to + 2 * b * n};
		fft_forward_from(&p->columns, &rows, to + 2 * b * n);
	}
}

/* Fills the slot of the kernel of (fx,fy): with its spectrum, or with its samples in the order of the window. */
static void
kernel(const struct wconv_plan *p, size_t fx, size_t fy, void *at)
{
	const size_t k = wconv_kernel(p, fx, fy), kw = p->q.kw, kh = p->q.kh;
	real *to = find_kernel(p, fx, fy);
	struct work w;

	if (k == SIZE_MAX || p->product)
		return;
	lay_out(p, at, &w);
	if (!p->direct) {
		transform_kernel(p, k, &w, (vec *)to, find_row_sums(p, fx, fy));
		return;
	}
	for (size_t j = 0; j < kh; j++) {
		take_kernel_row(p, k, j, w.taps);
		for (size_t i = 0; i < kw; i++)
			to[(kh - 1 - j) * kw + kw - 1 - i] = w.taps[i];
	}
}

/* Transforms group `group` of LANES rows, in the columns of tile tx. Rows count from the first row of the first window. */
static void
rows(const struct wconv_plan *p, size_t plane, size_t tx, size_t group, void *at)
{
	const struct wconv_tile *X = &p->x.tile[tx];
	const size_t n = (size_t)(X->b - X->a) + p->q.kw - 1, first = group * LANES;
	const ptrdiff_t y0 = p->y.lo - p->y.before, end = p->y.hi + p->y.after;
	struct work w;

	lay_out(p, at, &w);
	for (size_t i = 0; i < LANES; i++) {
		const ptrdiff_t y = y0 + (ptrdiff_t)(first + i);
		w.window[i] = (y < end ? find_row(p, plane, y).sample : (const real *)p->outside) +
			      (X->a - p->x.lo);
	}
	transform_rows(&p->rows, w.window, n, w.line, w.coefficient,
		       find_spectra(p, plane, tx) + 2 * (first % p->spectra_depth),
		       p->spectra_depth * 2,
		       (vec *)(find_means(p, plane, tx) + first % p->spectra_depth));
}

/* Lays w out for tile (tx,ty) of p, and finds the weights of its functions. */
static void
prepare(const struct wconv_plan *p, size_t tx, size_t ty, void *at, struct work *w)
{
	const struct wconv_tile *X = &p->x.tile[tx], *Y = &p->y.tile[ty];
	const double scale = p->direct ? 1 : .25 / ((double)p->rows.n * (double)p->columns.n);

	lay_out(p, at, w);
	weigh(p, &p->x, X, &p->y, Y, scale, &w->x);
	weigh(p, &p->y, Y, &p->x, X, 1, &w->y);
}

/* Computes the results again whose windows reach beyond the ends of rows: there, rows that lie in place have pixels of other rows. */
static void
mend_ends(const struct wconv_plan *p, struct work *w, const struct wconv_tile *X,
	  const struct wconv_tile *Y, real *out, size_t pitch)
{
	const ptrdiff_t in0 = p->x.have0 + p->x.before, in1 = p->x.have1 - p->x.after;
	const ptrdiff_t from[] = {X->a, X->a > in1 ? X->a : in1},
			to[] = {X->b < in0 ? X->b : in0, X->b};
	const size_t rows = (size_t)(Y->b - Y->a);

	for (int e = 0; e < 2; e++) {
		for (size_t r = 0; from[e] < to[e] && r < rows + p->q.kh - 1; r++)
			w->window[r] = find_row(p, 0, Y->a - p->y.before + (ptrdiff_t)r).kept +
				       (from[e] - p->x.lo);
		if (from[e] < to[e])
			convolve_near(p, w, rows, (size_t)(to[e] - from[e]), out + (from[e] - X->a),
				      pitch);
	}
}

/* Computes tile (tx,ty) of a plane of the step's results. Where it can, it converts a few rows at a time, which the cache holds. */
static void
tile(const struct wconv_plan *p, size_t plane, size_t tx, size_t ty, void *at)
{
	const struct wconv_tile *X = &p->x.tile[tx], *Y = &p->y.tile[ty];
	const size_t n = (size_t)(X->b - X->a), height = (size_t)(Y->b - Y->a);
	const size_t x = (size_t)(X->a - p->x.lo), y = (size_t)(Y->a - p->y.lo);
	const struct wconv_plan *k = p->plain ? p->plain : p;
	const size_t top = (size_t)(Y->a - p->y.tile[p->band[p->now].tile0].a);
	const size_t pitch = p->converts ? p->x.longest : p->result_pitch;
	const unsigned masks =
	    masks_in(p, plane, x, Y->a - p->y.before, n + p->q.kw - 1, height + p->q.kh - 1);
	const bool whole = !p->direct || masks || p->plain || wconv_divides(&p->q) ||
			   !(p->product || wconv_is_small(p));
	const size_t lot = (p->converts || p->in) && !whole ? LINES : height;
	struct work w;

	prepare(p, tx, ty, at, &w);
	const real **const window = w.window;
	real *const first = p->converts ? w.result : (real *)p->out + top * pitch + x;
	for (size_t r = 0; p->direct && r < height + p->q.kh - 1; r++)
		window[r] = find_row(p, plane, Y->a - p->y.before + (ptrdiff_t)r).sample + x;
	for (size_t r = 0; r < height; r += lot) {
		const size_t rows = height - r < lot ? height - r : lot;
		real *const out = p->converts ? first : first + r * pitch;
		w.window = window + r;
		if (p->direct) {
			convolve_near(p, &w, rows, n, out, pitch);
		} else {
			const struct spectra s = {find_spectra(p, plane, tx),
						  find_means(p, plane, tx), p->spectra_depth,
						  y % p->spectra_depth};
			convolve_fft(p, &w, &s, rows, n, out, pitch);
		}
		if (p->plain)
			prepare(k, tx, ty, at, &w);
		if (masks)
			mend(p, k, &w, plane, &k->x.tile[tx], &k->y.tile[ty], masks, out, pitch);
		for (size_t i = 0; i < rows; i++) {
			real *const row = out + i * pitch;
			if (p->in && (masks || !all_finite(row, n, 1)))
				__atomic_store_n(p->odd, true, __ATOMIC_RELAXED);
			if (wconv_divides(&k->q))
				wconv_local_sums(k, k->sum, X->a, Y->a + (ptrdiff_t)(r + i), n,
						 w.local);
			for (size_t j = 0; wconv_divides(&k->q) && j < n; j++)
				row[j] = (real)((double)row[j] / w.local[j] /
						(p->plain ? w.local[j] : 1));
			for (size_t j = 0; p->plain && j < n;
			     j++) /* rounding takes no variance below 0 */
				row[j] = row[j] < 0 ? 0 : row[j];
			const size_t to =
			    ((top + r + i) * p->result_pitch + x) * p->q.planes + plane;
			if (p->converts)
				give_samples(row, n, p->q.planes, p->q.out, p->q.top,
					     (char *)p->out + to * img_type_size(p->q.out));
		}
	}
	w.window = window;
	if (p->in)
		mend_ends(p, &w, X, Y, first, pitch);
}
