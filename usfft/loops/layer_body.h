/* The loops of layer.h. Registers and reals of a cell; points whose values are packed at a time. */
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
