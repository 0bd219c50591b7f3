/*
 * The window's taps at one point, for kernels that are compiled for each number W of taps.
 *
 * A window is symmetric: tap t at x is tap W-1-t at -x. So with E of the even and O of the odd powers, both are E(x^2) +- x O(x^2),
 * and half of the polynomials is enough. They are an argument of the kernel, so that multiplications take them from the constant bank.
 */
#ifndef WEIR_GPU_USFFT_TAPS_H
#define WEIR_GPU_USFFT_TAPS_H

#include "gpu/usfft/work.h"

namespace
{

constexpr unsigned HALF = WINDOW_MAXCOEF / 2;
static_assert(WINDOW_MAXCOEF % 2 == 0);

/* Coefficients [axis][power of x^2, lowest first][tap of the first half], of E and of O. terms: the powers that are there. */
template <class T, unsigned W> struct polynomials {
	unsigned terms;
	T even[2][HALF][(W + 1) / 2], odd[2][HALF][(W + 1) / 2];
};

/* Splits a window's polynomials into powers of x^2. */
template <class T, unsigned W>
void
split_window(const struct window *win, polynomials<T, W> *c)
{
	c->terms = ((unsigned)max(win[0].ncoef, win[1].ncoef) + 1) / 2;
	for (int a = 0; a < 2; a++)
		for (unsigned d = 0; d < c->terms; d++)
			for (unsigned t = 0; t < (W + 1) / 2; t++) {
				const unsigned n = (unsigned)win[a].ncoef;
				c->even[a][d][t] = 2 * d < n ? (T)win[a].coef[2 * d][t] : 0;
				c->odd[a][d][t] = 2 * d + 1 < n ? (T)win[a].coef[2 * d + 1][t] : 0;
			}
}

/* Works out the taps of an axis at the offset x of work.rest. */
template <class T, unsigned W>
__device__ void
make_taps(const polynomials<T, W> &c, int axis, T x, T tap[W])
{
	constexpr unsigned M = (W + 1) / 2;
	const T square = x * x;
	T even[M] = {}, odd[M] = {};

#pragma unroll
	for (int d = HALF - 1; d >= 0; d--)
		if ((unsigned)d < c.terms) {
#pragma unroll
			for (unsigned t = 0; t < M; t++) {
				even[t] = even[t] * square + c.even[axis][d][t];
				odd[t] = odd[t] * square + c.odd[axis][d][t];
			}
		}
#pragma unroll
	for (unsigned t = 0; t < W; t++)
		tap[t] = t < M ? even[t] + x * odd[t] : even[W - 1 - t] - x * odd[W - 1 - t];
}

} // namespace

#endif
