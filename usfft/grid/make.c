/*
 * Makes grids: their shape, their memory and the plans of their FFTs.
 *
 * A long 1-D grid is cut into rows. With layers every 1-D grid is, and its rows then follow one another without padding, so
 * that it is also one line of cells.
 */
#include <errno.h>
#include <math.h>

#include "common/base/mem.h"
#include "usfft/grid/grid.h"

enum { ROWS_FROM = 1 << 15 }; /* a 1-D grid of at least so many cells is cut into rows */
enum { LONGEST = 1 << 15 };   /* cells of an axis in batches: they fit a cache of 8 MiB */

/* Returns the divisor of n nearest below its square root that makes rows and columns of whole batches. */
static size_t
cut_rows(size_t n)
{
	const size_t each = batch_width(sizeof(float));
	size_t best = n;

	for (size_t r = each; r * r <= n; r += each)
		if (n % r == 0 && n / r % each == 0)
			best = n / r;
	return best;
}

/* Finds the axes of the FFTs: n[] cells, stride[] samples from cell to cell. Returns how many axes there are. */
static int
find_axes(const struct grid *g, int dim, size_t n[3], size_t stride[3])
{
	const bool cut = g->rowlen < g->n[0];

	for (int a = 0; a < dim; a++) {
		n[a] = g->n[a];
		stride[a] = a == 0 ? 1 : a == 1 ? g->ld : g->ld * g->plane;
	}
	if (cut) {
		n[0] = g->rowlen;
		n[1] = g->rows;
		stride[1] = g->ld;
	}
	return cut ? 2 : dim;
}

static int
plan_ffts(struct grid *g, const struct usfft_options *o)
{
	const size_t width = batch_width(o->single ? sizeof(float) : sizeof(double));
	size_t n[3], stride[3];
	const int axes = find_axes(g, o->dim, n, stride);
	int err = 0;

	g->batched = axes > 1 && (!o->measure || g->layers > 1);
	for (int a = 0; a < axes; a++) {
		g->batched = g->batched && n[a] <= LONGEST && batch_suits(n[a]);
		if (batch_work(n[a]) > g->work_bytes)
			g->work_bytes = batch_work(n[a]);
	}
	for (int a = 0; a < axes && !err; a++)
		if (g->batched && a && n[a] == n[0])
			g->batch[a] = g->batch[0];
		else if (g->batched)
			err = batch_make(&g->batch[a], n[a], o->single);
		else
			err =
			    fftw_axis_make(&g->fftw[a], o, n[a], a ? width : 1, stride[a], g->data);
	if (!g->batched || err)
		return err;
	g->work = weir_alloc_large((size_t)o->threads, g->work_bytes);
	return g->work ? 0 : -ENOMEM;
}

/* Fills both tables of roots by sine and cosine, so that errors do not add up. */
static int
make_roots(struct grid *g)
{
	const size_t n[2] = {ROOT_FINE, g->n[0] / ROOT_FINE + 1}, step[2] = {1, ROOT_FINE};

	for (int t = 0; t < 2; t++) {
		g->root[t] = weir_alloc(n[t], 2 * sizeof(double));
		if (!g->root[t])
			return -ENOMEM;
		for (size_t q = 0; q < n[t]; q++) {
			const double a = -2 * M_PI * (double)(q * step[t]) / (double)g->n[0];
			g->root[t][2 * q] = cos(a);
			g->root[t][2 * q + 1] = sin(a);
		}
	}
	return 0;
}

/* Finds the rows of the grid. Returns false when there are too many cells. */
static bool
shape(struct grid *g)
{
	const bool cut = g->dim == 1 && (g->n[0] >= ROWS_FROM || g->layers > 1);
	const size_t deep = g->n[2] + (g->dim == 3 ? g->margin : 0);

	g->rowlen = cut ? cut_rows(g->n[0]) : g->n[0];
	g->ld = g->rowlen;
	g->plane = g->n[0] / g->rowlen * g->n[1];
	if (g->layers == 1) {
		g->ld += WEIR_ALIGN / (2 * g->real);
		g->plane += g->dim == 3;
	} else if (g->dim > 1) {
		/* It is odd, and the cells of a column fall into different sets of the cache. */
		g->ld += g->margin | 1;
		g->plane += g->margin;
	}
	if (!weir_mul(g->plane, deep, &g->rows) || !weir_mul(g->rows, g->ld, &g->cells))
		return false;
	g->cells += g->margin;
	return true;
}

int
grid_make(struct grid *g, const struct usfft_options *o)
{
	size_t cells;

	g->dim = o->dim;
	g->threads = o->threads;
	g->real = o->single ? sizeof(float) : sizeof(double);
	g->fft_order = o->fft_order;
	for (int a = 0; a < 3; a++)
		g->modes[a] = a < o->dim ? o->n[a] : 1;
	if (!shape(g) || !weir_mul(g->cells, g->copies, &cells))
		return -EOVERFLOW;
	if (cells > g->room)
		g->room = cells;
	g->data = weir_take(g->room, grid_cell_bytes(g));
	if (!g->data)
		return -ENOMEM;
	const int err = plan_ffts(g, o);
	if (err)
		return err;
	return g->rowlen < g->n[0] ? make_roots(g) : 0;
}

void
grid_free(struct grid *g)
{
	weir_give(g->data, g->room, grid_cell_bytes(g));
	weir_free(g->root[0]);
	weir_free(g->root[1]);
	weir_free(g->work);
	for (int a = 0; a < 3; a++) {
		if (!a || g->batch[a].root != g->batch[0].root)
			batch_free(&g->batch[a]);
		fftw_axis_free(&g->fftw[a]);
		weir_free(g->undo[a]);
	}
}
