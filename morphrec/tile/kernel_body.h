/*
 * The arithmetic of a tile for one element type, a template: transposes, sweeps and their fixpoint. visit.h goes on with what
 * a visit is. The including file defines
 *
 *	T, BITS		the unsigned element and its width
 *	N(name)		the name of an instance
 *	TARGET		the function attribute of the instruction set
 *	V, LANE		a vector register, and its number of 16-byte lanes
 *	v_load v_store v_zero v_note(z, a, b): z | a ^ b, v_lanes(v), max, min, prev(a, b), next(b, c), lo, hi(a, b) by BITS
 *	v_load_lanes(p, step)	lane g from the 16 bytes at p + g * step
 *
 * prev(a, b) is b one element later, the last of a coming in first; next(b, c) is b one element earlier. lo and hi
 * interleave the elements of each 16-byte lane.
 */
enum {
	N(PER_LANE) = 128 / BITS,
	N(PER_V) = LANE * N(PER_LANE),
	N(NV) = TILE / N(PER_V), /* vectors in a row of a tile */
	N(LEVELS) = BITS == 8	 ? 4
		    : BITS == 16 ? 3
		    : BITS == 32 ? 2
				 : 1 /* log2 PER_LANE */
};

/* A 64 x 64 tile: rows of elements, one behind the other. */
struct N(tile) {
	_Alignas(64) T a[TILE][TILE];
};

/*
 * Where a sweep changed a tile: of each block of PER_V rows, the strips of PER_LANE columns, a bit each. A row of blocks
 * is a vector of columns of the transpose, so what is 0 here need not be swept there.
 */
struct N(risen) {
	uint32_t strips[N(NV)];
};

static inline bool
N(any)(const struct N(risen) * r)
{
	uint32_t all = 0;

	for (int k = 0; k < N(NV); k++)
		all |= r->strips[k];
	return all != 0;
}

/* Transposes a block of PER_LANE rows; each lane of the vectors is a block of its own. */
static inline TARGET void
N(transpose_lanes)(V r[N(PER_LANE)])
{
	V s[N(PER_LANE)];

	for (int l = 0; l < N(LEVELS); l++) {
		for (int i = 0; i < N(PER_LANE) / 2; i++) {
			s[2 * i] = v_lo(BITS)(r[i], r[i + N(PER_LANE) / 2]);
			s[2 * i + 1] = v_hi(BITS)(r[i], r[i + N(PER_LANE) / 2]);
		}
		for (int i = 0; i < N(PER_LANE); i++)
			r[i] = s[i];
	}
}

/*
 * Lane g of a vector is taken from the rows of block g, so that only the blocks are left to transpose: by loads that insert
 * a lane, since shuffles across lanes wait for the one port that has them (Intel: 150 -> 113 ns for bytes).
 */
static TARGET void
N(transpose)(struct N(tile) *restrict to, const struct N(tile) *restrict from,
	     const struct N(risen) * risen)
{
	for (int k = 0; k < N(NV); k++)
		for (uint32_t strips = risen->strips[k]; strips; strips &= strips - 1) {
			const int y = k * N(PER_V), x = __builtin_ctz(strips) * N(PER_LANE);
			V r[N(PER_LANE)];
			for (int i = 0; i < N(PER_LANE); i++)
				r[i] = v_load_lanes(&from->a[y + i][x],
						    sizeof from->a[0] * N(PER_LANE));
			N(transpose_lanes)(r);
			for (int i = 0; i < N(PER_LANE); i++)
				v_store(&to->a[x + i][y], r[i]);
		}
}

/*
 * Down and up at once, the 4-neighbours of a column: c = min(I, max(J, c)). The two chains cross in the middle, each
 * going on over what the other left, so that neither waits for the other; that is the fixpoint along the column.
 */
static TARGET struct N(risen) N(sweep)(struct N(tile) *restrict j, const struct N(tile) *restrict m,
				       const struct N(risen) * of)
{
	struct N(risen) risen = {{0}};

	for (int k = 0; k < N(NV); k++) {
		const int x = k * N(PER_V);
		V d = v_zero(), u = v_zero();
		for (int b = 0; of->strips[k] && b < N(NV); b++) {
			V zd = v_zero(), zu = v_zero();
			for (int y = b * N(PER_V); y < (b + 1) * N(PER_V); y++) {
				T *jd = &j->a[y][x], *ju = &j->a[TILE - 1 - y][x];
				const V od = v_load(jd);
				d = v_min(BITS)(v_load(&m->a[y][x]), v_max(BITS)(od, d));
				zd = v_note(zd, od, d);
				v_store(jd, d);
				const V ou = v_load(ju);
				u = v_min(BITS)(v_load(&m->a[TILE - 1 - y][x]), v_max(BITS)(ou, u));
				zu = v_note(zu, ou, u);
				v_store(ju, u);
			}
			risen.strips[b] |= v_lanes(zd) << k * LANE;
			risen.strips[N(NV) - 1 - b] |= v_lanes(zu) << k * LANE;
		}
	}
	return risen;
}

/* The largest of each element of c and its two neighbours in the row. */
static inline TARGET void
N(widen)(const V c[N(NV)], V to[N(NV)])
{
	for (int k = 0; k < N(NV); k++) {
		const V before = k ? c[k - 1] : v_zero(),
			after = k + 1 < N(NV) ? c[k + 1] : v_zero();
		to[k] = v_max(BITS)(
		    c[k], v_max(BITS)(v_prev(BITS)(before, c[k]), v_next(BITS)(c[k], after)));
	}
}

/*
 * A row of a chain: c is the row before, and becomes this row. diagonal: the row takes from three pixels of it, not one.
 * steps: pixels that may spread along the row at once.
 */
static inline TARGET void
N(row)(T *restrict j, const T *restrict m, V c[N(NV)], V z[N(NV)], bool diagonal, int steps)
{
	V w[N(NV)];

	if (diagonal)
		N(widen)(c, w);
	for (int k = 0; k < N(NV); k++) {
		const V o = v_load(j + k * N(PER_V));
		c[k] =
		    v_min(BITS)(v_load(m + k * N(PER_V)), v_max(BITS)(o, diagonal ? w[k] : c[k]));
	}
	for (int s = 0; s < steps; s++) {
		N(widen)(c, w);
		for (int k = 0; k < N(NV); k++)
			c[k] = v_min(BITS)(v_load(m + k * N(PER_V)), w[k]);
	}
	for (int k = 0; k < N(NV); k++) {
		z[k] = v_note(z[k], v_load(j + k * N(PER_V)), c[k]);
		v_store(j + k * N(PER_V), c[k]);
	}
}

/* As sweep, by rows. A pixel raised going up may still owe one below or beside it: not a fixpoint by itself. */
static inline TARGET struct N(risen)
    N(sweep_rows)(struct N(tile) *restrict j, const struct N(tile) *restrict m, bool diagonal,
		  int steps)
{
	struct N(risen) risen = {{0}};
	V d[N(NV)], u[N(NV)];

	for (int k = 0; k < N(NV); k++)
		d[k] = u[k] = v_zero();
	for (int b = 0; b < N(NV); b++) {
		V zd[N(NV)], zu[N(NV)];
		for (int k = 0; k < N(NV); k++)
			zd[k] = zu[k] = v_zero();
		for (int y = b * N(PER_V); y < (b + 1) * N(PER_V); y++) {
			N(row)(j->a[y], m->a[y], d, zd, diagonal, steps);
			N(row)(j->a[TILE - 1 - y], m->a[TILE - 1 - y], u, zu, diagonal, steps);
		}
		for (int k = 0; k < N(NV); k++) {
			risen.strips[b] |= v_lanes(zd[k]) << k * LANE;
			risen.strips[N(NV) - 1 - b] |= v_lanes(zu[k]) << k * LANE;
		}
	}
	return risen;
}

static TARGET struct N(risen)
    N(sweep_diagonal)(struct N(tile) *restrict j, const struct N(tile) *restrict m)
{
	return N(sweep_rows)(j, m, true, 0);
}

static TARGET struct N(risen)
    N(sweep_stairs)(struct N(tile) *restrict j, const struct N(tile) *restrict m, bool diagonal)
{
	return diagonal ? N(sweep_rows)(j, m, true, 1) : N(sweep_rows)(j, m, false, 1);
}

/*
 * Sweeps to the fixpoint, of j and its transpose jt: the latter, and that of m, are made here, and current at the end if
 * anything rose. Along the rows a sweep leaves a fixpoint; a sweep across them that then changes nothing ends it, and, when
 * that one was of columns alone, so does one along the rows after it. Stairs rise by a step a round: where four rounds were
 * not enough, sweeps across take a step aside too.
 */
static TARGET bool
N(fixpoint)(struct N(tile) *restrict j, const struct N(tile) *restrict m,
	    struct N(tile) *restrict jt, struct N(tile) *restrict mt, bool diagonal)
{
	struct N(risen) all, along, across;
	bool any;

	for (int k = 0; k < N(NV); k++)
		all.strips[k] = UINT32_MAX >> (32 - N(NV) * LANE);
	across = diagonal ? N(sweep_diagonal)(j, m) : N(sweep)(j, m, &all);
	any = N(any)(&across);
	N(transpose)(jt, j, &all);
	N(transpose)(mt, m, &all);
	across = all;
	for (int round = 0;; round++) {
		const bool stairs = round >= 4;
		along = N(sweep)(jt, mt, &across);
		if (N(any)(&along))
			N(transpose)(j, jt, &along);
		else if (!diagonal && !stairs)
			return any;
		across = stairs	    ? N(sweep_stairs)(j, m, diagonal)
			 : diagonal ? N(sweep_diagonal)(j, m)
				    : N(sweep)(j, m, &along);
		any |= N(any)(&along) || N(any)(&across);
		if (!N(any)(&across))
			return any;
		N(transpose)(jt, j, &across);
	}
}
