/* Lengths at which FFTs are fast. The programs make their own plans, with FFTW_ESTIMATE. */
#ifndef WEIR_BASE_FFT_H
#define WEIR_BASE_FFT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Returns the smallest multiple of step >= n whose odd part is a product of at most three of the factors 3, 5 and 7. columns:
 * one 3 and one 7 at most, and two other factors beside a 7, since FFTW's unmeasured plans for columns take 1.5 times as long
 * for other lengths.
 */
static inline size_t
fft_multiple(size_t n, size_t step, bool columns)
{
	for (n = (n + step - 1) / step * step;; n += step) {
		size_t rest = n, count[3] = {0};
		while (rest % 2 == 0)
			rest /= 2;
		for (size_t i = 0; i < 3; i++)
			for (; rest % (3 + 2 * i) == 0; rest /= 3 + 2 * i)
				count[i]++;
		if (rest == 1 && (columns ? count[0] <= 1 && count[1] + 2 * count[2] <= 3
					  : count[0] + count[1] + count[2] <= 3))
			return n;
	}
}

/* The same for the multiples of 4. FFTW is fast at these lengths. */
static inline size_t
fft_size(size_t n)
{
	return fft_multiple(n > 0 ? n : 1, 4, false);
}

#endif
