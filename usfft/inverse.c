/*
 * Modes from values at points: weighted least squares by conjugate gradients on the normal equations,
 *
 *	A* W A F = A* W b,	(A F)_j = sum_k F_k exp(s 2 pi i k.x_j)
 *
 * A* W A is Toeplitz, T_{k-k'} = sum_j w_j exp(-s 2 pi i (k-k').x_j): one transform of the weights gives it, and each
 * product costs two FFTs of twice the size and no point is touched again. All in double precision.
 */
#include <errno.h>
#include <fftw3.h>
#include <math.h>
#include <string.h>

#include "common/fft.h"
#include "common/mem.h"
#include "common/par.h"
#include "usfft/inverse.h"
#include "usfft/plan.h"

struct toeplitz {
	int dim, threads;
	size_t n[3], len[3]; /* modes; sizes of the FFT, at least 2 n - 1 */
	size_t tail[3]; /* modes that lie at the end of an axis: the negative ones in FFT order */
	size_t rows;	/* len[1] * len[2] */
	double *symbol; /* owned: the transform of T, real, scaled */
	fftw_complex *work;		 /* owned */
	fftw_plan fft[2][3];		 /* [inverse][axis] */
	struct usfft_seconds own, *took; /* took: the caller's, or own */
};

enum { BATCH = 4 }; /* columns at a time; fft_size() gives multiples of it */

static void
free_toeplitz(struct toeplitz *t)
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

/* The FFT of the work array, along one axis after the other. */
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

/* Column T, of (2 n - 1) modes per axis in FFT order, to its symbol. T is Hermitian, so the symbol is real. */
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

/* The mode in a cell of an axis, and the cell of a mode; n: there is none. */
static size_t
mode_of_cell(const struct toeplitz *t, int a, size_t cell)
{
	const size_t n = t->n[a], tail = t->tail[a], gap = t->len[a] - n;

	if (cell < n - tail)
		return cell;
	return cell >= n - tail + gap ? cell - gap : n;
}

static size_t
cell_of_mode(const struct toeplitz *t, int a, size_t i)
{
	return i < t->n[a] - t->tail[a] ? i : t->len[a] - t->n[a] + i;
}

/* out = T in, both of n modes. */
static void
apply(struct toeplitz *t, const double *in, double *out)
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
	charge_time(&start, &t->took->fft);
#pragma omp parallel for num_threads(t->threads) schedule(static)
	for (size_t r = 0; r < n[1] * n[2]; r++) {
		const size_t y = cell_of_mode(t, 1, r % n[1]), z = cell_of_mode(t, 2, r / n[1]);
		fftw_complex *row = t->work + (z * t->len[1] + y) * nx;
		memcpy(out + 2 * r * n[0], row, head * sizeof *row);
		memcpy(out + 2 * (r * n[0] + head), row + nx - tail, tail * sizeof *row);
	}
}

/* The transform of w_j c_j (c NULL: of the weights themselves) to the plan's modes. w NULL: ones. */
static int
weighted(const struct usfft_options *o, const struct usfft_points *pt, const double *w,
	 const double *c, int sign, double *modes, size_t *bad)
{
	double *v = weir_alloc(pt->m, 2 * sizeof *v);
	struct usfft_plan *p = NULL;
	int err = v ? usfft_plan(&p, o) : -ENOMEM;

	for (size_t j = 0; !err && j < pt->m; j++) {
		const double f = w ? w[j] : 1;
		v[2 * j] = c ? f * c[2 * j] : f;
		v[2 * j + 1] = c ? f * c[2 * j + 1] : 0;
	}
	if (!err)
		err = usfft_points(p, pt, v, 2, bad);
	if (!err)
		usfft_type1(p, sign, NULL, modes);
	usfft_free(p);
	weir_free(v);
	return err;
}

static int
make_toeplitz(struct toeplitz *t, const struct usfft_options *o, const struct usfft_points *pt,
	      const double *w, int sign, size_t *bad)
{
	struct usfft_options twice = *o;
	size_t n = 1;
	double *column;
	int err = alloc_toeplitz(t, o);

	if (err)
		return err;
	for (int a = 0; a < o->dim; a++) {
		twice.n[a] = 2 * o->n[a] - 1;
		n *= twice.n[a];
	}
	twice.fft_order = true;
	column = weir_alloc(n, 2 * sizeof *column);
	if (!column)
		return -ENOMEM;
	err = weighted(&twice, pt, w, NULL, -sign, column, bad);
	if (!err)
		make_symbol(t, column);
	weir_free(column);
	return err;
}

static double
dot(const double *a, const double *b, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

/* Conjugate gradients from f = 0; r holds A* W b. */
static void
iterate(struct toeplitz *t, const struct usfft_inverse *v, double *f, double *r, double *work,
	size_t n, struct usfft_outcome *got)
{
	double *p = work, *q = work + n, rho = dot(r, r, n);
	const double first = rho;

	memset(f, 0, n * sizeof *f);
	memcpy(p, r, n * sizeof *p);
	*got = (struct usfft_outcome){.residual = first > 0 ? 1 : 0};
	while (got->iterations < v->iter && got->residual > v->rtol) {
		apply(t, p, q);
		const double curve = dot(p, q, n);
		if (!(curve > 0))
			return;
		const double alpha = rho / curve;
		for (size_t i = 0; i < n; i++) {
			f[i] += alpha * p[i];
			r[i] -= alpha * q[i];
		}
		const double next = dot(r, r, n), beta = next / rho;
		for (size_t i = 0; i < n; i++)
			p[i] = r[i] + beta * p[i];
		rho = next;
		got->iterations++;
		got->residual = sqrt(rho / first);
		if (v->step)
			v->step(v->who, got);
	}
}

int
usfft_inverse(const struct usfft_options *given, const struct usfft_points *pt, const double *w,
	      const double *b, const struct usfft_inverse *v, double *modes,
	      struct usfft_outcome *got, size_t *bad)
{
	struct usfft_options o = *given;
	struct toeplitz t = {0};
	size_t n = 2;
	double *work, *r;
	int err;

	o.single = false;
	for (int a = 0; a < o.dim; a++)
		n *= o.n[a];
	r = weir_alloc(n, sizeof *r);
	work = weir_alloc(n, 2 * sizeof *work);
	err = r && work ? weighted(&o, pt, w, b, -v->sign, r, bad) : -ENOMEM;
	if (!err)
		err = make_toeplitz(&t, &o, pt, w, v->sign, bad);
	if (!err)
		iterate(&t, v, modes, r, work, n, got);
	free_toeplitz(&t);
	weir_free(r);
	weir_free(work);
	return err;
}

/* w <- w / (K w), K = spread and interpolate: K's row sums become one where the points are dense or thin alike. */
static void
level(struct usfft_plan *p, double *w, double *v, size_t m)
{
	for (size_t j = 0; j < m; j++) {
		v[2 * j] = w[j];
		v[2 * j + 1] = 0;
	}
	double start = clock_now();
	spread_points(p, 1, v);
	interp_points(p, 1, v);
	charge_time(&start, &p->took->spread);
	for (size_t j = 0; j < m; j++)
		w[j] = v[2 * j] > 0 ? w[j] / v[2 * j] : w[j];
}

int
usfft_pipe(const struct usfft_options *given, const struct usfft_points *pt, int rounds, double *w,
	   size_t *bad)
{
	struct usfft_options o = *given;
	struct usfft_plan *p = NULL;
	double *v = weir_alloc(pt->m, 2 * sizeof *v), area = 1;
	int err;

	o.single = false;
	err = v ? usfft_plan(&p, &o) : -ENOMEM;
	if (!err)
		err = usfft_points(p, pt, NULL, 0, bad);
	for (size_t j = 0; !err && j < pt->m; j++)
		w[j] = 1;
	for (int i = 0; !err && i < rounds; i++)
		level(p, w, v, pt->m);
	for (int a = 0; !err && a < o.dim; a++) {
		const double h = window_hat(&p->win[a], 0);
		area *= h * h / (double)p->grid.n[a];
	}
	for (size_t j = 0; !err && j < pt->m; j++)
		w[j] *= area;
	usfft_free(p);
	weir_free(v);
	return err;
}
