/* The functions that direct.c and direct_sparse.c share: the sums of radon.h in double. */
#ifndef RADON_DIRECT_H
#define RADON_DIRECT_H

#include <complex.h>
#include <fftw3.h>

#include "radon/radon.h"

struct direct_axes {
	size_t ntau, lead, nfft, nw;
	double lo, hi; /* Hz */
};

struct direct_axes radon_direct_axes(const struct radon_options *o);
bool radon_direct_in_band(const struct radon_options *o, const struct direct_axes *x, size_t k);
bool radon_direct_is_live(const struct radon_options *o, size_t j);
double radon_direct_damping(const struct radon_options *o);

/* With raise_nu, the NU of sparse after a first set that has left the part f of the energy. */
double radon_direct_raised(const struct radon_options *o, double f);

/* The steps of conjugate gradients with set i of `sets`: inner / 2^(sets - 1 - i), rounded up. */
int radon_direct_steps(const struct radon_options *o, int i, int sets);

/* Finds the spectra [count][nw] of rows of n samples that begin at sample `at` of nfft. Caller frees; NULL: no memory. */
complex double *radon_direct_to_spectra(const struct direct_axes *x, const double *rows,
					size_t count, size_t n, size_t at);
complex double *radon_direct_gather_spectra(const struct radon_options *o,
					    const struct direct_axes *x, const float *gather);

/* Turns spectra into rows and destroys the spectra. Returns 0 or -ENOMEM. */
int radon_direct_to_rows(const struct direct_axes *x, complex double *s, size_t count, double *rows,
			 size_t n, size_t at);

/* Compute m from d, and d from m, at every frequency of the band; the other frequencies are 0. */
void radon_direct_adjoint_sums(const struct radon_options *o, const struct direct_axes *x,
			       const complex double *d, complex double *m);
void radon_direct_model_sums(const struct radon_options *o, const struct direct_axes *x,
			     const complex double *m, complex double *d);

#endif
