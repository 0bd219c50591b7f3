/*
 * The loops of line_ops.h, in single precision. The taps of two points at a time are evaluated in one array of 16 reals.
 * Consecutive points belong to different rows, so their read-modify-writes do not wait for each other.
 */
enum { LINE_VECS = 2 * LINE_TAPS / LANES };

/* x[]: the taps of point a (8 reals) and then of point b. */
INLINE void
line_taps(const float *coef, float a, float b, vec *x)
{
	const vec *c = (const vec *)coef;
	vec f[LINE_VECS];

	for (int v = 0; v < LINE_VECS; v++) {
		f[v] = halves(v * LANES < LINE_TAPS ? a : b, b);
		x[v] = c[v];
	}
	for (int d = 1; d < LINE_COEFS; d++)
		for (int v = 0; v < LINE_VECS; v++)
			x[v] = x[v] * f[v] + c[d * LINE_VECS + v];
}

/* Register v of the taps of point 0 or 1, where each tap stands twice. */
INLINE
vec
line_pick(const vec *x, int point, int v)
{
	const int half = point * LINE_VECS + v;

	return dup(x[half / 2], half % 2);
}

static void
line_spread(const struct usfft_line *p, const struct usfft_line_work *w, int sign, const float *d,
	    size_t ldd)
{
	const float s = (float)sign;

	for (size_t j = 0; j < p->m; j++, d += 2 * ldd) {
		const float *place = w->place + j * USFFT_LINE;
		const float *re = w->phase + j * 2 * USFFT_LINE, *im = re + USFFT_LINE;
		const int *cell = w->cell + j * USFFT_LINE;
		for (int l = 0; l < USFFT_LINE; l += 2) {
			vec x[LINE_VECS];
			line_taps(p->coef, place[l], place[l + 1], x);
			for (int q = l; q < l + 2; q++) {
				const float a = d[2 * q], b = s * d[2 * q + 1];
				const vec c = pair(a * re[q] - b * im[q], a * im[q] + b * re[q]);
				loose *to =
				    (loose *)(w->grid + 2 * ((size_t)q * p->ld + (size_t)cell[q]));
				for (int v = 0; v < LINE_VECS; v++)
					to[v] += c * line_pick(x, q - l, v);
			}
		}
	}
}

static void
line_interp(const struct usfft_line *p, const struct usfft_line_work *w, int sign, float *d,
	    size_t ldd)
{
	const float s = (float)sign;

	for (size_t j = 0; j < p->m; j++, d += 2 * ldd) {
		const float *place = w->place + j * USFFT_LINE;
		const float *re = w->phase + j * 2 * USFFT_LINE, *im = re + USFFT_LINE;
		const int *cell = w->cell + j * USFFT_LINE;
		for (int l = 0; l < USFFT_LINE; l += 2) {
			vec x[LINE_VECS];
			line_taps(p->coef, place[l], place[l + 1], x);
			for (int q = l; q < l + 2; q++) {
				const loose *from =
				    (const loose *)(w->grid +
						    2 * ((size_t)q * p->ld + (size_t)cell[q]));
				vec sum = from[0] * line_pick(x, q - l, 0);
				float a, b;
				for (int v = 1; v < LINE_VECS; v++)
					sum += from[v] * line_pick(x, q - l, v);
				fold(sum, &a, &b);
				d[2 * q] = a * re[q] - b * im[q];
				d[2 * q + 1] = s * (a * im[q] + b * re[q]);
			}
		}
	}
}
