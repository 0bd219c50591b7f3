/*
 * The oversampled grid and its 1-D FFTs, in batches (loops.h). Type 1 transforms all rows, and then only the columns that
 * hold modes; type 2 takes the same steps in reverse.
 *
 * A long 1-D grid of n = r l cells, x = l j + i, is transformed as r rows of l cells (Cooley and Tukey):
 *
 *	F[k + r q] = sum_i w^(i k) exp(-2 pi i q i / l) sum_j exp(-2 pi i k j / r) x[l j + i],	w = exp(-2 pi i / n)
 *
 * It transforms columns (j -> k), multiplies by w^(i k) and transforms rows (i -> q). Mode k + r q is in row k, column q.
 */
#include <errno.h>
#include <fftw3.h>
#include <math.h>
#include <string.h>

#include "common/base/cpu.h"
#include "common/base/mem.h"
#include "common/base/par.h"
#include "common/base/real.h"
#include "usfft/grid/grid.h"

extern const struct modes_ops usfft_modes_f32_generic, usfft_modes_f32_avx2, usfft_modes_f32_avx512;
extern const struct modes_ops usfft_modes_f64_generic, usfft_modes_f64_avx2, usfft_modes_f64_avx512;

static const struct modes_ops *const modes_ops[2][3] = {
    {&usfft_modes_f64_generic, &usfft_modes_f64_avx2, &usfft_modes_f64_avx512},
    {&usfft_modes_f32_generic, &usfft_modes_f32_avx2, &usfft_modes_f32_avx512}};

/* ---- FFTW ---- */

/* FFTW takes 20 us to plan 1536 samples again, and the whole transform of 1000 points takes 30: the last plan is kept. */
static struct fftw_axis kept;

static void
destroy(struct fftw_axis *f)
{
	if (f->plan && f->single)
		fftwf_destroy_plan(f->plan);
	else if (f->plan)
		fftw_destroy_plan(f->plan);
	*f = (struct fftw_axis){0};
}

/*
 * Plans the FFTs of `many` neighbouring lines of n samples, which lie `stride` samples apart from one to the next, or of one
 * line whose stride is 1. Returns 0 or -ENOMEM. One thread at a time may call it.
 */
static int
fftw_axis_make(struct fftw_axis *f, const struct usfft_options *o, size_t n, size_t many,
	       size_t stride, void *data)
{
	const int len = (int)n, count = (int)many, step = (int)stride;

	*f = (struct fftw_axis){.n = n, .single = o->single, .plain = many == 1};
	if (f->plain && kept.plan && kept.n == n && kept.single == o->single) {
		*f = kept;
		kept.plan = NULL;
		return 0;
	}
	if (o->single)
		f->plan = fftwf_plan_many_dft(1, &len, count, data, NULL, step, 1, data, NULL, step,
					      1, FFTW_FORWARD, FFTW_ESTIMATE);
	else
		f->plan = fftw_plan_many_dft(1, &len, count, data, NULL, step, 1, data, NULL, step,
					     1, FFTW_FORWARD, FFTW_ESTIMATE);
	return f->plan ? 0 : -ENOMEM;
}

/* Transforms the lines at `at`, which is aligned as data was. Any thread may call it. */
static void
fftw_axis_run(const struct fftw_axis *f, void *at)
{
	if (f->single)
		fftwf_execute_dft(f->plan, at, at);
	else
		fftw_execute_dft(f->plan, at, at);
}

/* Frees the plan, or keeps it for the next grid of the same length. It accepts a zeroed struct. */
static void
fftw_axis_free(struct fftw_axis *f)
{
	if (f->plan && f->plain) {
		destroy(&kept);
		kept = *f;
		f->plan = NULL;
	}
	destroy(f);
}

/* ---- plans ---- */

/* With layers every 1-D grid is cut into rows, which follow one another without padding: it is also one line of cells. */

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

	g->batched = axes > 1;
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
	g->modes_ops = modes_ops[o->single][weir_cpu];
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
	weir_free_all(g->root[0], g->root[1], g->work, g->undo[0], g->undo[1], g->undo[2]);
	for (int a = 0; a < 3; a++) {
		if (!a || g->batch[a].root != g->batch[0].root)
			batch_free(&g->batch[a]);
		fftw_axis_free(&g->fftw[a]);
	}
}

/* ---- modes ---- */

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
		*factor *= real_at(g->undo[a], run[0].mode, g->real == sizeof(float));
	}
	return cell[2] * g->plane + cell[1];
}

void
modes_move(const struct grid *g, int sign, size_t row, size_t from, size_t to, bool get,
	   void *modes)
{
	struct run run[2];
	double factor;
	const size_t r = find_row(g, row, &factor);
	const int runs = find_runs(g, 0, from, to, run);

	for (int i = 0; i < runs; i++) {
		void *at = (char *)modes + (run[i].at - from) * 2 * g->real;
		g->modes_ops->move(g, r, &run[i], factor, sign, get, at);
	}
}

void
modes_move_layers(const struct grid *g, int sign, size_t row, bool get, size_t count,
		  void *const *modes)
{
	struct run run[2];
	double factor;
	const size_t n = g->modes[0], r = find_row(g, row, &factor);
	const int runs = find_runs(g, 0, 0, n, run);

	for (int i = 0; i < runs; i++)
		g->modes_ops->move_layers(g, r, &run[i], factor, sign, get, row * n + run[i].at,
					  count, modes);
}

/* ---- the grid ---- */

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

/* Transforms a batch of rows, or as many rows as are left. gap: the cells without modes. */
static void
run_rows(const struct grid *g, size_t row, struct batch_gap gap, bool to_modes)
{
	const struct batch_gap in = to_modes ? none : gap, out = to_modes ? gap : none;
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
run_columns(const struct grid *g, int axis, size_t row, size_t x, struct batch_gap gap,
	    bool to_modes)
{
	const struct batch_gap in = to_modes ? none : gap, out = to_modes ? gap : none;
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
		run_columns(g, axis, row, kept_at(&x, i), gap, to_modes);
}

/* Transforms a 1-D grid. */
static void
line(const struct grid *g, bool to_modes)
{
	const size_t each = batch_cells(g);

	if (g->rows == 1) {
		run_rows(g, 0, none, to_modes);
		return;
	}
	for (int pass = 0; pass < 2; pass++)
		if ((pass == 0) == to_modes)
#pragma omp parallel for num_threads(g->threads) schedule(static)
			for (size_t x = 0; x < g->rowlen; x += each)
				run_columns(g, 1, 0, x, none, to_modes);
		else
#pragma omp parallel for num_threads(g->threads) schedule(static)
			for (size_t r = 0; r < g->rows; r += each) {
				for (size_t i = r; to_modes && i < r + each; i++)
					g->modes_ops->twiddle(g, i);
				run_rows(g, r, none, to_modes);
				for (size_t i = r; !to_modes && i < r + each; i++)
					g->modes_ops->twiddle(g, i);
			}
}

/* Transforms all rows of a 2-D grid. */
static void
rows_2d(const struct grid *g, bool to_modes)
{
	const struct batch_gap gap = gap_of(g, 0);

#pragma omp parallel for num_threads(g->threads) schedule(static)
	for (size_t r = 0; r < g->n[1]; r += batch_cells(g))
		run_rows(g, r, gap, to_modes);
}

static void
columns_2d(const struct grid *g, bool to_modes)
{
	const struct kept x = kept_of(g, 0, batch_cells(g));
	const struct batch_gap gap = gap_of(g, 1);

#pragma omp parallel for num_threads(g->threads) schedule(dynamic, 4)
	for (size_t i = 0; i < x.count; i++)
		run_columns(g, 1, 0, kept_at(&x, i), gap, to_modes);
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
			run_rows(g, z * g->plane + y, gap, to_modes);
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
grid_transform(const struct grid *g, bool to_modes)
{
	static void (*const stage[3][2])(const struct grid *, bool) = {
	    {line}, {rows_2d, columns_2d}, {planes_3d, columns_z}};
	const int stages = g->dim > 1 ? 2 : 1;

	for (int i = 0; i < stages; i++)
		stage[g->dim - 1][to_modes ? i : stages - 1 - i](g, to_modes);
}
