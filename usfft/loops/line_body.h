/*
 * The loops of line_ops.h for one number of LANES. The taps of two points at a time are evaluated in one array of 16
 * reals; consecutive points belong to different rows, so that their read-modify-writes do not wait for each other.
 */
enum { NAME(vecs) = 2 * LINE_TAPS / LANES };

/* x[]: the taps of point a (8 reals) and then of point b. */
LEAF void
NAME(line_taps)(const float *coef, float a, float b, NAME(vec) * x)
{
	const NAME(vec) *c = (const NAME(vec) *)coef;
	NAME(vec) f[NAME(vecs)];

	for (int v = 0; v < NAME(vecs); v++) {
		f[v] = NAME(halves)(v * LANES < LINE_TAPS ? a : b, b);
		x[v] = c[v];
	}
	for (int d = 1; d < LINE_COEFS; d++)
		for (int v = 0; v < NAME(vecs); v++)
			x[v] = x[v] * f[v] + c[d * NAME(vecs) + v];
}

/* Register v of the taps of point 0 or 1, each twice. */
LEAF
NAME(vec) NAME(line_pick)(const NAME(vec) * x, int point, int v)
{
	const int half = point * NAME(vecs) + v;

	return NAME(dup)(x[half / 2], half % 2);
}

TARGET static void
NAME(line_spread)(const struct usfft_line *p, const struct usfft_line_work *w, int sign,
		  const float *d, size_t ldd)
{
	const float s = (float)sign;

	for (size_t j = 0; j < p->m; j++, d += 2 * ldd) {
		const float *place = w->place + j * USFFT_LINE;
		const float *re = w->phase + j * 2 * USFFT_LINE, *im = re + USFFT_LINE;
		const int *cell = w->cell + j * USFFT_LINE;
		for (int l = 0; l < USFFT_LINE; l += 2) {
			NAME(vec) x[NAME(vecs)];
			NAME(line_taps)(p->coef, place[l], place[l + 1], x);
			for (int q = l; q < l + 2; q++) {
				const float a = d[2 * q], b = s * d[2 * q + 1];
				const NAME(vec) c =
				    NAME(pair)(a * re[q] - b * im[q], a * im[q] + b * re[q]);
				NAME(vec_u) *to = (NAME(vec_u) *)(w->grid + 2 * ((size_t)q * p->ld +
										 (size_t)cell[q]));
				for (int v = 0; v < NAME(vecs); v++)
					to[v] += c * NAME(line_pick)(x, q - l, v);
			}
		}
	}
}

TARGET static void
NAME(line_interp)(const struct usfft_line *p, const struct usfft_line_work *w, int sign, float *d,
		  size_t ldd)
{
	const float s = (float)sign;

	for (size_t j = 0; j < p->m; j++, d += 2 * ldd) {
		const float *place = w->place + j * USFFT_LINE;
		const float *re = w->phase + j * 2 * USFFT_LINE, *im = re + USFFT_LINE;
		const int *cell = w->cell + j * USFFT_LINE;
		for (int l = 0; l < USFFT_LINE; l += 2) {
			NAME(vec) x[NAME(vecs)];
			NAME(line_taps)(p->coef, place[l], place[l + 1], x);
			for (int q = l; q < l + 2; q++) {
				const NAME(vec_u) *from = (const NAME(
				    vec_u) *)(w->grid + 2 * ((size_t)q * p->ld + (size_t)cell[q]));
				NAME(vec) sum = from[0] * NAME(line_pick)(x, q - l, 0);
				float a, b;
				for (int v = 1; v < NAME(vecs); v++)
					sum += from[v] * NAME(line_pick)(x, q - l, v);
				NAME(fold)(sum, &a, &b);
				d[2 * q] = a * re[q] - b * im[q];
				d[2 * q + 1] = s * (a * im[q] + b * re[q]);
			}
		}
	}
}
