/* The loops of tile.h. */

/* The most registers that shifted complex taps take. */
#define MAXV ((WINDOW_MAXW + LANES - 1) / (LANES / 2))

/* One point: its window per axis, and where its first tap lies in the accumulator. */
struct point {
	vec x[MAXV]; /* taps along x, each twice (re, im) */
	real y[2 * WINDOW_MAXW] __attribute__((aligned(64)));
	real z[2 * WINDOW_MAXW] __attribute__((aligned(64)));
	size_t at; /* reals */
};

/* Splits the places of a record into cells inside the tile, and offsets f inside the cell, in -1..1. */
INLINE void
split(const char *record, bool wide, int bits, int dim, int *cell, real *f)
{
	const int32_t one = (int32_t)1 << tile_bits(dim, false);
	const int64_t wide_one = (int64_t)1 << bits;

	for (int a = 0; a < dim; a++)
		if ((dim == 1 || sizeof(real) == sizeof(double)) && wide) {
			const int64_t place = ((const int64_t *)record)[a];
			cell[a] = (int)(place >> bits);
			f[a] = (real)(place & (wide_one - 1)) * (real)(2.0 / (double)wide_one) - 1;
		} else {
			const int32_t place = ((const int32_t *)record)[a];
			cell[a] = place >> tile_bits(dim, false);
			f[a] = (real)(place & (one - 1)) * (real)(2.0 / (double)one) - 1;
		}
}

/*
 * Evaluates the polynomials of all axes in one loop. Their chains of operations are independent; each alone would wait for
 * the latency of its operations.
 */
INLINE void
taps(const struct tile_window *win, int dim, int w, bool aligned, const char *record, bool wide,
     int bits, struct point *pt)
{
	const int group = LANES / 2, stored = (w + group - 1 + LANES - 1) / LANES;
	const int ny = (w + LANES - 1) / LANES, nx = aligned ? stored : ny;
	const int nv = aligned ? tile_vecs(w, LANES) : (w + group - 1) / group;
	const int stride = tile_stride(dim, tile_span(dim), w, LANES);
	int cell[3] = {0};
	real f[3] = {0};
	vec x[MAXV], y[MAXV], z[MAXV];

	split(record, wide, bits, dim, cell, f);
	const int first = cell[0] + tile_slack(w, LANES);
	const int offset = aligned ? first & (group - 1) : 0;
	const vec *cx = (const vec *)win->x + offset * win->ncoef * stored;
	const vec *cy = (const vec *)win->y, *cz = (const vec *)win->z;
	for (int v = 0; v < nx; v++)
		x[v] = cx[v];
	for (int v = 0; dim > 1 && v < ny; v++)
		y[v] = cy[v];
	for (int v = 0; dim > 2 && v < ny; v++)
		z[v] = cz[v];
	for (int d = 1; d < win->ncoef; d++) {
		cx += stored;
		cy += ny;
		cz += ny;
		for (int v = 0; v < nx; v++)
			x[v] = x[v] * f[0] + cx[v];
		for (int v = 0; dim > 1 && v < ny; v++)
			y[v] = y[v] * f[1] + cy[v];
		for (int v = 0; dim > 2 && v < ny; v++)
			z[v] = z[v] * f[2] + cz[v];
	}
	for (int v = 0; v < nv; v++)
		pt->x[v] = dup(x[v / 2], v % 2);
	for (int v = 0; dim > 1 && v < ny; v++)
		((vec *)pt->y)[v] = y[v];
	for (int v = 0; dim > 2 && v < ny; v++)
		((vec *)pt->z)[v] = z[v];
	pt->at =
	    2 * (size_t)((cell[2] * (tile_span(dim) + w - 1) + cell[1]) * stride + first - offset);
}

INLINE uint64_t
index_at(const char *value)
{
	uint64_t j;

	memcpy(&j, value, sizeof j);
	return j;
}

INLINE void
spread(const struct tile_window *win, int dim, int w, real *restrict acc,
       const struct tile_points *points, const real *values)
{
	const int nv = tile_vecs(w, LANES);
	const size_t row = 2 * (size_t)tile_stride(dim, tile_span(dim), w, LANES);
	const size_t plane = row * (size_t)(tile_span(dim) + w - 1);
	const size_t bytes = points->bytes;
	const size_t behind = bytes - tile_value(sizeof(real), points->indexed);
	const char *record = points->record;
	const real sign = (real)points->sign;
	const int bits = points->bits;

	for (size_t i = 0; i < points->n; i++, record += bytes) {
		struct point pt;
		const real *value = (const real *)(record + behind);
		if (points->indexed) {
			/* Values lie in the caller's order, at random: prefetch them. */
			__builtin_prefetch(values +
					   2 * index_at(record + TILE_AHEAD * bytes + behind));
			value = values + 2 * index_at(record + behind);
		}
		taps(win, dim, w, true, record, points->wide, bits, &pt);
		const vec c = pair(value[0], sign * value[1]);
		for (int v = 0; v < nv; v++)
			pt.x[v] *= c;
		real *p = acc + pt.at;
		for (int k = 0; k < (dim > 2 ? w : 1); k++, p += plane) {
			const real z = dim > 2 ? pt.z[k] : 1;
			vec x[MAXV];
			for (int v = 0; v < nv; v++)
				x[v] = pt.x[v] * z;
			for (int j = 0; j < (dim > 1 ? w : 1); j++) {
				vec *to = (vec *)(p + (size_t)j * row);
				const real y = dim > 1 ? pt.y[j] : 1;
				for (int v = 0; v < nv; v++)
					to[v] += x[v] * y;
			}
		}
	}
}

/* Register v of a row. */
INLINE vec
load(const real *row, int v, bool aligned)
{
	return aligned ? ((const vec *)row)[v] : (vec)((const loose *)row)[v];
}

INLINE void
interp(const struct tile_window *win, int dim, int w, const real *restrict acc,
       const struct tile_points *points, real *restrict out)
{
	/* In 1-D, loads that cross a cache line cost less than taps that are shifted to the lanes of aligned loads. */
	const int nv = dim > 1 ? tile_vecs(w, LANES) : (w + LANES / 2 - 1) / (LANES / 2);
	const size_t row = 2 * (size_t)tile_stride(dim, tile_span(dim), w, LANES);
	const size_t plane = row * (size_t)(tile_span(dim) + w - 1);
	const size_t bytes = points->bytes, behind = bytes - tile_value(sizeof(real), true);
	const char *record = points->record;
	const real sign = (real)points->sign;
	const int bits = points->bits;

	for (size_t i = 0; i < points->n; i++, record += bytes) {
		struct point pt;
		vec sum[MAXV];
		real re, im;
		/* A 1-D point takes no longer than a cache miss; in 2-D and 3-D a prefetch costs 1 %. */
		if (dim == 1)
			__builtin_prefetch(out + 2 * index_at(record + TILE_AHEAD * bytes + behind),
					   1);
		/* A wide tile lies in a far cache. */
		if (dim == 1 && bits < tile_bits(dim, true)) {
			const size_t cell =
			    (size_t)(*(const int64_t *)(record + TILE_AHEAD * bytes) >> bits);
			for (int v = 0; v < nv; v++)
				__builtin_prefetch(acc + 2 * cell + v * LANES);
		}
		taps(win, dim, w, dim > 1, record, points->wide, bits, &pt);
		const real *p = acc + pt.at;
		for (int v = 0; v < nv; v++)
			sum[v] = (vec){0};
		for (int k = 0; k < (dim > 2 ? w : 1); k++, p += plane) {
			/* Each plane has sums of its own: one chain of w^2 additions would wait for their latency. */
			vec part[MAXV];
			for (int v = 0; v < nv; v++)
				part[v] = load(p, v, dim > 1) * (dim > 1 ? pt.y[0] : 1);
			for (int j = 1; j < (dim > 1 ? w : 1); j++)
				for (int v = 0; v < nv; v++)
					part[v] += load(p + (size_t)j * row, v, true) * pt.y[j];
			for (int v = 0; v < nv; v++)
				sum[v] += dim > 2 ? part[v] * pt.z[k] : part[v];
		}
		vec all = sum[0] * pt.x[0];
		for (int v = 1; v < nv; v++)
			all += sum[v] * pt.x[v];
		fold(all, &re, &im);
		const uint64_t to = index_at(record + behind);
		out[2 * to] = re;
		out[2 * to + 1] = sign * im;
	}
}

static void
add(void *to, const void *from, size_t n)
{
	vec *restrict a = to;
	const vec *restrict b = from;

	for (size_t i = 0; i < n / LANES; i++)
		a[i] += b[i];
}

/* There is one instance for each dimension and number of taps, so that all loops over taps unroll. */
#define INSTANCE(d, w)                                                                \
	static void spread##d##_##w(const struct tile_window *win, void *acc,         \
				    const struct tile_points *pt, const void *values) \
	{                                                                             \
		spread(win, d, w, acc, pt, values);                                   \
	}                                                                             \
	static void interp##d##_##w(const struct tile_window *win, const void *acc,   \
				    const struct tile_points *pt, void *out)          \
	{                                                                             \
		interp(win, d, w, acc, pt, out);                                      \
	}
#define DIMENSION(d)    \
	INSTANCE(d, 3)  \
	INSTANCE(d, 4)  \
	INSTANCE(d, 5)  \
	INSTANCE(d, 6)  \
	INSTANCE(d, 7)  \
	INSTANCE(d, 8)  \
	INSTANCE(d, 9)  \
	INSTANCE(d, 10) \
	INSTANCE(d, 11) \
	INSTANCE(d, 12) \
	INSTANCE(d, 13) \
	INSTANCE(d, 14) \
	INSTANCE(d, 15) \
	INSTANCE(d, 16)
#define TABLE(f, d)                                                                             \
	{                                                                                       \
		[3] = f##d##_3, [4] = f##d##_4, [5] = f##d##_5, [6] = f##d##_6, [7] = f##d##_7, \
		[8] = f##d##_8, [9] = f##d##_9, [10] = f##d##_10, [11] = f##d##_11,             \
		[12] = f##d##_12, [13] = f##d##_13, [14] = f##d##_14, [15] = f##d##_15,         \
		[16] = f##d##_16                                                                \
	}

DIMENSION(1)
DIMENSION(2)
DIMENSION(3)
