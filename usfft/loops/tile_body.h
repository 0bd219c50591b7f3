/*
 * The loops of tile.h for one REAL and one number of LANES; lane.h says what the includer defines.
 */
#include "usfft/loops/lane.h"

#undef MAXV
#define MAXV \
	((WINDOW_MAXW + LANES - 1) / (LANES / 2)) /* registers of shifted complex taps, at most */

/* One point: its window per axis, and where its first tap lies in the accumulator. */
struct NAME(point) {
	NAME(vec) x[MAXV]; /* taps along x, each twice (re, im) */
	REAL y[2 * WINDOW_MAXW] __attribute__((aligned(64)));
	REAL z[2 * WINDOW_MAXW] __attribute__((aligned(64)));
	size_t at; /* reals */
};

/* The cells before the points' places, and the rest of them in -1..1. */
LEAF void
NAME(split)(const char *record, bool wide, int dim, int *cell, REAL *f)
{
	const int32_t one = (int32_t)1 << tile_bits(dim, false);
	const int64_t wide_one = (int64_t)1 << tile_bits(dim, true);

	for (int a = 0; a < dim; a++)
		if (sizeof(REAL) == sizeof(double) && wide) {
			const int64_t place = ((const int64_t *)record)[a];
			cell[a] = (int)(place >> tile_bits(dim, true));
			f[a] = (REAL)(place & (wide_one - 1)) * (REAL)(2.0 / (double)wide_one) - 1;
		} else {
			const int32_t place = ((const int32_t *)record)[a];
			cell[a] = place >> tile_bits(dim, false);
			f[a] = (REAL)(place & (one - 1)) * (REAL)(2.0 / (double)one) - 1;
		}
}

/* The polynomials of all axes in one loop: their chains are independent, and each alone would wait for its latency. */
LEAF void
NAME(taps)(const struct tile_window *win, int dim, int w, const char *record, bool wide,
	   struct NAME(point) * pt)
{
	const int group = LANES / 2, nx = (w + group - 1 + LANES - 1) / LANES;
	const int ny = (w + LANES - 1) / LANES, stride = tile_stride(dim, w, LANES);
	int cell[3] = {0};
	REAL f[3] = {0};
	NAME(vec) x[MAXV], y[MAXV], z[MAXV];

	NAME(split)(record, wide, dim, cell, f);
	const int first = cell[0] + tile_slack(w, LANES), offset = first & (group - 1);
	const NAME(vec) *cx = (const NAME(vec) *)win->x + offset * win->ncoef * nx;
	const NAME(vec) *cy = (const NAME(vec) *)win->y, *cz = (const NAME(vec) *)win->z;
	for (int v = 0; v < nx; v++)
		x[v] = cx[v];
	for (int v = 0; dim > 1 && v < ny; v++)
		y[v] = cy[v];
	for (int v = 0; dim > 2 && v < ny; v++)
		z[v] = cz[v];
	for (int d = 1; d < win->ncoef; d++) {
		cx += nx;
		cy += ny;
		cz += ny;
		for (int v = 0; v < nx; v++)
			x[v] = x[v] * f[0] + cx[v];
		for (int v = 0; dim > 1 && v < ny; v++)
			y[v] = y[v] * f[1] + cy[v];
		for (int v = 0; dim > 2 && v < ny; v++)
			z[v] = z[v] * f[2] + cz[v];
	}
	for (int v = 0; v < tile_vecs(w, LANES); v++)
		pt->x[v] = NAME(dup)(x[v / 2], v % 2);
	for (int v = 0; dim > 1 && v < ny; v++)
		((NAME(vec) *)pt->y)[v] = y[v];
	for (int v = 0; dim > 2 && v < ny; v++)
		((NAME(vec) *)pt->z)[v] = z[v];
	pt->at =
	    2 * (size_t)((cell[2] * (tile_span(dim) + w - 1) + cell[1]) * stride + first - offset);
}

LEAF uint64_t
NAME(index)(const char *value)
{
	uint64_t j;

	memcpy(&j, value, sizeof j);
	return j;
}

LEAF void
NAME(spread)(const struct tile_window *win, int dim, int w, REAL *restrict acc,
	     const struct tile_points *points, const REAL *values)
{
	const int nv = tile_vecs(w, LANES);
	const size_t row = 2 * (size_t)tile_stride(dim, w, LANES);
	const size_t plane = row * (size_t)(tile_span(dim) + w - 1);
	const size_t bytes = points->bytes;
	const size_t behind = bytes - tile_value(sizeof(REAL), points->indexed);
	const char *record = points->record;
	const REAL sign = (REAL)points->sign;

	for (size_t i = 0; i < points->n; i++, record += bytes) {
		struct NAME(point) pt;
		const REAL *value = (const REAL *)(record + behind);
		if (points->indexed) {
			/* the caller's order is random to us: ask for a value well before its turn */
			__builtin_prefetch(values +
					   2 * NAME(index)(record + TILE_AHEAD * bytes + behind));
			value = values + 2 * NAME(index)(record + behind);
		}
		NAME(taps)(win, dim, w, record, points->wide, &pt);
		const NAME(vec) c = NAME(pair)(value[0], sign * value[1]);
		for (int v = 0; v < nv; v++)
			pt.x[v] *= c;
		REAL *p = acc + pt.at;
		for (int k = 0; k < (dim > 2 ? w : 1); k++, p += plane) {
			const REAL z = dim > 2 ? pt.z[k] : 1;
			NAME(vec) x[MAXV];
			for (int v = 0; v < nv; v++)
				x[v] = pt.x[v] * z;
			for (int j = 0; j < (dim > 1 ? w : 1); j++) {
				NAME(vec) *to = (NAME(vec) *)(p + (size_t)j * row);
				const REAL y = dim > 1 ? pt.y[j] : 1;
				for (int v = 0; v < nv; v++)
					to[v] += x[v] * y;
			}
		}
	}
}

LEAF void
NAME(interp)(const struct tile_window *win, int dim, int w, const REAL *restrict acc,
	     const struct tile_points *points, REAL *restrict out)
{
	const int nv = tile_vecs(w, LANES);
	const size_t row = 2 * (size_t)tile_stride(dim, w, LANES);
	const size_t plane = row * (size_t)(tile_span(dim) + w - 1);
	const size_t bytes = points->bytes, behind = bytes - tile_value(sizeof(REAL), true);
	const char *record = points->record;
	const REAL sign = (REAL)points->sign;

	for (size_t i = 0; i < points->n; i++, record += bytes) {
		struct NAME(point) pt;
		NAME(vec) sum[MAXV];
		REAL re, im;
		if (dim == 1) /* its points take no longer than a cache miss; else this costs 1 % */
			__builtin_prefetch(
			    out + 2 * NAME(index)(record + TILE_AHEAD * bytes + behind), 1);
		NAME(taps)(win, dim, w, record, points->wide, &pt);
		const REAL *p = acc + pt.at;
		for (int v = 0; v < nv; v++)
			sum[v] = (NAME(vec)){0};
		for (int k = 0; k < (dim > 2 ? w : 1); k++, p += plane)
			for (int j = 0; j < (dim > 1 ? w : 1); j++) {
				const NAME(vec) *from = (const NAME(vec) *)(p + (size_t)j * row);
				const REAL s = dim == 1	  ? 1
					       : dim == 2 ? pt.y[j]
							  : pt.y[j] * pt.z[k];
				for (int v = 0; v < nv; v++)
					sum[v] += from[v] * s;
			}
		NAME(vec) all = sum[0] * pt.x[0];
		for (int v = 1; v < nv; v++)
			all += sum[v] * pt.x[v];
		NAME(fold)(all, &re, &im);
		const uint64_t to = NAME(index)(record + behind);
		out[2 * to] = re;
		out[2 * to + 1] = sign * im;
	}
}

TARGET static void
NAME(add)(void *to, const void *from, size_t n)
{
	NAME(vec) *restrict a = to;
	const NAME(vec) *restrict b = from;

	for (size_t i = 0; i < n / LANES; i++)
		a[i] += b[i];
}

/* One instance per dimension and number of taps, so that all loops over taps unroll. */
#undef INSTANCE
#undef DIMENSION
#undef TABLE
#define INSTANCE(d, w)                                                                             \
	TARGET static void NAME(spread##d##_##w)(const struct tile_window *win, void *acc,         \
						 const struct tile_points *pt, const void *values) \
	{                                                                                          \
		NAME(spread)(win, d, w, acc, pt, values);                                          \
	}                                                                                          \
	TARGET static void NAME(interp##d##_##w)(const struct tile_window *win, const void *acc,   \
						 const struct tile_points *pt, void *out)          \
	{                                                                                          \
		NAME(interp)(win, d, w, acc, pt, out);                                             \
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
#define TABLE(f, d)                                                                     \
	{                                                                               \
		[3] = NAME(f##d##_3), [4] = NAME(f##d##_4), [5] = NAME(f##d##_5),       \
		[6] = NAME(f##d##_6), [7] = NAME(f##d##_7), [8] = NAME(f##d##_8),       \
		[9] = NAME(f##d##_9), [10] = NAME(f##d##_10), [11] = NAME(f##d##_11),   \
		[12] = NAME(f##d##_12), [13] = NAME(f##d##_13), [14] = NAME(f##d##_14), \
		[15] = NAME(f##d##_15), [16] = NAME(f##d##_16)                          \
	}

DIMENSION(1)
DIMENSION(2)
DIMENSION(3)

static const struct tile_ops NAME(ops) = {
    .lanes = LANES,
    .spread = {TABLE(spread, 1), TABLE(spread, 2), TABLE(spread, 3)},
    .interp = {TABLE(interp, 1), TABLE(interp, 2), TABLE(interp, 3)},
    .add = NAME(add),
};
