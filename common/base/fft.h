/* Sizes for FFTW, and its wisdom. The programs make their own plans, with FFTW_ESTIMATE unless wisdom was loaded. */
#ifndef WEIR_BASE_FFT_H
#define WEIR_BASE_FFT_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the smallest length >= n of the form 2^a 3^b 5^c 7^d, a >= 2, b + c + d <= 3. FFTW is fast at these lengths. */
size_t fft_size(size_t n);

/*
 * Read and write FFTW's wisdom of both precisions in one file. They return 0 or -errno. Reading a file that does not exist
 * returns 0 and loads nothing.
 */
int fft_wisdom_read(const char *path);
int fft_wisdom_write(const char *path);

#endif
