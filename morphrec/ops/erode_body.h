/*
 * Erosion by a shape for one element type. This file is a template: see by_type.h. For each row, the minima over the 1, 2,
 * 4 .. pixels that begin at each place are computed once. Two of them that overlap give the minimum over a run of any length.
 */

/* a = min(a, p, q). */
WEIR_CLONES(N(lower_to), (T *restrict a, const T *p, const T *q, size_t n), (a, p, q, n))
{
	for (size_t i = 0; i < n; i++) {
		const T v = p[i] < q[i] ? p[i] : q[i];
		a[i] = v < a[i] ? v : a[i];
	}
}

/* to = min(p, q). */
WEIR_CLONES(N(lower_of), (T *restrict to, const T *p, const T *q, size_t n), (to, p, q, n))
{
	for (size_t i = 0; i < n; i++)
		to[i] = p[i] < q[i] ? p[i] : q[i];
}

WEIR_CLONES(N(row_in), (T *restrict to, const T *from, size_t n, struct key_map map),
	    (to, from, n, map))
{
	for (size_t i = 0; i < n; i++)
		to[i] = IN(from[i], map);
}

WEIR_CLONES(N(row_out), (T * a, size_t n, struct key_map map), (a, n, map))
{
	for (size_t i = 0; i < n; i++)
		a[i] = OUT(a[i], map);
}

/* Returns the highest key: of floats, that of the infinity beyond all numbers; the keys above it are NaN. */
static T
N(highest)(struct key_map map)
{
	const T infinity = (T) ~(BITS == 32 ? UINT32_MAX >> 9 : UINT64_MAX >> 12);

	return map.real ? infinity : (T)-1;
}

/* Writes rows [first, end) of the h d rows of f, eroded, into J. work has r->levels rows of w + 2 r->x elements. */
static void
N(erode_rows)(const struct morphrec_problem *a, const struct shape *s, const struct reach *r,
	      void *out, const void *in, size_t first, size_t end, void *work)
{
	T *J = out, *min = work;
	const T *f = in;
	const struct key_map map = morphrec_keys(a);
	const size_t w = a->w, wide = w + 2 * r->x, from = first > r->rows ? first - r->rows : 0,
		     all = a->h * a->d, to = end + r->rows < all ? end + r->rows : all;

	for (size_t i = first * w; i < end * w; i++)
		J[i] = N(highest)(map);
	for (size_t i = 0; i < wide; i++)
		min[i] = (T)-1;
	for (size_t row = from; row < to; row++) {
		const size_t y = row % a->h, z = row / a->h;
		N(row_in)(min + r->x, f + row * w, w, map);
		for (int l = 1; l < r->levels; l++) {
			const size_t half = (size_t)1 << (l - 1);
			T *is = min + (size_t)l * wide;
			N(lower_of)(is, is - wide, is - wide + half, wide - half);
			for (size_t i = wide - half; i < wide; i++)
				is[i] = (is - wide)[i];
		}
		for (size_t k = 0; k < s->n; k++) {
			const struct shape_run *u = &s->run[k];
			const size_t ty = y - (size_t)u->dy, tz = z - (size_t)u->dz,
				     t = tz * a->h + ty;
			const size_t n = (size_t)(u->last - u->first) + 1;
			const int l = 63 - __builtin_clzll(n);
			const T *p = min + (size_t)l * wide + r->x + (size_t)u->first;
			if (ty < a->h && tz < a->d && t >= first && t < end)
				N(lower_to)(J + t * w, p, p + (n - ((size_t)1 << l)), w);
		}
	}
	for (size_t row = first; row < end; row++)
		N(row_out)(J + row * w, w, map);
}

/*
 * Takes c columns side by side, of n rows that are `step` elements apart: each pixel becomes the lowest of those within r
 * rows of its column. The method is van Herk's (Pattern Recognition Letters 13(7), 1992): the column is cut into blocks as
 * long as the window, and running minima are taken from both ends of each block; two of these give the minimum of any
 * window. work has 2 (n + 2 r) c elements.
 */
WEIR_CLONES(N(erode_columns),
	    (void *line, size_t n, size_t step, size_t c, size_t r, struct key_map map, void *work),
	    (line, n, step, c, r, map, work))
{
	T *const a = line;
	const size_t side = 2 * r + 1, m = n + 2 * r;
	T *restrict before = work, *restrict after = before + m * c;

	for (size_t i = 0; i < m; i++)
		for (size_t j = 0; j < c; j++) {
			const T k = i < r || i >= r + n ? (T)-1 : IN(a[(i - r) * step + j], map),
				p = i % side ? before[(i - 1) * c + j] : (T)-1;
			before[i * c + j] = p < k ? p : k;
			after[i * c + j] = k;
		}
	for (size_t i = m - 1; i-- > 0;)
		for (size_t j = 0; (i + 1) % side && j < c; j++) {
			const T k = after[i * c + j], p = after[(i + 1) * c + j];
			after[i * c + j] = p < k ? p : k;
		}
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < c; j++) {
			const T x = after[i * c + j], y = before[(i + 2 * r) * c + j];
			a[i * step + j] = OUT(x < y ? x : y, map);
		}
}
