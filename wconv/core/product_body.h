/*
 * Direct sums with a kernel that is the product of a column and a row, see product.c:
 *
 *	F(x,y) = sum_i row[i] L(x+i,y),  L(x,y) = sum_j column[j] window[y+j](x)
 *
 * LINES rows of L are computed together, and then as many rows of F. So a row of the window is read from the second-level cache
 * once for LINES rows of results. Each result is summed in the same order in whichever rows it is computed.
 */

/*
 * LINES: see above. FEW: taps that are summed before Kahan's addition. With 16, two sums of 15 taps were off by 2.98e-7 of the
 * largest result, with 8 by 1.97e-7, for 1 to 3 % more time.
 */
enum { LINES = 4, FEW = 8 };

/* One factor of the kernel: its samples, and how many are summed in one part. */
struct factor {
	const real *tap;
	size_t n, part;
};

static struct factor
find_factor(const real *tap, size_t n)
{
	const size_t parts = (n + FEW - 1) / FEW;

	return (struct factor){tap, n, (n + parts - 1) / parts};
}

/*
 * Sums taps k .. end-1 for `near` vectors of `lines` lines from x on. down: tap k of a sum belongs to the row k rows below, else to
 * the sample k columns to the right. Vector b of line l is part[l near + b].
 */
INLINE void
sum_taps(const real *tap, bool down, const real *const *row, size_t lines, size_t near, size_t x,
	 size_t k, size_t end, vec part[SUMS])
{
	for (size_t l = 0; l < lines; l++)
		for (size_t b = 0; b < near; b++)
			part[l * near + b] = tap[k] * *(const loose *)(row[l + (down ? k : 0)] + x +
								       (down ? 0 : k) + b * LANES);
	for (k++; k < end; k++)
		for (size_t l = 0; l < lines; l++)
			for (size_t b = 0; b < near; b++)
				part[l * near + b] +=
				    tap[k] * *(const loose *)(row[l + (down ? k : 0)] + x +
							      (down ? 0 : k) + b * LANES);
}

/* Sums all taps, and their parts by Kahan's method. */
INLINE void
sum_factor(const struct factor *f, bool down, const real *const *row, size_t lines, size_t near,
	   size_t x, vec sum[SUMS])
{
	sum_taps(f->tap, down, row, lines, near, x, 0, f->part, sum);
	if (f->n == f->part)
		return;
	vec lost[SUMS] = {{0}}, part[SUMS];
	for (size_t k = f->part; k < f->n; k += f->part) {
		const size_t end = f->n - k < f->part ? f->n : k + f->part;
		sum_taps(f->tap, down, row, lines, near, x, k, end, part);
		for (size_t q = 0; q < lines * near; q++) {
			const vec v = part[q] - lost[q], t = sum[q] + v;
			lost[q] = (t - sum[q]) - v;
			sum[q] = t;
		}
	}
}

/* Stores n samples, at most `near` vectors, of `lines` lines. Whole vectors go without memcpy(), which is a call for n samples. */
INLINE void
store_lines(const vec sum[SUMS], size_t lines, size_t near, size_t n, real *out, size_t pitch)
{
	for (size_t l = 0; l < lines; l++)
		if (n >= near * LANES)
			for (size_t b = 0; b < near; b++)
				*(loose *)(out + l * pitch + b * LANES) = sum[l * near + b];
		else
			memcpy(out + l * pitch, sum + l * near, n * sizeof *out);
}

/* Computes n samples of `lines` lines of sums, and stores them in rows of out. */
INLINE void
sum_lines(const struct factor *f, bool down, const real *const *row, size_t lines, size_t n,
	  real *out, size_t pitch)
{
	const size_t near = lines == 1 ? NEAR : SUMS / lines;

	for (size_t x = 0; x < n; x += near * LANES) {
		vec sum[SUMS];
		sum_factor(f, down, row, lines, near, x, sum);
		store_lines(sum, lines, near, n - x, out + x, pitch);
	}
}

/* The samples of a line of n results and kernels of kw columns: vectors are read beyond its end. */
INLINE size_t
line_length(size_t n, size_t kw)
{
	return (n + kw - 1 + NEAR * LANES) / LANES * LANES + LANES;
}

/* What convolve_product() needs: the factors, LINES lines of work space, and where rows of results go. */
struct product {
	struct factor column, across;
	real *line;
	size_t line_pitch;
	real *out;
	size_t pitch;
};

/* Convolves `lines` rows of n results, from row y on. */
INLINE void
convolve_lines(const struct product *p, const real *const *window, size_t y, size_t lines, size_t n)
{
	const real *at[LINES];

	for (size_t l = 0; l < LINES; l++)
		at[l] = p->line + l * p->line_pitch;
	sum_lines(&p->column, true, window + y, lines, n + p->across.n - 1, p->line, p->line_pitch);
	sum_lines(&p->across, false, at, lines, n, p->out + y * p->pitch, p->pitch);
}

/* Convolves rows of n results. */
static void
convolve_product(const struct product *p, const real *const *window, size_t rows, size_t n)
{
	size_t y = 0;

	for (; rows - y >= LINES; y += LINES)
		convolve_lines(p, window, y, LINES, n);
	for (; y < rows; y++)
		convolve_lines(p, window, y, 1, n);
}
