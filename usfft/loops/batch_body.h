/* The passes of batch.h. In the work memory an element is VECS pairs of vectors: real parts, then imaginary parts. */
#define VECS (BATCH_BYTES / (2 * sizeof(real)) / LANES)

/* Loads LANES samples of the grid: half of them lie side by side at `low`, the others at `high`. */
INLINE void
get(const real *low, const real *high, vec *x, vec *y)
{
	const vec a = *(const loose *)low, b = *(const loose *)high;

	*x = VEC_SHUFFLE(a, b, VEC_EVEN);
	*y = VEC_SHUFFLE(a, b, VEC_ODD);
}

INLINE void
put(real *low, real *high, vec x, vec y)
{
	*(loose *)low = VEC_SHUFFLE(x, y, VEC_ZIP_LOW);
	*(loose *)high = VEC_SHUFFLE(x, y, VEC_ZIP_HIGH);
}

/* The address of vector v, of 2 VECS, of a row of columns. */
INLINE real *
vector_at(real *row, size_t half, size_t v)
{
	return row + (v < VECS ? v * LANES : 2 * half + (v - VECS) * LANES);
}

INLINE int
inside(struct batch_gap g, size_t i)
{
	return i - g.from < g.to - g.from;
}

/* The arguments of a pass. It reads `in` and writes `out` in work memory, or reads or writes the columns of `grid`. */
struct pass {
	size_t m, s; /* blocks; vectors from one element to the next of a block */
	const real *root;
	const vec *in;
	vec *out;
	real *grid;
	size_t ld, half;
	struct batch_gap gap;
};

/* out[q + s (r p + k)] = root^(p k) sum_j in[q + s (p + m j)] exp(-2 pi i j k / r) */
INLINE void
pass(int r, bool from_grid, bool to_grid, const struct pass *a)
{
	const size_t m = a->m, s = a->s, ld = a->ld, half = a->half;
	const struct batch_gap gap = a->gap;
	const vec *restrict in = a->in;
	vec *restrict out = a->out;
	real *restrict grid = a->grid;
	const real *root = a->root;

	for (size_t p = 0; p < m; p++, root += 2 * (r - 1))
		for (size_t q = 0; q < s; q++) {
			vec x[8], y[8];
			for (int j = 0; j < r; j++) {
				const size_t i = p + m * (size_t)j;
				x[j] = y[j] = (vec){0};
				if (!from_grid) {
					x[j] = in[2 * (q + s * i)];
					y[j] = in[2 * (q + s * i) + 1];
				} else if (!inside(gap, i)) {
					real *row = grid + 2 * i * ld;
					get(vector_at(row, half, 2 * q),
					    vector_at(row, half, 2 * q + 1), &x[j], &y[j]);
				}
			}
			dft(r, x, y);
			for (int k = 1; k < r && !to_grid; k++) {
				const real c = root[2 * k - 2], d = root[2 * k - 1];
				const vec t = x[k] * c - y[k] * d;
				y[k] = x[k] * d + y[k] * c;
				x[k] = t;
			}
			for (int k = 0; k < r; k++) {
				const size_t to = q + s * ((size_t)r * p + (size_t)k);
				if (!to_grid) {
					out[2 * to] = x[k];
					out[2 * to + 1] = y[k];
				} else if (!inside(gap, to / VECS)) {
					real *row = grid + 2 * (to / VECS) * ld;
					const size_t v = to % VECS * 2;
					put(vector_at(row, half, v), vector_at(row, half, v + 1),
					    x[k], y[k]);
				}
			}
		}
}

/* first: the first pass of columns, from the grid; last: the last one, to the grid; inner: all other passes. */
#define RADIX(r)                                   \
	static void first##r(const struct pass *a) \
	{                                          \
		pass(r, true, false, a);           \
	}                                          \
	static void inner##r(const struct pass *a) \
	{                                          \
		pass(r, false, false, a);          \
	}                                          \
	static void last##r(const struct pass *a)  \
	{                                          \
		pass(r, false, true, a);           \
	}
RADIX(2)
RADIX(3)
RADIX(4)
RADIX(5)
RADIX(7)
RADIX(8)

static void (*const passes[3][9])(const struct pass *) = {
    {[2] = first2, [3] = first3, [4] = first4, [5] = first5, [7] = first7, [8] = first8},
    {[2] = inner2, [3] = inner3, [4] = inner4, [5] = inner5, [7] = inner7, [8] = inner8},
    {[2] = last2, [3] = last3, [4] = last4, [5] = last5, [7] = last7, [8] = last8}};

/*
 * Runs all passes. columns NULL: the batch is in work memory a, and the result is where this returns. Else columns are read
 * from the grid and written to it.
 */
static vec *
stages(const struct batch *f, vec *a, real *columns, size_t ld, size_t half, struct batch_gap in,
       struct batch_gap out)
{
	vec *b = a + 2 * VECS * f->n;
	const real *root = f->root;
	size_t m = f->n, s = VECS;

	for (int i = 0; i < f->stages; i++) {
		const int r = f->radix[i];
		const bool first = i == 0 && columns, last = i + 1 == f->stages && columns;
		m /= (size_t)r;
		const struct pass pass = {m, s, root, a, b, columns, ld, half, first ? in : out};
		passes[first ? 0 : last ? 2 : 1][r](&pass);
		root += 2 * (size_t)(r - 1) * m;
		s *= (size_t)r;
		vec *t = a;
		a = b;
		b = t;
	}
	return a;
}

static void
columns(const struct batch *f, void *data, size_t ld, size_t half, struct batch_gap in,
	struct batch_gap out, void *work)
{
	stages(f, work, data, ld, half, in, out);
}

static void
load_rows(const real *data, size_t ld, size_t n, struct batch_gap gap, vec *out)
{
	for (size_t i = 0; i < n; i += LANES)
		for (size_t v = 0; v < VECS; v++) {
			vec x[LANES] = {{0}}, y[LANES] = {{0}};
			const real *at = data + 2 * (v * LANES * ld + i);
			for (size_t l = 0; l < LANES && !inside(gap, i); l++)
				get(at + 2 * l * ld, at + 2 * l * ld + LANES, &x[l], &y[l]);
			transpose(x);
			transpose(y);
			for (size_t l = 0; l < LANES; l++) {
				out[2 * ((i + l) * VECS + v)] = x[l];
				out[2 * ((i + l) * VECS + v) + 1] = y[l];
			}
		}
}

static void
store_rows(const vec *in, size_t n, struct batch_gap gap, real *data, size_t ld)
{
	for (size_t i = 0; i < n; i += LANES)
		for (size_t v = 0; v < VECS && !inside(gap, i); v++) {
			vec x[LANES], y[LANES];
			real *at = data + 2 * (v * LANES * ld + i);
			for (size_t l = 0; l < LANES; l++) {
				x[l] = in[2 * ((i + l) * VECS + v)];
				y[l] = in[2 * ((i + l) * VECS + v) + 1];
			}
			transpose(x);
			transpose(y);
			for (size_t l = 0; l < LANES; l++)
				put(at + 2 * l * ld, at + 2 * l * ld + LANES, x[l], y[l]);
		}
}

static void
rows(const struct batch *f, void *data, size_t ld, struct batch_gap in, struct batch_gap out,
     void *work)
{
	load_rows(data, ld, f->n, in, work);
	const vec *done = stages(f, work, NULL, 0, 0, in, out);
	store_rows(done, f->n, out, data, ld);
}
