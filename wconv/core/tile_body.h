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
	real *lines;	       /* [LINES][line_pitch]: see product_body.h */
	const real **window;   /* rows of a tile's window */
	real *unknown;	       /* 1 at the unknown pixels of the window, else 0 */
	vec *spectra;	       /* the transforms of unknown */
	real *lost;	       /* the convolution of unknown */
	unsigned char *seen;   /* one row: enum wconv_mask in the window of each result */
	double *local;	       /* one row: sums of the local kernels */
	size_t unknown_pitch, lost_pitch, spectra_depth, line_pitch;
};

/* The transforms of a window's rows, in a ring. */
struct spectra {
	const vec *block;    /* [blocks][depth][2] */
	const real *mean;    /* [depth]: the means subtracted from the rows; NULL: none were */
	size_t depth, first; /* rows in the ring; which of them is the window's first */
};

INLINE size_t
round_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

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

	if (along->degree >= 0)
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

	const struct points window = {ring + 2 * s->first, ring, head, n};

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

/* Returns the factors of the kernel as windows see it, or turned by half a turn, and where rows of results go. */
INLINE struct product
find_product(const struct wconv_plan *p, const struct work *w, bool turned, real *out, size_t pitch)
{
	const size_t kh = p->q.kh, kw = p->q.kw;
	const real *tap = (const real *)p->factors + (turned ? kh + kw : 0);

	return (struct product){
	    find_factor(tap, kh), find_factor(tap + kh, kw), w->lines, w->line_pitch, out, pitch};
}

static void
convolve_near(const struct wconv_plan *p, struct work *w, size_t rows, size_t n, real *out,
	      size_t pitch)
{
	const size_t taps = p->q.kh * p->q.kw;
	const struct row_taps t = {w->x.n, taps, w->x.stride, w->taps, w->x.weight};

	if (p->product) {
		const struct product f = find_product(p, w, false, out, pitch);
		convolve_product(&f, w->window, rows, n);
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
