/*
 * The definition: discrete Fourier transforms in time, and per frequency the sums over traces or curves as they stand in
 * radon.h, in double, phases by cexp. lsq is a dense Cholesky factorisation of A^H A + eps nx per frequency.
 */
#include <complex.h>
#include <errno.h>
#include <fftw3.h>
#include <math.h>
#include <string.h>

#include "common/mem.h"
#include "radon/radon.h"

struct axes {
	size_t ntau, lead, nfft, nw;
	double lo, hi; /* Hz */
};

static struct axes
axes_of(const struct radon_options *o)
{
	struct axes x;

	radon_fits(o, &x.ntau, &x.lead);
	x.nfft = x.ntau;
	x.nw = x.nfft / 2 + 1;
	x.lo = o->fmin;
	x.hi = o->fmax > 0 ? o->fmax : INFINITY;
	return x;
}

/* exp(i 2 pi f q_i g_j) at frequency number k. */
static complex double
phase(const struct radon_options *o, const struct axes *x, size_t k, size_t i, size_t j)
{
	const double cycles =
	    (double)k / ((double)x->nfft * o->dt) * (o->q0 + (double)i * o->dq) * o->g[j];

	return cexp(2 * M_PI * I * (cycles - rint(cycles)));
}

static bool
in_band(const struct radon_options *o, const struct axes *x, size_t k)
{
	const double f = (double)k / ((double)x->nfft * o->dt);

	return f >= x->lo * (1 - 1e-12) && f <= x->hi * (1 + 1e-12);
}

/* rows of n samples that begin at sample `at` of nfft: their spectra [rows][nw], and back. NULL: no memory. */
static complex double *
to_spectra(const struct axes *x, const double *rows, size_t count, size_t n, size_t at)
{
	complex double *s = weir_alloc(count * x->nw, sizeof *s);
	double *row = weir_alloc(x->nfft, sizeof *row);

	for (size_t r = 0; s && row && r < count; r++) {
		fftw_plan plan =
		    fftw_plan_dft_r2c_1d((int)x->nfft, row, s + r * x->nw, FFTW_ESTIMATE);
		memset(row, 0, x->nfft * sizeof *row);
		memcpy(row + at, rows + r * n, n * sizeof *row);
		fftw_execute(plan);
		fftw_destroy_plan(plan);
	}
	weir_free(row);
	return s;
}

static int
to_rows(const struct axes *x, complex double *s, size_t count, double *rows, size_t n, size_t at)
{
	double *row = weir_alloc(x->nfft, sizeof *row);

	for (size_t r = 0; row && r < count; r++) {
		fftw_plan plan =
		    fftw_plan_dft_c2r_1d((int)x->nfft, s + r * x->nw, row, FFTW_ESTIMATE);
		fftw_execute(plan);
		fftw_destroy_plan(plan);
		for (size_t t = 0; t < n; t++)
			rows[r * n + t] = row[at + t] / (double)x->nfft;
	}
	weir_free(row);
	return row ? 0 : -ENOMEM;
}

static complex double *
gather_spectra(const struct radon_options *o, const struct axes *x, const float *gather)
{
	double *wide = weir_alloc(o->nx * o->nt, sizeof *wide);
	complex double *s;

	if (!wide)
		return NULL;
	for (size_t i = 0; i < o->nx * o->nt; i++)
		wide[i] = (double)gather[i];
	s = to_spectra(x, wide, o->nx, o->nt, x->lead);
	weir_free(wide);
	return s;
}

static void
adjoint_sums(const struct radon_options *o, const struct axes *x, const complex double *d,
	     complex double *m)
{
	for (size_t i = 0; i < o->nq; i++)
		for (size_t k = 0; k < x->nw; k++) {
			complex double sum = 0;
			for (size_t j = 0; in_band(o, x, k) && j < o->nx; j++)
				sum += d[j * x->nw + k] * phase(o, x, k, i, j);
			m[i * x->nw + k] = sum;
		}
}

int
radon_direct_adjoint(const struct radon_options *o, const float *gather, double *panel)
{
	const struct axes x = axes_of(o);
	complex double *d = gather_spectra(o, &x, gather);
	complex double *m = weir_alloc(o->nq * x.nw, sizeof *m);
	int err = -ENOMEM;

	if (d && m) {
		adjoint_sums(o, &x, d, m);
		err = to_rows(&x, m, o->nq, panel, x.ntau, 0);
	}
	weir_free(d);
	weir_free(m);
	return err;
}

int
radon_direct_model(const struct radon_options *o, const double *panel, double *gather)
{
	const struct axes x = axes_of(o);
	complex double *m = to_spectra(&x, panel, o->nq, x.ntau, 0);
	complex double *d = weir_alloc(o->nx * x.nw, sizeof *d);
	int err = -ENOMEM;

	for (size_t j = 0; m && d && j < o->nx; j++)
		for (size_t k = 0; k < x.nw; k++) {
			complex double sum = 0;
			for (size_t i = 0; in_band(o, &x, k) && i < o->nq; i++)
				sum += m[i * x.nw + k] * conj(phase(o, &x, k, i, j));
			d[j * x.nw + k] = sum;
		}
	if (m && d)
		err = to_rows(&x, d, o->nx, gather, o->nt, x.lead);
	weir_free(d);
	weir_free(m);
	return err;
}

/* A^H A + damping at frequency number k, over the live traces. */
static void
normal_matrix(const struct radon_options *o, const struct axes *x, size_t k, complex double *t)
{
	const size_t n = o->nq;
	size_t live = 0;

	for (size_t j = 0; j < o->nx; j++)
		live += !o->live || o->live[j];
	for (size_t i = 0; i < n; i++)
		for (size_t l = 0; l < n; l++) {
			t[i * n + l] = i == l ? o->eps * (double)live : 0;
			for (size_t j = 0; j < o->nx; j++)
				if (!o->live || o->live[j])
					t[i * n + l] +=
					    phase(o, x, k, i, j) * conj(phase(o, x, k, l, j));
		}
}

/* Solves t y = y in place, t Hermitian positive definite: Cholesky, two triangular systems. */
static void
solve_dense(complex double *t, complex double *y, size_t ldy, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t l = 0; l <= i; l++) {
			complex double sum = t[i * n + l];
			for (size_t s = 0; s < l; s++)
				sum -= t[i * n + s] * conj(t[l * n + s]);
			t[i * n + l] = l < i ? sum / t[l * n + l] : csqrt(sum);
		}
	for (size_t i = 0; i < n; i++) {
		for (size_t l = 0; l < i; l++)
			y[i * ldy] -= t[i * n + l] * y[l * ldy];
		y[i * ldy] /= t[i * n + i];
	}
	for (size_t i = n; i-- > 0;) {
		for (size_t l = i + 1; l < n; l++)
			y[i * ldy] -= conj(t[l * n + i]) * y[l * ldy];
		y[i * ldy] /= conj(t[i * n + i]);
	}
}

int
radon_direct_lsq(const struct radon_options *o, const float *gather, double *panel)
{
	const struct axes x = axes_of(o);
	complex double *d = gather_spectra(o, &x, gather);
	complex double *m = weir_alloc(o->nq * x.nw, sizeof *m);
	complex double *t = weir_alloc(o->nq * o->nq, sizeof *t);
	int err = -ENOMEM;

	if (d && m && t) {
		adjoint_sums(o, &x, d, m);
		for (size_t k = 0; k < x.nw; k++)
			if (in_band(o, &x, k)) {
				normal_matrix(o, &x, k, t);
				solve_dense(t, m + k, x.nw, o->nq);
			}
		err = to_rows(&x, m, o->nq, panel, x.ntau, 0);
	}
	weir_free(d);
	weir_free(m);
	weir_free(t);
	return err;
}
