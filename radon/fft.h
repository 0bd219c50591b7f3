/*
 * The transform of real rows: X[k] = sum_t x[t] exp(-2 pi i k t / n), k = 0 .. n/2, and its inverse without the factor 1/n.
 * FFTW transforms the row as n/2 complex samples z[t] = x[2t] + i x[2t+1], whose spectrum is that of the even samples plus i
 * times that of the odd samples. FFTW's own transform of real rows takes 1.5 times as long, and 4 to 8 times as long to plan
 * (n = 2000).
 */
#ifndef RADON_FFT_H
#define RADON_FFT_H

#include <fftw3.h>
#include <stddef.h>

struct radon_fft {
	size_t n;
	float *turn; /* owned: -i exp(-2 pi i k / n), k < n/4 */
	fftwf_plan forward, backward;
};

/* Plans into p, a zeroed struct. n is even. Returns 0 or -ENOMEM. The caller calls radon_fft_free() after a failure too. */
int radon_fft_plan(struct radon_fft *p, size_t n);
void radon_fft_free(struct radon_fft *p);

/* Row: n floats. Spectrum: n/2 + 1 complex floats. Both are aligned as weir_alloc() aligns. */
void radon_fft_forward(const struct radon_fft *p, float *row, float *spectrum);

/* The imaginary parts of spectrum[0] and spectrum[n/2] are taken for 0. The spectrum is destroyed. */
void radon_fft_backward(const struct radon_fft *p, float *spectrum, float *row);

#endif
