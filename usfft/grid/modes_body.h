/* The loops of grid.c for one REAL type. Each loop runs over a long row, so each is a WEIR_CLONES leaf. */

/* One run of modes in an uncut row: to[i] = from[i] * undo[+-i] * factor, conjugated where sign is -1. */
WEIR_CLONES(NAME(scale_run),
	    (REAL *restrict to, const REAL *restrict from, const REAL *undo, int step, size_t n,
	     REAL factor, REAL sign),
	    (to, from, undo, step, n, factor, sign))
{
	const REAL imag = factor * sign;

	if (step > 0)
		for (size_t i = 0; i < n; i++) {
			to[2 * i] = from[2 * i] * (undo[i] * factor);
			to[2 * i + 1] = from[2 * i + 1] * (undo[i] * imag);
		}
	else
		for (size_t i = 0; i < n; i++) {
			const REAL u = *(undo - i);
			to[2 * i] = from[2 * i] * (u * factor);
			to[2 * i + 1] = from[2 * i + 1] * (u * imag);
		}
}

/*
 * One run of modes in a grid that is cut into r rows: cell k + r q is in row k, column q. It takes eight columns at a time,
 * so that each cache line is used as a whole. get: from the grid to modes; else from modes to the grid.
 */
WEIR_CLONES(NAME(scale_cut),
	    (const struct grid *g, const struct run *run, const REAL *undo, REAL factor, REAL sign,
	     bool get, REAL *restrict modes),
	    (g, run, undo, factor, sign, get, modes))
{
	enum { COLUMNS = 8 };
	const size_t first = run->cell / g->rows / COLUMNS * COLUMNS;
	const REAL imag = factor * sign;
	REAL *data = g->data;

	for (size_t q = first; q * g->rows < run->cell + run->n; q += COLUMNS)
		for (size_t k = 0; k < g->rows; k++)
			for (size_t b = 0; b < COLUMNS; b++) {
				const size_t i = (q + b) * g->rows + k - run->cell;
				if (i >= run->n)
					continue;
				const REAL u = run->step > 0 ? undo[i] : *(undo - i);
				REAL *cell = data + 2 * (k * g->ld + q + b);
				REAL *to = get ? modes + 2 * i : cell;
				const REAL *from = get ? cell : modes + 2 * i;
				to[0] = from[0] * (u * factor);
				to[1] = from[1] * (u * imag);
			}
}

/* Moves one run of modes from the grid (get) or to it. */
static void
NAME(move_run)(const struct grid *g, size_t row, const struct run *run, double factor, int sign,
	       bool get, void *modes)
{
	const REAL *undo = (const REAL *)g->undo[0] + run->mode;
	REAL *cells = (REAL *)g->data + 2 * (row * g->ld + run->cell);
	REAL *to = get ? modes : cells, *from = get ? cells : modes;

	if (g->rowlen < g->n[0])
		NAME(scale_cut)(g, run, undo, (REAL)factor, (REAL)sign, get, modes);
	else
		NAME(scale_run)(to, from, undo, run->step, run->n, (REAL)factor, (REAL)sign);
}

/* Multiplies each column i of row k by w^(k i), which is a product of two exact factors from short tables. */
WEIR_CLONES(NAME(twiddle_row), (const struct grid *g, size_t k, REAL *restrict row), (g, k, row))
{
	enum { STEP = 32 };
	double re[STEP], im[STEP];

	for (size_t i = 0; i < STEP; i++)
		root_of_unity(g, i * k % g->n[0], &re[i], &im[i]);
	for (size_t i = 0; i < g->rowlen; i += STEP) {
		const size_t left = g->rowlen - i < STEP ? g->rowlen - i : STEP;
		double a, b;
		root_of_unity(g, i * k % g->n[0], &a, &b);
		for (size_t q = 0; q < left; q++) {
			const REAL c = (REAL)(a * re[q] - b * im[q]);
			const REAL s = (REAL)(a * im[q] + b * re[q]);
			const REAL x = row[2 * (i + q)], y = row[2 * (i + q) + 1];
			row[2 * (i + q)] = x * c - y * s;
			row[2 * (i + q) + 1] = x * s + y * c;
		}
	}
}

/* The same for the cells of several layers. */
WEIR_CLONES(NAME(twiddle_layers), (const struct grid *g, size_t k, REAL *restrict row), (g, k, row))
{
	for (size_t i = 0; i < g->rowlen; i++, row += 2 * g->layers) {
		double re, im;
		root_of_unity(g, i * k % g->n[0], &re, &im);
		const REAL c = (REAL)re, s = (REAL)im;
		for (size_t l = 0; l < g->layers; l++) {
			const REAL x = row[2 * l], y = row[2 * l + 1];
			row[2 * l] = x * c - y * s;
			row[2 * l + 1] = x * s + y * c;
		}
	}
}

/* One run of modes of `count` layers. Mode i of layer l is modes[l][at + i]. */
WEIR_CLONES(NAME(get_layers),
	    (const struct grid *g, struct walk w, const struct run *run, REAL factor, REAL sign,
	     size_t at, size_t count, void *const *modes),
	    (g, w, run, factor, sign, at, count, modes))
{
	const REAL *undo = (const REAL *)g->undo[0] + run->mode, *data = g->data;

	for (size_t i = at; i < at + run->n; i++, undo += run->step) {
		const REAL *cell = data + 2 * g->layers * w.at, u = *undo * factor;
		for (size_t l = 0; l < count; l++) {
			REAL *to = (REAL *)modes[l] + 2 * i;
			to[0] = cell[2 * l] * u;
			to[1] = cell[2 * l + 1] * (u * sign);
		}
		walk_on(g, &w);
	}
}

/* The way back, to all layers. */
WEIR_CLONES(NAME(put_layers),
	    (const struct grid *g, struct walk w, const struct run *run, REAL factor, REAL sign,
	     size_t at, const void *const *modes),
	    (g, w, run, factor, sign, at, modes))
{
	const REAL *undo = (const REAL *)g->undo[0] + run->mode;
	REAL *data = g->data;

	for (size_t i = at; i < at + run->n; i++, undo += run->step) {
		REAL *cell = data + 2 * g->layers * w.at;
		const REAL u = *undo * factor;
		for (size_t l = 0; l < g->layers; l++) {
			const REAL *from = (const REAL *)modes[l] + 2 * i;
			cell[2 * l] = from[0] * u;
			cell[2 * l + 1] = from[1] * (u * sign);
		}
		walk_on(g, &w);
	}
}
