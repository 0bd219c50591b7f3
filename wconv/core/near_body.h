/*
 * Direct sums, for small kernels. Along one row of a tile the weights of y are constant. So the kernels of each function
 * of x are blended into one kernel of kh x kw taps, and
 *
 *	F(x) = sum_f w_f(x) sum_t tap_f[t] window[t](x)
 *
 * costs kh kw multiplications per pixel and function. Where the kernel varies, a pixel has two functions of x.
 * The sums of NEAR vectors, and of SUMS vectors where there is one function, stay in registers during the loop over the
 * taps. With eight sums, the loop does not wait for its additions, of which two begin in a cycle and each takes four.
 */

/*
 * NEAR: vectors of results of two functions that are computed together. SUMS: sums that are. PART: taps of a row that are
 * summed before Kahan's addition.
 */
enum { NEAR = 4, SUMS = 2 * NEAR, PART = 16 };

/* What a block of results needs: the rows of its windows, and kw x kh taps. */
struct sums {
	const real *const *window;
	size_t kw, kh;
	size_t some, run;		/* rows and columns of taps in one part */
	const real *tap[2], *weight[2]; /* of one or two functions */
};

/*
 * Sums the taps of rows j .. j+m-1 and columns i .. i+n-1, of nf functions, for `near` vectors from x on. The sum of vector b
 * and function f is part[f near + b].
 */
INLINE void
sum_part(const struct sums *s, size_t nf, size_t near, size_t x, size_t j, size_t m, size_t i,
	 size_t n, vec part[SUMS])
{
	for (size_t end = j + m; j < end; j++)
		for (size_t k = i; k < i + n; k++) {
			const real *at = s->window[j] + x + k;
			vec v[SUMS];
			for (size_t b = 0; b < near; b++)
				v[b] = *(const loose *)(at + b * LANES);
			for (size_t f = 0; f < nf; f++) {
				const real t = s->tap[f][j * s->kw + k];
				for (size_t b = 0; b < near; b++)
					part[f * near + b] += t * v[b];
			}
		}
}

/*
 * Computes the sums of nf functions for `near` vectors from x on, multiplies them by their weights and adds them to out[].
 * Parts of at most 16 taps are added up by Kahan's method: what one addition has lost is put into the next one.
 * Plain addition has an error that grows with the kernel, to 3.5e-7 of the result at 31x31 and 8.5e-7 at 101x101.
 */
INLINE void
sum_block(const struct sums *s, size_t nf, size_t near, size_t x, vec *out)
{
	vec sum[SUMS] = {{0}}, lost[SUMS] = {{0}};

	for (size_t j = 0; j < s->kh; j += s->some)
		for (size_t i = 0; i < s->kw; i += s->run) {
			const size_t m = s->kh - j < s->some ? s->kh - j : s->some;
			const size_t n = s->kw - i < s->run ? s->kw - i : s->run;
			vec part[SUMS] = {{0}};
			sum_part(s, nf, near, x, j, m, i, n, part);
			for (size_t q = 0; q < nf * near; q++) {
				const vec v = part[q] - lost[q], t = sum[q] + v;
				lost[q] = (t - sum[q]) - v;
				sum[q] = t;
			}
		}
	for (size_t f = 0; f < nf; f++)
		for (size_t b = 0; b < near; b++)
			out[b] +=
			    sum[f * near + b] * *(const loose *)(s->weight[f] + x + b * LANES);
}

/* The taps [kh][kw] of a row of results, `apart` from function to function, and its weights [nf][stride]. */
struct row_taps {
	size_t nf, apart, stride;
	const real *tap, *weight;
};

/* Computes `near` vectors of results from x on, and stores the first n of them. */
INLINE void
sum_vectors(struct sums *s, const struct row_taps *t, size_t near, size_t x, size_t n, real *out)
{
	vec sum[SUMS] = {{0}};

	for (size_t f = 0; f < t->nf; f += 2) {
		for (size_t i = 0; i < 2 && f + i < t->nf; i++) {
			s->tap[i] = t->tap + (f + i) * t->apart;
			s->weight[i] = t->weight + (f + i) * t->stride;
		}
		if (near <= NEAR && f + 2 <= t->nf)
			sum_block(s, 2, near, x, sum);
		else
			sum_block(s, 1, near, x, sum);
	}
	/* Whole vectors are stored: a memcpy() of a variable length is a call. */
	if (n == near * LANES)
		for (size_t b = 0; b < near; b++)
			*(loose *)(out + x + b * LANES) = sum[b];
	else
		memcpy(out + x, sum, n * sizeof *out);
}

/* Computes one row of n results. At its end there are fewer vectors: a window is a little wider than its tile. */
static void
sum_row(const real *const *window, size_t kh, size_t kw, size_t n, const struct row_taps *t,
	real *out)
{
	const size_t runs = (kw + PART - 1) / PART;
	struct sums s = {.window = window,
			 .kw = kw,
			 .kh = kh,
			 .some = kw < PART ? PART / kw : 1,
			 .run = (kw + runs - 1) / runs};
	size_t x = 0;

	for (; t->nf == 1 && n - x >= SUMS * LANES; x += SUMS * LANES)
		sum_vectors(&s, t, SUMS, x, SUMS * LANES, out);
	for (; n - x >= NEAR * LANES; x += NEAR * LANES)
		sum_vectors(&s, t, NEAR, x, NEAR * LANES, out);
	if (n - x > 2 * LANES)
		sum_vectors(&s, t, NEAR, x, n - x, out);
	else if (n - x > LANES)
		sum_vectors(&s, t, 2, x, n - x, out);
	else if (n > x)
		sum_vectors(&s, t, 1, x, n - x, out);
}
