/*
 * The oversampled grid and its 1-D FFTs, in batches (batch.h). Type 1 transforms all rows, and then only the columns that
 * hold modes; type 2 takes the same steps in reverse.
 *
 * A long 1-D grid of n = r l cells, x = l j + i, is transformed as r rows of l cells (Cooley and Tukey):
 *
 *	F[k + r q] = sum_i w^(i k) exp(-2 pi i q i / l) sum_j exp(-2 pi i k j / r) x[l j + i],	w = exp(-2 pi i / n)
 *
 * It transforms columns (j -> k), multiplies by w^(i k) and transforms rows (i -> q). Mode k + r q is in row k, column q.
 */
#include <string.h>

#include "common/base/par.h"
#include "usfft/grid/grid.h"
#include "usfft/grid/modes.h"

static const struct batch_gap none = {0, 0};

/* How many cells along x, or rows, make a batch. */
static size_t
batch_cells(const struct grid *g)
{
	return batch_width(g->real) / g->layers;
}

/* The cells of an axis that hold no modes; along x, only whole batches of them. */
static struct batch_gap
gap_of(const struct grid *g, int axis)
{
	const size_t each = axis ? 1 : batch_cells(g);
	const size_t from = ((g->modes[axis] + 1) / 2 + each - 1) / each * each;
	const size_t to = (g->n[axis] - g->modes[axis] / 2) / each * each;

	return from < to ? (struct batch_gap){from, to} : none;
}

/* Whether cell y (axis 1) or z (axis 2) of the grid holds modes. */
static bool
holds_modes(const struct grid *g, int axis, size_t cell)
{
	const size_t n = g->modes[axis];

	return cell < (n + 1) / 2 || cell >= g->n[axis] - n / 2;
}

static void
clear_cells(const struct grid *g, size_t row, size_t from, size_t to)
{
	const size_t cell = grid_cell_bytes(g);

	memset((char *)g->data + (row * g->ld + from) * cell, 0, (to - from) * cell);
}

/*
 * Clears rows without modes, and in the others the cells between both runs of modes. Batches do not read their gaps, so
 * with batches it clears only the cells beside the gap.
 */
void
grid_clear(struct grid *g)
{
	const size_t n = g->modes[0];
	const bool whole = g->rowlen == g->n[0];
	const struct batch_gap modes = {(n + 1) / 2, g->n[0] - n / 2};
	const struct batch_gap gap = g->batched && whole ? gap_of(g, 0) : none;
	const bool split = gap.from < gap.to;

#pragma omp parallel for num_threads(g->threads) schedule(static)
	for (size_t r = 0; r < g->rows; r++) {
		const bool used = whole && r % g->plane < g->n[1] &&
				  holds_modes(g, 1, r % g->plane) &&
				  holds_modes(g, 2, r / g->plane);
		if (used) {
			clear_cells(g, r, modes.from, split ? gap.from : modes.to);
			clear_cells(g, r, split ? gap.to : modes.to, modes.to);
		} else if (!g->batched || !whole) {
			clear_cells(g, r, 0, g->rowlen);
		}
	}
}

static char *
work_of(const struct grid *g)
{
	return g->work + (size_t)omp_get_thread_num() * g->work_bytes;
}

/* Transforms a batch of rows, or as many rows as are left. */
static void
run_rows(const struct grid *g, size_t row, struct batch_gap in, struct batch_gap out)
{
	const size_t row_bytes = g->ld * grid_cell_bytes(g), left = g->rows - row;
	char *at = (char *)g->data + row * row_bytes;

	if (g->layers > 1) {
		g->ops->columns(&g->batch[0], at, g->layers, g->ld * g->layers, in, out,
				work_of(g));
		return;
	}
	if (g->batched) {
		g->ops->rows(&g->batch[0], at, g->ld, in, out, work_of(g));
		return;
	}
	for (size_t r = 0; r < batch_width(g->real) && r < left; r++)
		fftw_axis_run(&g->fftw[0], at + r * row_bytes);
}

/* Transforms a batch of columns along y (axis 1) or z (axis 2), from column x on. */
static void
run_columns(const struct grid *g, int axis, size_t row, size_t x, struct batch_gap in,
	    struct batch_gap out)
{
	char *at = (char *)g->data + (row * g->ld + x) * grid_cell_bytes(g);

	if (g->batched)
		g->ops->columns(&g->batch[axis], at,
				(axis == 1 ? g->ld : g->ld * g->plane) * g->layers,
				batch_width(g->real) / 2, in, out, work_of(g));
	else
		fftw_axis_run(&g->fftw[axis], at);
}

/* The batches of columns, or the single rows, that hold modes: `front` before the gap of an axis, the others behind it. */
struct kept {
	size_t front, behind, each, count;
};

static struct kept
kept_of(const struct grid *g, int axis, size_t each)
{
	const struct batch_gap gap = gap_of(g, axis);
	struct kept k = {gap.from / each, gap.to / each, each, 0};

	k.count = k.front + (g->n[axis] / each - k.behind);
	return k;
}

static size_t
kept_at(const struct kept *k, size_t i)
{
	return (i < k->front ? i : i - k->front + k->behind) * k->each;
}

static void
columns(const struct grid *g, int axis, size_t row, bool to_modes)
{
	const struct kept x = kept_of(g, 0, batch_cells(g));
	const struct batch_gap gap = gap_of(g, axis);

	for (size_t i = 0; i < x.count; i++)
		run_columns(g, axis, row, kept_at(&x, i), to_modes ? none : gap,
			    to_modes ? gap : none);
}

/* Transforms a 1-D grid. */
static void
line(const struct grid *g, bool to_modes)
{
	const size_t each = batch_cells(g);

	if (g->rows == 1) {
		run_rows(g, 0, none, none);
		return;
	}
	for (int pass = 0; pass < 2; pass++)
		if ((pass == 0) == to_modes)
#pragma omp parallel for num_threads(g->threads) schedule(static)
			for (size_t x = 0; x < g->rowlen; x += each)
				run_columns(g, 1, 0, x, none, none);
		else
#pragma omp parallel for num_threads(g->threads) schedule(static)
			for (size_t r = 0; r < g->rows; r += each) {
				for (size_t i = r; to_modes && i < r + each; i++)
					modes_twiddle(g, i);
				run_rows(g, r, none, none);
				for (size_t i = r; !to_modes && i < r + each; i++)
					modes_twiddle(g, i);
			}
}

/* Transforms all rows of a 2-D grid. */
static void
rows_2d(const struct grid *g, bool to_modes)
{
	const struct batch_gap gap = gap_of(g, 0);

#pragma omp parallel for num_threads(g->threads) schedule(static)
	for (size_t r = 0; r < g->n[1]; r += batch_cells(g))
		run_rows(g, r, to_modes ? none : gap, to_modes ? gap : none);
}

static void
columns_2d(const struct grid *g, bool to_modes)
{
	const struct kept x = kept_of(g, 0, batch_cells(g));
	const struct batch_gap gap = gap_of(g, 1);

#pragma omp parallel for num_threads(g->threads) schedule(dynamic, 4)
	for (size_t i = 0; i < x.count; i++)
		run_columns(g, 1, 0, kept_at(&x, i), to_modes ? none : gap, to_modes ? gap : none);
}

/* Transforms a 3-D grid along x and y, plane by plane, while the plane is in the cache. */
static void
planes_3d(const struct grid *g, bool to_modes)
{
	const struct batch_gap gap = gap_of(g, 0);

#pragma omp parallel for num_threads(g->threads) schedule(dynamic, 1)
	for (size_t z = 0; z < g->n[2]; z++) {
		if (!to_modes)
			columns(g, 1, z * g->plane, false);
		for (size_t y = 0; y < g->n[1]; y += batch_cells(g))
			run_rows(g, z * g->plane + y, to_modes ? none : gap, to_modes ? gap : none);
		if (to_modes)
			columns(g, 1, z * g->plane, true);
	}
}

static void
columns_z(const struct grid *g, bool to_modes)
{
	const struct kept y = kept_of(g, 1, 1);

#pragma omp parallel for num_threads(g->threads) schedule(dynamic, 1)
	for (size_t i = 0; i < y.count; i++)
		columns(g, 2, kept_at(&y, i), to_modes);
}

void
grid_to_modes(const struct grid *g)
{
	if (g->dim == 1) {
		line(g, true);
	} else if (g->dim == 2) {
		rows_2d(g, true);
		columns_2d(g, true);
	} else {
		planes_3d(g, true);
		columns_z(g, true);
	}
}

void
modes_to_grid(const struct grid *g)
{
	if (g->dim == 1) {
		line(g, false);
	} else if (g->dim == 2) {
		columns_2d(g, false);
		rows_2d(g, false);
	} else {
		columns_z(g, false);
		planes_3d(g, false);
	}
}
