/* Dense equations, for definitions and checks: some hundred unknowns. */
#ifndef WEIR_BASE_DENSE_H
#define WEIR_BASE_DENSE_H

#include <complex.h>
#include <stddef.h>

/* Solves m x = y without pivots, since m[n][n] is positive definite, and stores x[i] in y[i ldy]. m becomes upper triangular. */
static inline void
dense_solve(double complex *m, double complex *y, size_t ldy, size_t n)
{
	for (size_t p = 0; p < n; p++)
		for (size_t i = p + 1; i < n; i++) {
			const double complex f = m[i * n + p] / m[p * n + p];
			for (size_t k = p; k < n; k++)
				m[i * n + k] -= f * m[p * n + k];
			y[i * ldy] -= f * y[p * ldy];
		}
	for (size_t i = n; i-- > 0;) {
		for (size_t k = i + 1; k < n; k++)
			y[i * ldy] -= m[i * n + k] * y[k * ldy];
		y[i * ldy] /= m[i * n + i];
	}
}

#endif
