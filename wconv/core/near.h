/*
 * Direct sums, for small kernels. Along one row of a tile the weights of y are fixed, so the kernels of each function of
 * x blend into one of kh x kw taps, and
 *
 *	F(x) = sum_f w_f(x) sum_t tap_f[t] window[t](x)
 *
 * costs kh kw multiplications a pixel for each function: two, where the kernel varies. Sums of NEAR vectors stay in
 * registers while the taps go by.
 */
enum { NEAR = 4 };

/*
 * The sums of NEAR vectors from x on, of nf (1 or 2) functions, times their weights, added to out[]. Every `some` rows are
 * summed apart, about as many taps as there are such parts: the error grows with the root of what it would.
 */
INLINE void
sum_block(size_t nf, const real *const *window, size_t kh, size_t kw, size_t x, size_t some,
	  const real *const *tap, const real *const *weight, vec *out)
{
	vec s[2][NEAR] = {{{0}}};

	for (size_t j = 0; j < kh;) {
		const size_t end = j + some < kh ? j + some : kh;
		vec part[2][NEAR] = {{{0}}};
		for (; j < end; j++)
			for (size_t i = 0; i < kw; i++) {
				const real *at = window[j] + x + i;
				vec v[NEAR];
				for (size_t b = 0; b < NEAR; b++)
					v[b] = *(const loose *)(at + b * LANES);
				for (size_t f = 0; f < nf; f++) {
					const real t = tap[f][j * kw + i];
					for (size_t b = 0; b < NEAR; b++)
						part[f][b] += t * v[b];
				}
			}
		for (size_t f = 0; f < nf; f++)
			for (size_t b = 0; b < NEAR; b++)
				s[f][b] += part[f][b];
	}
	for (size_t f = 0; f < nf; f++)
		for (size_t b = 0; b < NEAR; b++)
			out[b] += s[f][b] * *(const loose *)(weight[f] + x + b * LANES);
}

/* One row of n results: nf functions of taps [nf][kh][kw] and weights [nf][stride]. */
static void
sum_row(const real *const *window, size_t kh, size_t kw, size_t n, size_t nf, const real *taps,
	const real *weights, size_t stride, real *out)
{
	size_t some = 1;

	while (some * some * kw < kh)
		some++;
	for (size_t x = 0; x < n; x += NEAR * LANES) {
		const size_t left = n - x < NEAR * LANES ? n - x : NEAR * LANES;
		vec sum[NEAR] = {{0}};
		size_t f = 0;

		for (; f + 2 <= nf; f += 2) {
			const real *const t[] = {taps + f * kh * kw, taps + (f + 1) * kh * kw};
			const real *const w[] = {weights + f * stride, weights + (f + 1) * stride};
			sum_block(2, window, kh, kw, x, some, t, w, sum);
		}
		if (f < nf) {
			const real *const t[] = {taps + f * kh * kw};
			const real *const w[] = {weights + f * stride};
			sum_block(1, window, kh, kw, x, some, t, w, sum);
		}
		memcpy(out + x, sum, left * sizeof *out);
	}
}
