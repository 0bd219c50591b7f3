/* The adjoint by direct sums: what a tile of results scatters into its window. */

/*
 * Between two nodes the weights of x are linear, and those of a basis are powers. So what a pixel s of the source gives to
 * the tap k columns away is a polynomial, which is expanded around the middle of the window:
 *
 *	sum_i w_i(s + k d) tap_i[k] = sum_e s^e c_e[k]
 *
 * The adjoint then gathers rows without weights, two c_e at each load, as convolve_near() does. Rows times the weights of
 * each function, gathered one after the other, took twice as long.
 */
struct expansion {
	size_t terms;
	/* s of the middle of the window of its first column; d */
	double middle, step;
	/* w_i = s^i, for a basis; else w_i is linear, from weight[i * stride] at s = 0 on to weight[i * stride + last] at 1 */
	bool powers;
	const real *weight;
	size_t stride, last;
};

/* Expands the weights of columns a .. a+n-1 of the tile. They are linear there, or powers. */
static struct expansion
expand(const struct wconv_plan *p, const struct work *w, const struct wconv_tile *X, ptrdiff_t a,
       size_t n)
{
	const double half = ((double)p->q.kw - 1) / 2, step = n > 1 ? 1 / ((double)n - 1) : 1;

	if (p->x.degree >= 0)
		return (struct expansion){w->x.n, ((double)a - half - p->x.zero) / p->x.scale,
					  1 / p->x.scale, .powers = true};
	return (struct expansion){
	    w->x.n > 1 ? 2 : 1,	   -half * step, step, .weight = w->x.weight + (a - X->a),
	    .stride = w->x.stride, .last = n - 1};
}

/* Returns how much function i's tap, k steps of s away, adds to term j. */
static double
portion(const struct expansion *e, size_t i, double k, size_t j)
{
	double v = 1;

	if (!e->powers) {
		const real *w = e->weight + i * e->stride;
		const double rise = (double)w[e->last] - (double)w[0];
		return j ? rise : (double)w[0] + rise * k;
	}
	if (i < j)
		return 0;
	for (size_t m = 0; m < i - j; m++) /* binomial of i over j, times k^(i-j) */
		v *= k * (double)(i - m) / (double)(m + 1);
	return v;
}

/* Makes the taps c_e of each function of y, [functions of y][terms][kh][kw], turned as windows need them. */
static void
expand_taps(const struct wconv_plan *p, const struct work *w, const struct expansion *e, real *to)
{
	const size_t kw = p->q.kw, kh = p->q.kh;

	memset(to, 0, w->y.n * e->terms * kh * kw * sizeof *to);
	for (size_t j = 0; j < w->y.n; j++)
		for (size_t i = 0; i < w->x.n; i++) {
			const size_t fx = w->x.first[i], fy = w->y.first[j];
			if (wconv_kernel(p, fx, fy) == SIZE_MAX)
				continue;
			for (size_t t = 0; t < e->terms * kw; t++) {
				const size_t k = t % kw, term = t / kw;
				const double away = (double)k - ((double)kw - 1) / 2;
				const real v = (real)portion(e, i, away * e->step, term);
				const real *tap = find_kernel(p, fx, fy) + kw - 1 - k;
				real *c = to + (j * e->terms + term) * kh * kw + k;
				for (size_t r = 0; r < kh; r++)
					c[r * kw] += v * tap[r * kw];
			}
		}
}

/*
 * Blends the taps of each row of the source. Row r of the window sees tap row t of row r - t of the source: they go to
 * s->taps, [rows of the window][terms][kh][kw], in the order of the source's rows.
 */
static void
blend_taps(const struct wconv_plan *p, struct spread_work *s, const struct expansion *e,
	   size_t rows)
{
	const struct work *w = &s->w;
	const size_t kw = p->q.kw, kh = p->q.kh, n = e->terms * kh * kw;

	for (size_t y = 0; y < rows; y++) {
		memset(s->turned, 0, n * sizeof *s->turned);
		for (size_t j = 0; j < w->y.n; j++) {
			const real v = w->y.weight[j * w->y.stride + y],
				   *from = s->expanded + j * n;
			for (size_t t = 0; v != 0 && t < n; t++)
				s->turned[t] += v * from[t];
		}
		for (size_t i = 0; i < e->terms * kh; i++) {
			const size_t t = i % kh;
			real *to = s->taps + (y + t) * n + (i - t + kh - 1 - t) * kw;
			for (size_t k = 0; k < kw; k++)
				to[k] = s->turned[i * kw + k];
		}
	}
}

/* Returns where the columns from a on, in which the weights of x are linear, end: at `end` or before. */
static ptrdiff_t
find_bend(const struct wconv_axis *x, const struct wconv_tile *X, ptrdiff_t a, ptrdiff_t end)
{
	for (size_t f = X->f0; x->degree < 0 && f < X->f0 + X->nf; f++)
		for (int side = 0; side < 2; side++) {
			const double at = __builtin_ceil((side ? x->right : x->left)[f]);
			if (at > (double)a && at < (double)end)
				end = (ptrdiff_t)at;
		}
	return end;
}

/* Scatters columns a .. end-1 of the tile, whose weights are linear, to their window. add: adds them to what is there. */
static void
spread_columns(const struct wconv_plan *p, struct spread_work *s, const struct source *f,
	       const struct wconv_tile *X, ptrdiff_t a, bool add, real *to, size_t pitch)
{
	const size_t kw = p->q.kw, kh = p->q.kh, span = f->n + kw - 1, window = f->rows + kh - 1;
	const struct expansion e = expand(p, &s->w, X, a, f->n);

	expand_taps(p, &s->w, &e, s->expanded);
	blend_taps(p, s, &e, f->rows);
	for (size_t x = 0; x < span; x++) {
		double power = 1;
		for (size_t j = 0; j < e.terms; j++, power *= e.middle + (double)x * e.step)
			s->places[j * s->pitch + x] = (real)power;
	}
	for (size_t y = 0; y < f->rows; y++) {
		weigh_row(f, y, NULL, kw - 1, s->pitch - f->n - (kw - 1), s->row + y * s->pitch);
		s->seen[y] = s->row + y * s->pitch;
	}
	for (size_t r = 0; r < window; r++) {
		const size_t first = r + 1 > kh ? r + 1 - kh : 0,
			     last = r < f->rows ? r : f->rows - 1;
		const struct row_taps t = {
		    e.terms, kh * kw, s->pitch,
		    s->taps + r * e.terms * kh * kw + (first + kh - 1 - r) * kw, s->places};
		real *out = add ? s->line : to + r * pitch;
		sum_row(s->seen + first, last - first + 1, kw, span, &t, out);
		for (size_t x = 0; add && x < span; x++)
			to[r * pitch + x] += out[x];
	}
}

/* Scatters a tile along a kernel that is a product: its rows, with zeros around them, are convolved with the turned kernel. */
static void
spread_product(const struct wconv_plan *p, struct spread_work *s, const struct source *f, real *to,
	       size_t pitch)
{
	const size_t kw = p->q.kw, kh = p->q.kh, window = f->rows + kh - 1;

	memset(s->zeros, 0, s->pitch * sizeof *s->zeros);
	for (size_t r = 0; r < window + kh - 1; r++)
		s->seen[r] = s->zeros;
	for (size_t y = 0; y < f->rows; y++) {
		weigh_row(f, y, NULL, kw - 1, s->pitch - f->n - (kw - 1), s->row + y * s->pitch);
		s->seen[kh - 1 + y] = s->row + y * s->pitch;
	}
	const struct product turned = find_product(p, &s->w, true, to, pitch);
	convolve_product(&turned, s->seen, window, f->n + kw - 1);
}

static void
spread_near(const struct wconv_plan *p, struct spread_work *s, const struct source *f,
	    const struct wconv_tile *X, real *to, size_t pitch)
{
	ptrdiff_t bend;

	if (p->product) {
		spread_product(p, s, f, to, pitch);
		return;
	}
	for (ptrdiff_t a = X->a; a < X->b; a = bend) {
		struct source part = *f;
		bend = find_bend(&p->x, X, a, X->b);
		part.in += a - X->a;
		part.gain = f->gain ? f->gain + (a - X->a) : NULL;
		part.n = (size_t)(bend - a);
		if (a > X->a) /* the part before has left nothing beyond its own window */
			for (size_t r = 0; r < f->rows + p->q.kh - 1; r++)
				memset(to + r * pitch + (a - X->a) + p->q.kw - 1, 0,
				       part.n * sizeof *to);
		spread_columns(p, s, &part, X, a, a > X->a, to + (a - X->a), pitch);
	}
}
