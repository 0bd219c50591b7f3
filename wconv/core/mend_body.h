/* Unknown pixels: finds the results whose windows have them, and corrects those results. */

/* Returns the OR of all masks of the n x rows pixels from (x,y) on; x counts from the first window. */
static unsigned
masks_in(const struct wconv_plan *p, size_t plane, size_t x, ptrdiff_t y, size_t n, size_t rows)
{
	unsigned all = 0;

	for (size_t r = 0; r < rows; r++) {
		const struct row row = find_row(p, plane, y + (ptrdiff_t)r);
		for (size_t i = 0; row.flags && i < n; i++)
			all |= row.mask[x + i];
	}
	return all;
}

/* Fills in w->seen: for each of the n results of row y from x on, the OR of the masks in its window. */
static void
see_masks(const struct wconv_plan *p, struct work *w, size_t plane, size_t x, ptrdiff_t y, size_t n)
{
	const size_t span = n + p->q.kw - 1;

	memset(w->seen, 0, span);
	for (size_t r = 0; r < p->q.kh; r++) {
		const struct row row = find_row(p, plane, y - p->y.before + (ptrdiff_t)r);
		for (size_t i = 0; row.flags && i < span; i++)
			w->seen[i] |= row.mask[x + i];
	}
	for (unsigned bit = WCONV_UNKNOWN; bit <= WCONV_POISON; bit <<= 1) {
		size_t last = span; /* distance to the last masked pixel */
		for (size_t i = span; i-- > 0;) {
			last = w->seen[i] & bit ? 0 : last + 1;
			w->seen[i] =
			    (unsigned char)((w->seen[i] & ~bit) | (last < p->q.kw ? bit : 0));
		}
	}
}

/* Computes the sum of the local kernel, and of its absolute values, at the result (x,y) of the tile. */
static void
sum_kernels(const struct wconv_plan *p, const struct wconv_tile *X, const struct wconv_tile *Y,
	    ptrdiff_t x, ptrdiff_t y, double *sum, double *weight)
{
	*sum = *weight = 0;
	for (size_t fy = Y->f0; fy < Y->f0 + Y->nf; fy++)
		for (size_t fx = X->f0; fx < X->f0 + X->nf; fx++) {
			const size_t k = wconv_kernel(p, fx, fy);
			if (k == SIZE_MAX)
				continue;
			const double v = wconv_weight(&p->x, fx, x) * wconv_weight(&p->y, fy, y);
			*sum += v * p->sum[k];
			*weight += (v < 0 ? -v : v) * p->weight[k];
		}
}

/* w->lost = (the unknown pixels as ones) * K */
static void
convolve_unknown(const struct wconv_plan *p, struct work *w, size_t plane,
		 const struct wconv_tile *X, ptrdiff_t y0, size_t rows)
{
	const size_t n = (size_t)(X->b - X->a), x = (size_t)(X->a - p->x.lo);
	const size_t span = n + p->q.kw - 1, window = rows + p->q.kh - 1;

	for (size_t r = 0; r < window; r++) {
		const struct row row = find_row(p, plane, y0 + (ptrdiff_t)r);
		real *to = w->unknown + r * w->unknown_pitch;
		for (size_t i = 0; i < span; i++)
			to[i] = row.flags && row.mask[x + i] & WCONV_UNKNOWN ? 1 : 0;
		w->window[r] = to;
	}
	if (p->direct) {
		convolve_near(p, w, rows, n, w->lost, w->lost_pitch);
		return;
	}
	for (size_t r = window; r < round_up(window, LANES); r++)
		w->window[r] = p->outside; /* after the last row of the window: no result uses it */
	for (size_t r = 0; r < window; r += LANES)
		transform_rows(&p->rows, w->window + r, span, w->line, w->coefficient,
			       w->spectra + 2 * r, w->spectra_depth * 2, NULL);
	const struct spectra s = {w->spectra, NULL, w->spectra_depth, 0};
	convolve_fft(p, w, &s, rows, n, w->lost, w->lost_pitch);
}

/* Corrects the results whose windows have unknown pixels, or makes them NaN. */
static void
mend(const struct wconv_plan *p, struct work *w, size_t plane, const struct wconv_tile *X,
     const struct wconv_tile *Y, unsigned masks, real *out, size_t pitch)
{
	const size_t n = (size_t)(X->b - X->a), rows = (size_t)(Y->b - Y->a);

	if (masks & WCONV_UNKNOWN)
		convolve_unknown(p, w, plane, X, Y->a - p->y.before, rows);
	for (size_t y = 0; y < rows; y++) {
		see_masks(p, w, plane, (size_t)(X->a - p->x.lo), Y->a + (ptrdiff_t)y, n);
		for (size_t x = 0; x < n; x++) {
			real *f = out + y * pitch + x;
			double sum, weight, known;
			if (w->seen[x] & WCONV_UNKNOWN) {
				sum_kernels(p, X, Y, X->a + (ptrdiff_t)x, Y->a + (ptrdiff_t)y, &sum,
					    &weight);
				known = sum - (double)w->lost[y * w->lost_pitch + x];
				*f = known > WCONV_KNOWN * weight || -known > WCONV_KNOWN * weight
					 ? (real)((double)*f * sum / known)
					 : (real)__builtin_nan("");
			}
			if (w->seen[x] & WCONV_POISON)
				*f = (real)__builtin_nan("");
		}
	}
}
