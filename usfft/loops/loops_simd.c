/* variants: f32_generic f32_avx2 f32_avx512 f64_generic f64_avx2 f64_avx512 */
/* The loops of loops.h, for one precision and one width of register: common/base/simd.h, common/base/vec.h. */
#include <string.h>

#include "common/base/simd.h"
#include "usfft/loops/loops.h"

extern const struct loops SIMD_NAME(usfft);

TARGET_BEGIN

#include "common/base/vec.h"

/*
 * Moves complex samples, which are pairs of lanes, between lanes. These are shuffles because gcc 12 compiles element-wise
 * loops to moves through memory.
 */
#define SHUFFLE(a, ...) __builtin_shufflevector(a, a, __VA_ARGS__)
#if BYTES / SAMPLE == 2
#define PAIR   0, 1
#define HALVES 0, 0
#define FOLD(s)
#elif BYTES / SAMPLE == 4
#define PAIR	0, 1, 0, 1
#define HALVES	0, 0, 0, 0
#define FOLD(s) s += SHUFFLE(s, 2, 3, 0, 1)
#elif BYTES / SAMPLE == 8
#define PAIR   0, 1, 0, 1, 0, 1, 0, 1
#define HALVES 0, 0, 0, 0, 0, 0, 0, 0
#define FOLD(s)                                  \
	s += SHUFFLE(s, 4, 5, 6, 7, 0, 1, 2, 3); \
	s += SHUFFLE(s, 2, 3, 4, 5, 6, 7, 0, 1)
#else
#define PAIR   0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1
#define HALVES 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1
#define FOLD(s)                                                                \
	s += SHUFFLE(s, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7); \
	s += SHUFFLE(s, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3); \
	s += SHUFFLE(s, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1)
#endif

/* a0 a0 a1 a1 ... of the lower half of a vector (half = 0) or of its upper half (half = 1). */
INLINE vec
dup(vec a, int half)
{
	return half ? VEC_SHUFFLE(a, a, VEC_ZIP_HIGH) : VEC_SHUFFLE(a, a, VEC_ZIP_LOW);
}

/* The sums of the even lanes and of the odd lanes. */
INLINE void
fold(vec s, real *re, real *im)
{
	FOLD(s);
	*re = s[0];
	*im = s[1];
}

/* A vector of re im re im ... */
INLINE vec
pair(real re, real im)
{
	const vec v = {re, im};

	return SHUFFLE(v, PAIR);
}

/* A vector with a in the first 8 lanes and b in any others. */
INLINE vec
halves(real a, real b)
{
	const vec v = {a, b};

	return SHUFFLE(v, HALVES);
}

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
	const vec *cx = (const vec *)win->coef[0] + offset * win->ncoef * stored;
	const vec *cy = (const vec *)win->coef[1], *cz = (const vec *)win->coef[2];
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
#define EACH_W(F, d) \
	F(d, 3)      \
	F(d, 4)      \
	F(d, 5)      \
	F(d, 6)      \
	F(d, 7) F(d, 8) F(d, 9) F(d, 10) F(d, 11) F(d, 12) F(d, 13) F(d, 14) F(d, 15) F(d, 16)
#define SPREAD(d, w) [w] = spread##d##_##w,
#define INTERP(d, w) [w] = interp##d##_##w,

EACH_W(INSTANCE, 1)
EACH_W(INSTANCE, 2)
EACH_W(INSTANCE, 3)

/* Registers and reals of a cell; points whose values are packed at a time. */
enum {
	CELL_VECS = BATCH_BYTES / 2 / BYTES,
	CELL_REALS = BATCH_BYTES / 2 / SAMPLE,
	LAYER_BLOCK = 16
};

struct layer_point {
	real tap[3][WINDOW_MAXW] __attribute__((aligned(64)));
	size_t at; /* reals from the tile's first cell */
};

INLINE void
layer_taps(const struct layer_window *win, const char *record, const struct tile_points *points,
	   struct layer_point *pt)
{
	const int nv = (win->w + LANES - 1) / LANES;
	int cell[3] = {0};
	real f[3];

	split(record, points->wide, points->bits, win->dim, cell, f);
	for (int a = 0; a < win->dim; a++) {
		const vec *c = win->coef[a];
		for (int v = 0; v < nv; v++) {
			vec t = c[v];
			for (int d = 1; d < win->ncoef; d++)
				t = t * f[a] + c[d * nv + v];
			((vec *)pt->tap[a])[v] = t;
		}
	}
	pt->at = (size_t)cell[2] * win->plane + (size_t)cell[1] * win->row +
		 (size_t)cell[0] * CELL_REALS;
}

static void
layer_spread(const struct layer_window *win, void *tile, const struct tile_points *points,
	     const void *const *values)
{
	const int w = win->w, wy = win->dim > 1 ? w : 1, wz = win->dim > 2 ? w : 1;
	const size_t behind = points->bytes - sizeof(uint64_t);
	const char *record = points->record;
	struct layer_point pt = {.tap = {{0}, {1}, {1}}};
	vec pack[LAYER_BLOCK][CELL_VECS];

	for (size_t i = 0; i < points->n; i++, record += points->bytes) {
		if (i % LAYER_BLOCK == 0)
			for (size_t b = 0; b < LAYER_BLOCK && i + b < points->n; b++) {
				real *to = (real *)pack[b];
				const uint64_t j = index_at(record + b * points->bytes + behind);
				for (size_t l = 0; l < CELL_REALS / 2; l++) {
					const real *from = (const real *)values[l] + 2 * j;
					to[2 * l] = from[0];
					to[2 * l + 1] = (real)points->sign * from[1];
				}
			}
		const vec *c = pack[i % LAYER_BLOCK];
		layer_taps(win, record, points, &pt);
		const real *x = pt.tap[0];
		for (int k = 0; k < wz; k++)
			for (int j = 0; j < wy; j++) {
				const real yz = pt.tap[1][j] * pt.tap[2][k];
				vec *to = (vec *)((real *)tile + pt.at + (size_t)k * win->plane +
						  (size_t)j * win->row);
				vec q[CELL_VECS];
				for (int v = 0; v < CELL_VECS; v++)
					q[v] = c[v] * yz;
				for (int t = 0; t < w; t++, to += CELL_VECS)
					for (int v = 0; v < CELL_VECS; v++)
						to[v] += q[v] * x[t];
			}
	}
}

static void
layer_interp(const struct layer_window *win, const void *tile, const struct tile_points *points,
	     size_t count, void *const *out)
{
	const int w = win->w, wy = win->dim > 1 ? w : 1, wz = win->dim > 2 ? w : 1;
	const size_t behind = points->bytes - sizeof(uint64_t);
	const char *record = points->record;
	struct layer_point pt = {.tap = {{0}, {1}, {1}}};

	for (size_t i = 0; i < points->n; i++, record += points->bytes) {
		vec sum[CELL_VECS];
		layer_taps(win, record, points, &pt);
		const real *x = pt.tap[0];
		for (int v = 0; v < CELL_VECS; v++)
			sum[v] = (vec){0};
		for (int k = 0; k < wz; k++)
			for (int j = 0; j < wy; j++) {
				const real yz = pt.tap[1][j] * pt.tap[2][k];
				const vec *from =
				    (const vec *)((const real *)tile + pt.at +
						  (size_t)k * win->plane + (size_t)j * win->row);
				vec q[CELL_VECS];
				for (int v = 0; v < CELL_VECS; v++)
					q[v] = from[v] * x[0];
				for (int t = 1; t < w; t++)
					for (int v = 0; v < CELL_VECS; v++)
						q[v] += from[t * CELL_VECS + v] * x[t];
				for (int v = 0; v < CELL_VECS; v++)
					sum[v] += q[v] * yz;
			}
		const uint64_t j = index_at(record + behind);
		for (size_t l = 0; l < count; l++) {
			real *to = (real *)out[l] + 2 * j;
			to[0] = ((const real *)sum)[2 * l];
			to[1] = (real)points->sign * ((const real *)sum)[2 * l + 1];
		}
	}
}

#include "common/base/butterfly_body.h"

/* The passes of loops.h. In the work memory an element is VECS pairs of vectors: real parts, then imaginary parts. */
#define VECS (BATCH_BYTES / (2 * sizeof(real)) / LANES)

/* Loads LANES samples of the grid: half of them lie side by side at `low`, the others at `high`. */
INLINE void
get(const real *low, const real *high, vec *x, vec *y)
{
	const vec a = *(const loose *)low, b = *(const loose *)high;

	*x = VEC_SHUFFLE(a, b, VEC_EVEN);
	*y = VEC_SHUFFLE(a, b, VEC_ODD);
}

INLINE void
put(real *low, real *high, vec x, vec y)
{
	*(loose *)low = VEC_SHUFFLE(x, y, VEC_ZIP_LOW);
	*(loose *)high = VEC_SHUFFLE(x, y, VEC_ZIP_HIGH);
}

/* The address of vector v, of 2 VECS, of a row of columns. */
INLINE real *
vector_at(real *row, size_t half, size_t v)
{
	return row + (v < VECS ? v * LANES : 2 * half + (v - VECS) * LANES);
}

INLINE int
inside(struct batch_gap g, size_t i)
{
	return i - g.from < g.to - g.from;
}

/* The arguments of a pass. It reads `in` and writes `out` in work memory, or reads or writes the columns of `grid`. */
struct pass {
	size_t m, s; /* blocks; vectors from one element to the next of a block */
	const real *root;
	const vec *in;
	vec *out;
	real *grid;
	size_t ld, half;
	struct batch_gap gap;
};

/* out[q + s (r p + k)] = root^(p k) sum_j in[q + s (p + m j)] exp(-2 pi i j k / r) */
INLINE void
pass(int r, bool from_grid, bool to_grid, const struct pass *a)
{
	const size_t m = a->m, s = a->s, ld = a->ld, half = a->half;
	const struct batch_gap gap = a->gap;
	const vec *restrict in = a->in;
	vec *restrict out = a->out;
	real *restrict grid = a->grid;
	const real *root = a->root;

	for (size_t p = 0; p < m; p++, root += 2 * (r - 1))
		for (size_t q = 0; q < s; q++) {
			vec x[8], y[8];
			for (int j = 0; j < r; j++) {
				const size_t i = p + m * (size_t)j;
				x[j] = y[j] = (vec){0};
				if (!from_grid) {
					x[j] = in[2 * (q + s * i)];
					y[j] = in[2 * (q + s * i) + 1];
				} else if (!inside(gap, i)) {
					real *row = grid + 2 * i * ld;
					get(vector_at(row, half, 2 * q),
					    vector_at(row, half, 2 * q + 1), &x[j], &y[j]);
				}
			}
			dft(r, x, y);
			for (int k = 1; k < r && !to_grid; k++) {
				const real c = root[2 * k - 2], d = root[2 * k - 1];
				const vec t = x[k] * c - y[k] * d;
				y[k] = x[k] * d + y[k] * c;
				x[k] = t;
			}
			for (int k = 0; k < r; k++) {
				const size_t to = q + s * ((size_t)r * p + (size_t)k);
				if (!to_grid) {
					out[2 * to] = x[k];
					out[2 * to + 1] = y[k];
				} else if (!inside(gap, to / VECS)) {
					real *row = grid + 2 * (to / VECS) * ld;
					const size_t v = to % VECS * 2;
					put(vector_at(row, half, v), vector_at(row, half, v + 1),
					    x[k], y[k]);
				}
			}
		}
}

/* first: the first pass of columns, from the grid; last: the last one, to the grid; inner: all other passes. */
#define RADIX(r)                                   \
	static void first##r(const struct pass *a) \
	{                                          \
		pass(r, true, false, a);           \
	}                                          \
	static void inner##r(const struct pass *a) \
	{                                          \
		pass(r, false, false, a);          \
	}                                          \
	static void last##r(const struct pass *a)  \
	{                                          \
		pass(r, false, true, a);           \
	}
RADIX(2)
RADIX(3)
RADIX(4)
RADIX(5)
RADIX(7)
RADIX(8)

static void (*const passes[3][9])(const struct pass *) = {
    {[2] = first2, [3] = first3, [4] = first4, [5] = first5, [7] = first7, [8] = first8},
    {[2] = inner2, [3] = inner3, [4] = inner4, [5] = inner5, [7] = inner7, [8] = inner8},
    {[2] = last2, [3] = last3, [4] = last4, [5] = last5, [7] = last7, [8] = last8}};

/*
 * Runs all passes. columns NULL: the batch is in work memory a, and the result is where this returns. Else columns are read
 * from the grid and written to it.
 */
static vec *
stages(const struct batch *f, vec *a, real *columns, size_t ld, size_t half, struct batch_gap in,
       struct batch_gap out)
{
	vec *b = a + 2 * VECS * f->n;
	const real *root = f->root;
	size_t m = f->n, s = VECS;

	for (int i = 0; i < f->stages; i++) {
		const int r = f->radix[i];
		const bool first = i == 0 && columns, last = i + 1 == f->stages && columns;
		m /= (size_t)r;
		const struct pass pass = {m, s, root, a, b, columns, ld, half, first ? in : out};
		passes[first ? 0 : last ? 2 : 1][r](&pass);
		root += 2 * (size_t)(r - 1) * m;
		s *= (size_t)r;
		vec *t = a;
		a = b;
		b = t;
	}
	return a;
}

static void
columns(const struct batch *f, void *data, size_t ld, size_t half, struct batch_gap in,
	struct batch_gap out, void *work)
{
	stages(f, work, data, ld, half, in, out);
}

static void
load_rows(const real *data, size_t ld, size_t n, struct batch_gap gap, vec *out)
{
	for (size_t i = 0; i < n; i += LANES)
		for (size_t v = 0; v < VECS; v++) {
			vec x[LANES] = {{0}}, y[LANES] = {{0}};
			const real *at = data + 2 * (v * LANES * ld + i);
			for (size_t l = 0; l < LANES && !inside(gap, i); l++)
				get(at + 2 * l * ld, at + 2 * l * ld + LANES, &x[l], &y[l]);
			transpose(x);
			transpose(y);
			for (size_t l = 0; l < LANES; l++) {
				out[2 * ((i + l) * VECS + v)] = x[l];
				out[2 * ((i + l) * VECS + v) + 1] = y[l];
			}
		}
}

static void
store_rows(const vec *in, size_t n, struct batch_gap gap, real *data, size_t ld)
{
	for (size_t i = 0; i < n; i += LANES)
		for (size_t v = 0; v < VECS && !inside(gap, i); v++) {
			vec x[LANES], y[LANES];
			real *at = data + 2 * (v * LANES * ld + i);
			for (size_t l = 0; l < LANES; l++) {
				x[l] = in[2 * ((i + l) * VECS + v)];
				y[l] = in[2 * ((i + l) * VECS + v) + 1];
			}
			transpose(x);
			transpose(y);
			for (size_t l = 0; l < LANES; l++)
				put(at + 2 * l * ld, at + 2 * l * ld + LANES, x[l], y[l]);
		}
}

static void
rows(const struct batch *f, void *data, size_t ld, struct batch_gap in, struct batch_gap out,
     void *work)
{
	load_rows(data, ld, f->n, in, work);
	const vec *done = stages(f, work, NULL, 0, 0, in, out);
	store_rows(done, f->n, out, data, ld);
}

#if SAMPLE == 4
/*
 * The loops of line.h, in single precision. The taps of two points at a time are evaluated in one array of 16 reals.
 * Consecutive points belong to different rows, so their read-modify-writes do not wait for each other.
 */
enum { LINE_VECS = 2 * LINE_TAPS / LANES };

/* x[]: the taps of point a (8 reals) and then of point b. */
INLINE void
line_taps(const float *coef, float a, float b, vec *x)
{
	const vec *c = (const vec *)coef;
	vec f[LINE_VECS];

	for (int v = 0; v < LINE_VECS; v++) {
		f[v] = halves(v * LANES < LINE_TAPS ? a : b, b);
		x[v] = c[v];
	}
	for (int d = 1; d < LINE_COEFS; d++)
		for (int v = 0; v < LINE_VECS; v++)
			x[v] = x[v] * f[v] + c[d * LINE_VECS + v];
}

/* Register v of the taps of point 0 or 1, where each tap stands twice. */
INLINE
vec
line_pick(const vec *x, int point, int v)
{
	const int half = point * LINE_VECS + v;

	return dup(x[half / 2], half % 2);
}

static void
line_spread(const struct usfft_line *p, const struct usfft_line_work *w, int sign, const float *d,
	    size_t ldd)
{
	const float s = (float)sign;

	for (size_t j = 0; j < p->m; j++, d += 2 * ldd) {
		const float *place = w->place + j * USFFT_LINE;
		const float *re = w->phase + j * 2 * USFFT_LINE, *im = re + USFFT_LINE;
		const int *cell = w->cell + j * USFFT_LINE;
		for (int l = 0; l < USFFT_LINE; l += 2) {
			vec x[LINE_VECS];
			line_taps(p->coef, place[l], place[l + 1], x);
			for (int q = l; q < l + 2; q++) {
				const float a = d[2 * q], b = s * d[2 * q + 1];
				const vec c = pair(a * re[q] - b * im[q], a * im[q] + b * re[q]);
				loose *to =
				    (loose *)(w->grid + 2 * ((size_t)q * p->ld + (size_t)cell[q]));
				for (int v = 0; v < LINE_VECS; v++)
					to[v] += c * line_pick(x, q - l, v);
			}
		}
	}
}

static void
line_interp(const struct usfft_line *p, const struct usfft_line_work *w, int sign, float *d,
	    size_t ldd)
{
	const float s = (float)sign;

	for (size_t j = 0; j < p->m; j++, d += 2 * ldd) {
		const float *place = w->place + j * USFFT_LINE;
		const float *re = w->phase + j * 2 * USFFT_LINE, *im = re + USFFT_LINE;
		const int *cell = w->cell + j * USFFT_LINE;
		for (int l = 0; l < USFFT_LINE; l += 2) {
			vec x[LINE_VECS];
			line_taps(p->coef, place[l], place[l + 1], x);
			for (int q = l; q < l + 2; q++) {
				const loose *from =
				    (const loose *)(w->grid +
						    2 * ((size_t)q * p->ld + (size_t)cell[q]));
				vec sum = from[0] * line_pick(x, q - l, 0);
				float a, b;
				for (int v = 1; v < LINE_VECS; v++)
					sum += from[v] * line_pick(x, q - l, v);
				fold(sum, &a, &b);
				d[2 * q] = a * re[q] - b * im[q];
				d[2 * q + 1] = s * (a * im[q] + b * re[q]);
			}
		}
	}
}
#endif

const struct loops SIMD_NAME(usfft) = {
    .tile = {LANES,
	     {{EACH_W(SPREAD, 1)}, {EACH_W(SPREAD, 2)}, {EACH_W(SPREAD, 3)}},
	     {{EACH_W(INTERP, 1)}, {EACH_W(INTERP, 2)}, {EACH_W(INTERP, 3)}},
	     add},
    .layer = {layer_spread, layer_interp},
    .batch = {columns, rows},
#if SAMPLE == 4
    .line = {line_spread, line_interp},
#endif
};

TARGET_END
