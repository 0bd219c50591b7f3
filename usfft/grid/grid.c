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
#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/mem.h"
#include "common/par.h"
#include "usfft/grid/grid.h"
#include "usfft/grid/modes.h"

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

	g->batched = axes > 1 && !o->measure;
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

int
grid_make(struct grid *g, const struct usfft_options *o)
{
	const bool cut = o->dim == 1 && g->n[0] >= ROWS_FROM;
	size_t samples;

	g->dim = o->dim;
	g->threads = o->threads;
	g->real = o->single ? sizeof(float) : sizeof(double);
	g->fft_order = o->fft_order;
	for (int a = 0; a < 3; a++)
		g->modes[a] = a < o->dim ? o->n[a] : 1;
	const size_t sample = 2 * g->real;
	g->rowlen = cut ? cut_rows(g->n[0]) : g->n[0];
	g->ld = g->rowlen + WEIR_ALIGN / sample;
	g->plane = g->n[0] / g->rowlen * g->n[1] + (o->dim == 3);
	if (!weir_mul(g->plane, g->n[2], &g->rows) || !weir_mul(g->rows, g->ld, &samples))
		return -EOVERFLOW;
	g->data = weir_map(samples, sample);
	if (!g->data)
		return -ENOMEM;
	g->clean = !o->measure;
	const int err = plan_ffts(g, o);
	if (err)
		return err;
	return cut ? make_roots(g) : 0;
}

void
grid_free(struct grid *g)
{
	weir_unmap(g->data, g->rows * g->ld, 2 * g->real);
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

static const struct batch_gap none = {0, 0};

/* The cells of an axis that hold no modes; along x, only whole batches of them. */
static struct batch_gap
gap_of(const struct grid *g, int axis)
{
	const size_t each = axis ? 1 : batch_width(g->real);
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
	memset((char *)g->data + (row * g->ld + from) * 2 * g->real, 0, (to - from) * 2 * g->real);
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

	if (g->clean) {
		g->clean = false;
		return;
	}
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
	const size_t row_bytes = g->ld * 2 * g->real, left = g->rows - row;
	char *at = (char *)g->data + row * row_bytes;

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
	char *at = (char *)g->data + (row * g->ld + x) * 2 * g->real;

	if (g->batched)
		g->ops->columns(&g->batch[axis], at, axis == 1 ? g->ld : g->ld * g->plane, in, out,
				work_of(g));
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
	const struct kept x = kept_of(g, 0, batch_width(g->real));
	const struct batch_gap gap = gap_of(g, axis);

	for (size_t i = 0; i < x.count; i++)
		run_columns(g, axis, row, kept_at(&x, i), to_modes ? none : gap,
			    to_modes ? gap : none);
}

/* Transforms a 1-D grid. */
static void
line(const struct grid *g, bool to_modes)
{
	const size_t each = batch_width(g->real);

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
	for (size_t r = 0; r < g->n[1]; r += batch_width(g->real))
		run_rows(g, r, to_modes ? none : gap, to_modes ? gap : none);
}

static void
columns_2d(const struct grid *g, bool to_modes)
{
	const struct kept x = kept_of(g, 0, batch_width(g->real));
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
		for (size_t y = 0; y < g->n[1]; y += batch_width(g->real))
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
