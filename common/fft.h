/* FFTW sizes and wisdom. Plans are made by the programs themselves, with FFTW_ESTIMATE unless wisdom was loaded. */
#ifndef WEIR_FFT_H
#define WEIR_FFT_H

#include <stdbool.h>
#include <stddef.h>

/* The smallest even length >= n of the form 2^a 3^b 5^c 7^d, a >= 2, b + c + d <= 3: none that FFTW is slow at. */
size_t fft_size(size_t n);

/* Loads and saves FFTW's wisdom, both precisions, in one file. A missing file: 0 (nothing known yet). 0 or -errno. */
int fft_wisdom_read(const char *path);
int fft_wisdom_write(const char *path);

#endif
