/*
 * The oversampled grid and its FFTs, all of them 1-D: rows, then columns in batches of GRID_BATCH, and of the columns
 * only those that hold modes (type 2: the same backwards). A plan is made once and executed by all threads.
 *
 * A long 1-D grid of n = r l cells, x = l j + i, is transformed as r rows of l cells (Cooley and Tukey):
 *
 *	F[k + r q] = sum_i w^(i k) exp(-2 pi i q i / l) sum_j exp(-2 pi i k j / r) x[l j + i],	w = exp(-2 pi i / n)
 *
 * columns (j -> k), factors w^(i k), rows (i -> q): mode k + r q ends up in row k, column q.
 */
#include <errno.h>
#include <fftw3.h>
#include <math.h>

#include "common/mem.h"
#include "common/par.h"
#include "usfft/plan.h"

enum { ROWS_FROM = 1 << 15 }; /* cells of a 1-D grid that is cut into rows */

/* The divisor of n nearest below its square root that leaves a row of whole batches. */
static size_t
cut_rows(size_t n)
{
	size_t best = n;

	for (size_t r = 1; r * r <= n; r++)
		if (n % r == 0 && n / r % GRID_BATCH == 0)
			best = n / r;
	return best;
}

static void *
plan_fft(const struct grid *g, const struct usfft_options *o, size_t n, size_t many, size_t stride)
{
	const unsigned how = o->measure ? FFTW_MEASURE : FFTW_ESTIMATE;
	const int len = (int)n, count = (int)many, step = (int)stride;

	if (o->single)
		return fftwf_plan_many_dft(1, &len, count, g->data, NULL, step, 1, g->data, NULL,
					   step, 1, FFTW_FORWARD, how);
	return fftw_plan_many_dft(1, &len, count, g->data, NULL, step, 1, g->data, NULL, step, 1,
				  FFTW_FORWARD, how);
}

/* Both tables by sine and cosine, so that no error adds up. */
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
	const size_t sample = 2 * (o->single ? sizeof(float) : sizeof(double));
	const bool cut = o->dim == 1 && g->n[0] >= ROWS_FROM;
	size_t samples;

	g->rowlen = cut ? cut_rows(g->n[0]) : g->n[0];
	g->ld = g->rowlen + WEIR_ALIGN / sample;
	g->plane = g->n[0] / g->rowlen * g->n[1] + (o->dim == 3);
	if (!weir_mul(g->plane, g->n[2], &g->rows) || !weir_mul(g->rows, g->ld, &samples))
		return -EOVERFLOW;
	g->data = weir_map(samples, sample);
	if (!g->data)
		return -ENOMEM;
	g->clean = !o->measure;
	g->row = plan_fft(g, o, g->rowlen, 1, 1);
	if (o->dim > 1 || cut)
		g->col[0] = plan_fft(g, o, cut ? g->rows : g->n[1], GRID_BATCH, g->ld);
	if (o->dim > 2)
		g->col[1] = plan_fft(g, o, g->n[2], GRID_BATCH, g->ld * g->plane);
	if (!g->row || ((o->dim > 1 || cut) && !g->col[0]) || (o->dim > 2 && !g->col[1]))
		return -ENOMEM;
	return cut ? make_roots(g) : 0;
}

static void
destroy_plan(void *plan, bool single)
{
	if (plan && single)
		fftwf_destroy_plan(plan);
	else if (plan)
		fftw_destroy_plan(plan);
}

void
grid_free(struct grid *g, bool single)
{
	weir_unmap(g->data, g->rows * g->ld, 2 * (single ? sizeof(float) : sizeof(double)));
	weir_free(g->root[0]);
	weir_free(g->root[1]);
	destroy_plan(g->row, single);
	destroy_plan(g->col[0], single);
	destroy_plan(g->col[1], single);
}

static void
run_fft(const struct usfft_plan *p, void *plan, size_t row, size_t x)
{
	char *at = (char *)p->grid.data + (row * p->grid.ld + x) * 2 * p->real;

	if (p->o.single)
		fftwf_execute_dft(plan, (fftwf_complex *)at, (fftwf_complex *)at);
	else
		fftw_execute_dft(plan, (fftw_complex *)at, (fftw_complex *)at);
}

/* The columns (GRID_BATCH at a time) or single rows of an axis that hold modes: 0..front-1 and n-back..n-1. */
struct kept {
	size_t n, front, back, each;
};

static struct kept
kept_of(const struct usfft_plan *p, int axis, size_t each)
{
	const size_t modes = p->o.n[axis], n = p->grid.n[axis];
	struct kept k = {n, ((modes + 1) / 2 + each - 1) / each, (modes / 2 + each - 1) / each,
			 each};

	if ((k.front + k.back) * each > n) {
		k.front = n / each;
		k.back = 0;
	}
	return k;
}

static size_t
kept_count(const struct kept *k)
{
	return k->front + k->back;
}

static size_t
kept_at(const struct kept *k, size_t i)
{
	return i < k->front ? i * k->each : k->n - (k->front + k->back - i) * k->each;
}

static void
columns(const struct usfft_plan *p, void *plan, size_t row)
{
	const struct kept x = kept_of(p, 0, GRID_BATCH);

	for (size_t i = 0; i < kept_count(&x); i++)
		run_fft(p, plan, row, kept_at(&x, i));
}

/* One dimension. */
static void
line(const struct usfft_plan *p, bool to_modes)
{
	const struct grid *g = &p->grid;

	if (g->rows == 1) {
		run_fft(p, g->row, 0, 0);
		return;
	}
	for (int pass = 0; pass < 2; pass++)
		if ((pass == 0) == to_modes)
#pragma omp parallel for num_threads(p->o.threads) schedule(static)
			for (size_t x = 0; x < g->rowlen; x += GRID_BATCH)
				run_fft(p, g->col[0], 0, x);
		else
#pragma omp parallel for num_threads(p->o.threads) schedule(static)
			for (size_t r = 0; r < g->rows; r++) {
				if (to_modes)
					modes_twiddle(p, r);
				run_fft(p, g->row, r, 0);
				if (!to_modes)
					modes_twiddle(p, r);
			}
}

/* Two dimensions. */
static void
rows_2d(const struct usfft_plan *p)
{
#pragma omp parallel for num_threads(p->o.threads) schedule(static)
	for (size_t r = 0; r < p->grid.n[1]; r++)
		run_fft(p, p->grid.row, r, 0);
}

static void
columns_2d(const struct usfft_plan *p)
{
	const struct kept x = kept_of(p, 0, GRID_BATCH);

#pragma omp parallel for num_threads(p->o.threads) schedule(dynamic, 4)
	for (size_t i = 0; i < kept_count(&x); i++)
		run_fft(p, p->grid.col[0], 0, kept_at(&x, i));
}

/* Three dimensions: x and y of a plane while it is in the cache. */
static void
planes_3d(const struct usfft_plan *p, bool to_modes)
{
	const struct grid *g = &p->grid;

#pragma omp parallel for num_threads(p->o.threads) schedule(dynamic, 1)
	for (size_t z = 0; z < g->n[2]; z++) {
		if (!to_modes)
			columns(p, g->col[0], z * g->plane);
		for (size_t y = 0; y < g->n[1]; y++)
			run_fft(p, g->row, z * g->plane + y, 0);
		if (to_modes)
			columns(p, g->col[0], z * g->plane);
	}
}

static void
columns_z(const struct usfft_plan *p)
{
	const struct kept y = kept_of(p, 1, 1);

#pragma omp parallel for num_threads(p->o.threads) schedule(dynamic, 1)
	for (size_t i = 0; i < kept_count(&y); i++)
		columns(p, p->grid.col[1], kept_at(&y, i));
}

void
grid_to_modes(const struct usfft_plan *p)
{
	if (p->o.dim == 1) {
		line(p, true);
	} else if (p->o.dim == 2) {
		rows_2d(p);
		columns_2d(p);
	} else {
		planes_3d(p, true);
		columns_z(p);
	}
}

void
modes_to_grid(const struct usfft_plan *p)
{
	if (p->o.dim == 1) {
		line(p, false);
	} else if (p->o.dim == 2) {
		columns_2d(p);
		rows_2d(p);
	} else {
		columns_z(p);
		planes_3d(p, false);
	}
}
