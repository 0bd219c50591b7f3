/* The tasks that the plan divides among threads: kernels, rows, tiles. */

/* Copies row j of kernel k, scaled; with correlate, of the kernel turned by half a turn. */
static void
take_kernel_row(const struct wconv_plan *p, size_t k, size_t j, real *to)
{
	const struct wconv_problem *q = &p->q;
	const size_t row = q->correlate ? q->kh - 1 - j : j;
	const real *from = (const real *)q->kernels + k % q->gx * q->step_x +
			   k / q->gx * q->step_y + row * q->step_row;

	for (size_t i = 0; i < q->kw; i++)
		to[i] = (real)(p->scale[k] * (double)from[q->correlate ? q->kw - 1 - i : i]);
}

/* Sums x[0..n) in 16 partial sums, which the compiler vectorises. */
static double
sum_samples(const real *x, size_t n)
{
	double part[16] = {0}, sum = 0;
	size_t i = 0;

	for (; i + 16 <= n; i += 16)
		for (size_t k = 0; k < 16; k++)
			part[k] += (double)x[i + k];
	for (size_t k = 0; k < 16; k++)
		sum += part[k];
	for (; i < n; i++)
		sum += (double)x[i];
	return sum;
}

static void
transform_kernel(const struct wconv_plan *p, size_t k, struct work *w, vec *to, double *row_sum)
{
	const size_t pitch = round_up(p->q.kw, LANES), n = p->columns.n, kh = p->q.kh;

	for (size_t i = 0; i < LANES; i++)
		w->window[i] = w->taps + i * pitch;
	for (size_t j = 0; j < kh; j += LANES) {
		for (size_t i = 0; i < LANES; i++)
			if (j + i < kh) {
				take_kernel_row(p, k, j + i, w->taps + i * pitch);
				row_sum[kh - 1 - j - i] = sum_samples(w->taps + i * pitch, p->q.kw);
			} else {
				memset(w->taps + i * pitch, 0, pitch * sizeof(real));
			}
		transform_rows(&p->rows, w->window, p->q.kw, w->line, w->coefficient, to + 2 * j,
			       2 * n, NULL);
	}
	for (size_t b = 0; b < p->rows.blocks; b++) {
		const struct points rows = {to + 2 * b * n, NULL, kh, kh};
		fft_forward_from(&p->columns, &rows, to + 2 * b * n);
	}
}

/* Fills the slot of the kernel of (fx,fy): with its spectrum, or with its samples in the order of the window. */
static void
kernel(const struct wconv_plan *p, size_t fx, size_t fy, void *at)
{
	const size_t k = wconv_kernel(p, fx, fy), kw = p->q.kw, kh = p->q.kh;
	real *to = find_kernel(p, fx, fy);
	struct work w;

	if (k == SIZE_MAX || p->product)
		return;
	lay_out(p, at, &w);
	if (!p->direct) {
		transform_kernel(p, k, &w, (vec *)to, find_row_sums(p, fx, fy));
		return;
	}
	for (size_t j = 0; j < kh; j++) {
		take_kernel_row(p, k, j, w.taps);
		for (size_t i = 0; i < kw; i++)
			to[(kh - 1 - j) * kw + kw - 1 - i] = w.taps[i];
	}
}

/* Transforms group `group` of LANES rows, in the columns of tile tx. Rows count from the first row of the first window. */
static void
rows(const struct wconv_plan *p, size_t plane, size_t tx, size_t group, void *at)
{
	const struct wconv_tile *X = &p->x.tile[tx];
	const size_t n = (size_t)(X->b - X->a) + p->q.kw - 1, first = group * LANES;
	const ptrdiff_t y0 = p->y.lo - p->y.before, end = p->y.hi + p->y.after;
	struct work w;

	lay_out(p, at, &w);
	for (size_t i = 0; i < LANES; i++) {
		const ptrdiff_t y = y0 + (ptrdiff_t)(first + i);
		w.window[i] = (y < end ? find_row(p, plane, y).sample : (const real *)p->outside) +
			      (X->a - p->x.lo);
	}
	transform_rows(&p->rows, w.window, n, w.line, w.coefficient,
		       find_spectra(p, plane, tx) + 2 * (first % p->spectra_depth),
		       p->spectra_depth * 2,
		       (vec *)(find_means(p, plane, tx) + first % p->spectra_depth));
}

/* Computes tile (tx,ty) of a plane of the step's results. */
static void
tile(const struct wconv_plan *p, size_t plane, size_t tx, size_t ty, void *at)
{
	const struct wconv_tile *X = &p->x.tile[tx], *Y = &p->y.tile[ty];
	const size_t n = (size_t)(X->b - X->a), height = (size_t)(Y->b - Y->a);
	const size_t x = (size_t)(X->a - p->x.lo), y = (size_t)(Y->a - p->y.lo);
	const double scale = p->direct ? 1 : .25 / ((double)p->rows.n * (double)p->columns.n);
	const size_t top = (size_t)(Y->a - p->y.tile[p->band[p->now].tile0].a);
	real *out = result_row(p, plane, top) + x;
	struct work w;

	lay_out(p, at, &w);
	weigh(p, &p->x, X, &p->y, Y, scale, &w.x);
	weigh(p, &p->y, Y, &p->x, X, 1, &w.y);
	if (p->direct) {
		for (size_t r = 0; r < height + p->q.kh - 1; r++)
			w.window[r] =
			    find_row(p, plane, Y->a - p->y.before + (ptrdiff_t)r).sample + x;
		convolve_near(p, &w, height, n, out, p->result_pitch);
	} else {
		const struct spectra s = {find_spectra(p, plane, tx), find_means(p, plane, tx),
					  p->spectra_depth, y % p->spectra_depth};
		convolve_fft(p, &w, &s, height, n, out, p->result_pitch);
	}
	const unsigned masks =
	    masks_in(p, plane, x, Y->a - p->y.before, n + p->q.kw - 1, height + p->q.kh - 1);
	if (masks)
		mend(p, &w, plane, X, Y, masks, out, p->result_pitch);
	for (size_t r = 0; wconv_divides(&p->q) && r < height; r++) {
		wconv_local_sums(p, p->sum, X->a, Y->a + (ptrdiff_t)r, n, w.local);
		for (size_t i = 0; i < n; i++)
			out[r * p->result_pitch + i] =
			    (real)((double)out[r * p->result_pitch + i] / w.local[i]);
	}
}
