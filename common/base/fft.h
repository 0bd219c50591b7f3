/* Lengths at which FFTs are fast. The programs make their own plans, with FFTW_ESTIMATE. */
#ifndef WEIR_BASE_FFT_H
#define WEIR_BASE_FFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Returns the smallest multiple of step, a power of 2, that is >= n. Its odd part is a product of at most three of the factors
 * 3, 5 and 7. columns: it has one 3 and one 7 at most, and two other factors beside a 7. FFTW's unmeasured plans for columns take
 * 1.5 times as long for other lengths.
 */
static inline size_t
fft_multiple(size_t n, size_t step, bool columns)
{
	size_t best = SIZE_MAX;

	for (size_t i = 0; i < 64; i++) {
		const size_t three = i & 3, five = i >> 2 & 3, seven = i >> 4;
		size_t m = step;
		if (columns ? three > 1 || five + 2 * seven > 3 : three + five + seven > 3)
			continue;
		for (size_t k = 0; k < 3; k++)
			m *= (k < three ? 3u : 1) * (k < five ? 5u : 1) * (k < seven ? 7u : 1);
		while (m < n)
			m *= 2;
		best = m < best ? m : best;
	}
	return best;
}

/* The same for the multiples of 4. FFTW is fast at these lengths. */
static inline size_t
fft_size(size_t n)
{
	return fft_multiple(n > 0 ? n : 1, 4, false);
}

#endif
