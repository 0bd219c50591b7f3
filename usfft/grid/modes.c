/*
 * Moves modes between the transformed grid and the caller's order, and divides the window out. It also multiplies by the
 * twiddle factors between the two passes of a long 1-D grid.
 */
#include <stdint.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/real.h"
#include "usfft/grid/modes.h"

/* A row in the caller's order is two runs of modes: the negative modes, and the others. */
struct run {
	size_t at;   /* index of the first mode in the caller's row */
	size_t cell; /* its cell in the grid's row */
	size_t mode; /* |k| of the first mode */
	int step;    /* of |k| from mode to mode: -1 for negative modes */
	size_t n;    /* modes */
};

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

#define REAL	float
#define NAME(x) x##_float
#include "usfft/grid/modes_body.h"
#undef REAL
#undef NAME
#define REAL	double
#define NAME(x) x##_double
#include "usfft/grid/modes_body.h"

static bool
single(const struct grid *g)
{
	return g->real == sizeof(float);
}

void
modes_twiddle(const struct grid *g, size_t row)
{
	char *data = (char *)g->data + row * g->ld * grid_cell_bytes(g);

	if (g->layers > 1 && single(g))
		twiddle_layers_float(g, row, (float *)data);
	else if (g->layers > 1)
		twiddle_layers_double(g, row, (double *)data);
	else if (single(g))
		twiddle_row_float(g, row, (float *)data);
	else
		twiddle_row_double(g, row, (double *)data);
}

/* Finds the parts of both runs of an axis that lie at from..to-1 of the caller's order. Returns how many there are. */
static int
find_runs(const struct grid *g, int axis, size_t from, size_t to, struct run run[2])
{
	const size_t n = g->modes[axis], cells = g->n[axis], neg = n / 2, pos = n - neg;
	const size_t at_neg = g->fft_order ? pos : 0, at_pos = g->fft_order ? 0 : neg;
	const struct run whole[2] = {{at_neg, cells - neg, neg, -1, neg}, {at_pos, 0, 0, 1, pos}};
	int count = 0;

	for (int i = 0; i < 2; i++) {
		const size_t lo = whole[i].at > from ? whole[i].at : from;
		const size_t end = whole[i].at + whole[i].n, hi = end < to ? end : to;
		if (lo >= hi)
			continue;
		run[count] = whole[i];
		run[count].at = lo;
		run[count].cell += lo - whole[i].at;
		run[count].mode = i ? lo - whole[i].at : neg - (lo - whole[i].at);
		run[count++].n = hi - lo;
	}
	return count;
}

/* Returns the grid's row for a row of modes. *factor: the product of the window's factors along y and z. */
static size_t
find_row(const struct grid *g, size_t row, double *factor)
{
	size_t cell[3] = {0}, place[3] = {0, row % g->modes[1], row / g->modes[1]};
	struct run run[2];

	*factor = 1;
	for (int a = 1; a < g->dim; a++) {
		find_runs(g, a, place[a], place[a] + 1, run);
		cell[a] = run[0].cell;
		*factor *= real_at(g->undo[a], run[0].mode, single(g));
	}
	return cell[2] * g->plane + cell[1];
}

static void
move_modes(const struct grid *g, int sign, size_t row, size_t from, size_t to, bool get,
	   void *modes)
{
	struct run run[2];
	double factor;
	const size_t r = find_row(g, row, &factor);
	const int runs = find_runs(g, 0, from, to, run);

	for (int i = 0; i < runs; i++) {
		void *at = (char *)modes + (run[i].at - from) * 2 * g->real;
		if (single(g))
			move_run_float(g, r, &run[i], factor, sign, get, at);
		else
			move_run_double(g, r, &run[i], factor, sign, get, at);
	}
}

void
modes_get(const struct grid *g, int sign, size_t row, size_t from, size_t to, void *modes)
{
	move_modes(g, sign, row, from, to, true, modes);
}

void
modes_put(const struct grid *g, int sign, size_t row, size_t from, size_t to, const void *modes)
{
	move_modes(g, sign, row, from, to, false, (void *)(uintptr_t)modes);
}

/* The first cell of a run in row r. */
static struct walk
walk_from(const struct grid *g, size_t r, const struct run *run)
{
	if (g->rowlen == g->n[0])
		return (struct walk){r * g->ld + run->cell, 0};
	return (struct walk){run->cell % g->rows * g->ld + run->cell / g->rows,
			     run->cell % g->rows};
}

void
modes_get_layers(const struct grid *g, int sign, size_t row, size_t count, void *const *modes)
{
	struct run run[2];
	double factor;
	const size_t n = g->modes[0], r = find_row(g, row, &factor);
	const int runs = find_runs(g, 0, 0, n, run);

	for (int i = 0; i < runs; i++) {
		const struct walk w = walk_from(g, r, &run[i]);
		const size_t at = row * n + run[i].at;
		if (single(g))
			get_layers_float(g, w, &run[i], (float)factor, (float)sign, at, count,
					 modes);
		else
			get_layers_double(g, w, &run[i], factor, sign, at, count, modes);
	}
}

void
modes_put_layers(const struct grid *g, int sign, size_t row, const void *const *modes)
{
	struct run run[2];
	double factor;
	const size_t n = g->modes[0], r = find_row(g, row, &factor);
	const int runs = find_runs(g, 0, 0, n, run);

	for (int i = 0; i < runs; i++) {
		const struct walk w = walk_from(g, r, &run[i]);
		const size_t at = row * n + run[i].at;
		if (single(g))
			put_layers_float(g, w, &run[i], (float)factor, (float)sign, at, modes);
		else
			put_layers_double(g, w, &run[i], factor, sign, at, modes);
	}
}
