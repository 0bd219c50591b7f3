#include <errno.h>
#include <string.h>

#include "common/clock.h"
#include "common/fft.h"
#include "common/mem.h"
#include "common/par.h"
#include "usfft/toeplitz.h"

enum { BATCH = 4 }; /* columns at a time; fft_size() returns multiples of it */

void
usfft_toeplitz_free(struct toeplitz *t)
{
	for (int d = 0; d < 2; d++)
		for (int a = 0; a < t->dim; a++)
			if (t->fft[d][a])
				fftw_destroy_plan(t->fft[d][a]);
	weir_free(t->symbol);
	weir_free(t->work);
}

static int
alloc_toeplitz(struct toeplitz *t, const struct usfft_options *o)
{
	size_t cells = 1, stride = 1;

	t->dim = o->dim;
	t->threads = o->threads;
	t->took = o->took ? o->took : &t->own;
	for (int a = 0; a < 3; a++) {
		t->n[a] = a < o->dim ? o->n[a] : 1;
		t->len[a] = a < o->dim ? fft_size(2 * t->n[a] - 1) : 1;
		t->tail[a] = o->fft_order ? t->n[a] / 2 : 0;
		if (!weir_mul(cells, t->len[a], &cells))
			return -EOVERFLOW;
	}
	t->rows = t->len[1] * t->len[2];
	t->work = weir_alloc(cells, sizeof *t->work);
	t->symbol = weir_alloc(cells, sizeof *t->symbol);
	if (!t->work || !t->symbol)
		return -ENOMEM;
	for (int a = 0; a < o->dim; stride *= t->len[a++])
		for (int d = 0; d < 2; d++) {
			const int n = (int)t->len[a], s = (int)stride;
			t->fft[d][a] = fftw_plan_many_dft(
			    1, &n, a ? BATCH : 1, t->work, NULL, s, 1, t->work, NULL, s, 1,
			    d ? FFTW_BACKWARD : FFTW_FORWARD, FFTW_ESTIMATE);
			if (!t->fft[d][a])
				return -ENOMEM;
		}
	return 0;
}

/* Transforms the work array along one axis after the other. */
static void
run_fft(struct toeplitz *t, int inverse)
{
	const size_t nx = t->len[0], ny = t->len[1], nz = t->len[2];

#pragma omp parallel num_threads(t->threads)
	{
#pragma omp for schedule(static)
		for (size_t r = 0; r < t->rows; r++)
			fftw_execute_dft(t->fft[inverse][0], t->work + r * nx, t->work + r * nx);
		if (t->dim > 1) {
#pragma omp for schedule(static)
			for (size_t i = 0; i < nz * (nx / BATCH); i++) {
				fftw_complex *at =
				    t->work + i / (nx / BATCH) * nx * ny + i % (nx / BATCH) * BATCH;
				fftw_execute_dft(t->fft[inverse][1], at, at);
			}
		}
		if (t->dim > 2) {
#pragma omp for schedule(static)
			for (size_t i = 0; i < nx * ny / BATCH; i++)
				fftw_execute_dft(t->fft[inverse][2], t->work + i * BATCH,
						 t->work + i * BATCH);
		}
	}
}

/* Transforms column T, of 2 n - 1 modes per axis in FFT order, to its symbol. T is Hermitian, so the symbol is real. */
static void
make_symbol(struct toeplitz *t, const double *column)
{
	const size_t *n = t->n, *len = t->len;
	size_t cells = len[0] * t->rows, at[3], i = 0;

	memset(t->work, 0, cells * sizeof *t->work);
	for (size_t z = 0; z < 2 * n[2] - 1; z++)
		for (size_t y = 0; y < 2 * n[1] - 1; y++)
			for (size_t x = 0; x < 2 * n[0] - 1; x++, i++) {
				const size_t k[3] = {x, y, z};
				for (int a = 0; a < 3; a++)
					at[a] = k[a] < n[a] ? k[a] : len[a] - (2 * n[a] - 1 - k[a]);
				memcpy(t->work[(at[2] * len[1] + at[1]) * len[0] + at[0]],
				       column + 2 * i, 2 * sizeof *column);
			}
	run_fft(t, 0);
	for (size_t c = 0; c < cells; c++)
		t->symbol[c] = t->work[c][0] / (double)cells;
}

/* The index of the mode in a cell of an axis; n when the cell holds no mode. */
static size_t
mode_of_cell(const struct toeplitz *t, int a, size_t cell)
{
	const size_t n = t->n[a], tail = t->tail[a], gap = t->len[a] - n;

	if (cell < n - tail)
		return cell;
	return cell >= n - tail + gap ? cell - gap : n;
}

/* The cell of an axis that holds mode i. */
static size_t
cell_of_mode(const struct toeplitz *t, int a, size_t i)
{
	return i < t->n[a] - t->tail[a] ? i : t->len[a] - t->n[a] + i;
}

void
usfft_toeplitz_apply(struct toeplitz *t, const double *in, double *out)
{
	const size_t *n = t->n, nx = t->len[0], tail = t->tail[0], head = n[0] - tail;

#pragma omp parallel for num_threads(t->threads) schedule(static)
	for (size_t r = 0; r < t->rows; r++) {
		const size_t y = mode_of_cell(t, 1, r % t->len[1]),
			     z = mode_of_cell(t, 2, r / t->len[1]);
		fftw_complex *row = t->work + r * nx;
		memset(row, 0, nx * sizeof *row);
		if (y == n[1] || z == n[2])
			continue;
		const double *from = in + 2 * (z * n[1] + y) * n[0];
		memcpy(row, from, head * sizeof *row);
		memcpy(row + nx - tail, from + 2 * head, tail * sizeof *row);
	}
	double start = clock_now();
	run_fft(t, 0);
#pragma omp parallel for num_threads(t->threads) schedule(static)
	for (size_t r = 0; r < t->rows; r++)
		for (size_t i = r * nx; i < (r + 1) * nx; i++) {
			t->work[i][0] *= t->symbol[i];
			t->work[i][1] *= t->symbol[i];
		}
	run_fft(t, 1);
	clock_charge(&start, &t->took->fft);
#pragma omp parallel for num_threads(t->threads) schedule(static)
	for (size_t r = 0; r < n[1] * n[2]; r++) {
		const size_t y = cell_of_mode(t, 1, r % n[1]), z = cell_of_mode(t, 2, r / n[1]);
		fftw_complex *row = t->work + (z * t->len[1] + y) * nx;
		memcpy(out + 2 * r * n[0], row, head * sizeof *row);
		memcpy(out + 2 * (r * n[0] + head), row + nx - tail, tail * sizeof *row);
	}
}

int
usfft_toeplitz_make(struct toeplitz *t, const struct usfft_options *o, const double *column)
{
	*t = (struct toeplitz){0};
	const int err = alloc_toeplitz(t, o);

	if (!err)
		make_symbol(t, column);
	return err;
}
