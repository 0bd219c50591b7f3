/*
 * The definition: discrete Fourier transforms in time, and at each frequency the sums of radon.h over traces or curves. All of
 * it is in double, and cexp() gives the phases. lsq solves A^H A + damping by a dense Cholesky factorisation at each frequency.
 */
#include <complex.h>
#include <errno.h>
#include <fftw3.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "common/base/mem.h"
#include "radon/direct.h"

/* Is the FFT fast at this length: n = 2^a 3^b 5^c 7^d with a >= 2 and b + c + d <= 3? */
static bool
is_fast(size_t n)
{
	size_t odd = 0;

	if (n % 4)
		return false;
	while (n % 2 == 0)
		n /= 2;
	for (size_t p = 3; p <= 7; p += 2)
		for (; n % p == 0; n /= p)
			odd++;
	return n == 1 && odd <= 3;
}

/* The moveout of curve i on trace j, in s. */
static double
moveout(const struct radon_options *o, size_t i, size_t j)
{
	if (!o->nr)
		return (o->q0 + (double)i * o->dq) * o->g[j];
	const size_t n = o->nq / o->nr;
	return (o->q0 + (double)(i % n) * o->dq) * o->g[j] +
	       (o->r0 + (double)(i / n) * o->dr) * o->h[j];
}

void
radon_direct_axis(const struct radon_options *o, size_t *ntau, size_t *lead)
{
	double before = 0, after = 0; /* samples */

	for (size_t i = 0; i < o->nq; i++)
		for (size_t j = 0; j < o->nx + 2; j++) {
			const double s = (j < o->nx    ? moveout(o, i, j)
					  : j == o->nx ? o->least
						       : o->most) /
					 o->dt;
			before = s > before ? s : before;
			after = -s > after ? -s : after;
		}
	/* A billionth of a sample counts as rounding. */
	for (*lead = o->lead; (double)*lead < before - 1e-9;)
		++*lead;
	for (*ntau = *lead + o->nt + o->tail; (double)(*ntau - *lead - o->nt) < after - 1e-9;)
		++*ntau;
	while (!is_fast(*ntau))
		++*ntau;
}

struct direct_axes
radon_direct_axes(const struct radon_options *o)
{
	struct direct_axes x;

	radon_direct_axis(o, &x.ntau, &x.lead);
	x.nfft = x.ntau;
	x.nw = x.nfft / 2 + 1;
	x.lo = o->fmin;
	x.hi = o->fmax > 0 ? o->fmax : INFINITY;
	return x;
}

/* exp(i 2 pi f s) at frequency number k, where s is the moveout of curve i on trace j. */
static complex double
phase(const struct radon_options *o, const struct direct_axes *x, size_t k, size_t i, size_t j)
{
	const double cycles = (double)k / ((double)x->nfft * o->dt) * moveout(o, i, j);

	return cexp(2 * M_PI * I * (cycles - rint(cycles)));
}

bool
radon_direct_in_band(const struct radon_options *o, const struct direct_axes *x, size_t k)
{
	const double f = (double)k / ((double)x->nfft * o->dt);

	return f >= x->lo * (1 - 1e-12) && f <= x->hi * (1 + 1e-12);
}

complex double *
radon_direct_to_spectra(const struct direct_axes *x, const double *rows, size_t count, size_t n,
			size_t at)
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

int
radon_direct_to_rows(const struct direct_axes *x, complex double *s, size_t count, double *rows,
		     size_t n, size_t at)
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

complex double *
radon_direct_gather_spectra(const struct radon_options *o, const struct direct_axes *x,
			    const float *gather)
{
	double *wide = weir_alloc(o->nx * o->nt, sizeof *wide);
	complex double *s;

	if (!wide)
		return NULL;
	for (size_t i = 0; i < o->nx * o->nt; i++)
		wide[i] = (double)gather[i];
	s = radon_direct_to_spectra(x, wide, o->nx, o->nt, x->lead);
	weir_free(wide);
	return s;
}

void
radon_direct_adjoint_sums(const struct radon_options *o, const struct direct_axes *x,
			  const complex double *d, complex double *m)
{
	for (size_t i = 0; i < o->nq; i++)
		for (size_t k = 0; k < x->nw; k++) {
			complex double sum = 0;
			for (size_t j = 0; radon_direct_in_band(o, x, k) && j < o->nx; j++)
				sum += d[j * x->nw + k] * phase(o, x, k, i, j);
			m[i * x->nw + k] = sum;
		}
}

int
radon_direct_adjoint(const struct radon_options *o, const float *gather, double *panel)
{
	const struct direct_axes x = radon_direct_axes(o);
	complex double *d = radon_direct_gather_spectra(o, &x, gather);
	complex double *m = weir_alloc(o->nq * x.nw, sizeof *m);
	int err = -ENOMEM;

	if (d && m) {
		radon_direct_adjoint_sums(o, &x, d, m);
		err = radon_direct_to_rows(&x, m, o->nq, panel, x.ntau, 0);
	}
	weir_free(d);
	weir_free(m);
	return err;
}

void
radon_direct_model_sums(const struct radon_options *o, const struct direct_axes *x,
			const complex double *m, complex double *d)
{
	for (size_t j = 0; j < o->nx; j++)
		for (size_t k = 0; k < x->nw; k++) {
			complex double sum = 0;
			for (size_t i = 0; radon_direct_in_band(o, x, k) && i < o->nq; i++)
				sum += m[i * x->nw + k] * conj(phase(o, x, k, i, j));
			d[j * x->nw + k] = sum;
		}
}

int
radon_direct_model(const struct radon_options *o, const double *panel, double *gather)
{
	const struct direct_axes x = radon_direct_axes(o);
	complex double *m = radon_direct_to_spectra(&x, panel, o->nq, x.ntau, 0);
	complex double *d = weir_alloc(o->nx * x.nw, sizeof *d);
	int err = -ENOMEM;

	if (m && d) {
		radon_direct_model_sums(o, &x, m, d);
		err = radon_direct_to_rows(&x, d, o->nx, gather, o->nt, x.lead);
	}
	weir_free(d);
	weir_free(m);
	return err;
}

bool
radon_direct_is_live(const struct radon_options *o, size_t j)
{
	return !o->live || o->live[j];
}

double
radon_direct_damping(const struct radon_options *o)
{
	return o->nu * (double)o->nq;
}

double
radon_direct_raised(const struct radon_options *o, double f)
{
	return fmax(o->nu, f < 1 ? fmin(.02 * sqrt(f / (1 - f)), .1) : .1);
}

int
radon_direct_steps(const struct radon_options *o, int i, int sets)
{
	return (int)ceil(o->inner * pow(.5, sets - 1 - i));
}

/* A^H A + damping at frequency number k, over the live traces. a: room for A^H. */
static void
normal_matrix(const struct radon_options *o, const struct direct_axes *x, size_t k,
	      complex double *t, complex double *a)
{
	const size_t n = o->nq;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < o->nx; j++)
			a[i * o->nx + j] = phase(o, x, k, i, j);
	for (size_t i = 0; i < n; i++)
		for (size_t l = 0; l < n; l++) {
			t[i * n + l] = i == l ? radon_direct_damping(o) : 0;
			for (size_t j = 0; j < o->nx; j++)
				if (radon_direct_is_live(o, j))
					t[i * n + l] += a[i * o->nx + j] * conj(a[l * o->nx + j]);
		}
}

/* Solves t x = y for x and stores x in y. t is Hermitian positive definite; its Cholesky factor replaces it. */
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
	const struct direct_axes x = radon_direct_axes(o);
	complex double *d = radon_direct_gather_spectra(o, &x, gather);
	complex double *m = weir_alloc(o->nq * x.nw, sizeof *m);
	complex double *t = weir_alloc(o->nq * (o->nq + o->nx), sizeof *t);
	int err = -ENOMEM;

	if (d && m && t) {
		radon_direct_adjoint_sums(o, &x, d, m);
		for (size_t k = 0; k < x.nw; k++)
			if (radon_direct_in_band(o, &x, k)) {
				normal_matrix(o, &x, k, t, t + o->nq * o->nq);
				solve_dense(t, m + k, x.nw, o->nq);
			}
		err = radon_direct_to_rows(&x, m, o->nq, panel, x.ntau, 0);
	}
	weir_free(d);
	weir_free(m);
	weir_free(t);
	return err;
}

/*
 * Returns nx ln d^H K^-1 d + ln det K at frequency number k, where K = A A^H + mu I and nx counts the live traces. room has
 * o->nx (o->nx + 1) elements. The sum is minus the logarithm of the gather's likelihood, up to a constant, for the most likely
 * strength of the signal.
 */
static double
surprise(const struct radon_options *o, const struct direct_axes *x, size_t k, double mu,
	 const complex double *d, complex double *room)
{
	complex double *y = room + o->nx * o->nx;
	double q = 0, logdet = 0;
	size_t n = 0;

	for (size_t j = 0; j < o->nx; j++)
		n += radon_direct_is_live(o, j);
	for (size_t j = 0, r = 0; j < o->nx; j++) {
		if (!radon_direct_is_live(o, j))
			continue;
		y[r] = d[j * x->nw + k];
		for (size_t l = 0, c = 0; l < o->nx; l++)
			if (radon_direct_is_live(o, l)) {
				room[r * n + c] = j == l ? mu : 0;
				for (size_t i = 0; i < o->nq; i++)
					room[r * n + c] +=
					    conj(phase(o, x, k, i, j)) * phase(o, x, k, i, l);
				c++;
			}
		r++;
	}
	solve_dense(room, y, 1, n);
	for (size_t j = 0, r = 0; j < o->nx; j++)
		if (radon_direct_is_live(o, j)) {
			q += creal(conj(d[j * x->nw + k]) * y[r]);
			logdet += 2 * log(creal(room[r * n + r]));
			r++;
		}
	return (double)n * log(q) + logdet;
}

/* The energy of the gather at frequency number k. */
static double
energy_of(const struct radon_options *o, const struct direct_axes *x, size_t k,
	  const complex double *d)
{
	double sum = 0;

	for (size_t j = 0; j < o->nx; j++)
		sum += creal(d[j * x->nw + k] * conj(d[j * x->nw + k]));
	return sum;
}

int
radon_direct_noise(const struct radon_options *o, const float *gather, double *nu)
{
	static const double nus[] = {.001, .003, .01, .03, .1, .3};
	const struct direct_axes x = radon_direct_axes(o);
	complex double *d = radon_direct_gather_spectra(o, &x, gather);
	complex double *room = weir_alloc(o->nx, (o->nx + 1) * sizeof *room);
	double best = INFINITY, peak = 0;

	for (size_t k = 0; d && k < x.nw; k += 16)
		if (radon_direct_in_band(o, &x, k))
			peak = fmax(peak, energy_of(o, &x, k, d));
	for (size_t c = 0; d && room && c < 6; c++) {
		double sum = 0;
		for (size_t k = 0; k < x.nw; k += 16) {
			const double e = energy_of(o, &x, k, d);
			if (radon_direct_in_band(o, &x, k) && e > 1e-3 * peak)
				sum += pow(e / peak, .25) *
				       surprise(o, &x, k, nus[c] * (double)o->nq, d, room);
		}
		if (sum < best) {
			best = sum;
			*nu = nus[c];
		}
	}
	const int err = d && room ? 0 : -ENOMEM;
	weir_free(d);
	weir_free(room);
	return err;
}
