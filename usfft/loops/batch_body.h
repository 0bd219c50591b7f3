/*
 * The passes of batch.h for one REAL and one number of LANES; tile_body.h was included before and gave vectors. In the
 * work memory an element is VECS pairs of vectors: real parts, imaginary parts.
 */
#undef ZIP0
#undef ZIP1
#undef EVEN
#undef ODD
#undef BOTH
#undef VECS
#define BOTH(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#define VECS		(BATCH_BYTES / (2 * sizeof(REAL)) / LANES)

#if LANES == 2
#define ZIP0 0, 2
#define ZIP1 1, 3
#define EVEN 0, 2
#define ODD  1, 3
#elif LANES == 4
#define ZIP0 0, 4, 1, 5
#define ZIP1 2, 6, 3, 7
#define EVEN 0, 2, 4, 6
#define ODD  1, 3, 5, 7
#elif LANES == 8
#define ZIP0 0, 8, 1, 9, 2, 10, 3, 11
#define ZIP1 4, 12, 5, 13, 6, 14, 7, 15
#define EVEN 0, 2, 4, 6, 8, 10, 12, 14
#define ODD  1, 3, 5, 7, 9, 11, 13, 15
#elif LANES == 16
#define ZIP0 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define ZIP1 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define EVEN 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define ODD  1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
#endif

/* Transforms of 2, 4, 8 and an odd number of elements, in place, in natural order. */
LEAF void
NAME(dft2)(NAME(vec) * x, NAME(vec) * y)
{
	const NAME(vec) a = x[0], b = y[0];

	x[0] = a + x[1];
	y[0] = b + y[1];
	x[1] = a - x[1];
	y[1] = b - y[1];
}

LEAF void
NAME(dft4)(NAME(vec) * x, NAME(vec) * y)
{
	const NAME(vec) ax = x[0] + x[2], ay = y[0] + y[2], bx = x[0] - x[2], by = y[0] - y[2];
	const NAME(vec) cx = x[1] + x[3], cy = y[1] + y[3], dx = x[1] - x[3], dy = y[1] - y[3];

	x[0] = ax + cx;
	y[0] = ay + cy;
	x[1] = bx + dy;
	y[1] = by - dx;
	x[2] = ax - cx;
	y[2] = ay - cy;
	x[3] = bx - dy;
	y[3] = by + dx;
}

LEAF void
NAME(dft8)(NAME(vec) * x, NAME(vec) * y)
{
	const REAL h = (REAL)M_SQRT1_2;
	NAME(vec) ax[4] = {x[0], x[2], x[4], x[6]}, ay[4] = {y[0], y[2], y[4], y[6]};
	NAME(vec) bx[4] = {x[1], x[3], x[5], x[7]}, by[4] = {y[1], y[3], y[5], y[7]};

	NAME(dft4)(ax, ay);
	NAME(dft4)(bx, by);
	/* b times exp(-2 pi i k / 8) */
	const NAME(vec) cx[4] = {bx[0], (bx[1] + by[1]) * h, by[2], (by[3] - bx[3]) * h};
	const NAME(vec) cy[4] = {by[0], (by[1] - bx[1]) * h, -bx[2], (bx[3] + by[3]) * -h};
	for (int k = 0; k < 4; k++) {
		x[k] = ax[k] + cx[k];
		y[k] = ay[k] + cy[k];
		x[k + 4] = ax[k] - cx[k];
		y[k + 4] = ay[k] - cy[k];
	}
}

LEAF void
NAME(dft_odd)(int r, NAME(vec) * x, NAME(vec) * y)
{
	static const REAL third[] = {1, (REAL)-.5, (REAL)-.5},
			  third_s[] = {0, (REAL).86602540378443864676,
				       (REAL)-.86602540378443864676};
	static const REAL fifth[] = {1, (REAL).30901699437494742410, (REAL)-.80901699437494742410,
				     (REAL)-.80901699437494742410, (REAL).30901699437494742410},
			  fifth_s[] = {0, (REAL).95105651629515357212, (REAL).58778525229247312917,
				       (REAL)-.58778525229247312917, (REAL)-.95105651629515357212};
	static const REAL seventh[] = {1,
				       (REAL).62348980185873353053,
				       (REAL)-.22252093395631440429,
				       (REAL)-.90096886790241912624,
				       (REAL)-.90096886790241912624,
				       (REAL)-.22252093395631440429,
				       (REAL).62348980185873353053},
			  seventh_s[] = {0,
					 (REAL).78183148246802980871,
					 (REAL).97492791218182360702,
					 (REAL).43388373911755812048,
					 (REAL)-.43388373911755812048,
					 (REAL)-.97492791218182360702,
					 (REAL)-.78183148246802980871};
	const REAL *c = r == 3 ? third : r == 5 ? fifth : seventh;
	const REAL *s = r == 3 ? third_s : r == 5 ? fifth_s : seventh_s;
	const int half = r / 2;
	NAME(vec) ax[4], ay[4], bx[4], by[4]; /* sums and differences of j and r - j */

	for (int j = 1; j <= half; j++) {
		ax[j] = x[j] + x[r - j];
		ay[j] = y[j] + y[r - j];
		bx[j] = x[j] - x[r - j];
		by[j] = y[j] - y[r - j];
	}
	for (int k = 1; k <= half; k++) {
		NAME(vec) ex = x[0], ey = y[0], ox = bx[1] * s[k], oy = by[1] * s[k];
		for (int j = 1; j <= half; j++) {
			ex += ax[j] * c[j * k % r];
			ey += ay[j] * c[j * k % r];
		}
		for (int j = 2; j <= half; j++) {
			ox += bx[j] * s[j * k % r];
			oy += by[j] * s[j * k % r];
		}
		x[k] = ex + oy;
		y[k] = ey - ox;
		x[r - k] = ex - oy;
		y[r - k] = ey + ox;
	}
	for (int j = 1; j <= half; j++) {
		x[0] += ax[j];
		y[0] += ay[j];
	}
}

LEAF void
NAME(dft)(int r, NAME(vec) * x, NAME(vec) * y)
{
	if (r == 2)
		NAME(dft2)(x, y);
	else if (r == 4)
		NAME(dft4)(x, y);
	else if (r == 8)
		NAME(dft8)(x, y);
	else
		NAME(dft_odd)(r, x, y);
}

/* LANES samples that lie side by side in the grid. */
LEAF void
NAME(get)(const REAL *at, NAME(vec) * x, NAME(vec) * y)
{
	const NAME(vec_u) *v = (const NAME(vec_u) *)at;
	const NAME(vec) a = v[0], b = v[1];

	*x = BOTH(a, b, EVEN);
	*y = BOTH(a, b, ODD);
}

LEAF void
NAME(put)(REAL *at, NAME(vec) x, NAME(vec) y)
{
	NAME(vec_u) *v = (NAME(vec_u) *)at;

	v[0] = BOTH(x, y, ZIP0);
	v[1] = BOTH(x, y, ZIP1);
}

LEAF int
NAME(inside)(struct batch_gap g, size_t i)
{
	return i - g.from < g.to - g.from;
}

/* Where a pass reads and writes: the grid where there is one, else work memory. */
struct NAME(pass) {
	size_t m, s; /* blocks; vectors from one element to the next of a block */
	const REAL *root;
	const NAME(vec) * in;
	NAME(vec) * out;
	REAL *grid;
	size_t ld;
	struct batch_gap gap;
};

/* out[q + s (r p + k)] = root^(p k) sum_j in[q + s (p + m j)] exp(-2 pi i j k / r) */
LEAF void
NAME(pass)(int r, bool from_grid, bool to_grid, const struct NAME(pass) * a)
{
	const size_t m = a->m, s = a->s, ld = a->ld;
	const struct batch_gap gap = a->gap;
	const NAME(vec) *restrict in = a->in;
	NAME(vec) *restrict out = a->out;
	REAL *restrict grid = a->grid;
	const REAL *root = a->root;

	for (size_t p = 0; p < m; p++, root += 2 * (r - 1))
		for (size_t q = 0; q < s; q++) {
			NAME(vec) x[8], y[8];
			for (int j = 0; j < r; j++) {
				const size_t i = p + m * (size_t)j;
				x[j] = y[j] = (NAME(vec)){0};
				if (!from_grid) {
					x[j] = in[2 * (q + s * i)];
					y[j] = in[2 * (q + s * i) + 1];
				} else if (!NAME(inside)(gap, i)) {
					NAME(get)(grid + 2 * (i * ld + q * LANES), &x[j], &y[j]);
				}
			}
			NAME(dft)(r, x, y);
			for (int k = 1; k < r && !to_grid; k++) {
				const REAL c = root[2 * k - 2], d = root[2 * k - 1];
				const NAME(vec) t = x[k] * c - y[k] * d;
				y[k] = x[k] * d + y[k] * c;
				x[k] = t;
			}
			for (int k = 0; k < r; k++) {
				const size_t to = q + s * ((size_t)r * p + (size_t)k);
				if (!to_grid) {
					out[2 * to] = x[k];
					out[2 * to + 1] = y[k];
				} else if (!NAME(inside)(gap, to / VECS)) {
					NAME(put)
					(grid + 2 * (to / VECS * ld + to % VECS * LANES), x[k],
					 y[k]);
				}
			}
		}
}

/* The first pass of columns, one between, the last of columns. */
#undef RADIX
#define RADIX(r)                                                       \
	TARGET static void NAME(first##r)(const struct NAME(pass) * a) \
	{                                                              \
		NAME(pass)(r, true, false, a);                         \
	}                                                              \
	TARGET static void NAME(inner##r)(const struct NAME(pass) * a) \
	{                                                              \
		NAME(pass)(r, false, false, a);                        \
	}                                                              \
	TARGET static void NAME(last##r)(const struct NAME(pass) * a)  \
	{                                                              \
		NAME(pass)(r, false, true, a);                         \
	}
RADIX(2)
RADIX(3)
RADIX(4)
RADIX(5)
RADIX(7)
RADIX(8)

static void (*const NAME(passes)[3][9])(const struct NAME(pass) *) = {{[2] = NAME(first2),
								       [3] = NAME(first3),
								       [4] = NAME(first4),
								       [5] = NAME(first5),
								       [7] = NAME(first7),
								       [8] = NAME(first8)},
								      {[2] = NAME(inner2),
								       [3] = NAME(inner3),
								       [4] = NAME(inner4),
								       [5] = NAME(inner5),
								       [7] = NAME(inner7),
								       [8] = NAME(inner8)},
								      {[2] = NAME(last2),
								       [3] = NAME(last3),
								       [4] = NAME(last4),
								       [5] = NAME(last5),
								       [7] = NAME(last7),
								       [8] = NAME(last8)}};

/* All passes, from work memory a (or the grid's columns) to where this returns (or the columns). */
static NAME(vec) * NAME(stages)(const struct batch *f, NAME(vec) * a, REAL *columns, size_t ld,
				struct batch_gap in, struct batch_gap out)
{
	NAME(vec) *b = a + 2 * VECS * f->n;
	const REAL *root = f->root;
	size_t m = f->n, s = VECS;

	for (int i = 0; i < f->stages; i++) {
		const int r = f->radix[i];
		const bool first = i == 0 && columns, last = i + 1 == f->stages && columns;
		m /= (size_t)r;
		const struct NAME(pass) pass = {m, s, root, a, b, columns, ld, first ? in : out};
		NAME(passes)[first ? 0 : last ? 2 : 1][r](&pass);
		root += 2 * (size_t)(r - 1) * m;
		s *= (size_t)r;
		NAME(vec) *t = a;
		a = b;
		b = t;
	}
	return a;
}

static void
NAME(columns)(const struct batch *f, void *data, size_t ld, struct batch_gap in,
	      struct batch_gap out, void *work)
{
	NAME(stages)(f, work, data, ld, in, out);
}

LEAF void
NAME(transpose)(NAME(vec) * x)
{
	NAME(vec) t[LANES];

	for (int d = 1; d < LANES; d *= 2) {
		for (int i = 0; i < LANES / 2; i++) {
			t[2 * i] = BOTH(x[i], x[i + LANES / 2], ZIP0);
			t[2 * i + 1] = BOTH(x[i], x[i + LANES / 2], ZIP1);
		}
		for (int i = 0; i < LANES; i++)
			x[i] = t[i];
	}
}

TARGET static void
NAME(load_rows)(const REAL *data, size_t ld, size_t n, struct batch_gap gap, NAME(vec) * out)
{
	for (size_t i = 0; i < n; i += LANES)
		for (size_t v = 0; v < VECS; v++) {
			NAME(vec) x[LANES] = {{0}}, y[LANES] = {{0}};
			const REAL *at = data + 2 * (v * LANES * ld + i);
			for (size_t l = 0; l < LANES && !NAME(inside)(gap, i); l++)
				NAME(get)(at + 2 * l * ld, &x[l], &y[l]);
			NAME(transpose)(x);
			NAME(transpose)(y);
			for (size_t l = 0; l < LANES; l++) {
				out[2 * ((i + l) * VECS + v)] = x[l];
				out[2 * ((i + l) * VECS + v) + 1] = y[l];
			}
		}
}

TARGET static void
NAME(store_rows)(const NAME(vec) * in, size_t n, struct batch_gap gap, REAL *data, size_t ld)
{
	for (size_t i = 0; i < n; i += LANES)
		for (size_t v = 0; v < VECS && !NAME(inside)(gap, i); v++) {
			NAME(vec) x[LANES], y[LANES];
			REAL *at = data + 2 * (v * LANES * ld + i);
			for (size_t l = 0; l < LANES; l++) {
				x[l] = in[2 * ((i + l) * VECS + v)];
				y[l] = in[2 * ((i + l) * VECS + v) + 1];
			}
			NAME(transpose)(x);
			NAME(transpose)(y);
			for (size_t l = 0; l < LANES; l++)
				NAME(put)(at + 2 * l * ld, x[l], y[l]);
		}
}

static void
NAME(rows)(const struct batch *f, void *data, size_t ld, struct batch_gap in, struct batch_gap out,
	   void *work)
{
	NAME(load_rows)(data, ld, f->n, in, work);
	const NAME(vec) *done = NAME(stages)(f, work, NULL, 0, in, out);
	NAME(store_rows)(done, f->n, out, data, ld);
}
