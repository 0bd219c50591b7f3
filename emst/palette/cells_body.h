/*
 * The colours are sorted along the octree, or in four dimensions the tree of 16 branches: by the key whose bits are those of
 * the coordinates in turn. Every node of the tree is then a run of colours. The nodes of side 8 are called cells and those of
 * side 32 are called blocks. One test per node excludes the centres that are nearest to none of its colours.
 *
 *	x[DIMS][n]   coordinates in the order of the keys, 0 .. 255; readable up to n + LANES
 *	sum          w x / unit for each coordinate, and w, as whole numbers: their sums do not depend on the order of summation
 *	square       the sums of w x_a x_b for a <= b: in three dimensions 00 01 02 11 12 22
 */

enum { LANES = 8, TOP = 8 }; /* the root of the tree has side 2^TOP */
enum {
	CELL_BITS = 3 * DIMS,
	BLOCK_BITS = 5 * DIMS,
	DIGIT = 4 * DIMS,
	PAIRS = DIMS * (DIMS + 1) / 2
};

struct sums {
	int64_t v[DIMS + 1];
};

struct square {
	double v[PAIRS];
};

CPU_INLINE void
sums_add(struct sums *to, const struct sums *x)
{
	for (int a = 0; a <= DIMS; a++)
		to->v[a] += x->v[a];
}

struct box {
	float lo[DIMS], hi[DIMS];
};

struct cell {
	uint32_t start; /* its first colour; the next cell's start is its end */
	uint32_t block;
	struct box box; /* of its colours */
	struct sums sum;
};

struct block {
	struct box box;
	bool opaque; /* Either all of its colours are opaque or none is. */
};

struct cells {
	size_t n, ncell, nblock;
	uint32_t *key;	       /* [n], ascending; owned */
	float *x[DIMS];	       /* owned */
	float unit;	       /* of the sums: 2^-shift of struct palette_colours */
	struct sums *sum;      /* [n]; owned */
	struct square *square; /* [n]; owned. Only cells_thin() makes it */
	struct cell *cell;     /* [ncell + 1]; owned */
	struct block *block;   /* [nblock]; owned */
	/* [n]: the colour that is at each place; owned. Only cells_make() makes it. */
	uint32_t *from;
	uint64_t pixels;
	double squares; /* sum of w |x|^2 over all colours */
	/* These follow struct palette_colours; clear is the place of the clear colour, or of the run that holds it. */
	bool has_opaque, has_clear;
	uint32_t clear;
	float solid; /* the last coordinate of opaque colours */
};

static int
get_room(struct cells *c, size_t n)
{
	bool room = true;

	*c = (struct cells){.n = n,
			    .key = weir_alloc_large(n, sizeof *c->key),
			    .sum = weir_alloc_large(n, sizeof *c->sum)};
	for (int a = 0; a < DIMS; a++) {
		c->x[a] = weir_alloc_large(n + LANES, sizeof *c->x[a]);
		room = room && c->x[a];
		if (c->x[a])
			memset(c->x[a] + n, 0, LANES * sizeof *c->x[a]);
	}
	return room && c->key && c->sum ? 0 : -ENOMEM;
}

/* Frees all. A zeroed struct is free. */
static void
cells_free(struct cells *c)
{
	for (int a = 0; a < DIMS; a++)
		weir_free(c->x[a]);
	weir_free(c->key);
	weir_free(c->sum);
	weir_free(c->square);
	weir_free(c->cell);
	weir_free(c->block);
	weir_free(c->from);
	*c = (struct cells){0};
}

/* --- the order ------------------------------------------------------------------------------------------------------- */

/* Fills x with the coordinates of a colour in units. */
static inline void
colour_of(const struct palette_colours *p, size_t i, int32_t x[DIMS])
{
	for (int a = 0; a < DIMS; a++)
		x[a] = p->code ? (int32_t)(p->code[i] >> 8 * (DIMS - 1 - a) & 255)
			       : p->x[i * DIMS + (size_t)a];
}

/* Fills spread[v] with the bits of v, DIMS - 1 zero bits between any two. */
static void
fill_spread(uint32_t spread[256])
{
	for (uint32_t v = 0; v < 256; v++) {
		spread[v] = 0;
		for (int b = 0; b < 8; b++)
			spread[v] |= (v >> b & 1) << DIMS * b;
	}
}

/*
 * Returns the key. The last coordinate of an opaque colour counts as 255, which no other colour reaches: opaque colours share
 * no block with others. Where only the first coordinate varies, all bits of the key are its bits.
 */
static uint32_t
key_of(const struct palette_colours *p, size_t i, const uint32_t spread[256])
{
	int32_t x[DIMS];
	uint32_t key = 0;

	colour_of(p, i, x);
	if (p->opaque && p->opaque[i])
		x[DIMS - 1] = 255 << p->shift;
	if (p->gray)
		return (uint32_t)x[0] << (8 * (DIMS - 1) - p->shift);
	for (int a = 0; a < DIMS; a++)
		key |= spread[x[a] >> p->shift] << (DIMS - 1 - a);
	return key;
}

/* Sorts keys by the DIGIT bits from `shift` on; equal ones keep their order. */
static void
sort_digit(uint64_t *restrict to, const uint64_t *restrict from, uint32_t *at, size_t n, int shift)
{
	memset(at, 0, ((1 << DIGIT) + 1) * sizeof *at);
	for (size_t i = 0; i < n; i++)
		at[(from[i] >> shift & ((1 << DIGIT) - 1)) + 1]++;
	for (int v = 1; v < 1 << DIGIT; v++)
		at[v] += at[v - 1];
	for (size_t i = 0; i < n; i++)
		to[at[from[i] >> shift & ((1 << DIGIT) - 1)]++] = from[i];
}

static int
sort_colours(struct cells *c, const struct palette_colours *p)
{
	uint64_t *a = weir_alloc_large(c->n, 2 * sizeof *a);
	uint32_t spread[256], *at = weir_alloc((1 << DIGIT) + 1, sizeof *at);

	c->from = weir_alloc_large(c->n, sizeof *c->from);
	const bool room = a && at && c->from;
	if (room) {
		uint64_t *const b = a + c->n;
		fill_spread(spread);
		for (size_t i = 0; i < c->n; i++)
			a[i] = (uint64_t)key_of(p, i, spread) << 32 | i;
		sort_digit(b, a, at, c->n, 32);
		sort_digit(a, b, at, c->n, 32 + DIGIT);
		for (size_t i = 0; i < c->n; i++) {
			c->key[i] = (uint32_t)(a[i] >> 32);
			c->from[i] = (uint32_t)a[i];
		}
	}
	weir_free(a);
	weir_free(at);
	return room ? 0 : -ENOMEM;
}

/* --- cells and blocks ------------------------------------------------------------------------------------------------- */

static size_t
count_runs(const struct cells *c, int bits)
{
	size_t n = c->n > 0;

	for (size_t p = 1; p < c->n; p++)
		n += c->key[p] >> bits != c->key[p - 1] >> bits;
	return n;
}

static void
widen(struct box *b, const struct box *by)
{
	for (int a = 0; a < DIMS; a++) {
		b->lo[a] = by->lo[a] < b->lo[a] ? by->lo[a] : b->lo[a];
		b->hi[a] = by->hi[a] > b->hi[a] ? by->hi[a] : b->hi[a];
	}
}

/* Whether the last coordinate of a key is 255. */
static bool
opaque_key(uint32_t key)
{
	uint32_t ones = 0;

	for (int b = 0; b < 8; b++)
		ones |= UINT32_C(1) << DIMS * b;
	return (key & ones) == ones;
}

/* Lists the nodes whose keys agree above CELL_BITS, and those whose keys agree above BLOCK_BITS. */
static int
list_cells(struct cells *c)
{
	struct box none;
	struct cell *q;

	for (int a = 0; a < DIMS; a++) {
		none.lo[a] = 255;
		none.hi[a] = 0;
	}
	c->cell = weir_alloc_large(count_runs(c, CELL_BITS) + 1, sizeof *c->cell);
	c->block = weir_alloc(count_runs(c, BLOCK_BITS), sizeof *c->block);
	if (!c->cell || !c->block)
		return -ENOMEM;
	q = c->cell - 1;
	for (size_t p = 0; p < c->n; p++) {
		struct box one;
		if (!p || c->key[p] >> BLOCK_BITS != c->key[p - 1] >> BLOCK_BITS)
			c->block[c->nblock++] = (struct block){none, opaque_key(c->key[p])};
		if (!p || c->key[p] >> CELL_BITS != c->key[p - 1] >> CELL_BITS)
			*++q = (struct cell){
			    .start = (uint32_t)p, .block = (uint32_t)c->nblock - 1, .box = none};
		for (int a = 0; a < DIMS; a++)
			one.lo[a] = one.hi[a] = c->x[a][p];
		widen(&q->box, &one);
		widen(&c->block[q->block].box, &one);
		sums_add(&q->sum, &c->sum[p]);
	}
	(++q)->start = (uint32_t)c->n;
	c->ncell = (size_t)(q - c->cell);
	return 0;
}

/* Sorts the colours. 0 or -ENOMEM; call cells_free() in either case. */
static int
cells_make(struct cells *c, const struct palette_colours *p)
{
	int err = get_room(c, p->n);

	if (!err)
		err = sort_colours(c, p);
	if (err)
		return err;
	c->unit = ldexpf(1, -p->shift);
	c->has_opaque = p->opaque;
	c->has_clear = p->has_clear;
	for (size_t i = 0; i < c->n; i++) {
		const int64_t w = (int64_t)p->weight[c->from[i]];
		int32_t x[DIMS];
		colour_of(p, c->from[i], x);
		for (int a = 0; a < DIMS; a++) {
			c->x[a][i] = (float)x[a] * c->unit;
			c->sum[i].v[a] = w * x[a];
			c->squares += (double)w * (double)c->x[a][i] * (double)c->x[a][i];
		}
		c->sum[i].v[DIMS] = w;
		c->pixels += (uint64_t)w;
		if (p->opaque && p->opaque[c->from[i]])
			c->solid = c->x[DIMS - 1][i];
		if (c->has_clear && c->from[i] == p->clear)
			c->clear = (uint32_t)i;
	}
	return list_cells(c);
}

/* --- nodes of the tree ----------------------------------------------------------------------------------------------- */

/* Cuts the node of side 2^s that holds the colours from..to-1 and w pixels. Returns the place after the last start. */
static uint32_t *
cut_node(const struct cells *c, const double *most, int s, uint32_t from, uint32_t to, int64_t w,
	 uint32_t *start)
{
	if (to - from == 1 || (double)w < most[s]) {
		*start = from;
		return start + 1;
	}
	if (s == 0) {
		for (w = 0; from < to; w += c->sum[from++].v[DIMS])
			if (w == 0 || (double)w >= most[0]) {
				*start++ = from;
				w = 0;
			}
		return start;
	}
	while (from < to) {
		const uint32_t part = c->key[from] >> DIMS * (s - 1);
		uint32_t p = from;
		for (w = 0; p < to && c->key[p] >> DIMS * (s - 1) == part; p++)
			w += c->sum[p].v[DIMS];
		start = cut_node(c, most, s - 1, from, p, w, start);
		from = p;
	}
	return start;
}

/*
 * Cuts the tree. A node of side 2^s and of most[s] pixels or more is split, as long as it has two colours; a node of side 1
 * falls into runs of colours, which end when they have most[0] pixels. Fills start [n + 1] with the first colours of the nodes
 * that are left, and with n after them. Returns the number of these nodes.
 */
static size_t
cells_cut(const struct cells *c, const double most[TOP + 1], uint32_t *start)
{
	uint32_t *end = cut_node(c, most, TOP, 0, (uint32_t)c->n, (int64_t)c->pixels, start);

	*end = (uint32_t)c->n;
	return (size_t)(end - start);
}

/* Joins the colours from..to-1 of c to one at place p. */
static void
join_run(struct cells *t, size_t p, const struct cells *c, uint32_t from, uint32_t to)
{
	struct sums sum = {{0}};
	struct square q = {{0}};

	for (uint32_t i = from; i < to; i++) {
		sums_add(&sum, &c->sum[i]);
		for (int a = 0, at = 0; a < DIMS; a++)
			for (int b = a; b < DIMS; b++)
				q.v[at++] +=
				    (double)c->sum[i].v[a] * (double)c->unit * (double)c->x[b][i];
	}
	for (int a = 0; a < DIMS; a++)
		t->x[a][p] = (float)((double)sum.v[a] / (double)sum.v[DIMS]) * c->unit;
	t->key[p] = c->key[from];
	t->sum[p] = sum;
	t->square[p] = q;
}

/* Makes `to`: the colours of each of n runs become one, which is their mean. 0 or -ENOMEM; call cells_free() in either case. */
static int
cells_thin(struct cells *to, const struct cells *c, const uint32_t *start, size_t n)
{
	int err = get_room(to, n);

	to->square = weir_alloc_large(n, sizeof *to->square);
	if (err || !to->square)
		return -ENOMEM;
	to->unit = c->unit;
	to->has_opaque = c->has_opaque;
	to->has_clear = c->has_clear;
	to->solid = c->solid;
	to->pixels = c->pixels;
	to->squares = c->squares;
	for (size_t p = 0; p < n; p++) {
		join_run(to, p, c, start[p], start[p + 1]);
		if (start[p] <= c->clear && c->clear < start[p + 1])
			to->clear = (uint32_t)p;
	}
	return list_cells(to);
}
