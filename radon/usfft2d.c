#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/par.h"
#include "radon/spectra.h"
#include "radon/usfft2d.h"
#include "usfft/usfft.h"

struct radon_2d {
	struct usfft_plan *usfft;
	size_t nk;    /* frequencies of the band */
	float *value; /* [nx][nk] complex: values at the points */
	float *turn;  /* the same: exp(2 pi i k (a_j + c_j nq/2)), which puts mode -nq/2 at q0 */
	float *rows;  /* [threads][nfft] complex: a row of modes each */
};

static int
set_points_2d(struct radon_2d *two, const struct radon_core *p)
{
	const size_t m = p->o.nx * two->nk, half = p->o.nq / 2;
	double *x = weir_alloc(m, 2 * sizeof *x), *y = x ? x + m : NULL;
	size_t bad;
	int err;

	if (!x)
		return -ENOMEM;
	for (size_t j = 0; j < p->o.nx; j++)
		for (size_t k = 0; k < two->nk; k++) {
			const size_t i = j * two->nk + k;
			const double f = (double)(p->kmin + k);
			const double t = f * (p->a[j] + (double)half * p->c[j]);
			x[i] = f / (double)p->nfft;
			y[i] = f * p->c[j];
			two->turn[2 * i] = (float)cos(2 * M_PI * (t - rint(t)));
			two->turn[2 * i + 1] = (float)sin(2 * M_PI * (t - rint(t)));
		}
	const struct usfft_points points = {.m = m, .stride = 1, .x = {x, y}};
	err = usfft_points(two->usfft, &points, NULL, 0, &bad);
	weir_free(x);
	return err;
}

int
radon_2d_plan(struct radon_2d **to, const struct radon_core *p)
{
	struct radon_2d *two = *to = weir_calloc(1, sizeof *two);
	const int threads = p->o.threads > 0 ? p->o.threads : 1;
	const struct usfft_options o = {.dim = 2,
					.n = {p->nfft, p->o.nq},
					.tol = USFFT_FLOOR_SINGLE,
					.single = true,
					.fft_order = true,
					.threads = threads,
					.expect = p->o.nx * p->nw};
	int err;

	if (!two)
		return -ENOMEM;
	two->nk = p->first == p->last ? 0 : p->kmax + 1 - p->kmin;
	two->value = weir_alloc(p->o.nx * two->nk, 2 * sizeof *two->value);
	two->turn = weir_alloc(p->o.nx * two->nk, 2 * sizeof *two->turn);
	two->rows = weir_alloc((size_t)threads * p->nfft, 2 * sizeof *two->rows);
	if (!two->value || !two->turn || !two->rows)
		return -ENOMEM;
	err = usfft_plan(&two->usfft, &o);
	return err ? err : set_points_2d(two, p);
}

void
radon_2d_free(struct radon_2d *two)
{
	if (!two)
		return;
	usfft_free(two->usfft);
	weir_free(two->value);
	weir_free(two->turn);
	weir_free(two->rows);
	weir_free(two);
}

/* Sets the values to the spectra, turned and weighted so that the real part of the sum is the inverse transform to time. */
static void
load_values(struct radon_2d *two, const struct radon_core *p, const float *d)
{
	for (size_t j = 0; j < p->o.nx; j++)
		for (size_t i = 0; i < two->nk; i++) {
			const size_t k = p->kmin + i, at = 2 * (j * two->nk + i);
			const float *x = d + 2 * (j * p->ld + k), *t = two->turn + at;
			const float both = (k == 0 || 2 * k == p->nfft ? 1 : 2) / (float)p->nfft;
			two->value[at] = both * (x[0] * t[0] - x[1] * t[1]);
			two->value[at + 1] = both * (x[0] * t[1] + x[1] * t[0]);
		}
}

/* Returns the row of curve i. Curve i is mode i - nq/2, and in FFT order row r is mode r or r - nq. */
static size_t
row_of(const struct radon_core *p, size_t i)
{
	const size_t half = p->o.nq / 2;

	return i < half ? i + p->o.nq - half : i - half;
}

void
radon_2d_adjoint(struct radon_2d *two, const struct radon_core *p, struct radon_room *w,
		 float *panel)
{
	load_values(two, p, w->d);
	usfft_gather(two->usfft, 1, two->value);
#pragma omp parallel for schedule(static) num_threads(w->threads)
	for (size_t i = 0; i < p->o.nq; i++) {
		float *row = two->rows + (size_t)omp_get_thread_num() * 2 * p->nfft;
		usfft_get_row(two->usfft, 1, row_of(p, i), row);
		for (size_t t = 0; t < p->ntau; t++)
			panel[i * p->ntau + t] =
			    row[2 * t] * (p->q_mute ? p->q_weight[i] : p->weight[i * p->ntau + t]);
	}
}

void
radon_2d_model(struct radon_2d *two, const struct radon_core *p, const float *panel,
	       struct radon_room *w)
{
	usfft_clear(two->usfft);
#pragma omp parallel for schedule(static) num_threads(w->threads)
	for (size_t i = 0; i < p->o.nq; i++) {
		float *row = two->rows + (size_t)omp_get_thread_num() * 2 * p->nfft;
		memset(row, 0, p->nfft * 2 * sizeof *row);
		for (size_t t = 0; t < p->ntau; t++)
			row[2 * t] = panel[i * p->ntau + t];
		usfft_put_row(two->usfft, -1, row_of(p, i), row);
	}
	usfft_scatter(two->usfft, -1, two->value);
	for (size_t j = 0; j < p->o.nx; j++)
		for (size_t i = 0; i < two->nk; i++) {
			const float *v = two->value + 2 * (j * two->nk + i),
				    *t = two->turn + 2 * (j * two->nk + i);
			float *x = w->d + 2 * (j * p->ld + p->kmin + i);
			x[0] = v[0] * t[0] + v[1] * t[1];
			x[1] = v[1] * t[0] - v[0] * t[1];
		}
}
