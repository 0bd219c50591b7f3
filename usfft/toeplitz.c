/*
 * The FFTs are those of the grid of a transform, which leave out rows and columns without modes. The first one makes the
 * sums with sign -1. The second one has to have the sign +1, so its input and output are conjugated.
 */
#include <errno.h>

#include "common/base/clock.h"
#include "common/base/fft.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "usfft/grid/modes.h"
#include "usfft/loops/loops.h"
#include "usfft/toeplitz.h"

/* Returns a length of FFTs of at least n cells. Batches of rows ask for multiples of 8, and a cut 1-D grid for 256. */
static size_t
length(size_t n, size_t step)
{
	for (n = (n + step - 1) / step * step; fft_size(n) != n;)
		n += step;
	return n;
}

/* Makes a grid for the modes of o, of 2 half - 1 cells along each axis or more, which divides no window out. */
static int
make_grid(struct grid *g, const struct usfft_options *o, const size_t half[3])
{
	*g = (struct grid){
	    .layers = 1, .copies = 1, .ops = &usfft_loops(o->registers, false)->batch};
	for (int a = 0; a < 3; a++)
		g->n[a] = a < o->dim ? length(2 * half[a] - 1, o->dim > 1 ? 8 : 256) : 1;
	const int err = grid_make(g, o);
	for (int a = 0; a < o->dim && !err; a++) {
		double *undo = weir_alloc(o->n[a] / 2 + 1, sizeof *undo);
		g->undo[a] = undo;
		if (!undo)
			return -ENOMEM;
		for (size_t k = 0; k <= o->n[a] / 2; k++)
			undo[k] = 1;
	}
	return err;
}

/* Writes all modes to the grid and transforms them. */
static void
to_grid(struct grid *g, const double *modes)
{
	const size_t n = g->modes[0], rows = g->modes[1] * g->modes[2];

	grid_clear(g);
#pragma omp parallel for num_threads(g->threads) schedule(static)
	for (size_t r = 0; r < rows; r++)
		modes_put(g, 1, r, 0, n, modes + 2 * r * n);
	modes_to_grid(g);
}

/* Whether a row of the grid holds cells, and is no padding. */
static bool
holds_cells(const struct grid *g, size_t row)
{
	return g->dim < 3 || row % g->plane < g->n[1];
}

/* Transforms column T to its symbol. T is Hermitian, so the symbol is real. */
static int
make_symbol(struct toeplitz *t, const struct usfft_options *o, const double *column)
{
	struct usfft_options twice = *o;
	struct grid g;

	twice.fft_order = true;
	for (int a = 0; a < o->dim; a++)
		twice.n[a] = 2 * o->n[a] - 1;
	int err = make_grid(&g, &twice, o->n);
	if (!err && !(t->symbol = weir_alloc(g.cells, sizeof *t->symbol)))
		err = -ENOMEM;
	if (!err) {
		const double *cell = g.data;
		const double scale = 1 / ((double)g.n[0] * (double)g.n[1] * (double)g.n[2]);
		to_grid(&g, column);
		for (size_t r = 0; r < g.rows; r++) {
			const size_t at = r * g.ld, end = at + (holds_cells(&g, r) ? g.rowlen : 0);
			for (size_t i = at; i < end; i++)
				t->symbol[i] = cell[2 * i] * scale;
		}
	}
	grid_free(&g);
	return err;
}

void
usfft_toeplitz_apply(struct toeplitz *t, const double *in, double *out)
{
	struct grid *g = &t->grid;
	const size_t n = g->modes[0], rows = g->modes[1] * g->modes[2];
	double start = clock_now();

	to_grid(g, in);
#pragma omp parallel for num_threads(g->threads) schedule(static)
	for (size_t r = 0; r < g->rows; r++) {
		const double *symbol = t->symbol + r * g->ld;
		double *cell = (double *)g->data + 2 * r * g->ld;
		for (size_t i = 0; holds_cells(g, r) && i < g->rowlen; i++) {
			cell[2 * i] *= symbol[i];
			cell[2 * i + 1] *= -symbol[i];
		}
	}
	grid_to_modes(g);
	clock_charge(&start, &t->took->fft);
#pragma omp parallel for num_threads(g->threads) schedule(static)
	for (size_t r = 0; r < rows; r++)
		modes_get(g, -1, r, 0, n, out + 2 * r * n);
}

int
usfft_toeplitz_make(struct toeplitz *t, const struct usfft_options *o, const double *column)
{
	*t = (struct toeplitz){0};
	t->took = o->took ? o->took : &t->own;
	const int err = make_symbol(t, o, column);
	return err ? err : make_grid(&t->grid, o, o->n);
}

void
usfft_toeplitz_free(struct toeplitz *t)
{
	grid_free(&t->grid);
	weir_free(t->symbol);
}
