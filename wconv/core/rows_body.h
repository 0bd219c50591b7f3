/*
 * Real transforms of LANES rows at once. The n samples x[0..n) of each row become n/2 complex points
 * x[2k] + i x[2k+1]. Their transform Z gives the n/2+1 coefficients X, all doubled:
 *
 *	E = Z[k] + conj Z[n/2-k],  O = (Z[k] - conj Z[n/2-k]) / i,  X[k] = E + t O,  X[n/2-k] = conj(E - t O),  t = exp(-2 pi i k/n)
 *
 * The inverse goes the same way back, and doubles again. Z stands in the order of the complex transform: Z[k] at place[k].
 */

static void
untangle(const struct wconv_rfft *f, const vec *z, vec *x)
{
	const size_t m = f->half.n;
	const real *turn = f->turn;

	x[0] = (real)2 * (z[0] + z[1]);
	x[1] = (vec){0};
	x[2 * m] = (real)2 * (z[0] - z[1]);
	x[2 * m + 1] = (vec){0};
	for (size_t k = 1; k <= m / 2; k++) {
		const vec *a = z + 2 * f->place[k], *b = z + 2 * f->place[m - k];
		const real c = turn[2 * k], s = turn[2 * k + 1];
		const vec er = a[0] + b[0], ei = a[1] - b[1], or = a[1] + b[1], oi = b[0] - a[0];
		const vec tr = c * or +s * oi, ti = c * oi - s * or ;

		x[2 * k] = er + tr;
		x[2 * k + 1] = ei + ti;
		x[2 * (m - k)] = er - tr;
		x[2 * (m - k) + 1] = ti - ei;
	}
}

static void
tangle(const struct wconv_rfft *f, const vec *x, vec *z)
{
	const size_t m = f->half.n;
	const real *turn = f->turn;

	z[0] = x[0] + x[2 * m];
	z[1] = x[0] - x[2 * m];
	for (size_t k = 1; k <= m / 2; k++) {
		const vec *a = x + 2 * k, *b = x + 2 * (m - k);
		const real c = turn[2 * k], s = turn[2 * k + 1];
		const vec er = a[0] + b[0], ei = a[1] - b[1], dr = a[0] - b[0], di = a[1] + b[1];
		const vec or = c * dr - s * di, oi = c * di + s * dr;
		vec *u = z + 2 * f->place[k], *v = z + 2 * f->place[m - k];

		u[0] = er - oi;
		u[1] = ei + or ;
		v[0] = er + oi;
		v[1] = or -ei;
	}
}

/* Makes line[x] the vector of sample x of LANES rows. */
static void
gather_rows(const real *const *row, size_t n, vec *line)
{
	for (size_t x = 0; x < n; x += LANES) {
		vec t[LANES];
		for (int i = 0; i < LANES; i++)
			t[i] = *(const loose *)(row[i] + x);
		transpose(t);
		for (size_t i = 0; i < LANES && x + i < n; i++)
			line[x + i] = t[i];
	}
}

/* Stores n samples of the first `rows` of the LANES rows in line as rows of out. */
static void
scatter_rows(const vec *line, size_t rows, size_t n, real *out, size_t pitch)
{
	for (size_t x = 0; x < n; x += LANES) {
		vec t[LANES];

		for (size_t i = 0; i < LANES; i++)
			t[i] = line[x + i];
		transpose(t);
		/* whole vectors are stored: memcpy() of a variable length is a call, 8 % of a run */
		if (n - x >= LANES)
			for (size_t i = 0; i < rows; i++)
				*(loose *)(out + i * pitch + x) = t[i];
		else
			for (size_t i = 0; i < rows; i++)
				memcpy(out + i * pitch + x, t + i, (n - x) * sizeof *out);
	}
}

/* Subtracts from each row its mean, and returns the means. */
static vec
take_means(vec *line, size_t n)
{
	vec sum = {0};

	for (size_t x = 0; x < n; x++)
		sum += line[x];
	sum *= (real)1 / (real)n;
	for (size_t x = 0; x < n; x++)
		line[x] -= sum;
	return sum;
}

/*
 * Transforms LANES rows of n samples each, padded to f->n with zeros. The coefficients of block b go to
 * out + b * stride: LANES rows of LANES real and LANES imaginary parts. If mean is not NULL, the rows' means are
 * subtracted first and stored in *mean.
 */
static void
transform_rows(const struct wconv_rfft *f, const real *const *row, size_t n, vec *line,
	       vec *coefficient, vec *out, size_t stride, vec *mean)
{
	gather_rows(row, n, line);
	if (mean)
		*mean = take_means(line, n);
	memset(line + n, 0, (f->n - n) * sizeof *line);
	fft_forward(&f->half, line);
	untangle(f, line, coefficient);
	for (size_t b = 0; b < f->blocks; b++) {
		vec re[LANES], im[LANES];
		for (size_t k = 0; k < LANES; k++) {
			re[k] = coefficient[2 * (b * LANES + k)];
			im[k] = coefficient[2 * (b * LANES + k) + 1];
		}
		transpose(re);
		transpose(im);
		for (size_t y = 0; y < LANES; y++) {
			out[b * stride + 2 * y] = re[y];
			out[b * stride + 2 * y + 1] = im[y];
		}
	}
}

/* The inverse of transform_rows(), 2 f->n times too large. line[x] becomes the vector of sample x of the LANES rows. */
static void
restore_rows(const struct wconv_rfft *f, const vec *in, size_t stride, vec *coefficient, vec *line)
{
	for (size_t b = 0; b < f->blocks; b++) {
		vec re[LANES], im[LANES];
		for (size_t y = 0; y < LANES; y++) {
			re[y] = in[b * stride + 2 * y];
			im[y] = in[b * stride + 2 * y + 1];
		}
		transpose(re);
		transpose(im);
		for (size_t k = 0; k < LANES; k++) {
			coefficient[2 * (b * LANES + k)] = re[k];
			coefficient[2 * (b * LANES + k) + 1] = im[k];
		}
	}
	tangle(f, coefficient, line);
	fft_inverse(&f->half, line);
}
