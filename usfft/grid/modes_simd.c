/* variants: f32_generic f32_avx2 f32_avx512 f64_generic f64_avx2 f64_avx512 */
/* The loops that move modes between the transformed grid and the caller's order: see struct modes_ops. */
#include "common/base/simd.h"
#include "usfft/grid/grid.h"

extern const struct modes_ops SIMD_NAME(usfft_modes);

TARGET_BEGIN

/* exp(-2 pi i q / n) for q < n. */
static inline void
root_of_unity(const struct grid *g, size_t q, double *re, double *im)
{
	const double *a = g->root[1] + 2 * (q / ROOT_FINE), *b = g->root[0] + 2 * (q % ROOT_FINE);

	*re = a[0] * b[0] - a[1] * b[1];
	*im = a[0] * b[1] + a[1] * b[0];
}

/* A walk along the cells of a row, which may be cut into the rows of a 1-D grid. */
struct walk {
	size_t at, cut; /* the cell in data; the row of a cut grid */
};

/* The first cell of a run in row r. */
static struct walk
walk_from(const struct grid *g, size_t r, const struct run *run)
{
	if (g->rowlen == g->n[0])
		return (struct walk){r * g->ld + run->cell, 0};
	return (struct walk){run->cell % g->rows * g->ld + run->cell / g->rows,
			     run->cell % g->rows};
}

static inline void
walk_on(const struct grid *g, struct walk *w)
{
	if (g->rowlen == g->n[0]) {
		w->at++;
		return;
	}
	w->at += g->ld;
	if (++w->cut == g->rows) {
		w->at -= g->rows * g->ld - 1;
		w->cut = 0;
	}
}

/* One run of modes in an uncut row: to[i] = from[i] * undo[+-i] * factor, conjugated where sign is -1. */
static void
scale_run(REAL *restrict to, const REAL *restrict from, const REAL *undo, int step, size_t n,
	  REAL factor, REAL sign)
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
static void
scale_cut(const struct grid *g, const struct run *run, const REAL *undo, REAL factor, REAL sign,
	  bool get, REAL *restrict modes)
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

static void
move_run(const struct grid *g, size_t row, const struct run *run, double factor, int sign, bool get,
	 void *modes)
{
	const REAL *undo = (const REAL *)g->undo[0] + run->mode;
	REAL *cells = (REAL *)g->data + 2 * (row * g->ld + run->cell);
	REAL *to = get ? modes : cells, *from = get ? cells : modes;

	if (g->rowlen < g->n[0])
		scale_cut(g, run, undo, (REAL)factor, (REAL)sign, get, modes);
	else
		scale_run(to, from, undo, run->step, run->n, (REAL)factor, (REAL)sign);
}

/* Multiplies each column i of row k by w^(k i), which is a product of two exact factors from short tables. */
static void
twiddle_row(const struct grid *g, size_t k, REAL *restrict row)
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
static void
twiddle_layers(const struct grid *g, size_t k, REAL *restrict row)
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

static void
move_layers(const struct grid *g, size_t row, const struct run *run, double by, int sign, bool get,
	    size_t at, size_t count, void *const *modes)
{
	const REAL *undo = (const REAL *)g->undo[0] + run->mode;
	const REAL factor = (REAL)by, conj = (REAL)sign;
	struct walk w = walk_from(g, row, run);

	for (size_t i = at; i < at + run->n; i++, undo += run->step) {
		REAL *cell = (REAL *)g->data + 2 * g->layers * w.at;
		const REAL u = *undo * factor;
		for (size_t l = 0; l < count; l++) {
			REAL *mode = (REAL *)modes[l] + 2 * i, *to = get ? mode : cell + 2 * l;
			const REAL *from = get ? cell + 2 * l : mode;
			to[0] = from[0] * u;
			to[1] = from[1] * (u * conj);
		}
		walk_on(g, &w);
	}
}

static void
twiddle(const struct grid *g, size_t row)
{
	REAL *data = (REAL *)g->data + row * g->ld * g->layers * 2;

	if (g->layers > 1)
		twiddle_layers(g, row, data);
	else
		twiddle_row(g, row, data);
}

const struct modes_ops SIMD_NAME(usfft_modes) = {move_run, twiddle, move_layers};

TARGET_END
